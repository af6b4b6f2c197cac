package symfile

import (
	"bytes"
	"cmp"
	"slices"
)

// place is a record: the i-th of its kind in a slice.
type place struct {
	sl *slice
	i  int
}

func (p place) mark(k markKind) *mark { return &p.sl.marks[k][p.i] }

// farOut is how many stretches are too many to be halved where the border of a section is not known.
const farOut = 16

// Where the nearest slice that is known is more than unsureFrom slices away and less than unsureTo, twice as many are read at once for a guess amid the
// unwind records: of those second guesses the furthest miss a stretch now and then, and another round for one costs more. First guesses, from
// further away, would miss that too.
const unsureFrom, unsureTo = 2 * aheadSlices, 8 * aheadSlices

// last is the last record of a kind, in the order of the file, whose key is at most x; false if there is none.
//
// Between two slices that are known, the next one to read is guessed by proportion; every third guess halves instead, so
// that no file takes long. Slices without a record of the kind are walked over, backwards.
func (s *sparse) last(k markKind, x uint64) (place, bool, error) {
	region := s.regions[k]
	lo, hi := region[0]-1, region[1]+1 // what is searched lies between them
	result := int64(-1)
	var loKnot, hiKnot knot
	hasLo, hasHi := false, false

	// settle takes a slice's knot in; it reports whether the record is in that very slice.
	settle := func(kn knot, upTo int64) bool {
		switch {
		case kn.first > x:
			hi, hiKnot, hasHi = kn.n, kn, true
		case kn.last <= x:
			result, lo, loKnot, hasLo = kn.n, max(kn.n, upTo), kn, true
		default:
			result = kn.n
			return true
		}
		return false
	}
	ks := s.knots[k]
	at := firstBehind(ks, x)
	done := at > 0 && settle(ks[at-1], 0)
	if !done && at < len(ks) {
		settle(ks[at], 0)
	}
	walked := int64(0)
	var edges [2]int64 // the ends of the stretch that was read last, to be looked at before another guess
	try, looks := 0, 0
	for !done && lo+1 < hi {
		guess, sided := int64(0), false // where all that is known lies on one side
		if s.bounded && hasLo != hasHi && looks == 0 {
			if guess, sided = s.beyond(k, x); (!sided || try > 2) && hi-lo > farOut*s.per {
				return s.lastWithin(k, x)
			}
			sided = sided && try < 3
		}
		mid := lo + (hi-lo)/2
		look := false
		for look = looks > 0; look; look = looks > 0 {
			looks--
			if n := edges[looks]; n > lo && n < hi {
				mid = n
				break
			}
		}
		switch {
		case look:
		case sided:
			mid = min(max(guess, lo+1), hi-1)
		case !hasLo && !hasHi && try == 0:
			mid = region[0]
		case !hasHi && try < 3:
			mid = hi - 1
		case !hasLo && try < 3:
			mid = lo + 1
		case hasLo && hasHi && try%5 != 4:
			mid = min(max(s.proportion(loKnot, hiKnot, x), lo+1), hi-1)
		}
		if !look {
			try++
		}
		if s.ahead != nil {
			near := min(mid-lo, hi-mid)
			s.ahead.unsure = k == markInit && near > unsureFrom && near < unsureTo
		}
		for n := mid; n > lo; n-- {
			reads := s.reads
			sl, err := s.load(n)
			if s.ahead != nil {
				s.ahead.unsure = false
			}
			if err != nil {
				if err == errAhead && n == mid && hasLo && hasHi && !look {
					s.beyondToo(lo, mid, hi)
				}
				return place{}, false, err
			}
			if s.reads > reads && s.per > 1 {
				st := s.shelf.find(n)
				edges, looks = [2]int64{st.end() - 1, st.from}, 2
			}
			if m := sl.marks[k]; len(m) > 0 {
				done = settle(knot{n: n, first: m[0].key, last: m[len(m)-1].key, firstOff: m[0].off, lastOff: m[len(m)-1].off}, mid)
				break
			}
			if first, last := sl.span(); s.bounded && first != noPhase {
				if first > phaseOf[k] {
					hi = n
					break
				}
				if last < phaseOf[k] {
					lo = mid
					break
				}
			}
			if n == lo+1 {
				lo = mid
				break
			}
			if walked++; walked*s.step > maxWalk {
				return place{}, false, disorder{groupOf[k]}
			}
		}
	}
	if result < 0 {
		if s.bounded { // that there is none is not said of a section whose beginning was not looked for
			return s.lastWithin(k, x)
		}
		return place{}, false, nil
	}
	sl, err := s.load(result)
	if err != nil {
		return place{}, false, err
	}
	i, _ := slices.BinarySearchFunc(sl.marks[k], x, func(m mark, x uint64) int {
		if m.key <= x {
			return -1
		}
		return 1
	})
	if i == 0 {
		return place{}, false, disorder{groupOf[k]}
	}
	return place{sl, i - 1}, true, nil
}

