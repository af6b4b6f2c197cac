package sframe

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Config says what a section alone does not.
type Config struct {
	// Arch is the CPU that the section must be for; nil takes what its header says.
	Arch *cpu.Arch
	// Base is the link-time address that module-relative addresses count from.
	Base uint64
	// File is the file's name in the rows' origins; empty stands for the section's.
	File string
}

// table is an open section. Nothing of it is kept in memory but, if its functions are not sorted, where they start.
type table struct {
	Header
	src  *input.Source
	file string
	arch *cpu.Arch
	// rva is the module-relative address of the section. Functions are searched by their distance from there.
	rva uint64
	// rowsEnd is the offset behind the last row that the section has room for.
	rowsEnd int64
	// byStart are the functions by address, if the section does not have them so; inMemory says that it is made.
	byStart  []started
	inMemory bool
	// verified: functions that are said to be sorted are, or it was noticed.
	verified bool
	tmp      [maxRow]byte

	warned []string
	kinds  map[string]int
}

// started is where a function starts, counted from the section's start, and its place among the functions.
type started struct {
	start int64
	index uint32
}

// Open opens a section that is to be loaded at address. The file is read when rows are asked for; the header and the places of
// the two sub-sections are checked at once. An error is a *input.FormatError with the offset in the section, or one of the
// reader's. Like section, the table is for one goroutine at a time.
//
// Rows say that registers without a rule are lost: the section does not know what else a function saved.
func Open(section *input.Source, address uint64, cfg Config) (unwind.Table, error) {
	h, err := ReadHeader(section)
	if err != nil {
		return nil, err
	}
	t := &table{Header: h, src: section, file: cfg.File, rva: address - cfg.Base, kinds: map[string]int{}}
	if t.file == "" {
		t.file = section.Name
	}
	arch, order := h.ABI.arch()
	if arch == nil {
		return nil, t.wrong(atABI, "ABI 1 or 2 (arm64), 3 (amd64) or 4 (s390x)", fmt.Sprintf("ABI %d", h.ABI))
	}
	if cfg.Arch != nil && cfg.Arch != arch {
		return nil, t.wrong(atABI, "an ABI of "+cfg.Arch.Name, fmt.Sprintf("ABI %d, which is %s's", h.ABI, arch.Name))
	}
	t.arch = arch
	if err := h.sections(section); err != nil {
		return nil, err
	}
	if order != h.Order {
		t.warn("order", atABI, "ABI %d is not in the byte order that the magic number shows", h.ABI)
	}
	if unknown := h.Flags &^ h.known(); unknown != 0 {
		t.warn("flags", atFlags, "unknown flags 0x%x are not heeded", uint8(unknown))
		t.Flags &= h.known()
	}
	if arch == cpu.AMD64 && h.FixedRA == 0 {
		// A call pushes the return address right below the CFA (System V ABI for AMD64, 3.2.2).
		t.FixedRA = -8
		t.warn("ra", atFixedRA, "no place of the return address is given; it is taken to be cfa − 8")
	}
	t.rowsEnd = h.RowsAt + int64(h.RowBytes)
	if t.rowsEnd > section.Size {
		t.warn("rows", atRows, "the rows are said to reach to offset 0x%x; the section ends at 0x%x", t.rowsEnd, section.Size)
		t.rowsEnd = section.Size
	}
	return t, nil
}

// Row is unwind.Table's. Where no function covers the address and the section says that every function keeps a frame pointer, the
// rules are those of the CPU's frame pointer.
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

// none is the row of an entry that has no rules, which says why.
func (t *table) none(at int64, why string) unwind.Row {
	return unwind.Row{Origin: unwind.Origin{File: t.file, Part: SectionName, Offset: at, Note: why}}
}

