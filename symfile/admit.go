package symfile

import (
	"cmp"
	"slices"
)

// What is searched has to be sorted, and only what was read can be noticed not to be. So every slice is checked when it is met: against the
// sections, against the slices beside it, and each kind of its records against the nearest slices that are known.

// admit checks a slice against what is known of the rest of the file, and makes it known in turn.
func (s *sparse) admit(sl *slice) error {
	for ph := phaseFiles; ph < numPhases; ph++ {
		if sl.phases[ph] && (sl.n < s.sections[ph][0] || sl.n > s.sections[ph][1]) {
			return disorder{groupAll}
		}
	}
	if s.bounded {
		sl.narrow(&s.sections)
		s.setRegions()
	}
	stray := !s.bounded && s.divide(sl)
	if s.edges[sl.n]&edgeRead == 0 {
		s.edges[sl.n] = sl.edge
	}
	if err := s.meet(sl.n); err != nil {
		return err
	}
	for n := sl.n + 1; n < s.count && s.edges[n]&edgeRead != 0; n++ {
		if err := s.meet(n); err != nil {
			return err
		}
		if s.edges[n]&edgeHasHead != 0 {
			break
		}
	}
	if stray {
		if err := s.unsorted(groupBody); err != nil {
			return err
		}
	}
	var first error // the others are kept, lest they be missed
	for k := range sl.marks {
		if markKind(k) == markPublic || len(sl.marks[k]) == 0 || s.exact[groupOf[k]] {
			continue
		}
		if err := s.tie(markKind(k), sl); err != nil {
			first = cmp.Or(first, err)
			s.broken[groupOf[k]] = true
		}
	}
	return first
}

// divide has the PUBLIC records of a slice be what they are by where they stand, and reports whether it has a FUNC before the first one or
// behind the last.
func (s *sparse) divide(sl *slice) (stray bool) {
	for _, m := range sl.marks[markPublic] {
		switch {
		case s.firstFunc < 0 || m.off < s.firstFunc:
			s.note(markBefore, m)
		case m.off > s.lastFunc:
			s.note(markAfter, m)
		default:
			s.note(markMixed, m)
		}
	}
	s.keep(sl)
	if funcs := sl.marks[markFunc]; len(funcs) > 0 {
		stray = funcs[0].off < s.firstFunc || funcs[len(funcs)-1].off > s.lastFunc
		if len(sl.marks[markMixed]) == 0 {
			sl.marks[markMixed] = funcs
		} else {
			sl.marks[markMixed] = append(sl.marks[markMixed], funcs...)
		}
	}
	if mixed := sl.marks[markMixed]; len(sl.marks[markPublic]) > 0 && len(mixed) > 1 {
		sortFew(mixed, func(a, b mark) int { return cmp.Compare(a.off, b.off) })
	}
	return stray
}

// meet checks where slice n and the one before it touch, if both were read: a line belongs to a FUNC right before it, and a
// delta to an INIT.
func (s *sparse) meet(n int64) error {
	if n == 0 || s.edges[n]&edgeHasHead == 0 {
		return nil
	}
	// Slices without a record of their own (of one long line) are looked through.
	before := n - 1
	for before > 0 && s.edges[before]&edgeRead != 0 && s.edges[before]&edgeHasHead == 0 {
		before--
	}
	a, b := s.edges[before], s.edges[n]
	if a&edgeRead == 0 {
		return nil
	}
	if b&headLine != 0 && a&tailFunc == 0 {
		return s.unsorted(groupBody)
	}
	if b&headDelta != 0 && a&tailCFI == 0 {
		return s.unsorted(groupStack)
	}
	return nil
}

// tie checks the order of one kind of record in a slice, and against the nearest slices that are known, and makes a knot.
//
// Records that overlap are in order as long as the ends grow with the starts from slice to slice; which of them count, the
// search finds out.
func (s *sparse) tie(k markKind, sl *slice) error {
	m := sl.marks[k]
	strict := k == markFile || k == markOrigin
	for i := 1; i < len(m); i++ {
		if m[i].key < m[i-1].key || strict && m[i].key == m[i-1].key {
			return disorder{groupOf[k]}
		}
	}
	kn := knotOf(sl, k)
	ks := s.knots[k]
	at, known := slices.BinarySearchFunc(ks, sl.n, func(a knot, n int64) int { return cmp.Compare(a.n, n) })
	if known {
		return nil
	}
	// STACK WIN records lie inside one another, and their search goes back as far as it must.
	nested := k == markWin4 || k == markWin0 || k == markMixed
	fits := func(a, b knot) bool {
		return a.last <= b.first && !(strict && a.last == b.first) && (nested || a.high <= b.high)
	}
	if at > 0 && !fits(ks[at-1], kn) || at < len(ks) && !fits(kn, ks[at]) {
		return disorder{groupOf[k]}
	}
	region := s.regions[k]
	if width := (region[1] - region[0]) / maxKnots; width > 0 &&
		at > 0 && sl.n-ks[at-1].n <= width && at < len(ks) && ks[at].n-sl.n <= width {
		return nil
	}
	s.knots[k] = insert(ks, at, kn)
	return nil
}
