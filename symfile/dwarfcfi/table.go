// Package dwarfcfi reads DWARF call frame information: the sections .eh_frame (with .eh_frame_hdr) and .debug_frame, CIE versions 1,
// 3 and 4, of 32 and 64 bits, and makes a Row of what they say for an address.
//
// Sources: DWARF 5, section 6.4; Linux Standard Base Core, "DWARF Extensions", for .eh_frame; the processors' psABI
// supplements for register numbers.
package dwarfcfi

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Config is what a section does not say of itself.
type Config struct {
	Arch  *cpu.Arch
	Order binary.ByteOrder
	// AddressSize in bytes: 4 or 8.
	AddressSize int
	// Base is the link-time address that module-relative addresses count from.
	Base uint64
	// File is the binary's name, for origins and errors.
	File string
	// Text, Data and Got are the link-time addresses that pointers may be relative to; 0 where a file has none.
	Text, Data, Got uint64
	// Terminated: an entry of length 0 ends the section, whose size is not known. Otherwise such entries are passed over: linkers
	// leave them in the middle.
	Terminated bool
	// At reads n bytes at a link-time address, for pointers that say where the value lies. It may be nil.
	At func(address uint64, n int64) ([]byte, error)
}

func (c *Config) check() error {
	switch {
	case c.Arch == nil || c.Order == nil:
		return errors.New("dwarfcfi: no CPU or byte order is given")
	case c.AddressSize != 4 && c.AddressSize != 8:
		return fmt.Errorf("dwarfcfi: addresses of %d bytes", c.AddressSize)
	}
	return nil
}

// table is one section as an unwind.Table.
type table struct {
	section
	hdr     *header // nil: there is none, or it is of no use
	places  []place // sorted by address; nil until a search without hdr needs it
	indexed bool
	cies    map[int64]*cie
	last    *cie
	m       machine
	rows    rows
	work    int64 // bytes of CIEs' instructions that were run
	// exchanged: an i386 section in which 4 is ebp and 5 is esp. numbered: that was looked into.
	exchanged, numbered bool
	warnings            unwind.Warnings
}

// EHFrame opens an .eh_frame section that is linked at an address. hdr is the .eh_frame_hdr that belongs to it, or nil: with it,
// only what a lookup needs is read; without it, or where it does not fit the section (Warnings says so), the first lookup reads
// the section once.
func EHFrame(src *input.Source, address uint64, hdr *input.Source, hdrAddress uint64, cfg Config) (unwind.Table, error) {
	t, err := open(src, ".eh_frame", cfg)
	if err != nil {
		return nil, err
	}
	t.eh, t.address = true, address
	if hdr != nil {
		h, err := t.openHeader(hdr, hdrAddress)
		if input.Needs(err) {
			return nil, err
		}
		if err != nil {
			t.warn("header", err)
		}
		t.hdr = h
	}
	return t, nil
}

// DebugFrame opens a .debug_frame section. The first lookup reads it once.
func DebugFrame(src *input.Source, cfg Config) (unwind.Table, error) {
	return open(src, ".debug_frame", cfg)
}

func open(src *input.Source, name string, cfg Config) (*table, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	t := &table{section: section{src: src, name: name, near: windowSize, Config: cfg}, cies: map[int64]*cie{}}
	return t, nil
}

func (t *table) warn(kind string, err error) { t.warnings.Add(kind, err) }

// Warnings implements unwind.Table.
func (t *table) Warnings() []string { return t.warnings.List(t.File + ": " + t.name) }

// place is where the FDE of a stretch of code lies: 16 bytes for each function, however large the section.
type place struct {
	start uint64
	size  uint32 // largest stands for sizes that need more bits
	off   uint32
}

const largest = 1<<32 - 1

func (p *place) end() uint64 { return p.start + uint64(p.size) }

// entries are how many entries are looked at below the one that begins nearest to an address: functions may overlap.
const entries = 8

// find is the FDE that covers a link-time address.
func (t *table) find(pc uint64) (fde, bool, error) {
	if t.hdr != nil {
		f, ok, err := t.hdr.find(t, pc)
		if err == nil || input.Needs(err) {
			return f, ok, err
		}
		t.warn("header", err)
		t.hdr = nil
	}
	if err := t.index(); err != nil {
		return fde{}, false, err
	}
	i := sort.Search(len(t.places), func(i int) bool { return t.places[i].start > pc })
	for n := 0; n < entries && i > 0; n++ {
		i--
		p := &t.places[i]
		if pc >= p.end() && p.size != largest {
			continue
		}
		f, err := t.fdeAt(int64(p.off))
		if err != nil || pc-f.start < f.size {
			return f, err == nil, err
		}
	}
	return fde{}, false, nil
}

