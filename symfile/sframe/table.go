package sframe

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Config is what a reader must know and the section does not contain.
type Config struct {
	// Arch is the CPU that the section must be for, or nil for any.
	Arch *cpu.Arch
	// Base is the link-time address of RVA 0.
	Base uint64
	// File is the file's name for the rows' origins. If it is empty, they have the section's name.
	File string
}

// table is an open section. It keeps nothing in memory, except the functions' starts if they are
// not sorted.
type table struct {
	Header
	src  *input.Source
	file string
	arch *cpu.Arch
	// rva is the module-relative address of the section. Functions' starts are relative to it.
	rva uint64
	// rowsEnd is the offset of the end of the rows, at most the section's size.
	rowsEnd int64
	// byStart has the functions by address, if the section is not sorted. inMemory: it is made.
	byStart  []functionStart
	inMemory bool
	// verified: find has checked that the functions are sorted as the flags say.
	verified bool
	tmp      [maxRow]byte

	warnings input.Warnings
}

// functionStart is a function's start relative to the section's start, and its index.
type functionStart struct {
	start int64
	index uint32
}

// Open opens a section that is linked at an address. It reads and checks the header; lookups read
// the rest. Errors are of type
// *input.FormatError with the offset in the section, or come from the file's reader. The table is not safe for concurrent use.
//
// Rows have OthersUndefined set, because a section does not say which other registers a function
// saved.
func Open(section *input.Source, address uint64, cfg Config) (unwind.Table, error) {
	h, err := ReadHeader(section)
	if err != nil {
		return nil, err
	}
	t := &table{Header: h, src: section, file: cfg.File, rva: address - cfg.Base}
	t.file = cmp.Or(t.file, section.Name)
	arch, order := h.ABI.arch()
	if arch == nil {
		return nil, t.formatError(atABI, "ABI 1 or 2 (arm64), 3 (amd64) or 4 (s390x)", fmt.Sprintf("ABI %d", h.ABI))
	}
	if cfg.Arch != nil && cfg.Arch != arch {
		return nil, t.formatError(atABI, "an ABI of "+cfg.Arch.Name, fmt.Sprintf("ABI %d, which is %s's", h.ABI, arch.Name))
	}
	t.arch = arch
	if err := h.sections(section); err != nil {
		return nil, err
	}
	if order != h.Order {
		t.warn("order", atABI, "the magic number has the wrong byte order for ABI %d", h.ABI)
	}
	if unknown := h.Flags &^ h.known(); unknown != 0 {
		t.warn("flags", atFlags, "unknown flags 0x%x are ignored", uint8(unknown))
		t.Flags &= h.known()
	}
	if arch == cpu.AMD64 && h.FixedRA == 0 {
		// A call pushes the return address right below the CFA (System V ABI for AMD64, 3.2.2).
		t.FixedRA = -8
		t.warn("ra", atFixedRA, "the header has no offset of the return address; cfa − 8 is assumed")
	}
	t.rowsEnd = h.RowsAt + int64(h.RowBytes)
	if t.rowsEnd > section.Size {
		t.warn("rows", atRows, "by the header the rows end at offset 0x%x; the section ends at 0x%x", t.rowsEnd, section.Size)
		t.rowsEnd = section.Size
	}
	return t, nil
}

// Row implements unwind.Table. If no function covers the address and the section has the flag
// FramePointer, the rules are those of the CPU's frame pointer.
func (t *table) Row(rva uint64) (unwind.Row, bool, error) {
	off := int64(rva - t.rva)
	fn, ok, err := t.find(off)
	if err != nil {
		return unwind.Row{}, false, err
	}
	if !ok {
		row, ok := t.framePointer()
		return row, ok, nil
	}
	if why := fn.unusable(); why != "" {
		return t.none(fn.at, why), false, nil
	}
	// The rows of a function that repeats, such as .plt, are those of one block of code: a stub of
	// 16 bytes.
	inside := uint32(off - fn.start)
	block := uint32(0)
	if fn.repeats() {
		inside, block = inside%uint32(fn.block), inside/uint32(fn.block)*uint32(fn.block)
	}
	e, ok, err := t.entry(&fn, inside)
	switch {
	case err != nil:
		return unwind.Row{}, false, err
	case !ok && fn.rows == 0:
		return t.none(fn.at, "the function has no rows"), false, nil
	case !ok:
		return t.none(fn.at, "the function's rows begin after the address"), false, nil
	}
	row, err := t.rules(&fn, &e)
	if err != nil {
		return unwind.Row{}, false, err
	}
	row.Start = t.rva + uint64(fn.start) + uint64(block) + uint64(e.start)
	return row, true, nil
}

// none returns a row without rules, whose Origin.Note has the reason.
func (t *table) none(at int64, why string) unwind.Row {
	return unwind.Row{Origin: unwind.Origin{File: t.file, Part: SectionName, Offset: at, Note: why}}
}

// framePointer returns the row of functions without an entry, if the section has the flag
// FramePointer (2.1.3).
func (t *table) framePointer() (unwind.Row, bool) {
	lay := t.arch.Frame
	if t.Flags&FramePointer == 0 || lay.Style != cpu.FrameRecord {
		return unwind.Row{}, false
	}
	return unwind.Row{
		CFA:             unwind.Rule{Kind: unwind.FromReg, Reg: t.arch.FP, Offset: lay.CFAOffset},
		RA:              unwind.Rule{Kind: unwind.AtCFA, Offset: lay.RAOffset},
		Saved:           []unwind.RegRule{{Reg: t.arch.FP, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: lay.FPOffset}}},
		OthersUndefined: true,
		Origin: unwind.Origin{File: t.file, Part: SectionName, Offset: atFlags,
			Note: "by whose flags functions without an entry keep a frame pointer"},
	}, true
}

