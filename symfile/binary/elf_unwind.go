package binary

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarfcfi"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/exidx"
	"github.com/crashpane/crashpane/symfile/sframe"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// unwindSections has the kinds of sections with unwind rules, in the order in which Row asks them.
// open returns nil for a file without such a section, else a function that opens it.
var unwindSections = []struct {
	kind string
	open func(f *elfProgram, e *elf.File) func() (unwind.Table, error)
}{
	{".eh_frame", openEHFrame},
	{".debug_frame", openDebugFrame},
	{".sframe", openSFrame},
	{goSection, openGo},
	{".ARM.exidx", openExidx},
}

// unwindTables returns the tables by kind, and of each kind that of the program before that of its
// debug file, whose .eh_frame is mostly a section without bytes.
func (f *elfProgram) unwindTables() []*table {
	out := []*table{}
	for _, kind := range unwindSections {
		for _, e := range f.files() {
			if open := kind.open(f, e); open != nil {
				out = append(out, &table{section: kind.kind, src: e.Src, open: open})
			}
		}
	}
	return out
}

// cfiConfig returns what package dwarfcfi must know about a file.
//
// The addresses of .text, .data and .got are the bases of pointers relative to them
// (DW_EH_PE_textrel and DW_EH_PE_datarel).
func (f *elfProgram) cfiConfig(e *elf.File) dwarfcfi.Config {
	cfg := dwarfcfi.Config{Arch: f.elf.Arch, Order: e.Order, AddressSize: e.Class / 8, Base: f.baseOf(e), File: e.Src.Name, At: e.At}
	for i := range e.Sections {
		switch s := &e.Sections[i]; s.Name {
		case ".text":
			cfg.Text = s.Address
		case ".data":
			cfg.Data = s.Address
		case ".got":
			cfg.Got = s.Address
		}
	}
	return cfg
}

// section returns a function that reads a section, the section's address, and whether the file has
// it. In a file without section headers it is the segment of a type; 0 means that there is no such
// type.
func section(e *elf.File, name string, segment uint32) (open func() (*input.Source, error), address uint64, ok bool) {
	if s := e.Section(name); s != nil {
		return func() (*input.Source, error) { return e.Data(s) }, s.Address, true
	}
	for i := range e.Segments {
		s := &e.Segments[i]
		if segment == 0 || s.Type != segment || s.FileSize == 0 || len(e.Sections) > 1 {
			continue
		}
		return func() (*input.Source, error) { return part(e, name, s.Offset, s.FileSize), nil }, s.Address, true
	}
	return nil, 0, false
}

// part returns a range of the file as a section with a name.
func part(e *elf.File, name string, off, size uint64) *input.Source {
	return e.Src.Sub(e.Src.Name+": "+name, int64(min(off, 1<<62)), int64(min(size, 1<<62)))
}

// Types of segments with one section: PT_GNU_EH_FRAME (LSB core specification) and PT_ARM_EXIDX
// (ELF for the Arm Architecture).
const (
	segEHFrame = 0x6474e550
	segExidx   = 0x70000001
)

// openEHFrame opens .eh_frame, with the header that makes it searchable if the file has one.
//
// A file that sstrip or a packer left without section headers still has the segment
// PT_GNU_EH_FRAME, and so .eh_frame too.
func openEHFrame(f *elfProgram, e *elf.File) func() (unwind.Table, error) {
	hdr, hdrAt, _ := section(e, ".eh_frame_hdr", segEHFrame)
	s := e.Section(".eh_frame")
	if s == nil && (hdr == nil || !hasCode(e)) {
		return nil
	}
	return func() (unwind.Table, error) {
		var head *input.Source
		if hdr != nil {
			var err error
			switch head, err = hdr(); {
			case err != nil && (s == nil || input.Needs(err)):
				return nil, err
			case err != nil:
				// Without the header lookups are only slower.
				head = nil
				f.notes.Add(err)
			}
		}
		cfg := f.cfiConfig(e)
		if s == nil {
			cfg.Terminated = true
			src, at, err := frameByHeader(e, head, hdrAt, cfg)
			if err != nil {
				return nil, err
			}
			return dwarfcfi.EHFrame(src, at, head, hdrAt, cfg)
		}
		src, err := e.Data(s)
		if err != nil {
			return nil, err
		}
		return dwarfcfi.EHFrame(src, s.Address, head, hdrAt, cfg)
	}
}

