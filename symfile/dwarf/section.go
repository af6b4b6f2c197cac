package dwarf

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// sectionID names a section of an object.
type sectionID uint8

const (
	secInfo sectionID = iota
	secTypes
	secAbbrev
	secStr
	secLine
	secLineStr
	secRanges
	secRnglists
	secAddr
	secStrOffsets
	secAranges
	secNames
	secGdbIndex
	secCUIndex
	secTUIndex
	numSections
)

// sectionKinds has a section's name, the least number of bytes of a read, and whether the section
// of a .dwo file has the suffix ".dwo". The least size is large for sections whose neighbouring
// bytes a lookup soon needs, such as .debug_aranges, and small for those that it jumps around in,
// such as .debug_info.
var sectionKinds = [numSections]struct {
	name  string
	least int64
	dwo   bool
}{
	secInfo:       {".debug_info", 512, true},
	secTypes:      {".debug_types", 512, true},
	secAbbrev:     {".debug_abbrev", 8 << 10, true},
	secStr:        {".debug_str", 1 << 10, true},
	secLine:       {".debug_line", 4 << 10, false},
	secLineStr:    {".debug_line_str", 8 << 10, false},
	secRanges:     {".debug_ranges", 4 << 10, false},
	secRnglists:   {".debug_rnglists", 4 << 10, true},
	secAddr:       {".debug_addr", 4 << 10, false},
	secStrOffsets: {".debug_str_offsets", 4 << 10, true},
	secAranges:    {".debug_aranges", 1 << 20, false},
	secNames:      {".debug_names", 4 << 10, false},
	secGdbIndex:   {".gdb_index", 1 << 20, false},
	secCUIndex:    {".debug_cu_index", 4 << 10, false},
	secTUIndex:    {".debug_tu_index", 4 << 10, false},
}

// object is the sections of one file: the opened file, the supplementary file, a .dwo file, or one
// unit's parts of a .dwp file.
type object struct {
	d   *Data
	s   Sections
	big bool
	dwo bool
	alt *object
	// pack is the whole .dwp file, if the object is one unit's part of it.
	pack *object
	// others are the further .debug_info and .debug_types sections of a .dwo file, an object for
	// each (see Sections.More). first is set in those, to the object whose others they are.
	others     []*object
	othersRead bool
	first      *object

	secs   [numSections]*section
	looked [numSections]bool

	units     []*unit // of .debug_info by offset; complete if scanned
	scanned   bool
	typeUnits []*unit // of .debug_types
	typesRead bool
	byOff     map[int64]*unit
	bySig     map[uint64]*unit
	abbrevs   map[abbrevKey]*abbrevTable
	abbrevLen int
	names     map[entryName]string
	nameBytes int
	held      int64         // bytes of memory, see hold
	payer     *input.Source // whose Budget they are drawn from
}

// newObject makes an object of a file's sections. It finds out the byte order by how Order writes a
// number.
func newObject(d *Data, s Sections, dwo bool) *object {
	o := &object{d: d, s: s, dwo: dwo, byOff: map[int64]*unit{}, abbrevs: map[abbrevKey]*abbrevTable{}, names: map[entryName]string{}}
	if s.Order != nil {
		var probe [2]byte
		s.Order.PutUint16(probe[:], 1)
		o.big = probe[1] == 1
	}
	return o
}

// hold draws n bytes of memory that the object keeps. Objects of .dwo files come and go: theirs is not
// drawn.
func (o *object) hold(sec *section, n int64) error {
	if o.dwo {
		return nil
	}
	if err := sec.src.Draw(input.Memory, n); err != nil {
		return sec.wrap(0, err)
	}
	o.held, o.payer = o.held+n, sec.src
	return nil
}

// release returns n bytes that hold has drawn.
func (o *object) release(n int64) {
	if o.payer != nil {
		o.payer.Return(n)
		o.held -= n
	}
}

// section returns a section, or nil if the file lacks it or it is empty.
func (o *object) section(id sectionID) (*section, error) {
	if o.looked[id] {
		return o.secs[id], nil
	}
	kind := &sectionKinds[id]
	name := kind.name
	if o.dwo && kind.dwo {
		name += ".dwo"
	}
	src, err := o.s.Get(name)
	if err != nil {
		return nil, err
	}
	if src == nil || src.Size == 0 {
		o.looked[id] = true
		return nil, nil
	}
	s := &section{name: name, file: o.s.File, src: src, size: src.Size, least: kind.least}
	if err := s.useMemory(); err != nil {
		return nil, err
	}
	o.looked[id] = true
	o.secs[id] = s
	return s, nil
}

// useMemory sets mem if the source has the whole section in memory.
func (s *section) useMemory() error {
	b, at, err := s.src.Block(0)
	if err != nil {
		return s.wrap(0, err)
	}
	if at == 0 && int64(len(b)) == s.size {
		s.mem = b
	}
	return nil
}

