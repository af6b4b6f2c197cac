package symfile

import (
	"bytes"
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core/input"
)

// A symbol file whose records are sorted can be searched as it lies on the disk. It is looked at in slices, all of one size: of
// each it is noted which records start in it (marks), and of each kind of record where it begins and ends (knots), for the next
// search to start from, and so that two slices which are not in order are noticed. What is read at a time are stretches of slices,
// since in a browser a read costs the same from 4 to 64 KiB; of a stretch only those slices are looked at that a search comes to.

const (
	// defaultSlice is how much is read at a time: of a File, Chromium reads as much in one go. A few bytes more are another go.
	defaultSlice = 64 << 10
	// atOnce slices are that, with the byte before them and the tail; sliceStep is the size of one.
	atOnce    = 16
	sliceStep = (defaultSlice - 1 - 256) / atOnce
	// sliceTail is read behind a slice: the fields by which a record is found stand in its first bytes.
	sliceTail = defaultSlice - 1 - atOnce*sliceStep
	// leastCached and mostCached bound the stretches that are kept, in bytes a file; between them it is a part of the file's size. While
	// lookups are prepared, it is mostCached: what some of them have read must still be there when the others have, too.
	leastCached, mostCached, cachedPart = 1 << 20, 18 << 20, 64
	// mostKept is how much is kept outside of the program's memory: what lookups will need of it they have looked at when the next flight begins, and
	// half of it stays beside that. With 8 MB many lookups in an uneven file read places twice.
	mostKept = 12 << 20
	// mostOnDisk is mostCached where slices are read one at a time: reading one again costs less there than the memory.
	mostOnDisk = 4 << 20
	// wideFiles is how many times more is read at a time of FILE records: a stack's lines refer to numbers all over a section
	// that is short. Not where slices are read one at a time.
	wideFiles = 4
	// maxKnots bounds the knots of a kind: further ones are only checked against their neighbours.
	maxKnots = 1024
	// maxWalk bounds how much is read in a row for one lookup, in bytes; files that need more are read as a whole.
	maxWalk = 16 << 20
	// maxSliceLine is the longest line, in bytes, that lookups in slices put up with.
	maxSliceLine = 64 << 10
)

// phase is a section of a file. Sections follow each other in this order.
type phase uint8

const (
	noPhase phase = iota
	phaseFiles
	phaseOrigins
	phaseBody    // FUNC with its lines, and PUBLIC
	phaseWin     // STACK WIN of one type, mostly 4
	phaseWinNext // STACK WIN of the other
	phaseCFI
	numPhases
)

// markKind is a kind of record that can be searched for.
type markKind uint8

const (
	markFile markKind = iota
	markOrigin
	markFunc
	markWin4
	markWin0
	markInit
	markPublic // as they are read; admit sorts them into the three below
	markBefore // PUBLIC before the first FUNC
	markMixed  // FUNC and PUBLIC from the first to the last FUNC: Mozilla's dump_syms writes both by address
	markAfter  // PUBLIC behind the last FUNC
	numMarks
)

// group is a set of sections that is indexed together if one of them is not in order.
type group uint8

const (
	groupFiles group = iota
	groupOrigins
	groupBody
	groupStack
	groupAll // the sections themselves are not in order
)

// groupOf is the group that a kind of record belongs to.
var groupOf = [numMarks]group{groupFiles, groupOrigins, groupBody, groupStack, groupStack, groupStack, groupBody, groupBody, groupBody, groupBody}

// disorder says that a group of a file cannot be searched. It is handled inside the package and never handed out.
type disorder struct{ group group }

func (d disorder) Error() string {
	return fmt.Sprintf("the symbol file is not sorted (group %d)", d.group)
}

// mark is a record that starts in a slice.
type mark struct {
	key  uint64 // address or number
	size uint64 // of the code, 0 if it is not used
	high uint64 // the highest end of the marks of its kind in the slice up to this one
	off  int64  // of the record's line in the file
	fn   bool   // of markMixed: a FUNC
}

// slice is a piece of the file: the lines that start in [n*step, (n+1)*step).
type slice struct {
	n      int64
	start  int64 // file offset of data
	data   []byte
	marks  [numMarks][]mark
	phases [numPhases]bool
	// first is the offset of the first line that starts here, -1 if none does.
	first int64
	edge  edge
}

