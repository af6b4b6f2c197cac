// Package exidx reads the exception index of 32-bit ARM, the sections .ARM.exidx and .ARM.extab,
// which most ARM binaries have instead of DWARF call frame information. It makes an unwind.Row for
// an address.
//
// Open opens the section as an unwind.Table. Start at table.Row in this file: it finds the entry by
// binary search; entry.go gets its instructions, machine.go executes them.
//
// Specification: "Exception Handling ABI for the Arm Architecture" (IHI 0038), sections 6 (the
// index), 7 (the entries) and 10.3 (the frame unwinding instructions).
package exidx

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"sort"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Config is what a reader must know and the section does not contain.
type Config struct {
	Order binary.ByteOrder
	// Base is the link-time address of RVA 0.
	Base uint64
	// End is the link-time address of the end of the code, where the last entry ends, or 0 if
	// unknown. (An entry has no size: it ends where the next one starts.)
	End uint64
	// File is the binary's name, for origins and errors.
	File string
}

const (
	part      = ".ARM.exidx"
	extab     = ".ARM.extab"
	entrySize = 8

	cannotUnwind = 1
	// addressSpace is the end of the last entry if Config.End is 0.
	addressSpace = math.MaxUint32
)

// table is an opened .ARM.exidx section.
type table struct {
	src     *input.Source
	address uint64
	at      func(address uint64, n int64) ([]byte, error)
	cfg     Config
	count   int
	// order has the entries' indexes by address, if the section is not sorted; else nil.
	order     []uint32
	warnings  input.Warnings
	sortTried bool // to sort
}

// Open opens an .ARM.exidx section that is linked at an address. at reads n bytes at a link-time
// address, for entries in .ARM.extab; it may be nil. A lookup reads only the words that it needs.
func Open(section *input.Source, address uint64, at func(address uint64, n int64) ([]byte, error), cfg Config) (unwind.Table, error) {
	if cfg.Order == nil {
		return nil, errors.New("exidx: no byte order is given")
	}
	t := &table{src: section, address: address, at: at, cfg: cfg, count: int(min(section.Size/entrySize, math.MaxInt32))}
	if left := section.Size % entrySize; left != 0 {
		t.warn("size", t.bad(section.Size-left, "entries of 8 bytes", fmt.Sprintf("%d bytes after the last", left)))
	}
	return t, nil
}

// bad returns an error about the index at an offset.
func (t *table) bad(off int64, want, have string) error {
	return &input.FormatError{File: t.cfg.File, Part: part, Offset: off, Want: want, Have: have}
}

func (t *table) warn(kind string, err error) { t.warnings.AddKind(kind, err) }

// Warnings implements unwind.Table.
func (t *table) Warnings() []string { return t.warnings.List(t.cfg.File + ": " + part) }

// offset returns the section offset of entry i in the order of addresses.
func (t *table) offset(i int) int64 {
	if t.order != nil {
		i = int(t.order[i])
	}
	return int64(i) * entrySize
}

// prel31 decodes a relocation R_ARM_PREL31: the lower 31 bits of word are a signed distance from
// the word's own address. Example: the word 0x7ffffff0 at 0x2000 is the distance −16, so it stands
// for 0x1ff0.
func prel31(word uint32, address uint64) uint64 {
	return uint64(uint32(address) + uint32(int32(word<<1)>>1))
}

// entry reads entry i: the start of its function as a prel31, and its second word. Bit 0 of the
// start marks Thumb code.
func (t *table) entry(i int) (start uint64, word uint32, err error) {
	off := t.offset(i)
	var p [entrySize]byte
	if _, err := t.src.ReadAt(p[:], off); err != nil {
		return 0, 0, t.src.Wrap(part, off, err)
	}
	first := t.cfg.Order.Uint32(p[:])
	if first>>31 != 0 {
		return 0, 0, t.bad(off, "a distance of 31 bits to a function", fmt.Sprintf("0x%08x", first))
	}
	return prel31(first, t.address+uint64(off)) &^ 1, t.cfg.Order.Uint32(p[4:]), nil
}

// find returns the index of the entry that covers a link-time address, its start and its second
// word. The index is -1 if no entry covers it.
func (t *table) find(pc uint64) (i int, start uint64, word uint32, err error) {
	for {
		var broken error
		i = sort.Search(t.count, func(i int) bool {
			s, _, err := t.entry(i)
			if err != nil && broken == nil {
				broken = err
			}
			return err != nil || s > pc
		}) - 1
		if broken == nil && i < 0 {
			return -1, 0, 0, nil
		}
		if broken == nil {
			if start, word, err = t.entry(i); err != nil {
				return 0, 0, 0, err
			}
			if broken = t.neighbours(i, start, pc); broken == nil {
				return i, start, word, nil
			}
		}
		// Each round searches once. A second one follows only after the first has found the table
		// out of order and sorted it.
		if t.sortTried || t.src.Interrupted(broken) {
			return 0, 0, 0, broken
		}
		if err := t.sort(broken); err != nil {
			return 0, 0, 0, err
		}
	}
}

