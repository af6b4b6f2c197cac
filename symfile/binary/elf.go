package binary

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// elfProgram is an ELF file and the files that belong to it.
type elfProgram struct {
	src   *input.Source
	elf   *elf.File
	notes *input.Warnings

	debug, alt *elf.File // the separate debug file, and the supplementary file of dwz
	mini       *elf.File // the file in .gnu_debugdata
	miniRead   bool
	split      []*splitFile
	dwos       map[string][]*splitFile // those of split with one unit, by the last part of their names
	embedded   *splitFile              // see embeddedSplit
	goPart     *goTable                // see goELF
}

// openELF opens an ELF file. A core file is refused: it is a dump of a process and no program.
func openELF(src *input.Source, n *input.Warnings) (program, error) {
	e, err := elf.Open(src)
	if err != nil {
		return nil, err
	}
	if e.Type == elf.TypeCore {
		return nil, &input.FormatError{File: src.Name, Part: "ELF header", Offset: 16, Want: "an executable, library, object or debug file", Have: "a core file"}
	}
	return &elfProgram{src: src, elf: e, notes: n}, nil
}

func (f *elfProgram) arch() *cpu.Arch       { return f.elf.Arch }
func (f *elfProgram) base() uint64          { return f.elf.Base }
func (f *elfProgram) frameData() frameTable { return nil }

func (f *elfProgram) warnings() (out []string) {
	for _, e := range f.opened() {
		out = append(out, e.Warnings()...)
	}
	return out
}

func (f *elfProgram) sources() (out []*input.Source) {
	for _, e := range f.opened() {
		out = append(out, e.Src)
	}
	return out
}

// opened returns the file and all files that belong to it.
func (f *elfProgram) opened() (out []*elf.File) {
	for _, e := range []*elf.File{f.elf, f.debug, f.alt, f.mini} {
		if e != nil {
			out = append(out, e)
		}
	}
	for _, s := range f.split {
		out = append(out, s.elf)
	}
	return out
}

// elfSections returns the sections that are part of the program in memory. Those that the program's
// loader makes read-only after it has relocated them may not be written to.
func elfSections(e *elf.File) (out []symbol.Section) {
	const segRelro, secThreadLocal = 0x6474e552, 0x400 // PT_GNU_RELRO, SHF_TLS
	var relro elf.Segment                              // glibc's loader takes the last
	for _, g := range e.Segments {
		if g.Type == segRelro {
			relro = g
		}
	}
	for i := range e.Sections {
		s := &e.Sections[i]
		if !s.Alloc() || s.Flags&secThreadLocal != 0 && !s.HasBytes() || s.Address < e.Base {
			continue
		}
		inRelro := s.Address >= relro.Address && s.Address-relro.Address < relro.MemSize
		out = append(out, symbol.Section{Range: symbol.Range{Start: s.Address - e.Base, Size: s.Size}, Name: s.Name,
			Write: s.Flags&flagWrite != 0 && !inRelro, Exec: s.Exec()})
	}
	return out
}

func (f *elfProgram) identity() symbol.Identity {
	src, e := f.src, f.elf
	id := symbol.Identity{Name: e.SoName, DebugID: e.DebugID(), CodeID: e.CodeID(), OtherIDs: e.OtherIDs, IDLoaded: e.IDLoaded, OS: "Linux", Arch: dumpsyms.Arch(e.Arch)}
	if word, ok := otherArchs[e.Machine]; e.Arch == nil && ok {
		id.Arch = word
	}
	if id.Name == "" {
		id.Name = baseName(src.Name)
	}
	if e.Section(".note.android.ident") != nil {
		id.OS = "Android"
	}
	for _, s := range e.Segments {
		if s.Type == segLoad && s.Address+s.MemSize > e.Base {
			id.Size = max(id.Size, s.Address+s.MemSize-e.Base)
			id.Segments = append(id.Segments, symbol.Segment{Range: symbol.Range{Start: s.Address - e.Base, Size: s.MemSize},
				Offset: s.Offset, FileSize: s.FileSize, Exec: s.Flags&segExec != 0})
		}
	}
	id.Sections = elfSections(e)
	if id.Code = hasCode(e); id.Code || hasDebug(e) {
		id.CodeLayout = codeLayout(e)
	}
	id.NeedsSplit, id.SplitUnits = f.isSplit(), hasSplit(e)
	for _, of := range f.files() {
		if name, _, ok := of.DebugLink(); ok {
			id.LinkedNames = append(id.LinkedNames, baseName(name))
		}
		if name, buildID, ok := of.AltLink(); ok {
			id.LinkedNames, id.LinkedIDs = append(id.LinkedNames, baseName(name)), append(id.LinkedIDs, fmt.Sprintf("%x", buildID))
		}
	}
	switch {
	case isPack(e) && e.Section(".debug_info") == nil:
		id.Kind, id.Code = "package of split debug information", false
	case e.Type == elf.TypeRel && e.Section(".debug_info.dwo") != nil:
		id.Kind, id.Code = "split debug information", false
	case e.Type == elf.TypeRel:
		id.Kind = "object file"
	case !id.Code:
		id.Kind = "debug file"
	case e.Type == elf.TypeDyn && e.Interp == "":
		id.Kind = "library"
	default:
		id.Kind = "executable"
	}
	return id
}

// otherArchs has Breakpad's words for machines (e_machine) without a table of registers in
// core/cpu: MIPS with the n32 ABI, 31-bit S/390, SPARC V9. Their files still have names and lines.
// Source: Breakpad, src/common/linux/dump_symbols.cc (ElfArchitecture).
var otherArchs = map[uint16]string{8: "mips", 22: "s390", 43: "sparcv9"}