// edge is what has to fit together where two slices meet, and that a slice was read.
type edge uint8

const (
	edgeRead    edge = 1 << iota
	headLine         // the first record is a line or an INLINE
	headDelta        // the first record is a STACK CFI
	tailFunc         // the last record is a FUNC or belongs to one
	tailCFI          // the last record is a STACK CFI INIT or belongs to one
	edgeHasHead      // there is a record at all
)

// knot is the part of one kind's order that is known of a slice.
type knot struct {
	n                 int64
	first, last, high uint64
	firstOff, lastOff int64
}

// knotOf is a knot of a slice that has records of the kind.
func knotOf(sl *slice, k markKind) knot {
	m := sl.marks[k]
	last := m[len(m)-1]
	return knot{n: sl.n, first: m[0].key, last: last.key, high: last.high, firstOff: m[0].off, lastOff: last.off}
}

// sparse searches a file by slices.
type sparse struct {
	src   *input.Source
	step  int64
	count int64

	per   int64 // how many slices are read at a time
	shelf shelf

	edges []edge
	knots [numMarks][]knot
	// sections are the slices of each section, from and to, and those of each kind; empty if from > to.
	sections [numPhases][2]int64
	regions  [numMarks][2]int64
	present  [numPhases]bool // sections that have records
	surveyed bool
	// bounded: sections are only where records of theirs may lie (see bound); borders: a lookup that was prepared needs to know where they do.
	bounded, borders bool
	filesAsked       bool // see filesToo
	originsAsked     bool // see originsToo
	// rulesFound and funcsFound are how the guesses of rules and functions did.
	rulesFound, funcsFound guesses
	// looks are the slices that the survey has looked at for where a section begins, at once each; seen what it has met of each kind.
	looks [numPhases][][]int64
	seen  [numMarks][]knot
	// win0First: STACK WIN records of type 0 stand before those of type 4.
	win0First bool
	// firstFunc and lastFunc are the offsets of the first and the last FUNC; -1 if there is none.
	firstFunc, lastFunc int64

	// ahead, while it is set, notes what lookups would read; preparing is set until all of that is read. coming are the slices that are
	// noted or being read, flights what is being read.
	ahead     *ahead
	preparing bool
	coming    sliceSet
	flights   []*flight
	streaming *streaming // what is read by streams, nil if nothing is
	piece     *piece     // of these, while it is at hand

	exact  [groupAll]bool // groups that have an index
	broken [groupAll]bool // groups that the survey found unsorted
	keeps  bool           // what is read ahead is kept outside of the program's memory
	// reads and bytes are what was read so far; scanned is how many slices were looked at.
	reads, bytes, scanned int64
	line                  []byte // a line that lies across slices
	// notes are the marks of the slice that is being scanned; the slice gets copies of the right size.
	notes [numMarks][]mark
}

func newSparse(src *input.Source, opt Options) *sparse {
	size := opt.Slice
	if size <= 0 {
		size = defaultSlice
	}
	step := min(size, sliceStep)
	s := &sparse{src: src, step: step, per: max(opt.stretch, size/step), count: (src.Size + step - 1) / step,
		firstFunc: -1, lastFunc: -1}
	s.edges, s.coming = make([]edge, s.count), make(sliceSet, s.count>>6+1)
	return s
}

// load gives a slice, from a stretch that is at hand or from the file.
func (s *sparse) load(n int64) (*slice, error) {
	if p := s.piece; p != nil && n >= p.from && n < p.upTo {
		return p.load(s, n)
	}
	st := s.shelf.find(n)
	if st == nil {
		var err error
		if st, err = s.read(n); err != nil {
			return nil, err
		}
	}
	st.block.used = true
	if sl := st.slices[n-st.from]; sl != nil {
		return sl, nil
	}
	data, err := s.dataOf(st, n)
	if err != nil {
		return nil, err
	}
	sl, err := s.looked(n, data)
	if err == nil {
		st.slices[n-st.from] = sl
	}
	return sl, err
}

// dataOf are the bytes of a slice of a stretch.
func (s *sparse) dataOf(st *stretch, n int64) ([]byte, error) {
	from, size := s.startOf(n)-s.startOf(st.from), s.bytesOf(n, n+1)
	if st.data != nil {
		return st.data[from:][:size], nil
	}
	data := make([]byte, size)
	if err := st.block.kept.Copy(st.place, data, from); err != nil {
		return nil, s.src.Wrap("symbol file", s.startOf(n), err)
	}
	return data, nil
}