// beyondToo has slices beyond a guess that is to be read be read with it, if it is the third or a later one: twice as far from the nearer end of
// what is searched, four times, and with each round once more. Amid records of uneven lengths guesses by proportion miss to the same side again and
// again, by less each time; so the record soon lies between two of those.
func (s *sparse) beyondToo(lo, mid, hi int64) {
	from, off := lo, mid-lo
	if hi-mid < off {
		from, off = hi, mid-hi
	}
	for r := s.ahead.round; r > 2; r-- {
		off *= 2
		if n := from + off; n > lo && n < hi {
			s.load(n)
		}
	}
}

// firstBehind is the index of the first knot that begins behind x.
func firstBehind(ks []knot, x uint64) int {
	at, _ := slices.BinarySearchFunc(ks, x, func(a knot, x uint64) int {
		if a.first <= x {
			return -1
		}
		return 1
	})
	return at
}

// lastWithin is last when it is known where the section begins and ends.
func (s *sparse) lastWithin(k markKind, x uint64) (place, bool, error) {
	if err := s.needBorders(); err != nil {
		return place{}, false, err
	}
	return s.last(k, x)
}

// before is the record of a kind before another in the file.
func (s *sparse) before(k markKind, p place) (place, bool, error) {
	if p.i > 0 {
		return place{p.sl, p.i - 1}, true, nil
	}
	for n := p.sl.n - 1; n >= s.regions[k][0]; n-- {
		if (p.sl.n-n)*s.step > maxWalk {
			return place{}, false, disorder{groupOf[k]}
		}
		sl, err := s.load(n)
		if err != nil {
			return place{}, false, err
		}
		if m := sl.marks[k]; len(m) > 0 {
			return place{sl, len(m) - 1}, true, nil
		}
		if first, _ := sl.span(); s.bounded && first != noPhase && first < phaseOf[k] {
			return place{}, false, nil
		}
	}
	return place{}, false, nil
}

// maxChain bounds how many records are looked at to see which of several that overlap counts.
const maxChain = 4096

// exclusive is the last record that counts (see File.exclusive) and starts at or below an address. It goes back to a record
// that nothing before it reaches into, and decides from there.
func (s *sparse) exclusive(k markKind, rva uint64) (rec, bool, error) {
	p, ok, err := s.last(k, rva)
	if err != nil || !ok {
		return rec{}, false, err
	}
	var few [8]mark
	chain := few[:0]
	for {
		m := p.mark(k)
		chain = append(chain, *m)
		if len(chain) > maxChain {
			return rec{}, false, disorder{groupOf[k]}
		}
		prev, ok, err := s.before(k, p)
		if err != nil {
			return rec{}, false, err
		}
		if !ok || m.size > 0 && prev.mark(k).high <= m.key && prev.mark(k).key < m.key {
			break
		}
		p = prev
	}
	sortFew(chain, func(a, b mark) int {
		return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.size, b.size), cmp.Compare(a.off, b.off))
	})
	var kept rec
	for _, m := range chain {
		if m.size > 0 && !kept.has(m.key) {
			kept = rec{rva: m.key, size: m.size, off: m.off}
		}
	}
	return kept, kept.size > 0, nil
}

// winReach is how far back in the file a STACK WIN record is looked for that holds others, in bytes.
const winReach = 32 << 10

