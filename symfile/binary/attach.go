package binary

import (
	"bytes"
	"fmt"
	"hash"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/elf"
)

// splitFile is a file of split DWARF: a .dwo or .dwp file.
type splitFile struct {
	elf *elf.File
	// isPackage: it has many units (.dwp).
	isPackage bool
	sections  *dwarf.Sections
}

// attach attaches a debug file, a supplementary file of dwz, or a file of split units. It returns
// nil for a file of another program.
func (f *elfProgram) attach(src *input.Source) (program, error) {
	if attached, err := f.attachFile(src); !attached || err != nil {
		return nil, err
	}
	return f, nil
}

// attachFile attaches a file that belongs to the program, and reports whether it does. It tries in
// this order: a .dwo or .dwp file, which has no .debug_info of its own; the supplementary file of
// dwz; the separate debug file.
func (f *elfProgram) attachFile(src *input.Source) (bool, error) {
	e, err := elf.Open(src)
	if err != nil || e.Type == elf.TypeCore {
		return false, nil // opening it as a file of its own reports the error
	}
	// A debug file may contain a .dwp package; then it is attached as a debug file.
	if hasSplit(e) && e.Section(".debug_info") == nil {
		if !f.isSplit() {
			return false, nil
		}
		s := &splitFile{elf: e, isPackage: isPack(e)}
		f.split = append(f.split, s)
		if !s.isPackage {
			if f.dwos == nil {
				f.dwos = map[string][]*splitFile{}
			}
			name := baseName(e.Src.Name)
			f.dwos[name] = append(f.dwos[name], s)
		}
		return true, nil
	}
	if attached, err := f.attachAlt(e); attached || err != nil {
		return attached, err
	}
	return f.attachDebug(e)
}

// hasSplit reports whether a file has split units.
func hasSplit(e *elf.File) bool { return e.Section(".debug_info.dwo") != nil || isPack(e) }

// isPack reports whether a file has a package of split units (.dwp).
func isPack(e *elf.File) bool { return e.Section(".debug_cu_index") != nil }

// embeddedSplit returns the split units in the program or in its debug file, or nil.
func (f *elfProgram) embeddedSplit() *splitFile {
	for _, e := range f.files() {
		if hasSplit(e) {
			if f.embedded == nil || f.embedded.elf != e {
				f.embedded = &splitFile{elf: e, isPackage: true}
			}
			return f.embedded
		}
	}
	return nil
}

// files returns the files that describe the program's addresses: the program, and its debug file.
func (f *elfProgram) files() []*elf.File {
	out := []*elf.File{f.elf}
	if f.debug != nil {
		out = append(out, f.debug)
	}
	return out
}

// isSplit reports whether some units are in .dwo files. Those use the addresses in .debug_addr of
// this file.
func (f *elfProgram) isSplit() bool {
	return slices.ContainsFunc(f.files(), func(e *elf.File) bool { return e.Section(".debug_addr") != nil })
}

// attachAlt attaches the supplementary file of dwz if it has the build id that .gnu_debugaltlink
// names.
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
		// The name is right and the id is not: this is the supplementary file of another version.
		case baseName(name) == baseName(e.Src.Name) && !hasCode(e):
			return false, &input.FormatError{File: e.Src.Name, Part: "notes", Offset: -1,
				Want: fmt.Sprintf("the build id %x, which the .gnu_debugaltlink section of %s names", id, of.Src.Name), Have: fmt.Sprintf("%x", e.BuildID)}
		}
	}
	return false, nil
}

// attachDebug attaches the separate debug file: by the build id if both files have one, else by the
// CRC in .gnu_debuglink, whatever the file is called. A file that is named as .gnu_debuglink says and
// has another CRC is an error.
//
// The CRC needs a pass over the whole debug file, so it is computed only if the name fits, or if the
// file has the program's code sections without their bytes.
func (f *elfProgram) attachDebug(e *elf.File) (bool, error) {
	if f.debug != nil || e.Machine != f.elf.Machine || e.Class != f.elf.Class {
		return false, nil
	}
	// A program and its debug file have one build id, so a copy of the program itself has it too.
	if len(e.BuildID) > 0 && len(f.elf.BuildID) > 0 {
		if !hasDebug(e) || !bytes.Equal(e.BuildID, f.elf.BuildID) || e.Src.Name == f.src.Name {
			return false, nil
		}
		f.debug = e
		return true, nil
	}
	name, crc, ok := f.elf.DebugLink()
	named := ok && strings.EqualFold(baseName(name), baseName(e.Src.Name))
	if !ok || !named && (hasCode(e) || codeLayout(f.elf) != codeLayout(e)) {
		return false, nil
	}
	have, err := elf.CRC(e.Src)
	if err != nil || have != crc && !named {
		return false, err
	}
	if have != crc {
		return false, &input.FormatError{File: e.Src.Name, Offset: -1,
			Want: fmt.Sprintf("the CRC %08x, which the .gnu_debuglink section of %s names", crc, f.src.Name), Have: fmt.Sprintf("%08x", have)}
	}
	f.debug = e
	return true, nil
}

// hasDebug reports whether a file has what makes a debug file worth attaching.
func hasDebug(e *elf.File) bool {
	return e.HasSymtab() || e.Section(".debug_info") != nil || e.Section(".debug_frame") != nil || e.Section(".stab") != nil
}

// codeLayout returns symbol.Identity.CodeLayout. Tools that split off a debug file leave the headers
// of the code's sections in it.
func codeLayout(e *elf.File) string {
	var l layout
	for i := range e.Sections {
		if s := &e.Sections[i]; s.Exec() {
			l.add(s.Name, s.Address, s.Size)
		}
	}
	return l.String()
}

// layout hashes sections with code.
type layout struct{ h hash.Hash64 }

func (l *layout) add(name string, address, size uint64) {
	if l.h == nil {
		l.h = fnv.New64a()
	}
	fmt.Fprintf(l.h, "%q %x %x ", name, address, size)
}

// String returns the hash, or "" if nothing was added.
func (l *layout) String() string {
	if l.h == nil {
		return ""
	}
	return fmt.Sprintf("%016x", l.h.Sum64())
}
