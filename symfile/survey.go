package symfile

import (
	"cmp"
	"errors"
	"slices"
)

// survey learns where the sections of the file lie: their borders by halving, with about log2 of the number of slices reads for each, or, where
// many places can be read at once, between which of these they are.
func (s *sparse) survey() error {
	if s.count == 0 {
		return disorder{groupAll}
	}
	if s.src.ReadsMany() { // the first five halvings at once, which are knots, too; then those for all sections side by side
		var all []uint64
		for i := range int64(32) {
			all = append(all, uint64(s.count*i/32))
		}
		all = append(all, uint64(s.nearEnd()), uint64(s.count-1)) // the last is for header
		s.readAhead(all, min(s.per, 4), s.look)                   // of which only their knots are wanted
		if enough, err := s.bound(); enough || err != nil {
			return err
		}
	}
	return s.surveyAll()
}

// surveyAll finds the borders of all sections, where many places can be read at once by guesses in a few rounds.
func (s *sparse) surveyAll() error {
	if s.src.ReadsMany() {
		var all []uint64
		for ph := phaseFiles; ph < numPhases; ph++ {
			all = append(all, uint64(ph))
		}
		s.readAhead(all, s.per, func(ph uint64) error {
			_, err := s.beginOf(phase(ph))
			return err
		})
	}
	var from [numPhases + 1]int64 // the first slice with a record of a section or of a later one
	from[numPhases] = s.count
	for ph := phaseFiles; ph < numPhases; ph++ {
		at, err := s.beginOf(ph)
		if err != nil {
			return err
		}
		from[ph] = max(at, from[ph-1])
	}
	for ph := phaseFiles; ph < numPhases; ph++ {
		s.sections[ph] = [2]int64{from[ph], min(from[ph+1], s.count-1)}
		// A section begins in the slice that has its first record; without one, that slice is another section's.
		if from[ph] > s.sections[ph][1] {
			continue
		}
		sl, err := s.load(from[ph])
		if err != nil {
			return err
		}
		s.present[ph] = sl.phases[ph]
	}
	s.setRegions()
	if err := s.surveyBody(); err != nil {
		return err
	}
	s.surveyed, s.looks, s.seen = true, [numPhases][][]int64{}, [numMarks][]knot{}
	return s.admitAll()
}

// admitAll is admit for what was read before that.
func (s *sparse) admitAll() error {
	for sl := range s.shelf.known {
		var d disorder
		if err := s.admit(sl); errors.As(err, &d) && d.group != groupAll {
			s.broken[d.group] = true
		} else if err != nil {
			return err
		}
	}
	return nil
}

// beginOf is the first slice with a record of a section or of a later one.
func (s *sparse) beginOf(ph phase) (int64, error) {
	if ph == phaseFiles { // mostly at once, behind MODULE
		if high, _, err := s.phaseFrom(0); err != nil || high >= ph {
			return 0, err
		}
	}
	lo, hi := int64(0), s.count // before lo all is earlier, from hi on nothing is
	narrow := func(n int64) error {
		high, at, err := s.phaseFrom(n)
		if err != nil {
			return err
		}
		if high >= ph || at == s.count {
			hi = n
		} else {
			lo = at + 1
		}
		return nil
	}
	if end := s.nearEnd(); s.shelf.find(end) != nil {
		if err := narrow(end); err != nil {
			return 0, err
		}
	}
	for looked := 0; lo < hi; {
		mid := lo + (hi-lo)/2
		if s.shelf.find(mid) != nil || !s.src.ReadsMany() {
			if err := narrow(mid); err != nil {
				return 0, err
			}
			continue
		}
		// A round costs more than a place: several are looked at at once. The next time it goes the same way.
		if looked == len(s.looks[ph]) {
			s.looks[ph] = append(s.looks[ph], s.between(ph, lo, hi))
		}
		missing := false
		for _, n := range s.looks[ph][looked] {
			_, err := s.load(n)
			if missing = missing || err == errAhead; err != nil && err != errAhead {
				return 0, err
			}
		}
		if missing {
			return 0, errAhead
		}
		for _, n := range s.looks[ph][looked] {
			if n >= lo && n < hi {
				if err := narrow(n); err != nil {
					return 0, err
				}
			}
		}
		looked++
	}
	return lo, nil
}

