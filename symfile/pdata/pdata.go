// Package pdata reads the unwind information of Windows binaries, the function table in .pdata and
// the records in .xdata that it leads to, and makes a Row of what they say for an address. Each
// processor has a format of its own: x64.go, arm64.go, thumb.go; the latter two share the layout of
// their records (record.go).
//
// All of them describe a function at every instruction. x64's says where in the prologue each
// operation is done and nothing of epilogues, which are recognized by their instructions; the
// others count instructions in both.
//
// Sources: "x64 exception handling", "ARM64 exception handling" and "Overview of ARM exception
// handling" (Microsoft).
package pdata

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/ordered"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Config is what the function table does not say about itself. Addresses are module-relative.
type Config struct {
	Arch *cpu.Arch
	// File is the binary's name, for origins and errors.
	File string
	// At reads n bytes of the image at an address. A request that the file cannot fulfil is an
	// error.
	At func(rva uint64, n int64) ([]byte, error)
	// Code are the ranges of code that the file has bytes of, each with its end.
	Code [][2]uint64
	// Place names an address by its section and the distance from its start, for origins.
	Place func(rva uint64) (section string, off int64)
}

// part is the Origin's part of rows, unless they come from a record, and that of errors about the
// table.
const part = ".pdata"

var (
	// A record that moves the stack pointer to one register after another is damaged.
	errTooMany = fmt.Errorf("more than %d changes of the stack pointer", maxBases)
	// arm64 code that allocates with the scalable vector extension (alloc_z) has frames of this
	// kind.
	errVector = errors.New("the frame's size depends on the length of the processor's vector registers, which is not known")
)

// entry is an entry of the table: the function's first address and end, and the entry's second word
// (x64: the third).
type entry struct {
	start, end uint64
	data       uint32
	off        int64 // in the table
}

// position says which of a function's operations have been done before an instruction. Only the
// processor's reader knows what its fields mean. Equal positions of a function have equal rules.
type position struct {
	kind uint8
	a, b int32
}

// reader is the part of a table that differs between processors.
type reader interface {
	// size is the size of an entry in bytes. entry reads one; its end is 0 if only its record has
	// it.
	size() int64
	entry(p []byte) entry
	// open reads the record that an entry leads to.
	open(e entry) (function, error)
	// leaf returns the row of a function without an entry: it saves nothing and does not move the
	// stack pointer.
	leaf() unwind.Row
}

// function is an opened entry.
type function interface {
	// end is the address after the function's last byte.
	end() uint64
	// position returns the position of an instruction.
	position(rva uint64) (position, error)
	// row adds the rules of a position.
	row(p position, row *unwind.Row) error
	// next returns an address after rva up to which the position is the same.
	next(rva uint64) uint64
	// place returns the record's address, or 0 if the entry has no record.
	place() uint64
	// begin returns the function's start. A part that the compiler has moved away belongs to a
	// function that starts elsewhere.
	begin() uint64
}

// Table is an opened function table.
type Table struct {
	src *input.Source
	cfg Config
	r   reader
	// starts are the functions' first addresses, by which linkers sort the table.
	starts  ordered.Table
	checked bool // its order, by check
	// last is the function that was opened latest.
	last     function
	lastOff  int64
	warnings input.Warnings
}

// Open opens the function table of an image: the bytes of its exception directory, and their
// address. Lookups read only the words that they need.
func Open(src *input.Source, cfg Config) (*Table, error) {
	t := &Table{src: src, cfg: cfg, lastOff: -1}
	switch cfg.Arch {
	case cpu.AMD64:
		t.r = &x64{t: t}
	case cpu.ARM64:
		t.r = &armReader{t: t, codes: arm64Codes{}}
	case cpu.ARM:
		t.r = &armReader{t: t, codes: thumbCodes{}}
	default:
		return nil, &input.FormatError{File: cfg.File, Part: part, Offset: -1, Want: "a processor that has function tables: x64, arm64, arm"}
	}
	t.starts = ordered.Table{N: int(min(src.Size/t.r.size(), 1<<31-1)), Key: func(i int) (uint64, error) {
		e, err := t.entry(i)
		return e.start, err
	}}
	return t, nil
}

// bad returns an error about the table at an offset in it.
func (t *Table) bad(off int64, want, have string) error {
	return &input.FormatError{File: t.cfg.File, Part: part, Offset: off, Want: want, Have: have}
}

// badRecord returns an error about a record; its offset is an RVA.
func (t *Table) badRecord(rva uint64, want, have string) error {
	section, off := t.cfg.Place(rva)
	return &input.FormatError{File: t.cfg.File, Part: "unwind record in " + section, Offset: off, Want: want, Have: have}
}

// Warnings implements unwind.Table.
func (t *Table) Warnings() []string { return t.warnings.List(t.cfg.File + ": " + part) }

// entry reads entry i.
// The buffer has the size of the larger entry, that of x64, so that a search allocates nothing.
func (t *Table) entry(i int) (entry, error) {
	var p [12]byte
	n := t.r.size()
	off := int64(i) * n
	if _, err := t.src.ReadAt(p[:n], off); err != nil {
		return entry{}, t.src.Wrap(part, off, err)
	}
	e := t.r.entry(p[:n])
	e.off = off
	return e, nil
}