// neighbours returns an error if the entries around a found one are out of order: a binary search
// of an unsorted table finds some entry too, mostly a wrong one.
func (t *table) neighbours(i int, start, pc uint64) error {
	for _, n := range [...]int{i - 1, i + 2} {
		if n < 0 || n >= t.count {
			continue
		}
		s, _, err := t.entry(n)
		if err != nil {
			return err
		}
		if n < i && s > start || n > i && s <= pc {
			return t.bad(t.offset(n), "functions by address", fmt.Sprintf("0x%x after 0x%x", s, start))
		}
	}
	return nil
}

// sort sorts the entries of an unsorted section, once. It leaves out entries that it cannot read.
func (t *table) sort(why error) error {
	type placed struct{ start, n uint32 }
	var list []placed
	for i := range t.count {
		start, _, err := t.entry(i)
		if t.src.Interrupted(err) {
			return err
		}
		if err != nil {
			t.warn("entry", err)
			continue
		}
		list = append(list, placed{uint32(start), uint32(i)})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].start < list[j].start })
	t.warn("order", why)
	t.sortTried = true
	t.order, t.count = make([]uint32, len(list)), len(list)
	for i, p := range list {
		t.order[i] = p.n
	}
	return nil
}

// end returns the end of entry i: the start of the next one.
func (t *table) end(i int) (uint64, error) {
	if i+1 < t.count {
		end, _, err := t.entry(i + 1)
		return end, err
	}
	if t.cfg.End != 0 {
		return t.cfg.End, nil
	}
	return addressSpace, nil
}

// prologue is the assumed size in bytes of a function's prologue, which saves the registers. An
// entry has one set of rules for the whole function, and they hold only after the prologue.
const prologue = 24

// noteEntry is Origin.Note of rows for addresses in the prologue.
const noteEntry = "which describes the function's body: near its entry the registers may not be saved yet"

// Function implements unwind.Functions. A linker merges equal entries that follow each other, so the
// end may be that of a later function.
func (t *table) Function(rva uint64) (start, end uint64, ok bool, err error) {
	i, start, _, err := t.find(t.cfg.Base + rva)
	if err != nil || i < 0 || start < t.cfg.Base {
		return 0, 0, false, err
	}
	end, err = t.end(i)
	return start - t.cfg.Base, end - t.cfg.Base, err == nil, err
}

// Row implements unwind.Table.
func (t *table) Row(rva uint64) (unwind.Row, bool, error) {
	pc := t.cfg.Base + rva
	i, start, word, err := t.find(pc)
	if err != nil || i < 0 {
		return unwind.Row{}, false, err
	}
	if end, err := t.end(i); err != nil || pc >= end || end <= start {
		return unwind.Row{}, false, err
	}
	row, err := t.row(i, start, word)
	if err != nil {
		return unwind.Row{}, false, err
	}
	if pc-start < prologue && !row.Outermost {
		row.Origin.Note = noteEntry
	}
	return row, true, nil
}

// ensureSorted sorts the section if any of its entries is out of order or cannot be read.
func (t *table) ensureSorted() error {
	if t.sortTried {
		return nil
	}
	last := uint64(0)
	for i := range t.count {
		start, _, err := t.entry(i)
		if t.src.Interrupted(err) {
			return err
		}
		if err == nil && start < last {
			err = t.bad(t.offset(i), "functions by address", fmt.Sprintf("0x%x after 0x%x", start, last))
		}
		if err != nil {
			return t.sort(err)
		}
		last = start
	}
	return nil
}

// Each implements unwind.Table. An entry's rules hold from its function's start to that of the
// next.
func (t *table) Each(f func(start, end uint64, row unwind.Row) error) error {
	if err := t.ensureSorted(); err != nil {
		return err
	}
	for i := range t.count {
		start, word, err := t.entry(i)
		if err != nil {
			return err
		}
		end, err := t.end(i)
		if err != nil {
			return err
		}
		if start < t.cfg.Base || end <= start {
			continue
		}
		row, err := t.row(i, start, word)
		if input.Needs(err) {
			return err
		}
		if err != nil {
			t.warn("entry", err)
			continue
		}
		if err := f(start-t.cfg.Base, end-t.cfg.Base, row); err != nil {
			return err
		}
	}
	return nil
}

// arm is the only CPU with this format.
var arm = cpu.ARM
