package compact

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// ObjectSection is the section of an object, in the segment __LD, from which linkers make __unwind_info.
const ObjectSection = "__compact_unwind"

// objectTable is an opened section of an object.
type objectTable struct {
	table
	entries []entry // sorted
}

// OpenObject opens the section of an object, whose relocations are applied. addressSize is in bytes.
//
//	function's address u32 or u64 · its size u32 · unwind word u32 · personality, exception data u32 or u64 each
func OpenObject(src *input.Source, addressSize int, cfg Config) (unwind.Table, error) {
	if cfg.Arch == nil || cfg.Order == nil || decoders[cfg.Arch] == nil {
		return nil, errors.New("compact: a processor whose unwind words are not known")
	}
	t := &objectTable{table: table{src: src, cfg: cfg, decode: decoders[cfg.Arch]}}
	size := int64(3*addressSize + 8)
	count := src.Size / size
	if src.Size%size != 0 {
		t.warnings.Add(&input.FormatError{File: cfg.File, Part: ObjectSection, Offset: count * size, Want: fmt.Sprintf("an entry of %d bytes", size), Have: fmt.Sprintf("%d bytes", src.Size%size)})
	}
	if err := src.Draw(input.Memory, 32*count); err != nil {
		return nil, err
	}
	c := input.NewCursor(src, ObjectSection, 0, src.Size, cfg.Order)
	for i := range count {
		e := entry{at: i * size}
		if addressSize == 8 {
			e.start = c.U64()
		} else {
			e.start = uint64(c.U32())
		}
		e.end = e.start + uint64(c.U32())
		e.word = c.U32()
		c.Skip(2 * int64(addressSize))
		if c.Err() != nil {
			return nil, c.Err()
		}
		if e.end > e.start {
			t.entries = append(t.entries, e)
		}
	}
	slices.SortStableFunc(t.entries, func(a, b entry) int { return cmp.Compare(a.start, b.start) })
	return t, nil
}

func (t *objectTable) find(rva uint64) (entry, bool) {
	i := sort.Search(len(t.entries), func(i int) bool { return t.entries[i].start > rva }) - 1
	if i < 0 || rva >= t.entries[i].end {
		return entry{}, false
	}
	return t.entries[i], true
}

// Row implements unwind.Table.
func (t *objectTable) Row(rva uint64) (unwind.Row, bool, error) {
	e, ok := t.find(rva)
	if !ok {
		return unwind.Row{}, false, nil
	}
	row, ok, err := t.row(e)
	row.Origin.Part = ObjectSection
	return row, ok, err
}

// Function implements unwind.Functions.
func (t *objectTable) Function(rva uint64) (start, end uint64, ok bool, err error) {
	e, ok := t.find(rva)
	return e.start, e.end, ok, nil
}

// Each implements unwind.Table.
func (t *objectTable) Each(f func(start, end uint64, row unwind.Row) error) error {
	last := uint64(0)
	for _, e := range t.entries {
		if e.start < last { // another entry's code
			continue
		}
		last = e.end
		row, ok, err := t.Row(e.start)
		if input.Needs(err) {
			return err
		}
		if err == nil && ok {
			if err := f(e.start, e.end, row); err != nil {
				return err
			}
		}
	}
	return nil
}