// maxEmpty limits how many functions of size 0 one search skips.
const maxEmpty = 64

// maxVerified is the largest number of functions whose order find verifies when it first fails to
// find an address. Of larger sections only Each verifies the order.
const maxVerified = 1 << 15

// find returns the function that covers an address, given relative to the section's start.
func (t *table) find(off int64) (function, bool, error) {
	fn, ok, err := t.search(off)
	if ok || err != nil || t.Flags&Sorted == 0 || t.inMemory || t.verified || t.Functions > maxVerified {
		return fn, ok, err
	}
	// A search in an unsorted section can miss a function that is there. So the first miss checks
	// the order of all functions, once.
	last := int64(math.MinInt64)
	for i := range t.Functions {
		v, err := t.start(i)
		switch {
		case err != nil:
			return fn, false, err
		case v < last:
			t.notSorted(i)
			if err := t.sortStarts(); err != nil {
				return fn, false, err
			}
			return t.search(off)
		}
		last = v
	}
	t.verified = true
	return fn, false, nil
}

// notSorted warns that the flag Sorted is wrong.
func (t *table) notSorted(index uint32) {
	t.warn("sorted", t.FunctionsAt+int64(index)*t.functionSize(), "the functions are not sorted, although the header says so")
}

// search is find without verification of the order.
func (t *table) search(off int64) (function, bool, error) {
	n, err := t.upTo(off)
	if err != nil {
		return function{}, false, err
	}
	for range maxEmpty {
		if n == 0 {
			break
		}
		n--
		fn, err := t.nth(n)
		if err != nil {
			return function{}, false, err
		}
		if uint64(off)-uint64(fn.start) < uint64(fn.size) {
			if err := t.attributes(&fn); err != nil {
				return function{}, false, err
			}
			return fn, true, nil
		}
		// Functions of no size cover nothing. The one before them may cover the address.
		if fn.size != 0 {
			break
		}
	}
	return function{}, false, nil
}

// upTo returns how many functions start at or before off. It searches a sorted section in the file.
// If the search meets functions that are out of order, upTo sorts them in memory.
func (t *table) upTo(off int64) (uint32, error) {
	if t.Flags&Sorted != 0 && !t.inMemory {
		low, high := uint32(0), t.Functions
		least, most := int64(math.MinInt64), int64(math.MaxInt64)
		for low < high {
			mid := low + (high-low)/2
			v, err := t.start(mid)
			if err != nil {
				return 0, err
			}
			// A start outside of those around it proves that the section is not sorted.
			if v < least || v > most {
				t.notSorted(mid)
				break
			}
			if v <= off {
				low, least = mid+1, v
			} else {
				high, most = mid, v
			}
		}
		if low == high {
			return low, nil
		}
	}
	if err := t.sortStarts(); err != nil {
		return 0, err
	}
	return uint32(sort.Search(len(t.byStart), func(i int) bool { return t.byStart[i].start > off })), nil
}

// sortStarts sorts the functions in memory, with 16 bytes for each. An entry in the file takes as
// much at least, so that a crafted count cannot make it large.
func (t *table) sortStarts() error {
	if t.inMemory {
		return nil
	}
	list := make([]functionStart, t.Functions)
	for i := range list {
		start, err := t.start(uint32(i))
		if err != nil {
			return err
		}
		list[i] = functionStart{start, uint32(i)}
	}
	slices.SortStableFunc(list, func(a, b functionStart) int { return cmp.Compare(a.start, b.start) })
	t.byStart, t.inMemory = list, true
	return nil
}

// nth returns function n in the order of addresses.
func (t *table) nth(n uint32) (function, error) {
	if t.inMemory {
		n = t.byStart[n].index
	}
	return t.function(n)
}

// Warnings implements unwind.Table.
func (t *table) Warnings() []string { return t.warnings.List(t.src.Name) }

func (t *table) warn(kind string, off int64, format string, args ...any) {
	t.warnings.AddKind(kind, t.formatError(off, "", fmt.Sprintf(format, args...)))
}

// formatError returns an error about an offset of the section.
func (t *table) formatError(off int64, want, have string) *input.FormatError {
	return &input.FormatError{File: t.src.Name, Part: SectionName, Offset: off, Want: want, Have: have}
}

// bytes returns n bytes at off, all before end. They are valid until the next read.
func (t *table) bytes(off int64, n int, end int64) ([]byte, error) {
	if off < 0 || off > end || int64(n) > end-off {
		left := max(0, end-off)
		where := "the section"
		if end == t.rowsEnd {
			where = "the rows"
		}
		return nil, t.formatError(off, fmt.Sprintf("%d more bytes", n), fmt.Sprintf("%d bytes to the end of %s", left, where))
	}
	if n == 0 {
		return nil, nil
	}
	block, at, err := t.src.Block(off)
	if err != nil {
		return nil, t.src.Wrap(SectionName, off, err)
	}
	if i := off - at; i+int64(n) <= int64(len(block)) {
		return block[i : i+int64(n)], nil
	}
	// Across two blocks.
	if _, err := t.src.ReadAt(t.tmp[:n], off); err != nil {
		return nil, t.src.Wrap(SectionName, off, err)
	}
	return t.tmp[:n], nil
}
