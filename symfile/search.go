package symfile

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
)

// survey learns where the sections of the file lie, by halving: about log2 of the number of slices reads for each.
func (s *sparse) survey() error {
	if s.count == 0 {
		return disorder{groupAll}
	}
	if s.src.ReadsMany() { // the first five halvings at once, which are knots, too; then those for all sections side by side
		var all []uint64
		for i := range int64(32) {
			all = append(all, uint64(s.count*i/32))
		}
		s.readAhead(all, min(s.per, 4), s.look) // of which only their knots are wanted
		all = all[:0]
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
	}
	for k, ph := range map[markKind]phase{markFile: phaseFiles, markOrigin: phaseOrigins, markInit: phaseCFI} {
		s.regions[k] = s.sections[ph]
	}
	s.regions[markWin4], s.regions[markWin0] = s.sections[phaseWin], s.sections[phaseWinNext]
	if s.win0First {
		s.regions[markWin4], s.regions[markWin0] = s.regions[markWin0], s.regions[markWin4]
	}
	if err := s.surveyBody(); err != nil {
		return err
	}
	s.surveyed = true
	for _, st := range s.shelf.stretches {
		for _, sl := range st.slices {
			if sl == nil {
				continue
			}
			var d disorder
			if err := s.admit(sl); errors.As(err, &d) && d.group != groupAll {
				s.broken[d.group] = true
			} else if err != nil {
				return err
			}
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
	for lo < hi {
		mid := lo + (hi-lo)/2
		high, at, err := s.phaseFrom(mid)
		if err == errAhead && hi-lo > 2*s.per { // with it those that may be next: a round costs more than a place
			for _, next := range [2]int64{lo + (mid-lo)/2, mid + 1 + (hi-mid-1)/2} {
				if _, err := s.load(next); err != nil && err != errAhead {
					return 0, err
				}
			}
		}
		if err != nil {
			return 0, err
		}
		if high >= ph || at == s.count {
			hi = mid
		} else {
			lo = at + 1
		}
	}
	return lo, nil
}

// sample reads some slices of every section, evenly spread: a file that is sorted nowhere is noticed at once, and the others
// have knots to start from. It ends at once if there is nothing to sample.
func (s *sparse) sample() error {
	if s == nil {
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
		for ph := numPhases - 1; ph > noPhase; ph-- {
			if sl.phases[ph] {
				return ph, at, nil
			}
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

// place is a record: the i-th of its kind in a slice.
type place struct {
	sl *slice
	i  int
}

func (p place) mark(k markKind) *mark { return &p.sl.marks[k][p.i] }

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
	at, _ := slices.BinarySearchFunc(ks, x, func(a knot, x uint64) int {
		if a.first <= x {
			return -1
		}
		return 1
	})
	done := at > 0 && settle(ks[at-1], 0)
	if !done && at < len(ks) {
		settle(ks[at], 0)
	}
	walked := int64(0)
	var edges [2]int64 // the ends of the stretch that was read last, to be looked at before another guess
	try, looks := 0, 0
	for !done && lo+1 < hi {
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
		case !hasLo && !hasHi && try == 0:
			mid = region[0]
		case !hasHi && try < 3:
			mid = hi - 1
		case !hasLo && try < 3:
			mid = lo + 1
		case hasLo && hasHi && try%5 != 4:
			part := float64(x-loKnot.last) / float64(hiKnot.first-loKnot.last)
			mid = (loKnot.lastOff + int64(part*float64(hiKnot.firstOff-loKnot.lastOff))) / s.step
			mid = min(max(mid, lo+1), hi-1)
		}
		if !look {
			try++
		}
		for n := mid; n > lo; n-- {
			reads := s.reads
			sl, err := s.load(n)
			if err != nil {
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