// section reads a section by random access, with a small cache. Reads that continue where the last
// one ended grow up to 64 KiB.
type section struct {
	name, file string
	src        *input.Source
	size       int64
	least      int64
	mem        []byte // the whole section, or nil
	held       window // the last read above 64 KiB: a whole unit, whose names are read next
	wins       [12]window
	next       int   // index in wins of the window to replace next
	step       int64 // size of a read, if not 0
	ahead      int64 // size of the last read
	readTo     int64 // end of the last read
}

// window is a range of the section that was read.
type window struct {
	at   int64
	data []byte
}

func (s *section) errorf(off int64, want, have string, args ...any) error {
	return &input.FormatError{File: s.file, Part: s.name, Offset: off, Want: want, Have: fmt.Sprintf(have, args...)}
}

// upTo returns at least n bytes at off, or those to the end of the section; off must be inside it.
// The caller must not change them. They stay valid until the next read above 64 KiB.
//
// It takes them from the section in memory, from the last large read, from one of the last 12 small
// reads, from what was read in rounds, or from a new read. A new read has at least the section's least size. One that continues
// the last read is twice as long as that, up to 64 KiB, so that a pass over the section makes few
// reads. While skim runs, reads have the size step.
func (s *section) upTo(off, n int64) ([]byte, error) {
	if off < 0 || off >= s.size {
		return nil, s.errorf(off, "an offset inside the section", "a section of %d bytes", s.size)
	}
	n = min(n, s.size-off)
	if s.mem != nil {
		return s.mem[off:], nil
	}
	// A large read is kept apart, so that small ones do not replace it.
	if at := off - s.held.at; at >= 0 && at+n <= int64(len(s.held.data)) {
		return s.held.data[at:], nil
	}
	for i := range s.wins {
		w := &s.wins[i]
		if at := off - w.at; at >= 0 && at+n <= int64(len(w.data)) {
			return w.data[at:], nil
		}
	}
	if b := s.src.Prefetched(off, n); b != nil {
		return b, nil
	}
	size := s.least
	if s.step > 0 {
		size = s.step
	} else if gap := off - s.readTo; s.readTo > 0 && gap <= s.least/2 && -gap < s.ahead { // continues the last read
		size = max(s.least, min(2*s.ahead, 64<<10))
	}
	size = min(max(n, size), s.size-off)
	var p []byte
	// A pass over a file reads unit after unit: the memory of the last large read is used again.
	if large := size > 64<<10; large && int64(cap(s.held.data)) >= size {
		p, s.held.data = s.held.data[:size], s.held.data[:0]
	} else {
		p = make([]byte, size)
	}
	if _, err := s.src.ReadDirect(p, off); err != nil {
		return nil, s.wrap(off, err)
	}
	s.ahead, s.readTo = size, off+size
	if size <= 64<<10 {
		s.wins[s.next] = window{off, p}
		s.next = (s.next + 1) % len(s.wins)
	} else {
		s.held = window{off, p}
	}
	return p, nil
}

// bytes returns exactly n bytes at off.
func (s *section) bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > s.size || n > s.size-off {
		return nil, s.errorf(off, fmt.Sprintf("%d bytes", n), "%d bytes to the end of the section", max(0, s.size-max(0, off)))
	}
	if n == 0 {
		return nil, nil
	}
	b, err := s.upTo(off, n)
	if err != nil {
		return nil, err
	}
	return b[:n], nil
}

// number reads an unsigned number of 1, 2, 3, 4 or 8 bytes.
func (s *section) number(off int64, size int, big bool) (uint64, error) {
	b, err := s.bytes(off, int64(size))
	if err != nil {
		return 0, err
	}
	r := reader{b: b, big: big}
	return r.uint(size), nil
}

// wrap adds the section and the offset to an error of reading.
func (s *section) wrap(off int64, err error) error { return s.src.Wrap(s.name, off, err) }

// maxKept is the size of the largest section that keep reads into memory.
const maxKept = 256 << 20

// keep reads whole sections into memory for Each, which needs their bytes in no order. Calling the
// returned function frees them.
func (o *object) keep() (func(), error) {
	var kept []*section
	for _, id := range []sectionID{secAbbrev, secStr, secLineStr, secRanges, secRnglists, secAddr, secStrOffsets} {
		s, err := o.section(id)
		if err != nil {
			return nil, err
		}
		if s == nil || s.mem != nil || s.size > maxKept {
			continue
		}
		b := make([]byte, s.size)
		if _, err := s.src.ReadDirect(b, 0); err != nil {
			return nil, s.wrap(0, err)
		}
		s.mem = b
		kept = append(kept, s)
	}
	return func() {
		for _, s := range kept {
			s.mem = nil
		}
	}, nil
}