// looked is a slice whose data was looked at.
func (s *sparse) looked(n int64, data []byte) (*slice, error) {
	sl := &slice{n: n, start: s.startOf(n), data: data, first: -1}
	s.scanned++
	err := s.scan(sl)
	s.keep(sl)
	switch {
	case err != nil:
	case s.surveyed:
		err = s.admit(sl)
	default:
		s.see(sl)
	}
	if err != nil {
		return nil, err
	}
	return sl, nil
}

// read reads a slice with as many around it as are read at a time and not at hand. While lookups are only asked what they will
// read (see Prepare), that is noted instead.
func (s *sparse) read(n int64) (*stretch, error) {
	if a := s.ahead; a != nil {
		a.missed = true
		if !s.coming.has(n) {
			from, to := s.around(n)
			a.spans = append(a.spans, [2]int64{from, to})
			a.noted = append(a.noted, n)
			s.coming.set(from, to, true)
		}
		return nil, errAhead
	}
	from, to := s.around(n)
	s.room(s.bytesOf(from, to))
	read := s.shelf.blocksFor([][2]int64{{from, to}}, s.bytesOf, false)
	b := read[0]
	if _, err := s.src.ReadDirect(b.data, s.startOf(from)); err != nil && err != io.EOF {
		s.shelf.drop(read)
		return nil, s.src.Wrap("symbol file", s.startOf(from), err)
	}
	s.reads++
	s.bytes += b.size
	s.shelf.put(read)
	return &b.stretches[0], nil
}

// around are the slices to be read with slice n: from and up to.
func (s *sparse) around(n int64) (from, to int64) {
	from, to, per := n, n+1, s.per
	if section := s.sections[phaseFiles]; s.surveyed && n >= section[0] && n <= section[1] && per > 1 && s.fewFiles() {
		per *= wideFiles
	} else if s.ahead != nil {
		if per = min(per, s.ahead.slices); s.ahead.unsure && per == aheadSlices {
			per *= 2
		}
	}
	least, most := s.shelf.gap(n, max(0, n-per), min(s.count, n+per))
	free := func(n int64) bool { return s.ahead == nil || !s.coming.has(n) }
	for back := per / 2; back > 0 && from > least && free(from-1); back-- {
		from--
	}
	for to-from < per && to < most && free(to) {
		to++
	}
	for to-from < per && from > least && free(from-1) {
		from--
	}
	return from, to
}

// fewFiles reports whether all FILE records are kept beside each other when they are read.
func (s *sparse) fewFiles() bool { return s.bytesOfSection(phaseFiles) < mostCached/2 }

func (s *sparse) bytesOfSection(ph phase) int64 {
	return (s.sections[ph][1] - s.sections[ph][0]) * s.step
}

// startOf is the file offset of a slice's data: with the byte before it, which tells whether a line begins there.
//
// It is called in many places, and none of them counts: in each, it would only make the program larger.
//
//go:noinline
func (s *sparse) startOf(n int64) int64 { return max(0, n*s.step-1) }

// bytesOf is how many bytes are read for the slices from and up to.
func (s *sparse) bytesOf(from, to int64) int64 {
	return min(s.src.Size, to*s.step+sliceTail) - s.startOf(from)
}

// room has what was not used for long make way for as many bytes.
func (s *sparse) room(need int64) {
	most := int64(mostCached)
	switch {
	case s.keeps:
		most = max(mostKept, need+mostKept/2)
	case s.per == 1:
		most = min(max(leastCached, s.src.Size/cachedPart), mostOnDisk)
	case !s.preparing:
		most = min(max(leastCached, s.src.Size/cachedPart), most)
	}
	s.shelf.room(need, most)
}