// innermost is the STACK WIN record that is best for an address (see nested): the first that covers it, going back.
func (s *sparse) innermost(k markKind, rva uint64) (rec, bool, error) {
	if err := s.needBorders(); err != nil {
		return rec{}, false, err
	}
	p, ok, err := s.last(k, rva)
	from := int64(0)
	if ok {
		from = p.mark(k).off
	}
	for n := 0; ok && err == nil; n++ {
		// Among records with one start the shortest counts, of equals the first: look at all of them.
		m := *p.mark(k)
		best, covers := m, rva-m.key < m.size
		reach := m.high
		for {
			if p, ok, err = s.before(k, p); !ok || err != nil {
				break
			}
			next := *p.mark(k)
			if next.key != m.key {
				reach = max(reach, next.high)
				break
			}
			if rva-next.key < next.size && (!covers || next.size <= best.size) {
				best, covers = next, true
			}
		}
		if err != nil {
			break
		}
		if covers {
			return rec{rva: best.key, size: best.size, off: best.off}, true, nil
		}
		// Records of so many bytes back do not reach the address; those further away are trusted not to.
		if reach <= rva && from-m.off > winReach {
			break
		}
		if n > maxChain {
			return rec{}, false, disorder{groupStack}
		}
	}
	return rec{}, false, err
}

// publicAt is the PUBLIC record at or below an address, where fn is the last FUNC that counts and starts there (if hasFn):
// one that does not start behind it does not matter.
func (s *sparse) publicAt(rva uint64, fn rec, hasFn bool) (rec, bool, error) {
	if err := s.needBorders(); err != nil {
		return rec{}, false, err
	}
	var best mark
	for _, k := range [...]markKind{markBefore, markMixed, markAfter} {
		p, ok, err := s.last(k, rva)
		if err != nil {
			return rec{}, false, err
		}
		// FUNCs that do not count hide nothing.
		for n := 0; ok && p.mark(k).fn; n++ {
			if hasFn && p.mark(k).key <= fn.rva {
				ok = false
				break
			}
			if n > maxChain {
				return rec{}, false, disorder{groupBody}
			}
			if p, ok, err = s.before(k, p); err != nil {
				return rec{}, false, err
			}
		}
		if !ok || p.mark(k).key <= best.key {
			continue
		}
		best = *p.mark(k)
		// Of several at one address the first counts.
		for ok && p.mark(k).key == best.key {
			if !p.mark(k).fn {
				best = *p.mark(k)
			}
			if p, ok, err = s.before(k, p); err != nil {
				return rec{}, false, err
			}
		}
	}
	if best.key == 0 || hasFn && fn.rva >= best.key {
		return rec{}, false, nil
	}
	return rec{rva: best.key, off: best.off}, true, nil
}

// number is the offset of the record of a number.
func (s *sparse) number(k markKind, num uint32) (int64, bool, error) {
	p, ok, err := s.last(k, uint64(num))
	if err != nil || !ok || p.mark(k).key != uint64(num) {
		return 0, false, err
	}
	return p.mark(k).off, true, nil
}

// eachLine calls fn with the lines from an offset on, without their ends, until it says false or the file ends. A line is
// valid during the call only.
func (s *sparse) eachLine(off int64, fn func(b []byte) bool) error {
	n := off / s.step
	sl, err := s.load(n)
	if err != nil {
		return err
	}
	begin := off
	for {
		// Of a slice those lines are taken that end in its data.
		for {
			b := sl.data[off-sl.start:]
			i := bytes.IndexByte(b, '\n')
			if i < 0 {
				break
			}
			if !fn(trimEOL(b[:i])) {
				return nil
			}
			if off += int64(i) + 1; off == sl.start+int64(len(sl.data)) {
				break
			}
		}
		end := sl.start + int64(len(sl.data))
		if end == s.src.Size {
			if off < end {
				fn(trimEOL(sl.data[off-sl.start:]))
			}
			return nil
		}
		if off-begin > maxWalk {
			return disorder{groupAll}
		}
		if next := off / s.step; next > n {
			n = next
		} else {
			// A line of more than the tail: it is put together.
			if s.line, err = s.longLine(s.line[:0], off, n); err != nil {
				return err
			}
			if !fn(trimEOL(s.line)) {
				return nil
			}
			if off += int64(len(s.line)); off >= s.src.Size {
				return nil
			}
			n = off / s.step
		}
		if sl, err = s.load(n); err != nil {
			return err
		}
	}
}

// longLine appends the line at off, with its end, slice by slice from slice n on.
func (s *sparse) longLine(line []byte, off, n int64) ([]byte, error) {
	for at := off; ; n++ {
		sl, err := s.load(n)
		if err != nil {
			return line, err
		}
		b := sl.data[at-sl.start:]
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			return append(line, b[:i+1]...), nil
		}
		line = append(line, b...)
		if at += int64(len(b)); at == s.src.Size {
			return line, nil
		}
		if len(line) > maxSliceLine {
			return line, disorder{groupAll}
		}
	}
}
