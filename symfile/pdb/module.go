package pdb

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// function says where a function's code and records are.
type function struct {
	at         uint64 // section and offset, see sectionOffset
	size       uint32
	off, limit uint32 // its record, and the end of what belongs to it
	kind       uint16
}

func (f *function) start() uint64 { return f.at }

// thunk is a jump that the linker or compiler made: to another module, to an overridden method, to
// a function that may be replaced.
type thunk struct {
	at, target uint64
	size       uint32
	name       string // "" for that of its target
}

// separated is a part of a function that the linker put somewhere else.
type separated struct {
	at, parent uint64
	size       uint32
}

// moduleData is one module's stream. A lookup searches it; for what is not found so, and to list
// all functions, it is indexed.
type moduleData struct {
	f       *File
	number  int
	s       *stream // nil if the module has none
	symbols part    // after their signature
	c13     part    // subsections of lines, inlined functions, files

	held      int64       // bytes of memory that were drawn for what is indexed
	indexed   bool        // the symbols are, as functions, thunks and separated
	functions []function  // by address
	thunks    []thunk     // likewise
	separated []separated // likewise

	linesIndexed bool        // all subsections are, as what follows
	blocks       []lineBlock // by address
	around       bool        // the subsections before and after those of lines are known: see aroundLines
	firstLines   int64       // where the first of lines is, then
	last         *lineBlock  // whose lines are kept
	lastLines    []span
	checksums    part     // of files
	inlinees     []part   // lines of inlined functions
	origins      []origin // those, by function, once they were read
	read         bool

	sites    []site // of the function at sitesAt, whose calls were read last, with what was wrong
	sitesAt  uint32
	sitesErr error
	inner    []span // what innermost makes of those and of the lines of innerOf
	innerOf  uint64

	imports, exports part              // ids of other modules that are used here, and those of this one that are used elsewhere
	known            map[uint32]uint32 // ids of other modules, see global
	exported         map[uint32]uint32 // nil until exports was read
}

// part is a range of a stream.
type part struct{ off, size int64 }

// recordWork is the work of reading one record, in steps.
const recordWork = 4

// maxOpen bounds how many modules are kept, each with a cache of up to 1 MiB.
const maxOpen = 8

// module opens a module.
// Walking a stack comes back to a few modules, so the last ones stay open, with what was indexed of
// them. The first in the list was used last; the last one is dropped.
func (f *File) module(number int) (*moduleData, error) {
	for i, m := range f.open {
		if m.number == number {
			copy(f.open[1:i+1], f.open[:i])
			f.open[0] = m
			return m, nil
		}
	}
	list, err := f.modules()
	if err != nil {
		return nil, err
	}
	m := &moduleData{f: f, number: number}
	if number < len(list) {
		m.open(&list[number])
	}
	if len(f.open) < maxOpen {
		f.open = append(f.open, nil)
	} else if last := f.open[maxOpen-1]; last.s != nil {
		last.s.Return(last.held)
	}
	copy(f.open[1:], f.open)
	f.open[0] = m
	return m, nil
}

// open says which parts the module's stream has.
//
// The stream has, one after the other: a signature (4), symbols (with the signature e.symbols
// bytes), old lines, lines. A size beyond the stream's end is cut, so that the rest of a damaged
// stream can be read.
func (m *moduleData) open(e *module) {
	if e.stream == noStream {
		return
	}
	if m.s = m.f.msf.stream(int(e.stream), "module"); m.s == nil {
		return
	}
	const signature = 4
	m.symbols = part{signature, max(min(int64(e.symbols), m.s.Size)-signature, 0)}
	m.c13.off = int64(e.symbols) + int64(e.oldLines)
	m.c13.size = max(min(int64(e.lines), m.s.Size-m.c13.off), 0)
	if e.oldLines > 0 {
		m.f.notes.Add(fmt.Errorf("%s: its lines are in the form before Visual Studio 2005, which is not read", m.f.moduleName(e, m.number)))
	}
}

