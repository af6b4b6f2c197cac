// Package dwarfcfi reads DWARF call frame information: the sections .eh_frame (with .eh_frame_hdr)
// and .debug_frame, with CIEs of versions 1, 3 and 4 in the 32-bit and 64-bit forms. It makes an
// unwind.Row for an address.
//
// EHFrame and DebugFrame open a section as an unwind.Table. Start at table.Row in this file: it
// finds the FDE of the address (by .eh_frame_hdr in header.go, else by index in index.go), executes
// its instructions up to the address (instructions.go), and makes a Row of the resulting state
// (row.go). expression.go translates DWARF expressions to rules.
//
// Specifications: DWARF 5, section 6.4; Linux Standard Base Core, "DWARF Extensions", for .eh_frame
// and .eh_frame_hdr; each processor's psABI for its register numbers.
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

// Config is what a reader must know and a section does not contain.
type Config struct {
	Arch  *cpu.Arch
	Order binary.ByteOrder
	// AddressSize in bytes: 4 or 8.
	AddressSize int
	// Base is the link-time address of RVA 0.
	Base uint64
	// File is the binary's name, for origins and errors.
	File string
	// Text, Data and Got are the link-time addresses to which pointers may be relative, 0 if the
	// file lacks the section.
	Text, Data, Got uint64
	// Terminated: the section's size is unknown, and an entry of length 0 ends it. Otherwise such
	// entries are skipped, because linkers leave some in the middle.
	Terminated bool
	// ESPIs5: in a section of i386, 5 should be esp and 4 ebp, as in __eh_frame of Apple's systems;
	// otherwise it is the other way round, as in all of DWARF.
	ESPIs5 bool
	// At reads n bytes at a link-time address, for indirect pointers. It may be nil.
	At func(address uint64, n int64) ([]byte, error)
}

// check finds mistakes of the caller, which are not faults of a file.
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
	hdr     *header    // nil if the file has none or it is unusable
	fdes    []fdeRange // sorted by address; made by index
	indexed bool
	cies    map[int64]*cie
	last    *cie // the CIE used last
	m       machine
	rows    rowBuilder
	work    int64 // bytes of initial instructions executed so far, see maxWork
	// swapped: in this i386 section 4 is ebp and 5 is esp. numbered: detectNumbering has run.
	swapped, numbered bool
	warnings          input.Warnings
}

// EHFrame opens an .eh_frame section that is linked at an address. hdr is its .eh_frame_hdr, or
// nil. With it, a lookup reads only the entries that it needs. Without it, or if it does not match
// the section (then there is a warning), the first lookup reads the whole section.
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

// DebugFrame opens a .debug_frame section. The first lookup reads all of it.
func DebugFrame(src *input.Source, cfg Config) (unwind.Table, error) {
	return open(src, ".debug_frame", cfg)
}

// open makes a table of a section; nothing is read yet.
func open(src *input.Source, name string, cfg Config) (*table, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	t := &table{section: section{src: src, name: name, near: windowSize, Config: cfg}, cies: map[int64]*cie{}}
	return t, nil
}

func (t *table) warn(kind string, err error) { t.warnings.AddKind(kind, err) }

// Warnings implements unwind.Table.
func (t *table) Warnings() []string { return t.warnings.List(t.File + ": " + t.name) }

// fdeRange is the code that an FDE covers and the FDE's section offset, in 16 bytes: large programs
// have a million functions.
type fdeRange struct {
	start uint64
	size  uint32 // largest if the size needs more bits
	off   uint32
}

const largest = 1<<32 - 1

func (p *fdeRange) end() uint64 { return p.start + uint64(p.size) }

// entries is how many FDEs find checks for one address: functions may overlap.
const entries = 8

// find returns the FDE that covers a link-time address. If none does, ok is false, and the FDE is
// the last one that starts before the address, if there is one.
func (t *table) find(pc uint64) (fde, bool, error) {
	if t.hdr != nil {
		f, ok, err := t.hdr.find(t, pc)
		if err == nil || t.src.Interrupted(err) {
			return f, ok, err
		}
		t.warn("header", err)
		t.hdr = nil
	}
	if err := t.index(); err != nil {
		return fde{}, false, err
	}
	// The last FDE that starts at or before pc may have ended before it, while a longer one that
	// starts earlier covers pc.
	i := sort.Search(len(t.fdes), func(i int) bool { return t.fdes[i].start > pc })
	var last fde
	for n := 0; n < entries && i > 0; n++ {
		i--
		p := &t.fdes[i]
		if pc >= p.end() && p.size != largest {
			if n == 0 {
				last = fde{start: p.start, size: uint64(p.size)}
			}
			continue
		}
		f, err := t.fdeAt(int64(p.off))
		if err != nil || pc-f.start < f.size {
			return f, err == nil, err
		}
		if n == 0 {
			last = f
		}
	}
	return last, false, nil
}