// noEntry is the offset that find returns if there is no entry.
const noEntry = -1

// find returns the entry that covers an address, or the one before it. ok is false if neither exists.
func (t *Table) find(rva uint64) (e entry, ok bool, err error) {
	pos, err := t.starts.Search(rva)
	if err != nil || pos < 0 {
		return entry{off: noEntry}, false, err
	}
	e, err = t.entry(t.starts.Record(pos))
	return e, err == nil && e.start <= rva, err
}

// function opens the entry that covers an address, or returns nil. It also returns the entry before
// the address, which has the offset noEntry if it is missing too.
//
// Go's linker leaves some entries out of order, so that a search may not come to the right one: in
// esbuild.exe of Go 1.26 a quarter of 7,949 functions. An entry that covers the address is the
// right one; but before it answers that the table has none, function checks the table's order.
func (t *Table) function(rva uint64) (function, entry, error) {
	f, e, err := t.searched(rva)
	if f != nil || err != nil {
		return f, e, err
	}
	if unsorted, err := t.check(); !unsorted || err != nil {
		return nil, e, err
	}
	return t.searched(rva)
}

// check reads the whole table once, and sorts it if it is out of order. It reports whether it was.
// What it cannot read is not searched either, so only bytes that come later are an error.
func (t *Table) check() (unsorted bool, err error) {
	if t.checked {
		return false, nil
	}
	unsorted, err = t.starts.Check()
	if t.src.Interrupted(err) {
		return false, err
	}
	t.checked = true
	return unsorted && err == nil, nil
}

func (t *Table) searched(rva uint64) (function, entry, error) {
	e, ok, err := t.find(rva)
	if err != nil || !ok || e.end != 0 && rva >= e.end {
		return nil, e, err
	}
	// arm and arm64 entries have no end: only the record says how long the function is.
	f, err := t.openEntry(e)
	if err != nil {
		return nil, e, err
	}
	if rva >= f.end() {
		return nil, e, nil
	}
	return f, e, nil
}

// openEntry opens an entry. Each and a walk ask for one function many times in a row, so the last
// one is kept.
func (t *Table) openEntry(e entry) (function, error) {
	if t.last != nil && t.lastOff == e.off {
		return t.last, nil
	}
	f, err := t.r.open(e)
	if err != nil {
		return nil, err
	}
	t.last, t.lastOff = f, e.off
	return f, nil
}

// blank returns a row without rules, with the origin of those to come.
func (t *Table) blank(f function, e entry) unwind.Row {
	row := unwind.Row{Start: e.start, Origin: unwind.Origin{File: t.cfg.File, Part: part, Offset: e.off}}
	if at := f.place(); at != 0 {
		row.Origin.Part, row.Origin.Offset = t.cfg.Place(at)
	}
	return row
}

// unusable is an error without a fault of the file: no row can express the rules.
func unusable(err error) bool { return errors.Is(err, errVector) || errors.Is(err, errCustom) }

// errCustom is for frames of traps and of kernel stubs, whose layout Microsoft does not document.
var errCustom = errors.New("the function uses an unwind code for frames whose layout is the system's own")

// Row implements unwind.Table.
func (t *Table) Row(rva uint64) (unwind.Row, bool, error) {
	f, e, err := t.function(rva)
	if err != nil || f == nil {
		return unwind.Row{}, false, err
	}
	// Two steps: how far the prologue or epilogue is at this instruction, then what undoes that
	// much.
	p, err := f.position(rva)
	if err != nil {
		return unwind.Row{}, false, err
	}
	row := t.blank(f, e)
	if err := f.row(p, &row); err != nil {
		if unusable(err) {
			return unwind.Row{Origin: unwind.Origin{File: row.Origin.File, Part: row.Origin.Part, Offset: row.Origin.Offset, Note: err.Error()}}, false, nil
		}
		return unwind.Row{}, false, err
	}
	return row, true, nil
}

// Function implements unwind.Functions. The start is that of the function's first entry, from which
// it may be apart.
func (t *Table) Function(rva uint64) (start, end uint64, ok bool, err error) {
	f, e, err := t.function(rva)
	if err != nil || e.off == noEntry {
		return 0, 0, false, err
	}
	if f == nil {
		if f, err = t.openEntry(e); err != nil {
			return 0, 0, false, err
		}
	}
	return f.begin(), f.end(), true, nil
}

// DifferentFunctions reports whether the table shows that two addresses, from before to, are in
// different functions.
//
// After the end of to's entry, code without an entry follows, which may be several leaf functions.
// Then the two differ at least if from is still in the entry.
func (t *Table) DifferentFunctions(from, to uint64) (bool, error) {
	f, e, err := t.function(to)
	if err != nil || e.off == noEntry {
		return false, err
	}
	if f != nil {
		return from < f.begin(), nil
	}
	if f, err = t.openEntry(e); err != nil {
		return false, err
	}
	return from < f.end(), nil
}