// frameByHeader finds .eh_frame in a file without section headers, by its .eh_frame_hdr. The result
// ends with the segment, since the size of .eh_frame is unknown; its terminator ends it earlier.
func frameByHeader(e *elf.File, head *input.Source, at uint64, cfg dwarfcfi.Config) (*input.Source, uint64, error) {
	address, err := dwarfcfi.FrameAddress(head, at, cfg)
	if err != nil {
		return nil, 0, err
	}
	for _, s := range e.Segments {
		if s.Type == segLoad && address >= s.Address && address-s.Address < s.FileSize {
			return part(e, ".eh_frame", s.Offset+(address-s.Address), s.FileSize-(address-s.Address)), address, nil
		}
	}
	return nil, 0, &input.FormatError{File: head.Name, Offset: 4, Want: "the address of .eh_frame", Have: fmt.Sprintf("0x%x, which no segment has", address)}
}

// openDebugFrame opens .debug_frame, which strip removes and debug files keep.
func openDebugFrame(f *elfProgram, e *elf.File) func() (unwind.Table, error) {
	s := e.Section(".debug_frame")
	if s == nil {
		return nil
	}
	return func() (unwind.Table, error) {
		src, err := e.Data(s)
		if err != nil {
			return nil, err
		}
		return dwarfcfi.DebugFrame(src, f.cfiConfig(e))
	}
}

// openSFrame opens .sframe, found by its name, its section's type, or its segment's.
func openSFrame(f *elfProgram, e *elf.File) func() (unwind.Table, error) {
	open, at, ok := section(e, sframe.SectionName, 0)
	// Linkers give the section different types, and tools may rename it. Its segment remains.
	for i := range e.Sections {
		if s := &e.Sections[i]; !ok && s.Type == sframe.SectionType && s.HasBytes() {
			open, at, ok = func() (*input.Source, error) { return e.Data(s) }, s.Address, true
		}
	}
	for i := range e.Segments {
		if s := &e.Segments[i]; !ok && s.Type == sframe.SegmentType && s.FileSize > 0 && hasCode(e) {
			open, at, ok = func() (*input.Source, error) { return part(e, sframe.SectionName, s.Offset, s.FileSize), nil }, s.Address, true
		}
	}
	if !ok {
		return nil
	}
	return func() (unwind.Table, error) {
		src, err := open()
		if err != nil {
			return nil, err
		}
		return sframe.Open(src, at, sframe.Config{Arch: f.elf.Arch, Base: f.baseOf(e), File: e.Src.Name})
	}
}

// openGo opens the stack depths in the table of a program of Go.
func openGo(f *elfProgram, e *elf.File) func() (unwind.Table, error) {
	if g := f.goELF(); g != nil && e == f.elf {
		return g.rules
	}
	return nil
}

// openExidx opens the index table of 32-bit ARM. Its last entry has no end, so cfg.End is that of
// the file's code.
func openExidx(f *elfProgram, e *elf.File) func() (unwind.Table, error) {
	open, at, ok := section(e, ".ARM.exidx", segExidx)
	if !ok || f.elf.Arch != cpu.ARM {
		return nil
	}
	cfg := exidx.Config{Order: e.Order, Base: f.baseOf(e), File: e.Src.Name}
	for i := range e.Sections {
		if s := &e.Sections[i]; s.Exec() && s.Address+s.Size > s.Address {
			cfg.End = max(cfg.End, s.Address+s.Size)
		}
	}
	return func() (unwind.Table, error) {
		src, err := open()
		if err != nil {
			return nil, err
		}
		return exidx.Open(src, at, e.At, cfg)
	}
}

// baseOf returns the link-time address of RVA 0 in a file. A debug file has the program's base,
// unless prelink has moved the program since; then the debug file's own program headers have the
// old base.
func (f *elfProgram) baseOf(e *elf.File) uint64 {
	if e == f.elf {
		return e.Base
	}
	for _, s := range e.Segments {
		if s.Type == segLoad {
			return e.Base
		}
	}
	return f.elf.Base
}