// Numbers of the gABI, chapter 5: p_type and p_flags.
const (
	segLoad   = 1
	segExec   = 1
	segWrite  = 2
	flagWrite = 1 // SHF_WRITE
)

// hasCode reports whether the file has the program's code. A separate debug file has headers for
// it, but no bytes.
//
// "objcopy --only-keep-debug" turns .text into SHT_NOBITS and keeps the program headers, so that
// segments count only in a file whose section headers are stripped.
func hasCode(e *elf.File) bool {
	sections := false
	for i := range e.Sections {
		if s := &e.Sections[i]; s.Exec() && s.Size > 0 {
			if s.HasBytes() {
				return true
			}
			sections = true
		}
	}
	if sections {
		return false
	}
	return slices.ContainsFunc(e.Segments, func(s elf.Segment) bool { return s.Type == segLoad && s.Flags&segExec != 0 && s.FileSize > 0 })
}

// code reads bytes that are the same in memory: those of sections, or else segments, that are not
// writable.
func (f *elfProgram) code(rva uint64, p []byte) int { return f.bytes(rva, p, false) }

// bytes reads the program's bytes at an RVA. Those that it may write to are as they are at its start,
// without what the loader writes.
func (f *elfProgram) bytes(rva uint64, p []byte, writable bool) int {
	if !hasCode(f.elf) {
		return 0
	}
	address := f.elf.Base + rva
	n := uint64(len(p))
	if s := f.elf.SectionAt(address); s != nil {
		if s.Flags&flagWrite != 0 && !writable || !s.HasBytes() {
			return 0
		}
		n = min(n, s.Size-(address-s.Address))
	} else {
		left := uint64(0)
		for _, s := range f.elf.Segments {
			if s.Type == segLoad && (s.Flags&segWrite == 0 || writable) && address >= s.Address && address-s.Address < s.FileSize {
				left = s.FileSize - (address - s.Address)
			}
		}
		n = min(n, left)
	}
	if n == 0 {
		return 0
	}
	b, err := f.elf.At(address, int64(n))
	if err != nil {
		if !input.Needs(err) {
			f.notes.Add(err)
		}
		return 0
	}
	return copy(p, b)
}

// variables returns the RVAs of variables by their names, of the program's symbol tables and those of its
// debug file.
func (f *elfProgram) variables(names []string) map[string]uint64 {
	found := map[string]uint64{}
	for _, e := range f.files() {
		take := func(s elf.Sym) error {
			if s.Defined() && s.Type == elf.SymObject && slices.Contains(names, s.Name) {
				found[s.Name] = s.Value - f.baseOf(e)
			}
			return nil
		}
		for _, each := range []func(func(elf.Sym) error) error{e.DynamicSymbols, e.Symbols} {
			if err := each(take); err != nil && !input.Needs(err) {
				f.notes.Add(err)
			}
			if len(found) == len(names) {
				return found
			}
		}
	}
	return found
}

// pointer returns the RVA that the loader makes a pointer at an RVA of, by its relocation or the bytes
// of the file.
func (f *elfProgram) pointer(rva uint64) (uint64, bool) {
	if r := f.elf.Relative(); r != nil {
		if v, ok, err := r.At(f.elf.Base + rva); err == nil && ok {
			return v - f.elf.Base, true
		}
	}
	// A program at a fixed address has the others in its bytes, which are 0 where a symbol's address comes.
	p := make([]byte, f.elf.Class/8)
	if f.elf.Base == 0 || f.bytes(rva, p, true) < len(p) {
		return 0, false
	}
	v := uint64(f.elf.Order.Uint32(p))
	if len(p) == 8 {
		v = f.elf.Order.Uint64(p)
	}
	return v - f.elf.Base, v != 0
}

// isCode reports whether an address is in code: by the sections, or in a file without them by the
// segments.
func (f *elfProgram) isCode(rva uint64) bool {
	address := f.elf.Base + rva
	if s := f.elf.SectionAt(address); s != nil {
		return s.Exec()
	}
	for _, s := range f.elf.Segments {
		if s.Type == segLoad && address >= s.Address && address-s.Address < s.MemSize {
			return s.Flags&segExec != 0 && len(f.elf.Sections) <= 1
		}
	}
	return false
}

// missing adds files that should exist and are not loaded. A stripped program without
// .gnu_debuglink may have no debug file at all, which the text for it says.
func (f *elfProgram) missing(id *symbol.Identity, out *symbol.Contents) {
	add := func(text string) { out.Missing = append(out.Missing, text) }
	if id.Code && f.debug == nil && !out.Functions {
		name, _, linked := f.elf.DebugLink()
		switch {
		case linked:
			add("the separate debug file " + withBuildID(baseName(name), f.elf.BuildID))
		case len(f.elf.BuildID) > 0 && !f.elf.HasSymtab():
			add("the separate debug file, " + withBuildID("if there is one", f.elf.BuildID))
		}
		if linked && len(f.elf.BuildID) > 0 {
			out.DebugFile = baseName(name)
		}
		if linked || len(f.elf.BuildID) > 0 {
			out.DebugLayout = id.CodeLayout
		}
	}
	if !id.Code && !out.CFI && !out.SFrame && id.Kind == "debug file" {
		add("the program itself, whose .eh_frame the debug file does not have: " + withBuildID(id.Name, f.elf.BuildID))
	}
	for _, e := range f.files() {
		if name, build, ok := e.AltLink(); ok && f.alt == nil {
			add("the supplementary debug file " + withBuildID(baseName(name), build))
			out.AltFile, out.AltID = baseName(name), fmt.Sprintf("%x", build)
		}
	}
}