// index goes over the symbols once. What is wrong with them costs those that follow.
func (m *moduleData) index() error {
	if m.indexed || m.s == nil {
		return nil
	}
	before := m.held
	m.functions, m.thunks, m.separated = nil, nil, nil
	if err := m.f.pass(m.indexSymbols()); err != nil {
		return m.release(before, err)
	}
	m.indexed = true
	return nil
}

// symbolRecord is a symbol record: its offset and size in the stream, the offset of the next one
// after its scope, and its first bytes.
type symbolRecord struct {
	off, size, next int64
	kind            uint16
	head            []byte
}

// function is what the record of one says. Its scope has an end, so that what is in it can be
// passed over. next is the record after the scope's end, see walkSymbols. Of 40 bytes of a record's
// head all numbers are read; the name is read when it is shown.
func (r *symbolRecord) function() function {
	return function{at: sectionOffset(u16(r.head, 36), u32(r.head, 32)), size: u32(r.head, 16), off: uint32(r.off), limit: uint32(r.next), kind: r.kind}
}

// walkSymbols calls fn for the records outside of functions, from the one at off on, until fn says
// that it is enough.
//
// A record: 0 length u16 (without this field), 2 kind u16, data. That of a function has the offset
// of its end record, so that the local variables and inlined calls between the two are passed over
// unread.
func (m *moduleData) walkSymbols(off int64, fn func(r *symbolRecord) (enough bool, err error)) error {
	const headerSize = 40 // of a function, up to its name
	end := m.symbols.off + m.symbols.size
	for off+4 <= end {
		head, err := m.bytes(off, min(headerSize, end-off))
		if err != nil {
			return err
		}
		r := symbolRecord{off: off, size: int64(u16(head, 0)) + 2, kind: u16(head, 2)}
		if r.size < 4 || r.size > end-off {
			return &input.FormatError{File: m.s.Name, Part: "symbols", Offset: off, Want: fmt.Sprintf("a record of 4 to %d bytes", end-off), Have: fmt.Sprint(r.size)}
		}
		r.next = off + r.size
		r.head = head[:min(int64(len(head)), r.size)]
		if isProc(r.kind) {
			// An end that is before the record or outside of the symbols is not believed: the next
			// record follows this one.
			if until := int64(u32(head, 8)); until >= r.next && until < end {
				r.next = until
			}
		}
		if enough, err := fn(&r); err != nil || enough {
			return err
		}
		off = r.next
	}
	return nil
}

