package symfile

// Where a survey has looked at many places at once, each section of the file is known to lie between two of them. For most lookups that
// is enough: they begin among those places and never come near a border. Where the borders are is found out when something needs it:
// PUBLIC and STACK WIN records, a section that may not be there, a record that was looked for beyond its section.

// bound has the sections lie between the places that were looked at, if these show all that is asked of a file before its borders are known.
func (s *sparse) bound() (enough bool, err error) {
	var sections [numPhases][2]int64
	for ph := range sections {
		sections[ph][1] = s.count - 1
	}
	var present [numPhases]bool
	before := noPhase
	for sl := range s.shelf.known {
		first, last := sl.span()
		if first == noPhase {
			continue
		}
		if first < before {
			return false, disorder{groupAll}
		}
		before = last
		for ph := range present {
			present[ph] = present[ph] || sl.phases[ph]
		}
		sl.narrow(&sections)
	}
	if !present[phaseFiles] || !present[phaseBody] || !present[phaseCFI] || !present[phaseOrigins] && sections[phaseOrigins][0] <= sections[phaseOrigins][1] {
		return false, nil
	}
	s.sections, s.present = sections, present
	s.bounded, s.surveyed = true, true
	s.setRegions()
	if err := s.admitAll(); err != nil {
		return false, err
	}
	if s.broken != [groupAll]bool{} {
		s.bounded, s.surveyed = false, false
	}
	return s.bounded, nil
}

// phaseOf is the section of the kinds that are looked for in one whose borders need not be known.
var phaseOf = [numMarks]phase{markFile: phaseFiles, markOrigin: phaseOrigins, markFunc: phaseBody, markInit: phaseCFI}

// setRegions has each kind of record be looked for in its section. Between which FUNCs a PUBLIC stands is not known of sections without borders.
func (s *sparse) setRegions() {
	for _, k := range [...]markKind{markFile, markOrigin, markFunc, markInit} {
		s.regions[k] = s.sections[phaseOf[k]]
	}
	for _, k := range [...]markKind{markBefore, markMixed, markAfter} {
		s.regions[k] = [2]int64{0, -1}
	}
	s.regions[markWin4], s.regions[markWin0] = s.sections[phaseWin], s.sections[phaseWinNext]
	if s.win0First {
		s.regions[markWin4], s.regions[markWin0] = s.regions[markWin0], s.regions[markWin4]
	}
}

// narrow has the sections that a slice has no records of lie on one side of it.
func (sl *slice) narrow(sections *[numPhases][2]int64) {
	first, last := sl.span()
	if first == noPhase {
		return
	}
	for ph := phaseFiles; ph < numPhases; ph++ {
		if last < ph {
			sections[ph][0] = max(sections[ph][0], sl.n+1)
		}
		if first > ph {
			sections[ph][1] = min(sections[ph][1], sl.n-1)
		}
	}
}

// span are the first and the last section that a slice has records of; noPhase without any.
func (sl *slice) span() (first, last phase) {
	for ph := phaseFiles; ph < numPhases; ph++ {
		if sl.phases[ph] {
			last = ph
			if first == noPhase {
				first = ph
			}
		}
	}
	return first, last
}

// nearFiles is between which slices, in stretches, the end of the FILE records needs no looking for: the numbers of a stack's lines are from all
// over that section, and guessed well enough.
const nearFiles = 32

// mostLooks is how often it is looked for.
const mostLooks = 4

// filesToo finds about where the FILE records end, beside lookups whose names will be wanted next. Nil if somebody is at it.
func (s *sparse) filesToo() func() error {
	if !s.bounded || s.filesAsked {
		return nil
	}
	s.filesAsked = true
	var places []int64 // of one look
	looks := 0
	return func() error {
		for s.bounded {
			missing := false
			for _, n := range places {
				if _, err := s.load(n); err == errAhead {
					missing = true
				} else if err != nil {
					return err
				}
			}
			if missing {
				return errAhead
			}
			lo, hi := s.sections[phaseOrigins][0], s.sections[phaseFiles][1]+1
			if hi-lo <= nearFiles*s.per || looks == mostLooks {
				return nil
			}
			looks++
			places = s.between(phaseOrigins, lo, hi)
		}
		return nil
	}
}

// stations are numbers of INLINE_ORIGINs between which the others are guessed. Each record bears its number, so that from a power of ten on
// they are longer by a byte or more, while places that were looked at stand evenly in the file: around 1,000,000, where these were 33 MB apart,
// guesses were wrong by up to 140 KB. With stations 3 times as far as the last one they are right by a slice.
var stations = [...]uint64{1e4, 3e4, 1e5, 3e5, 1e6, 3e6, 1e7}

// farApart is between which places, in stretches, a station is worth a read.
const farApart = 32

// originsToo looks at stations of the section of INLINE_ORIGIN records, beside lookups whose names will be wanted next. Nil if that was done.
func (s *sparse) originsToo() func() error {
	if s.originsAsked || !s.present[phaseOrigins] {
		return nil
	}
	s.originsAsked = true
	var places []int64
	ks := s.knots[markOrigin]
	for _, num := range stations {
		if at := firstBehind(ks, num); at > 0 && at < len(ks) && ks[at-1].last < num && ks[at].n-ks[at-1].n > farApart*aheadSlices {
			places = append(places, s.proportion(ks[at-1], ks[at], num))
		}
	}
	return func() (err error) {
		for _, n := range places {
			if _, problem := s.load(n); problem != nil {
				err = problem
			}
		}
		return err
	}
}

// proportion is the slice between two that are known in which a record stands if they are all of one length: x is neither in one of them nor
// outside.
func (s *sparse) proportion(lo, hi knot, x uint64) (n int64) {
	part := float64(x-lo.last) / float64(hi.first-lo.last)
	n = (lo.lastOff + int64(part*float64(hi.firstOff-lo.lastOff))) / s.step
	return min(max(n, lo.n+1), hi.n-1)
}

// needBorders finds the borders, if that was not done. Of lookups that are only prepared it is noted that they need them.
func (s *sparse) needBorders() error {
	switch {
	case !s.bounded:
		return nil
	case s.ahead != nil:
		s.ahead.missed, s.borders = true, true
		return errAhead
	}
	return s.findBorders()
}

func (s *sparse) findBorders() error {
	if !s.bounded {
		return nil
	}
	s.bounded, s.surveyed, s.borders = false, false, false
	if err := s.surveyAll(); err != nil {
		s.bounded, s.surveyed = true, true
		return err
	}
	for g, bad := range s.broken {
		if bad && !s.exact[g] {
			return disorder{group(g)}
		}
	}
	return nil
}

// beyond guesses in which slice a record stands for which all known slices lie on one side: it goes on as the nearest two of them do, or as
// the records of one.
func (s *sparse) beyond(k markKind, x uint64) (n int64, ok bool) {
	ks := s.knots[k]
	at := firstBehind(ks, x)
	var a, b knot // on the line through them
	switch {
	case len(ks) == 0:
		return 0, false
	case at > 0:
		b = ks[at-1]
		a = ks[max(0, at-2)]
	default:
		a, b = ks[0], ks[min(1, len(ks)-1)]
	}
	key, off := a.first, a.firstOff
	width, bytes := float64(b.last)-float64(key), float64(b.lastOff-off)
	if width <= 0 {
		return 0, false
	}
	return int64(float64(off)+(float64(x)-float64(key))/width*bytes) / s.step, true
}
