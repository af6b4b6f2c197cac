// Package exidx reads 32-bit ARM's exception index (.ARM.exidx and .ARM.extab), which most ARM binaries have in place of DWARF call
// frame information, and makes a Row of what it says for an address.
//
// Source: "Exception Handling ABI for the Arm Architecture" (IHI 0038), sections 6 (the index), 7 (the entries) and 10.3 (the
// frame unwinding instructions).
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

// Config is what the section does not say of itself.
type Config struct {
	Order binary.ByteOrder
	// Base is the link-time address that module-relative addresses count from.
	Base uint64
	// End is the link-time address at which the code ends that the section is about, and with it the last entry; 0 if it is not
	// known.
	End uint64
	// File is the binary's name, for origins and errors.
	File string
}

const (
	part      = ".ARM.exidx"
	extab     = ".ARM.extab"
	entrySize = 8

	cannotUnwind = 1
	// addressSpace stands for the end of the last entry where Config has none.
	addressSpace = math.MaxUint32
)

type table struct {
	src     *input.Source
	address uint64
	at      func(address uint64, n int64) ([]byte, error)
	cfg     Config
	count   int
	// order are the entries by address if the section does not have them so; nil if it does.
	order    []uint32
	warnings unwind.Warnings
	tried    bool // to sort
}

// Open opens an .ARM.exidx section that is linked at an address. at reads n bytes at a link-time address: entries that are longer
// than a word lie elsewhere, in .ARM.extab. Lookups read the words that they need and nothing else.
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

func (t *table) bad(off int64, want, have string) error {
	return &input.FormatError{File: t.cfg.File, Part: part, Offset: off, Want: want, Have: have}
}

func (t *table) warn(kind string, err error) { t.warnings.Add(kind, err) }

// Warnings implements unwind.Table.
func (t *table) Warnings() []string { return t.warnings.List(t.cfg.File + ": " + part) }

// offset is where entry i in the order of addresses lies in the section.
func (t *table) offset(i int) int64 {
	if t.order != nil {
		i = int(t.order[i])
	}
	return int64(i) * entrySize
}

// prel31 is the address that a word with 31 bits of distance leads to from the place where it stands.
func prel31(word uint32, place uint64) uint64 {
	return uint64(uint32(place) + uint32(int32(word<<1)>>1))
}

// entry is entry i: the function that it begins with, and its second word.
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

// find is the number of the entry that covers a link-time address, where it starts, and its second word.
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
		if input.Needs(broken) {
			return 0, 0, 0, broken
		}
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
		if t.tried {
			return 0, 0, 0, broken
		}
		if err := t.sort(broken); err != nil {
			return 0, 0, 0, err
		}
	}
}

// neighbours says whether the entries around a found one are out of order, which the search itself does not see.
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

// sort brings the entries of a section that is not sorted into order, once; those that cannot be read are left out.
func (t *table) sort(why error) error {
	t.warn("order", why)
	t.tried = true
	type placed struct{ start, n uint32 }
	var list []placed
	for i := range t.count {
		start, _, err := t.entry(i)
		if input.Needs(err) {
			return err
		}
		if err != nil {
			t.warn("entry", err)
			continue
		}
		list = append(list, placed{uint32(start), uint32(i)})
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].start < list[j].start })
	t.order, t.count = make([]uint32, len(list)), len(list)
	for i, p := range list {
		t.order[i] = p.n
	}
	return nil
}

// end is where entry i ends: with the next one's start.
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

// prologue is how many bytes behind a function's start instructions may still be saving registers, which takes a few words.
const prologue = 24

// noteEntry is the Origin's note of rows there.
const noteEntry = "which describes the function's body: near its entry the registers may not be saved yet"

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

// ensureSorted looks through the whole section for entries that are out of order or cannot be read.
func (t *table) ensureSorted() error {
	if t.tried {
		return nil
	}
	last := uint64(0)
	for i := range t.count {
		start, _, err := t.entry(i)
		if input.Needs(err) {
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

// Each implements unwind.Table. An entry's rules hold from its function's start to that of the next.
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

// arm is the one CPU that has this format.
var arm = cpu.ARM