// Row implements unwind.Table.
func (t *table) Row(rva uint64) (unwind.Row, bool, error) {
	pc := t.mask(t.Base + rva)
	f, ok, err := t.find(pc)
	if err != nil || !ok {
		return unwind.Row{}, false, err
	}
	if err := t.ensureNumbered(); err != nil {
		return unwind.Row{}, false, err
	}
	m := &t.m
	if err := m.begin(t, &f); err != nil {
		return unwind.Row{}, false, err
	}
	// The state before the instructions that follow a move is that of the addresses before it.
	r := t.reader(f.code, f.codeOff)
	from := f.start
	for r.pos < len(r.data) && r.err == nil {
		if m.step(&r) {
			if m.loc > pc {
				break
			}
			from = m.loc
		}
	}
	if r.err != nil {
		return unwind.Row{}, false, r.err
	}
	t.rows.begin(t, &f)
	row, why := t.rows.row(&m.cur, from)
	if why != "" {
		return unwind.Row{Origin: t.origin(f.off, why)}, false, nil
	}
	return row, true, nil
}

// ensureNumbered looks once into how an i386 section numbers registers.
func (t *table) ensureNumbered() error {
	if t.numbered || !t.Arch.ExchangedDWARF {
		return nil
	}
	t.numbered = true
	if t.hdr != nil {
		t.number(t.hdr.count, func(i int) (int64, error) {
			_, off, err := t.hdr.at(t, i)
			return off, err
		})
		return nil
	}
	if err := t.index(); err != nil {
		return err
	}
	t.number(len(t.places), func(i int) (int64, error) { return int64(t.places[i].off), nil })
	return nil
}

// Each implements unwind.Table: by address, a stretch for every change of the rules. Where functions were put into another order
// than their entries, the section is held in memory meanwhile; one that is too large for that is gone through as it lies.
func (t *table) Each(f func(start, end uint64, row unwind.Row) error) error {
	if err := t.index(); err != nil {
		return err
	}
	if err := t.ensureNumbered(); err != nil {
		return err
	}
	near := t.near
	t.near = 0
	defer func() { t.near = near }()
	places := t.places
	if scattered(places) {
		if block, _, err := t.src.Block(0); err != nil {
			return err
		} else if int64(len(block)) == t.src.Size {
			// It is in memory anyway.
		} else if t.src.Size <= maxHeld {
			whole := t.src
			data := make([]byte, whole.Size)
			if _, err := whole.ReadDirect(data, 0); err != nil {
				return whole.Wrap(t.name, 0, err)
			}
			t.src = input.FromBytes(whole.Name, data)
			defer func() { t.src = whole }()
		} else {
			places = slices.Clone(places)
			slices.SortFunc(places, func(a, b place) int { return cmp.Compare(a.off, b.off) })
		}
	}
	for i := range places {
		entry, err := t.fdeAt(int64(places[i].off))
		if input.Needs(err) {
			return err
		}
		if err != nil {
			t.warn("entry", err)
			continue
		}
		if err := t.eachOf(&entry, f); err != nil {
			return err
		}
	}
	return nil
}

// maxHeld is the size up to which Each holds a section in memory.
const maxHeld = 64 << 20

// scattered: reading the entries by address would read most of them from elsewhere than where the last was read.
func scattered(places []place) bool {
	const near = 64 << 10
	jumps := 0
	for i := 1; i < len(places); i++ {
		if d := int64(places[i].off) - int64(places[i-1].off); d > near || d < -near {
			jumps++
		}
	}
	return jumps > 256 && jumps > len(places)/256
}

// eachOf calls f for the stretches of one function.
func (t *table) eachOf(e *fde, f func(start, end uint64, row unwind.Row) error) error {
	if err := t.m.begin(t, e); err != nil {
		t.warn("entry", err)
		return nil
	}
	t.rows.begin(t, e)
	m, r := &t.m, t.reader(e.code, e.codeOff)
	var have unwind.Row
	var open bool // have holds from have.Start to where the next begins
	end := e.start + e.size
	emit := func(from uint64) error {
		if from >= end || from < t.Base {
			return nil
		}
		row, why := t.rows.row(&m.cur, from)
		if why != "" {
			t.warn("rules", t.bad(e.off, "rules for 0x"+fmt.Sprintf("%x", from), why))
		}
		if open {
			if why == "" && row.Equal(&have) && row.Origin == have.Origin {
				return nil
			}
			// What is said anew before the location moves counts.
			if have.Start < from-t.Base {
				if err := f(have.Start, from-t.Base, have); err != nil {
					return err
				}
			}
		}
		have, open = row, why == ""
		return nil
	}
	at := e.start
	for r.pos < len(r.data) && r.err == nil {
		if op := r.data[r.pos]; op&0xc0 != opAdvanceLoc && (op < opSetLoc || op > opAdvanceLoc4) && op != opMIPSAdvanceLoc8 {
			m.step(&r)
			continue
		}
		if err := emit(at); err != nil {
			return err
		}
		m.step(&r)
		at = m.loc
		if at >= end {
			break
		}
	}
	if r.err != nil {
		t.warn("entry", r.err)
		end = min(end, at)
	} else if err := emit(at); err != nil {
		return err
	}
	if open && have.Start+t.Base < end {
		return f(have.Start, end-t.Base, have)
	}
	return nil
}