// framePointer are the rules of functions without an entry (flag SFRAME_F_FRAME_POINTER, 2.1.3).
func (t *table) framePointer() (unwind.Row, bool) {
	lay := t.arch.Frame
	if t.Flags&FramePointer == 0 || lay.Style != cpu.FrameRecord {
		return unwind.Row{}, false
	}
	return unwind.Row{
		CFA:        unwind.Rule{Kind: unwind.FromReg, Reg: t.arch.FP, Offset: lay.CFAOffset},
		RA:         unwind.Rule{Kind: unwind.AtCFA, Offset: lay.RAOffset},
		Saved:      []unwind.RegRule{{Reg: t.arch.FP, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: lay.FPOffset}}},
		OthersLost: true,
		Origin: unwind.Origin{File: t.file, Part: SectionName, Offset: atFlags,
			Note: "whose flags say that functions without an entry keep a frame pointer"},
	}, true
}

// maxEmpty bounds how many functions of size 0 are stepped over in one search.
const maxEmpty = 64

// maxVerified is up to how many functions that are said to be sorted are checked when the first address is not found. The
// functions of larger sections are too much to read for that; Each sees their order.
const maxVerified = 1 << 15

// find is the function that covers an address, given as its distance from the section's start.
func (t *table) find(off int64) (function, bool, error) {
	fn, ok, err := t.search(off)
	if ok || err != nil || t.Flags&Sorted == 0 || t.inMemory || t.verified || t.Functions > maxVerified {
		return fn, ok, err
	}
	t.verified = true
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
	return fn, false, nil
}

func (t *table) notSorted(index uint32) {
	t.warn("sorted", t.FunctionsAt+int64(index)*t.functionSize(), "functions are said to be sorted and are not")
}

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
		if fn.size != 0 {
			break
		}
	}
	return function{}, false, nil
}

// upTo is how many functions start at or before off. Sorted functions are searched where they lie. Should they turn out not to
// be sorted, they are sorted in memory.
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

// sortStarts puts the functions in order: 16 bytes for each, of 16 to 20 that the section really has.
func (t *table) sortStarts() error {
	if t.inMemory {
		return nil
	}
	list := make([]started, t.Functions)
	for i := range list {
		start, err := t.start(uint32(i))
		if err != nil {
			return err
		}
		list[i] = started{start, uint32(i)}
	}
	slices.SortStableFunc(list, func(a, b started) int {
		switch {
		case a.start < b.start:
			return -1
		case a.start > b.start:
			return 1
		}
		return 0
	})
	t.byStart, t.inMemory = list, true
	return nil
}

// nth is the function at a place in the order of addresses.
func (t *table) nth(n uint32) (function, error) {
	if t.inMemory {
		n = t.byStart[n].index
	}
	return t.function(n)
}

// Warnings is unwind.Table's.
func (t *table) Warnings() []string { return slices.Clone(t.warned) }

// perKind is how many warnings of a kind are kept.
const perKind = 3

func (t *table) warn(kind string, off int64, format string, args ...any) {
	if t.kinds[kind] >= perKind {
		return
	}
	text := t.wrong(off, "", fmt.Sprintf(format, args...)).Error()
	if slices.Contains(t.warned, text) {
		return
	}
	t.kinds[kind]++
	t.warned = append(t.warned, text)
}

// wrong is an error at an offset in the section.
func (t *table) wrong(off int64, want, have string) *input.FormatError {
	return &input.FormatError{File: t.src.Name, Part: SectionName, Offset: off, Want: want, Have: have}
}

// passOver makes a warning of what is wrong with the section; it answers with errors of another kind.
func (t *table) passOver(err error) error {
	var format *input.FormatError
	if !errors.As(err, &format) || format.Err != nil {
		return err
	}
	text := err.Error()
	if t.kinds["passed over"] < perKind && !slices.Contains(t.warned, text) {
		t.kinds["passed over"]++
		t.warned = append(t.warned, text)
	}
	return nil
}

// bytes are n bytes at off, which lie before end. They are valid until the next read.
func (t *table) bytes(off int64, n int, end int64) ([]byte, error) {
	if off < 0 || off > end || int64(n) > end-off {
		left := max(0, end-off)
		where := "the section"
		if end == t.rowsEnd {
			where = "the rows"
		}
		return nil, t.wrong(off, fmt.Sprintf("%d more bytes", n), fmt.Sprintf("%d bytes to the end of %s", left, where))
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