// Function implements unwind.Functions.
func (t *table) Function(rva uint64) (start, end uint64, ok bool, err error) {
	pc := t.mask(t.Base + rva)
	f, _, err := t.find(pc)
	if err != nil || f.size == 0 || f.start < t.Base || f.start > pc {
		return 0, 0, false, err
	}
	return f.start - t.Base, f.start - t.Base + f.size, true, nil
}

// Row implements unwind.Table. It returns false if no FDE covers the address, or if one does and
// its rules cannot be a Row; the Row's Origin.Note then says why.
//
// In order: the FDE; for i386, how the section numbers registers; the CIE's initial instructions;
// the FDE's instructions up to the address; the Row of the state.
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
	// An instruction after an advance applies to the new location. So the state before the first
	// advance beyond pc is pc's row.
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
	// A stack may have thousands of frames in one function.
	r.draw(int64(r.pos))
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

// ensureNumbered runs detectNumbering once, for i386.
func (t *table) ensureNumbered() (err error) {
	if t.numbered || !t.Arch.SwappedDWARF {
		return nil
	}
	if t.hdr != nil {
		err = t.detectNumbering(t.hdr.count, func(i int) (int64, error) {
			_, off, err := t.hdr.pair(t, i)
			return off, err
		})
	} else if err = t.index(); err == nil {
		err = t.detectNumbering(len(t.fdes), func(i int) (int64, error) { return int64(t.fdes[i].off), nil })
	}
	t.numbered = err == nil
	return err
}

// Each implements unwind.Table. It calls f by address, once for each range between changes of the
// rules. If the entries are not in the order of the functions, Each reads the section into memory
// first. If there is no memory for that, Each calls f in the order of the entries.
func (t *table) Each(f func(start, end uint64, row unwind.Row) error) error {
	if err := t.index(); err != nil {
		return err
	}
	if err := t.ensureNumbered(); err != nil {
		return err
	}
	// A pass reads entry after entry, so it reads whole blocks of the Source.
	near := t.near
	t.near = 0
	defer func() { t.near = near }()
	list := t.fdes
	if scattered(list) {
		if block, _, err := t.src.Block(0); err != nil {
			return err
		} else if int64(len(block)) == t.src.Size {
			// The section is in memory already.
		} else if t.src.Size <= t.src.Left(input.Memory) {
			whole := t.src
			if err := whole.Draw(input.Memory, whole.Size); err != nil {
				return whole.Wrap(t.name, 0, err)
			}
			data := make([]byte, whole.Size)
			if _, err := whole.ReadDirect(data, 0); err != nil {
				return whole.Wrap(t.name, 0, err)
			}
			t.src = whole.DeriveBytes(whole.Name, data)
			defer func() { whole.Return(whole.Size); t.src = whole }()
		} else {
			list = slices.Clone(list)
			slices.SortFunc(list, func(a, b fdeRange) int { return cmp.Compare(a.off, b.off) })
		}
	}
	for i := range list {
		entry, err := t.fdeAt(int64(list[i].off))
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

// scattered reports whether reading the entries in the order of addresses would jump around in the
// section: more than 256 times by more than 64 KiB, and more than once in 256 entries. Linkers that
// sort functions by call order (gold's --section-ordering-file, LLD's --symbol-ordering-file) leave
// the entries where they are.
func scattered(list []fdeRange) bool {
	const near = 64 << 10
	jumps := 0
	for i := 1; i < len(list); i++ {
		if d := int64(list[i].off) - int64(list[i-1].off); d > near || d < -near {
			jumps++
		}
	}
	return jumps > 256 && jumps > len(list)/256
}

// eachOf calls f for each range of one function that shares a Row. Ranges with equal rows are
// merged.
//
// A range is kept in have until the next one is known, since the next may be equal or begin at the
// same address. After a damaged instruction the ranges end where the last advance led.
func (t *table) eachOf(e *fde, f func(start, end uint64, row unwind.Row) error) error {
	if err := t.m.begin(t, e); t.src.Interrupted(err) {
		return err
	} else if err != nil {
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
			// Instructions at one location replace each other's rules: only the last state holds
			// for any code.
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
		// Only an instruction that moves the location ends a range. Before it, the state is that of
		// the range from at on.
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
	if t.src.Interrupted(r.err) {
		return r.err
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