// scan notes the records that start in a slice.
func (s *sparse) scan(sl *slice) error {
	limit := int(min(s.src.Size, (sl.n+1)*s.step) - sl.start)
	b := sl.data
	i := 0
	sl.edge = edgeRead
	if sl.n > 0 { // from the first line that starts here
		i = bytes.IndexByte(b, '\n') + 1
		if i == 0 {
			return nil
		}
	} else if bytes.HasPrefix(b, bom) {
		i = len(bom)
	}
	if i < limit {
		sl.first = sl.start + int64(i)
	}
	var prev phase // of the record before, to see what a line belongs to
	owner := false // the record before is a FUNC or one of its lines, or of STACK CFI
	for i < limit {
		n := bytes.IndexByte(b[i:], '\n')
		// What belongs to the record before it, as writers write it, is most of the file.
		if owner && n > 10 {
			if c := b[i]; prev == phaseBody && (c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c == 'I' && b[i+6] == ' ' && string(b[i:i+6]) == "INLINE") ||
				prev == phaseCFI && c == 'S' && hexVal[b[i+10]] != 0xff && string(b[i:i+10]) == "STACK CFI " {
				i += n + 1
				continue
			}
		}
		whole := n >= 0 || sl.start+int64(len(b)) == s.src.Size
		if n < 0 {
			n = len(b) - i
		}
		line := b[i : i+n]
		r := classify(line)
		if r.is == recordBlank {
			i += n + 1
			continue
		}
		if !whole && len(r.left) == 0 && r.is != recordLine && r.is != recordInline {
			return disorder{groupAll} // the fields are not where every writer puts them
		}
		off := sl.start + int64(i)
		i += n + 1
		if r.is == recordInfo {
			continue
		}
		ph := phaseOfRecord[r.is]
		if r.is == recordWin {
			if r.typ != 0 && r.typ != 4 {
				continue
			}
			if r.typ == 0 != s.win0First {
				ph = phaseWinNext
			}
		}
		if ph < prev {
			return disorder{groupAll}
		}
		if sl.edge&edgeHasHead == 0 {
			sl.edge |= edgeHasHead
			switch r.is {
			case recordLine, recordInline:
				sl.edge |= headLine
			case recordDelta:
				sl.edge |= headDelta
			}
		} else if (r.is == recordLine || r.is == recordInline) && !(prev == phaseBody && owner) {
			if err := s.unsorted(groupBody); err != nil {
				return err
			}
		} else if r.is == recordDelta && !(prev == phaseCFI && owner) {
			if err := s.unsorted(groupStack); err != nil {
				return err
			}
		}
		prev, owner = ph, r.is != recordPublic
		sl.phases[ph] = true
		if !r.ok {
			continue
		}
		switch r.is {
		case recordFile:
			s.note(markFile, mark{key: r.key, off: off})
		case recordOrigin:
			s.note(markOrigin, mark{key: r.key, off: off})
		case recordFunc:
			s.note(markFunc, mark{key: r.key, size: r.size, off: off, fn: true})
		case recordPublic:
			if r.key != 0 {
				s.note(markPublic, mark{key: r.key, off: off})
			}
		case recordInit:
			s.note(markInit, mark{key: r.key, size: r.size, off: off})
		case recordWin:
			if r.size > 0 {
				k := markWin4
				if r.typ == 0 {
					k = markWin0
				}
				s.note(k, mark{key: r.key, size: r.size, off: off})
			}
		}
	}
	if owner {
		switch prev {
		case phaseBody:
			sl.edge |= tailFunc
		case phaseCFI:
			sl.edge |= tailCFI
		}
	}
	return nil
}

// unsorted is the error for a group, if it matters: not for one that has an index. The survey goes on, and only keeps it.
func (s *sparse) unsorted(g group) error {
	if s.exact[g] {
		return nil
	}
	if !s.surveyed {
		s.broken[g] = true
		return nil
	}
	return disorder{g}
}

// note appends a mark. Code of no bytes, or beyond the last address, is none (see scanner.code).
func (s *sparse) note(k markKind, m mark) {
	if m.key+m.size < m.key {
		m.size = 0
	}
	m.high = m.key + m.size
	if have := s.notes[k]; len(have) > 0 {
		m.high = max(m.high, have[len(have)-1].high)
	}
	s.notes[k] = append(s.notes[k], m)
}

// keep gives a slice what was noted.
func (s *sparse) keep(sl *slice) {
	for k, n := range s.notes {
		if len(n) > 0 {
			sl.marks[k] = append(make([]mark, 0, len(n)), n...)
			s.notes[k] = n[:0]
		}
	}
}

// marked reports whether a record that can be searched for starts in a slice.
func (sl *slice) marked() bool {
	for _, m := range sl.marks {
		if len(m) > 0 {
			return true
		}
	}
	return false
}
