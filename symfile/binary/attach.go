package binary

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/elf"
)

// splitFile is a .dwo or .dwp file.
type splitFile struct {
	elf *elf.File
	// pack: it is a package of many units (.dwp).
	pack     bool
	sections *dwarf.Sections
}

func (f *elfProgram) attach(src *input.Source) (program, error) {
	if took, err := f.take(src); !took || err != nil {
		return nil, err
	}
	return f, nil
}

func (f *elfProgram) take(src *input.Source) (bool, error) {
	e, err := elf.Open(src)
	if err != nil || e.Type == elf.TypeCore {
		return false, nil // whoever opens it for itself says so
	}
	// A debug file may have the split units packed into itself; then it is both.
	if hasSplit(e) && e.Section(".debug_info") == nil {
		if !f.isSplit() {
			return false, nil
		}
		f.split = append(f.split, &splitFile{elf: e, pack: isPack(e)})
		return true, nil
	}
	if took, err := f.attachAlt(e); took || err != nil {
		return took, err
	}
	return f.attachDebug(e)
}

func hasSplit(e *elf.File) bool { return e.Section(".debug_info.dwo") != nil || isPack(e) }

func isPack(e *elf.File) bool { return e.Section(".debug_cu_index") != nil }

// packed are the split units that the program or its debug file holds itself.
func (f *elfProgram) packed() *splitFile {
	for _, e := range f.files() {
		if hasSplit(e) {
			if f.own == nil || f.own.elf != e {
				f.own = &splitFile{elf: e, pack: true}
			}
			return f.own
		}
	}
	return nil
}

// files are the files that describe the program's addresses.
func (f *elfProgram) files() []*elf.File {
	out := []*elf.File{f.elf}
	if f.debug != nil {
		out = append(out, f.debug)
	}
	return out
}

// isSplit: some units' information lies in files of their own, which take their addresses from a section of this one.
func (f *elfProgram) isSplit() bool {
	for _, e := range f.files() {
		if e.Section(".debug_addr") != nil {
			return true
		}
	}
	return false
}

func (f *elfProgram) attachAlt(e *elf.File) (bool, error) {
	for _, of := range f.files() {
		name, id, ok := of.AltLink()
		if !ok || f.alt != nil {
			continue
		}
		switch {
		case len(id) > 0 && bytes.Equal(id, e.BuildID):
			f.alt = e
			return true, nil
		case baseName(name) == baseName(e.Src.Name) && !hasCode(e):
			return false, &input.FormatError{File: e.Src.Name, Part: "notes", Offset: -1,
				Want: fmt.Sprintf("the build id %x, which the .gnu_debugaltlink section of %s names", id, of.Src.Name), Have: fmt.Sprintf("%x", e.BuildID)}
		}
	}
	return false, nil
}

func (f *elfProgram) attachDebug(e *elf.File) (bool, error) {
	if f.debug != nil || e.Machine != f.elf.Machine || e.Class != f.elf.Class {
		return false, nil
	}
	useful := e.HasSymtab() || e.Section(".debug_info") != nil || e.Section(".debug_frame") != nil || e.Section(".stab") != nil
	if len(e.BuildID) > 0 && len(f.elf.BuildID) > 0 {
		if !useful || !bytes.Equal(e.BuildID, f.elf.BuildID) || e.Src.Name == f.src.Name {
			return false, nil
		}
		f.debug = e
		return true, nil
	}
	name, crc, ok := f.elf.DebugLink()
	if !ok || !strings.EqualFold(baseName(name), baseName(e.Src.Name)) {
		return false, nil
	}
	have, err := elf.CRC(e.Src)
	if err != nil {
		return false, err
	}
	if have != crc {
		return false, &input.FormatError{File: e.Src.Name, Offset: -1,
			Want: fmt.Sprintf("the CRC %08x, which the .gnu_debuglink section of %s names", crc, f.src.Name), Have: fmt.Sprintf("%08x", have)}
	}
	f.debug = e
	return true, nil
}