// indexSymbols finds the functions, thunks, and parts of functions.
func (m *moduleData) indexSymbols() error {
	err := m.walkSymbols(m.symbols.off, func(r *symbolRecord) (bool, error) {
		head := r.head
		switch kind := r.kind; {
		case isProc(kind):
			// A function without code covers no address.
			if fn := r.function(); fn.size > 0 {
				m.functions = append(m.functions, fn)
				return false, m.hold()
			}
		case kind == symThunk || kind == symThunkST: // 4 parent, 8 end, 12 next, 16 offset, 20 section, 22 length, 24 ordinal, 25 name
			rec, err := m.bytes(r.off, r.size)
			if err != nil {
				return false, err
			}
			m.thunks = append(m.thunks, thunk{at: sectionOffset(u16(head, 20), u32(head, 16)), size: uint32(u16(head, 22)), name: name(kind, rec, 25)})
			return false, m.hold()
		case kind == symTrampoline: // 4 type u16, 6 size u16, 8 offset, 12 target's, 16 section, 18 target's
			m.thunks = append(m.thunks, thunk{at: sectionOffset(u16(head, 16), u32(head, 8)), size: uint32(u16(head, 6)), target: sectionOffset(u16(head, 18), u32(head, 12))})
			return false, m.hold()
		case kind == symSepCode: // 4 parent, 8 end, 12 length, 16 flags, 20 offset, 24 parent's, 28 section, 30 parent's
			m.separated = append(m.separated, separated{at: sectionOffset(u16(head, 28), u32(head, 20)), size: u32(head, 12), parent: sectionOffset(u16(head, 30), u32(head, 24))})
			return false, m.hold()
		}
		return false, nil
	})
	slices.SortStableFunc(m.functions, func(a, b function) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(m.thunks, func(a, b thunk) int { return cmp.Compare(a.at, b.at) })
	slices.SortStableFunc(m.separated, func(a, b separated) int { return cmp.Compare(a.at, b.at) })
	return err
}

// hold draws the memory of an entry of an index.
func (m *moduleData) hold() error {
	const entry = 64 // bytes, with the room that the list grows by
	if err := m.s.Draw(input.Memory, entry); err != nil {
		return m.s.Wrap("", 0, err)
	}
	m.held += entry
	return nil
}

// release gives back the memory that was drawn since held bytes were: for an index that lacks bytes, and
// is made again when they are here. It returns why.
func (m *moduleData) release(held int64, why error) error {
	m.s.Return(m.held - held)
	m.held = held
	return why
}

// bytes are bytes of the stream, not to be changed; of those of one block no copy is made.
func (m *moduleData) bytes(off, n int64) ([]byte, error) {
	if err := m.s.Draw(input.Work, recordWork); err != nil {
		return nil, m.s.Wrap("", off, err)
	}
	if off >= 0 && n > 0 && n <= m.s.Size-off {
		block, start, err := m.s.Block(off)
		if err != nil {
			return nil, err
		}
		if i := off - start; i+n <= int64(len(block)) {
			return block[i : i+n], nil
		}
	}
	return m.s.Bytes(off, n)
}

// record is the record at an offset.
func (m *moduleData) record(off int64) ([]byte, error) {
	head, err := m.bytes(off, 2)
	if err != nil {
		return nil, err
	}
	return m.bytes(off, int64(u16(head, 0))+2)
}

// function is the function that covers a section's byte; of several that of the last start, and of
// those the first. A part that was put elsewhere belongs to its function; at is then where the part
// begins.
//
// A search of the stream comes first, as it reads little. Only if that finds nothing is the stream
// indexed as a whole.
func (m *moduleData) function(key uint64) (fn *function, at uint64, size uint32, err error) {
	if !m.indexed {
		if fn, err := m.searchFunction(key); err != nil {
			return nil, 0, 0, err
		} else if fn != nil {
			return fn, fn.at, fn.size, nil
		}
		if err := m.index(); err != nil {
			return nil, 0, 0, err
		}
	}
	// Functions are not in each other, but those of a damaged file may be: a few before it are
	// looked at.
	const most = 16
	i := lastUpTo(m.functions, key, (*function).start)
	for n := 0; i >= 0 && n < most; i, n = i-1, n+1 {
		if f := &m.functions[i]; key-f.at < uint64(f.size) {
			f = m.firstAt(i, key)
			return f, f.at, f.size, nil
		}
	}
	if i := lastUpTo(m.separated, key, func(s *separated) uint64 { return s.at }); i >= 0 && key-m.separated[i].at < uint64(m.separated[i].size) {
		s := m.separated[i]
		if k := lastUpTo(m.functions, s.parent, (*function).start); k >= 0 && m.functions[k].at == s.parent {
			return m.firstAt(k, s.parent), s.at, s.size, nil
		}
	}
	return nil, 0, 0, nil
}

// firstAt is the first function that begins where the one with number i does and covers a section's byte.
// Identical functions that the linker made one (/OPT:ICF) have a record each.
func (m *moduleData) firstAt(i int, key uint64) *function {
	for i > 0 && m.functions[i-1].at == m.functions[i].at && key-m.functions[i-1].at < uint64(m.functions[i-1].size) {
		i--
	}
	return &m.functions[i]
}

// thunk is the thunk that covers a section's byte, or nil.
func (m *moduleData) thunk(key uint64) *thunk {
	i := lastUpTo(m.thunks, key, func(t *thunk) uint64 { return t.at })
	if i < 0 || key-m.thunks[i].at >= uint64(m.thunks[i].size) {
		return nil
	}
	return &m.thunks[i]
}

// lastUpTo is the number of elements, sorted by start, that begin at or before a value, less one.
func lastUpTo[T any](list []T, value uint64, start func(*T) uint64) int {
	return sort.Search(len(list), func(i int) bool { return start(&list[i]) > value }) - 1
}