// nearEnd is a slice close to the end of the file, but not the last, in which hardly a record may be left.
func (s *sparse) nearEnd() int64 { return max(0, s.count-3) }

// between are the slices to look at for where a section begins, of those from lo and before hi.
func (s *sparse) between(ph phase, lo, hi int64) []int64 {
	if hi-lo <= 16*s.per {
		var all []int64
		for n := lo + s.per/2; n < hi+s.per/2; n += s.per {
			all = append(all, min(n, hi-1))
		}
		return all
	}
	mid := lo + (hi-lo)/2
	near, ok := s.guess(ph, lo, hi)
	if !ok {
		return []int64{lo + (mid-lo)/2, mid, mid + (hi-mid)/2}
	}
	var all []int64
	for _, d := range [...]int64{-16, -4, -1, 0, 1, 4, 16, 64, 256} {
		if n := near + d*s.per; n >= lo && n < hi {
			all = append(all, n)
		}
	}
	return all
}

// guess is about where a section begins of which hi is the first slice that is known, by what is known of the records behind it, or
// before it.
func (s *sparse) guess(ph phase, lo, hi int64) (n int64, ok bool) {
	if hi == s.count {
		return 0, false
	}
	sl, err := s.load(hi)
	if err != nil {
		return 0, false
	}
	for !sl.phases[ph] {
		if ph++; ph == numPhases {
			return 0, false
		}
	}
	// at is where a record would stand, on the line through two of its kind.
	at := func(two []knot, key uint64) (int64, bool) {
		if len(two) < 2 || two[0].first >= two[1].first {
			return 0, false
		}
		part := (float64(key) - float64(two[0].first)) / float64(two[1].first-two[0].first)
		n := (two[0].firstOff + int64(part*float64(two[1].firstOff-two[0].firstOff))) / s.step
		return n, n > lo && n < hi
	}
	switch ph {
	case phaseOrigins: // numbers begin at 0
		return at(s.seenIn(markOrigin, hi, s.count), 0)
	case phaseBody: // with the first address that has unwind records, or one that is about 0
		behind := s.seenIn(markFunc, hi, s.count)
		if inits := s.seen[markInit]; len(inits) > 0 {
			if n, ok = at(behind, inits[0].first); ok {
				return n, ok
			}
		}
		return at(behind, 0)
	case phaseCFI: // behind the functions, whose last has the last unwind record
		before, inits := s.seenIn(markFunc, 0, lo), s.seenIn(markInit, hi, s.count)
		if len(before) > 1 && len(inits) > 0 {
			return at(before[len(before)-2:], inits[len(inits)-1].first)
		}
	}
	return 0, false
}

// see notes what a slice has, for guess.
func (s *sparse) see(sl *slice) {
	for k, marks := range sl.marks {
		if len(marks) > 0 {
			at, known := s.seenAt(markKind(k), sl.n)
			if !known {
				s.seen[k] = insert(s.seen[k], at, knotOf(sl, markKind(k)))
			}
		}
	}
}

// seenIn is what the survey has met of a kind, of the slices from and up to.
func (s *sparse) seenIn(k markKind, from, to int64) []knot {
	first, _ := s.seenAt(k, from)
	last, _ := s.seenAt(k, to)
	return s.seen[k][first:last]
}

func (s *sparse) seenAt(k markKind, n int64) (at int, known bool) {
	return slices.BinarySearchFunc(s.seen[k], n, func(a knot, n int64) int { return cmp.Compare(a.n, n) })
}

// sample reads some slices of every section, evenly spread: a file that is sorted nowhere is noticed at once, and the others
// have knots to start from. It ends at once if there is nothing to sample.
func (s *sparse) sample() error {
	if s == nil || s.bounded {
		return nil
	}
	const samples = 4
	var all []uint64
	for _, section := range s.sections {
		width := section[1] - section[0]
		if s.src.ReadsMany() && width >= s.count/8 { // the survey has read as many of it
			continue
		}
		for i := int64(0); width >= 0 && i <= min(samples, width); i++ {
			all = append(all, uint64(section[0]+i*width/min(samples, max(width, 1))))
		}
	}
	if s.src.ReadsMany() {
		s.readAhead(all, s.per, s.look)
	}
	for _, n := range all {
		if err := s.look(n); err != nil {
			return err
		}
	}
	return nil
}

