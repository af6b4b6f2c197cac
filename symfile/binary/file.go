// Package binary makes one source of symbols and unwind rules out of a binary and of what belongs to it: the executable or
// library, its separate debug file, split and supplementary DWARF, the small symbol table that is packed into stripped files. It
// is the one place that knows which sections there are and in which order they are asked; each is read by a package of its own.
//
// Unwind rules are asked for in this order: .eh_frame, .debug_frame, .sframe, .ARM.exidx. The first two say all that there is to
// know at every instruction; .eh_frame comes first because it is there for programs that must unwind themselves, and so is
// complete. SFrame has no other registers than the frame pointer. .ARM.exidx describes a function once its prologue is done.
// Names are asked for in this order: DWARF, STABS, symbol tables.
package binary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// File is an opened binary or debug file with its companions. Only headers are read before something is asked. It is not for use
// by several goroutines at once.
type File struct {
	src *input.Source
	elf *elf.File
	id  symbol.Identity

	debug, alt *elf.File // the separate debug file, and what dwz shared among several
	mini       *elf.File // in .gnu_debugdata
	miniLooked bool
	split      []*splitFile
	own        *splitFile // see packed

	tables  []*table // nil until the first row is asked for
	names   []*names
	symbols []*symbolSource
	rows    map[uint64]rowAnswer // by RVA, see Row
	// notes are what could not be read and was done without.
	notes []string
}

// Open reads a file's headers. The error of something that is not ELF, or no executable, library, object or debug file, says
// where.
func Open(src *input.Source) (*File, error) {
	e, err := elf.Open(src)
	if err != nil {
		return nil, err
	}
	if e.Type == elf.TypeCore {
		return nil, &input.FormatError{File: src.Name, Part: "ELF header", Offset: 16, Want: "an executable, library, object or debug file", Have: "a core file"}
	}
	return &File{src: src, elf: e, id: identify(src, e)}, nil
}

// Name is the name of the file's source.
func (f *File) Name() string { return f.src.Name }

// ELF is the file as the container that it is.
func (f *File) ELF() *elf.File { return f.elf }

// Identity is what the headers say.
func (f *File) Identity() symbol.Identity { return f.id }

func identify(src *input.Source, e *elf.File) symbol.Identity {
	id := symbol.Identity{Name: e.SoName, DebugID: e.DebugID(), CodeID: e.CodeID(), HashIDs: e.HashIDs, OS: "Linux", Arch: dumpsyms.Arch(e.Arch)}
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
		}
	}
	id.Code = hasCode(e)
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

// otherArchs are Breakpad's words for machines (e_machine) whose registers have no table here. Their files have names and lines all the
// same. Source: Breakpad, src/common/linux/dump_symbols.cc (ElfArchitecture); for MIPS the n32 convention, for S/390 its 31 bits.
var otherArchs = map[uint16]string{8: "mips", 22: "s390", 43: "sparcv9"}

// Numbers of the gABI, chapter 5: p_type and p_flags.
const (
	segLoad   = 1
	segExec   = 1
	segWrite  = 2
	flagWrite = 1 // SHF_WRITE
)

// hasCode says whether the program itself is in the file. Headers of debug files still describe it.
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
	for _, s := range e.Segments {
		if s.Type == segLoad && s.Flags&segExec != 0 && s.FileSize > 0 {
			return true
		}
	}
	return false
}

// Code reads the program's bytes at an RVA, as far as they are the same in memory: those of what is not written to. It answers how
// many there were.
func (f *File) Code(rva uint64, p []byte) int {
	if !f.id.Code {
		return 0
	}
	address := f.elf.Base + rva
	n := uint64(len(p))
	if s := f.elf.SectionAt(address); s != nil {
		if s.Flags&flagWrite != 0 || !s.HasBytes() {
			return 0
		}
		n = min(n, s.Size-(address-s.Address))
	} else {
		left := uint64(0)
		for _, s := range f.elf.Segments {
			if s.Type == segLoad && s.Flags&segWrite == 0 && address >= s.Address && address-s.Address < s.FileSize {
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
			f.note(err)
		}
		return 0
	}
	return copy(p, b)
}

// Warnings are what was passed over so far, in the headers and in what was read of the sections. A part that could not be opened is
// always among them, whichever call opened it.
func (f *File) Warnings() []string {
	var out []string
	files := []*elf.File{f.elf, f.debug, f.alt, f.mini}
	for _, s := range f.split {
		files = append(files, s.elf)
	}
	for _, e := range files {
		if e != nil {
			out = append(out, e.Warnings()...)
		}
	}
	out = append(out, f.notes...)
	add := func(err error, more []string) {
		if err != nil && !slices.Contains(out, err.Error()) {
			out = append(out, err.Error())
		}
		out = append(out, more...)
	}
	for _, t := range f.tables {
		if t.table != nil {
			add(t.err, t.table.Warnings())
		} else {
			add(t.err, nil)
		}
	}
	for _, s := range f.symbols {
		add(s.err, s.warnings())
	}
	for _, n := range f.names {
		add(n.err, nil)
	}
	for _, e := range files {
		if e != nil {
			if err := e.Src.Failed(); err != nil {
				add(err, nil)
			}
		}
	}
	return out
}

// note keeps an error that costs a part of the file only.
func (f *File) note(err error) {
	text := err.Error()
	for _, n := range f.notes {
		if n == text {
			return
		}
	}
	const most = 100
	if len(f.notes) < most {
		f.notes = append(f.notes, text)
	}
}

func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// described names a file with its build id.
func described(name string, buildID []byte) string {
	if len(buildID) == 0 {
		return name
	}
	return fmt.Sprintf("%s (build id %x)", name, buildID)
}