// Each implements unwind.Table.
//
// A record that cannot be read costs its function only. What stops the walk is missing bytes and
// errors of f.
func (t *Table) Each(f func(start, end uint64, row unwind.Row) error) error {
	return t.each(func(e entry, fn function, end uint64) error {
		err := t.eachOf(e, fn, end, f)
		var wrong *input.FormatError
		if err == nil || input.Needs(err) || !errors.As(err, &wrong) && !unusable(err) {
			return err
		}
		t.warnings.AddKind("record", err)
		return nil
	})
}

// each calls f for the functions of the table by address, each cut where the next one begins and
// where the file has no more code. It skips entries that cannot be read.
func (t *Table) each(f func(e entry, fn function, end uint64) error) error {
	if _, err := t.check(); err != nil {
		return err
	}
	done := uint64(0)
	for pos := range t.starts.N {
		e, err := t.entry(t.starts.Record(pos))
		if err != nil {
			return err
		}
		if e.start == 0 && e.data == 0 {
			continue // what incremental linkers leave free
		}
		if e.start < done {
			t.warnings.AddKind("order", t.bad(e.off, "functions that do not overlap", fmt.Sprintf("0x%x after 0x%x", e.start, done)))
			continue
		}
		fn, err := t.openEntry(e)
		if input.Needs(err) {
			return err
		}
		if err != nil {
			t.warnings.AddKind("record", err)
			continue
		}
		end := fn.end()
		for _, c := range t.cfg.Code {
			if e.start >= c[0] && e.start < c[1] {
				end = min(end, c[1])
			}
		}
		if pos+1 < t.starts.N {
			if next, err := t.entry(t.starts.Record(pos + 1)); err == nil && next.start > e.start {
				end = min(end, next.start)
			}
		}
		if !t.isCode(e.start) || end <= e.start {
			continue
		}
		done = end
		if err := f(e, fn, end); err != nil {
			return err
		}
	}
	return nil
}

// eachOf calls f for the ranges of one function.
func (t *Table) eachOf(e entry, fn function, end uint64, f func(start, end uint64, row unwind.Row) error) error {
	for at := e.start; at < end; {
		p, err := fn.position(at)
		if err != nil {
			return err
		}
		start := at
		for at = fn.next(at); at < end; at = fn.next(at) {
			q, err := fn.position(at)
			if err != nil {
				return err
			}
			if p != q {
				break
			}
		}
		row := t.blank(fn, e)
		if err := fn.row(p, &row); err != nil {
			return err
		}
		if err := f(start, min(at, end), row); err != nil {
			return err
		}
	}
	return nil
}

// isCode reports whether the file has code at an address.
func (t *Table) isCode(rva uint64) bool {
	return slices.ContainsFunc(t.cfg.Code, func(c [2]uint64) bool { return rva >= c[0] && rva < c[1] })
}

// word reads a word of the image.
func (t *Table) word(rva uint64) (uint32, error) {
	p, err := t.cfg.At(rva, 4)
	if err != nil {
		return 0, err
	}
	return binary.LittleEndian.Uint32(p), nil
}

// Leaves is a table of the functions without an entry: they save nothing, and their return address
// is where the call left it.
func (t *Table) Leaves() unwind.Table { return leaves{t} }

type leaves struct{ t *Table }

// leafPart is the Origin's part of such rows.
const leafPart = "no .pdata entry (leaf function)"

// row returns the row of a leaf. Its Start is the address itself: nothing says where a leaf begins.
func (l leaves) row(start uint64) unwind.Row {
	row := l.t.r.leaf()
	row.Topmost = true
	row.Start, row.Origin = start, unwind.Origin{File: l.t.cfg.File, Part: leafPart}
	return row
}

// Row implements unwind.Table. A function that has called another one is not a leaf, so the rules are
// valid for the youngest frame only.
func (l leaves) Row(rva uint64) (unwind.Row, bool, error) {
	if !l.t.isCode(rva) {
		return unwind.Row{}, false, nil
	}
	f, _, err := l.t.function(rva)
	if err != nil || f != nil {
		return unwind.Row{}, false, err
	}
	return l.row(rva), true, nil
}

// Each implements unwind.Table. It reads the code and the table side by side.
func (l leaves) Each(f func(start, end uint64, row unwind.Row) error) error {
	code := slices.SortedFunc(slices.Values(l.t.cfg.Code), func(a, b [2]uint64) int { return cmp.Compare(a[0], b[0]) })
	at := uint64(0) // all before it is decided
	before := func(end uint64) error {
		for len(code) > 0 {
			from, to := max(at, code[0][0]), min(end, code[0][1])
			if from < to {
				if err := f(from, to, l.row(from)); err != nil {
					return err
				}
			}
			if code[0][1] > end {
				return nil
			}
			code = code[1:]
		}
		return nil
	}
	// Gaps between entries are leaves. The last gap reaches to the end of the code.
	err := l.t.each(func(e entry, _ function, end uint64) error {
		err := before(e.start)
		at = end
		return err
	})
	if err != nil {
		return err
	}
	return before(math.MaxUint64)
}

// Warnings implements unwind.Table.
func (l leaves) Warnings() []string { return nil }