// look is load for whoever wants nothing but that the slice is known.
func (s *sparse) look(n uint64) error {
	_, err := s.load(int64(n))
	return err
}

// phaseFrom is the last section in slice n, or, if no record starts there, in the next one that has any; at is that slice.
func (s *sparse) phaseFrom(n int64) (high phase, at int64, err error) {
	for at = n; at < s.count; at++ {
		if (at-n)*s.step > maxWalk {
			return 0, 0, disorder{groupAll}
		}
		sl, err := s.load(at)
		if err != nil {
			return 0, 0, err
		}
		if _, high = sl.span(); high != noPhase {
			return high, at, nil
		}
	}
	return 0, at, nil
}

// surveyBody finds the first and the last FUNC: PUBLIC records stand before them, behind them, or among them, depending on
// the writer.
func (s *sparse) surveyBody() error {
	body := s.sections[phaseBody]
	s.regions[markBefore] = body
	first, err := s.firstWithFunc(body[0], body[1], 1)
	if err != nil || first == nil {
		s.regions[markFunc], s.regions[markMixed], s.regions[markAfter] = [2]int64{0, -1}, [2]int64{0, -1}, [2]int64{0, -1}
		return err
	}
	last, err := s.firstWithFunc(body[1], body[0], -1)
	if err != nil {
		return err
	}
	if last == nil {
		last = first
	}
	s.firstFunc = first.marks[markFunc][0].off
	s.lastFunc = last.marks[markFunc][len(last.marks[markFunc])-1].off
	s.regions[markFunc] = [2]int64{first.n, last.n}
	s.regions[markMixed] = s.regions[markFunc]
	s.regions[markBefore][1] = first.n
	s.regions[markAfter] = [2]int64{last.n, body[1]}
	return nil
}

// firstWithFunc is the first slice with a FUNC from one end of the body on; nil if there is none. A megabyte is read one
// by one; a longer run of PUBLIC records is jumped over, and halved (a FUNC that it hides is found out when it is met).
func (s *sparse) firstWithFunc(from, to, dir int64) (*slice, error) {
	const near = 1 << 20
	has := func(n int64) (*slice, bool, error) {
		sl, err := s.load(n)
		return sl, err == nil && len(sl.marks[markFunc]) > 0, err
	}
	length := (to-from)*dir + 1 // how many slices there are
	lo := int64(0)
	for ; lo < length && (lo+1)*s.step <= near; lo++ {
		if lo == s.per && s.src.ReadsMany() { // a long run: the rest of the megabyte at once
			var all []uint64
			for i := lo; i < length && (i+1)*s.step <= near; i++ {
				all = append(all, uint64(from+i*dir))
			}
			s.readAhead(all, s.per, s.look)
		}
		if sl, ok, err := has(from + lo*dir); ok || err != nil {
			return sl, err
		}
	}
	// The lines of a long function carry no FUNC, but lead to it: at the end of the body backwards.
	if dir < 0 && lo < length {
		sl, err := s.load(from + (lo-1)*dir)
		if err != nil {
			return nil, err
		}
		for sl.edge&(headLine|tailFunc) != 0 && lo < length {
			if lo*s.step > maxWalk {
				return nil, disorder{groupAll}
			}
			var ok bool
			if sl, ok, err = has(from + lo*dir); ok || err != nil {
				return sl, err
			}
			lo++
		}
	}
	hi := lo
	for step := int64(1); ; step *= 2 {
		if hi >= length {
			hi = length
			break
		}
		if _, ok, err := has(from + hi*dir); err != nil {
			return nil, err
		} else if ok {
			break
		}
		lo = hi + 1
		hi += step
	}
	for lo < hi {
		mid := lo + (hi-lo)/2
		_, ok, err := has(from + mid*dir)
		if err != nil {
			return nil, err
		}
		if ok {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo >= length {
		return nil, nil
	}
	sl, ok, err := has(from + lo*dir)
	if err != nil || !ok {
		return nil, err
	}
	return sl, nil
}
