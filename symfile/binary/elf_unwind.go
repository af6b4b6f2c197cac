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

// unwindSections are the kinds of sections in the order in which they are asked. open is nil-safe: it answers (nil, nil) for a file
// without such a section.
var unwindSections = []struct {
	kind string
	open func(f *elfProgram, e *elf.File) func() (unwind.Table, error)
}{
	{".eh_frame", openEHFrame},
	{".debug_frame", openDebugFrame},
	{".sframe", openSFrame},
	{".ARM.exidx", openExidx},
}

func (f *elfProgram) unwindTables() []*table {
	out := []*table{}
	for _, kind := range unwindSections {
		for _, e := range f.files() {
			if open := kind.open(f, e); open != nil {
				out = append(out, &table{kind: kind.kind, file: e.Src.Name, open: open})
			}
		}
	}
	return out
}

// cfiConfig is what sections of DWARF's call frame information need of the file around them.
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

// section is a section's content, where it is linked, and whether there is one. In a file without sections it is looked for as a
// segment of its own; 0 is none.
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

// part is a piece of the file as a section of a name.
func part(e *elf.File, name string, off, size uint64) *input.Source {
	return e.Src.Sub(e.Src.Name+": "+name, int64(min(off, 1<<62)), int64(min(size, 1<<62)))
}

// Segments that hold one section. Sources: the LSB core specification (PT_GNU_EH_FRAME), ELF for the Arm Architecture
// (PT_ARM_EXIDX).
const (
	segEHFrame = 0x6474e550
	segExidx   = 0x70000001
)

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
				// The header only makes lookups faster.
				head = nil
				f.notes.add(err)
			}
		}
		cfg := f.cfiConfig(e)
		if s == nil {
			cfg.Terminated = true
			src, at, err := behindHeader(e, head, hdrAt, cfg)
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

// behindHeader finds .eh_frame in a file without sections by its header. It reaches to the end of the segment, if it has no end of
// its own before.
func behindHeader(e *elf.File, head *input.Source, at uint64, cfg dwarfcfi.Config) (*input.Source, uint64, error) {
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

func openSFrame(f *elfProgram, e *elf.File) func() (unwind.Table, error) {
	open, at, ok := section(e, sframe.SectionName, 0)
	// Linkers differ in the type that they give it, and a tool may have renamed it; the segment leads to it in any case.
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

// baseOf is the link-time address of RVA 0 in a file: that of the program. A debug file describes the same addresses; one of its own
// matters only if the program was moved since (prelinked).
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
