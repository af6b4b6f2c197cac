package dumpsyms

import (
	"cmp"
	"encoding/binary"
	"io"
	"slices"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// table numbers texts by their first use.
type table struct {
	num  map[string]uint32
	list []string
	// last is the latest text: a function's lines are mostly of one file.
	last    string
	lastNum uint32
}

// of is the number of a text, which is new if the text was not seen before.
func (t *table) of(s string) uint32 {
	if s == t.last && len(t.list) > 0 {
		return t.lastNum
	}
	n, ok := t.num[s]
	if !ok {
		n = uint32(len(t.list))
		t.num[s] = n
		t.list = append(t.list, s)
	}
	t.last, t.lastNum = s, n
	return n
}

const (
	// chunkSize is how many bytes are allocated at a time: a growing slice would be copied again
	// and again.
	chunkSize = 1 << 20
	// maxRun is how many bytes are kept in memory if there is a Spool for the rest.
	maxRun = 16 << 20
)

// sorter holds functions packed: each range that becomes a FUNC record as numbers of variable
// length. First are the length of the name and the name, and the parameter size. Then come the
// count of lines, and for each the distance from the end of the one before, its size, line (as the
// difference to the one before) and file. Last are the count of inlined calls, and for each depth,
// line and file of the call, origin, count of ranges, and for each range the distance from the
// function's start and the size. For a PUBLIC record it holds the name.
//
// They are read by address. What exceeds maxRun goes to a Spool, as sorted runs (see runs.go).
type sorter struct {
	files, origins table
	chunks         [][]byte
	used           int // of chunks; those after were used by an earlier run
	size           int // of the packed text in them
	recs           []record
	packed         []byte
	lines          []symbol.Line // of the range that is being packed

	open   func() (input.Spool, error) // nil if all stays in memory
	stored input.Spool
	runs   []storedRun
	end    int64 // of what is stored
	// most is written what is packed: if that is more than the output may be, the text would be.
	most io.Writer
}

// record is one of the records; its size is 0 for a PUBLIC record.
type record struct {
	start, size        uint64
	chunk, off, length uint32
	multiple           bool
}

// newSorter makes an empty sorter.
func newSorter(open func() (input.Spool, error), budget *input.Budget) *sorter {
	s := &sorter{files: table{num: map[string]uint32{}}, origins: table{num: map[string]uint32{}}, open: open, most: io.Discard}
	if budget != nil {
		s.most = budget.Writer(io.Discard)
	}
	return s
}

// add adds a function.
func (s *sorter) add(f symbol.Function) error {
	for _, r := range f.Ranges {
		if r.Size == 0 || r.Start+r.Size < r.Start {
			continue
		}
		if err := s.pack(&f, r); err != nil {
			return err
		}
	}
	return nil
}

// public adds a name.
func (s *sorter) public(rva uint64, name string) error {
	if rva == 0 { // no code is at a module's first byte; readers leave such records out
		return nil
	}
	b := binary.AppendUvarint(s.packed[:0], uint64(len(name)))
	return s.keep(record{start: rva}, append(b, name...))
}

// pack packs the part of a function in one of its ranges.
func (s *sorter) pack(f *symbol.Function, r symbol.Range) error {
	b := binary.AppendUvarint(s.packed[:0], uint64(len(f.Name)))
	b = append(b, f.Name...)
	b = binary.AppendUvarint(b, uint64(f.ParamSize))

	s.lines = s.lines[:0]
	at := r.Start
	for i := range f.Lines {
		l := f.Lines[i]
		var ok bool
		if l.Range, ok = clip(l.Range, r); !ok {
			continue
		}
		if l.Start < at { // lines do not lie over each other; if they do, the first counts
			if l.Size <= at-l.Start {
				continue
			}
			l.Size -= at - l.Start
			l.Start = at
		}
		at = l.Start + l.Size
		s.lines = append(s.lines, l)
	}
	b = binary.AppendUvarint(b, uint64(len(s.lines)))
	at = r.Start
	line := int64(0)
	for i := range s.lines {
		l := &s.lines[i]
		b = binary.AppendUvarint(b, l.Start-at)
		b = binary.AppendUvarint(b, l.Size)
		b = binary.AppendVarint(b, int64(l.Line)-line)
		b = binary.AppendUvarint(b, uint64(s.files.of(l.File)))
		at, line = l.Start+l.Size, int64(l.Line)
	}

	calls := 0
	for i := range f.Inlines {
		if inside(f.Inlines[i].Ranges, r) > 0 {
			calls++
		}
	}
	b = binary.AppendUvarint(b, uint64(calls))
	for i := range f.Inlines {
		in := &f.Inlines[i]
		n := inside(in.Ranges, r)
		if n == 0 {
			continue
		}
		b = binary.AppendUvarint(b, uint64(in.Depth))
		b = binary.AppendUvarint(b, uint64(in.CallLine))
		b = binary.AppendUvarint(b, uint64(s.files.of(in.CallFile)))
		b = binary.AppendUvarint(b, uint64(s.origins.of(in.Name)))
		b = binary.AppendUvarint(b, uint64(n))
		for _, part := range in.Ranges {
			if part, ok := clip(part, r); ok {
				b = binary.AppendUvarint(b, part.Start-r.Start)
				b = binary.AppendUvarint(b, part.Size)
			}
		}
	}
	return s.keep(record{start: r.Start, size: r.Size, multiple: f.Multiple}, b)
}

// keep adds a record with its packed text.
func (s *sorter) keep(r record, text []byte) error {
	s.packed = text
	if _, err := s.most.Write(text); err != nil {
		return err
	}
	if s.used == 0 || cap(s.chunks[s.used-1])-len(s.chunks[s.used-1]) < len(text) {
		// The chunks of an earlier run are used again. One that is too small for this text is
		// replaced.
		if s.used == len(s.chunks) || cap(s.chunks[s.used]) < len(text) {
			s.chunks = append(s.chunks[:s.used], make([]byte, 0, max(chunkSize, len(text))))
		}
		s.chunks[s.used] = s.chunks[s.used][:0]
		s.used++
	}
	chunk := &s.chunks[s.used-1]
	r.chunk, r.off, r.length = uint32(s.used-1), uint32(len(*chunk)), uint32(len(text))
	*chunk = append(*chunk, text...)
	s.recs = append(s.recs, r)
	if s.size += len(text); s.size >= maxRun && s.open != nil {
		return s.store()
	}
	return nil
}

// clip returns the part of a range that is in another one.
func clip(r, in symbol.Range) (symbol.Range, bool) {
	start, end := max(r.Start, in.Start), min(r.Start+r.Size, in.Start+in.Size)
	if r.Start+r.Size < r.Start || start >= end {
		return symbol.Range{}, false
	}
	return symbol.Range{Start: start, Size: end - start}, true
}

// inside counts the ranges that have a part in another one.
func inside(all []symbol.Range, in symbol.Range) int {
	n := 0
	for _, r := range all {
		if _, ok := clip(r, in); ok {
			n++
		}
	}
	return n
}

// sort sorts what is in memory by address. Records at one address stay in the order in which they
// came.
func (s *sorter) sort() {
	byStart := func(a, b record) int { return cmp.Compare(a.start, b.start) }
	if !slices.IsSortedFunc(s.recs, byStart) {
		slices.SortStableFunc(s.recs, byStart)
	}
}

// unpacker reads a packed function. This package wrote it, so nothing is checked.
type unpacker []byte

// num reads an unsigned number.
func (u *unpacker) num() uint64 {
	// Most numbers are small.
	if b := *u; b[0] < 0x80 {
		*u = b[1:]
		return uint64(b[0])
	}
	v, n := binary.Uvarint(*u)
	*u = (*u)[n:]
	return v
}

// signed reads what binary.AppendVarint wrote: the sign is the lowest bit.
func (u *unpacker) signed() int64 {
	v := u.num()
	return int64(v>>1) ^ -int64(v&1)
}

// text reads a length and so many bytes.
func (u *unpacker) text() string {
	n := u.num()
	s := string((*u)[:n])
	*u = (*u)[n:]
	return s
}

// at is the packed text of a record in memory.
func (s *sorter) at(r *record) unpacker { return s.chunks[r.chunk][r.off : r.off+r.length] }
