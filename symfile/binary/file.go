// Package binary makes one source of symbols and unwind rules from a binary and the files that
// belong to it: the executable or library, its separate debug file or PDB, split and supplementary
// DWARF, and the symbol table in .gnu_debugdata. It decides which sections to use and in which
// order; other packages read the sections.
//
// Open opens the first file, File.Attach adds further ones. Then File.Lookup (symbols.go) finds
// symbols, File.Row (unwind.go) for unwind rules, File.Has (contents.go) says what there is and
// what is missing, File.WriteSym (sym.go) writes a symbol file. A format is a row of formats
// (format.go), and behind the interface program: elf.go, pe.go, pdb.go, macho.go.
//
// Order of unwind rules in ELF files (unwindSections):
//
//	.eh_frame     rules for every instruction; complete, because programs unwind themselves with it
//	.debug_frame  the same rules, but often only for some functions
//	.sframe       no registers but the frame pointer
//	.ARM.exidx    rules that hold only after the function's prologue
//
// In Mach-O files __unwind_info comes first, which says what else is in __eh_frame. In PE files .pdata
// comes first and is complete too. The last source is the rule of leaf
// functions, which have no entry in .pdata. Names come from the PDB, then DWARF, STABS, symbol
// tables.
package binary

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/dwarf"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// File is an opened binary or debug file with the files attached to it. Opening reads headers only.
// It is not safe for concurrent use.
type File struct {
	src     *input.Source
	format  *format
	program program
	id      symbol.Identity

	tables  []*table // nil until the first call of Row
	names   []*names
	symbols []*symbolSource
	rows    map[uint64]cachedRow    // by RVA, see Row
	found   map[uint64]cachedSymbol // by RVA, see Prefetch
	// inPrefetch: symbol tables are not opened, which is to read all of them; needsTables: a lookup
	// would have.
	inPrefetch, needsTables bool
	// notes are errors of parts that could not be read.
	notes *input.Warnings
}

// program is a file of one format and the files attached to it.
type program interface {
	identity() symbol.Identity
	arch() *cpu.Arch
	// base is the link-time address of RVA 0.
	base() uint64
	// code reads bytes of read-only sections at an RVA and returns how many there were. isCode
	// reports whether an RVA is code.
	code(rva uint64, p []byte) int
	isCode(rva uint64) bool
	// unwindTables, symbolSources and symbolTables return the sources in the order in which File
	// asks them.
	unwindTables() []*table
	symbolSources(dwarf.Symbols) []*symbolSource
	symbolTables() ([]*names, error)
	// frameData returns the frame data of x86, or nil.
	frameData() frameTable
	// attach attaches another file and returns the program that has both, or nil if the other file
	// does not belong to this one.
	attach(src *input.Source) (program, error)
	// missing adds files that should exist and are not loaded.
	missing(id *symbol.Identity, out *symbol.Contents)
	warnings() []string
	// sources returns the opened files.
	sources() []*input.Source
}

// setProgram sets the file's program and drops the opened sections: the new program may have more.
func (f *File) setProgram(p program) {
	for _, s := range f.symbols {
		if d, ok := s.table.(*dwarf.Data); ok {
			d.Close()
		}
	}
	f.program, f.id = p, p.identity()
	f.tables, f.names, f.symbols, f.rows, f.found = nil, nil, nil, nil, nil
}

// Name returns the name of the file.
func (f *File) Name() string { return f.src.Name }

// Arch returns the processor's table of registers, or nil if core/cpu has none.
func (f *File) Arch() *cpu.Arch { return f.program.arch() }

// Base returns the link-time address of RVA 0.
func (f *File) Base() uint64 { return f.program.base() }

// Identity returns what the headers say about the file.
func (f *File) Identity() symbol.Identity { return f.id }

// ChecksumID returns the debug id that a check sum of the whole file makes, or "" if no writer of
// dumps uses it. It reads the whole file.
func (f *File) ChecksumID() (string, error) {
	if p, ok := f.program.(*elfProgram); ok && f.id.Code {
		return p.elf.ChecksumID()
	}
	return "", nil
}

// Code reads the program's bytes at an RVA, from read-only sections, so that they are the same in
// memory. It returns how many there were.
func (f *File) Code(rva uint64, p []byte) int { return f.program.code(rva, p) }

// BigEndian reports whether the program has its most significant bytes first.
func (f *File) BigEndian() bool {
	switch p := f.program.(type) {
	case *elfProgram:
		return p.elf.Order == binary.BigEndian
	case *machoProgram:
		return p.macho.Order == binary.BigEndian
	}
	return false
}

// IsARM reports whether a symbol of an ELF file says that code of 32-bit arm is ARM code. What is not known
// to be that may be Thumb code, as all code of Windows and most of Apple's is.
func (f *File) IsARM(rva uint64) bool {
	if _, ok := f.program.(*elfProgram); !ok {
		return false
	}
	tables, _ := f.symbolTables()
	for _, of := range tables {
		if t, err := of.get(); err == nil {
			if n, ok := t.(elfNames); ok && n.IsARM(rva-n.shift) {
				return true
			}
		}
	}
	return false
}

// Variables returns the RVAs of those variables that the symbol tables of an ELF file name.
func (f *File) Variables(names []string) map[string]uint64 {
	if p, ok := f.program.(*elfProgram); ok {
		return p.variables(names)
	}
	return nil
}

// Initial reads what an ELF or PE file has at an RVA, also where the program may have written since.
func (f *File) Initial(rva uint64, p []byte) int {
	switch of := f.program.(type) {
	case *elfProgram:
		return of.bytes(rva, p, true)
	case *peProgram:
		return of.pe.ReadInitial(rva, p)
	}
	return 0
}

// Pointer returns the RVA that the loader makes a pointer at an RVA of. Only ELF files are asked.
func (f *File) Pointer(rva uint64) (uint64, bool) {
	if p, ok := f.program.(*elfProgram); ok {
		return p.pointer(rva)
	}
	return 0, false
}

// Attach attaches another file if it belongs to this one, and reports whether it does:
//
//	the separate debug file  by the build id, or if one of the two has none, by the CRC in .gnu_debuglink
//	the supplementary file   by the build id in .gnu_debugaltlink (dwz)
//	split DWARF              always, if this file has split units; lookups find the units by name and id
//	a PDB, a PDB's program   by the debug id
//	a dSYM, its program      by the uuid
//	an object of a program   by its name in the debug map; lookups find out whether it is that one
//
// If a file has the right name and the wrong id, the error has both ids.
func (f *File) Attach(src *input.Source) (bool, error) {
	p, err := f.program.attach(src)
	if p == nil || err != nil {
		return false, err
	}
	f.setProgram(p)
	return true, nil
}

// Warnings lists what could not be read so far, in headers and sections, including each part that
// could not be opened.
func (f *File) Warnings() []string {
	out := append(f.program.warnings(), f.notes.List(f.src.Name)...)
	for _, t := range f.tables {
		out = append(out, t.warnings()...)
	}
	for _, s := range f.symbolSources() {
		out = append(out, s.warnings()...)
	}
	for _, n := range f.names {
		out = append(out, n.warnings()...)
	}
	for _, src := range f.program.sources() {
		if err := src.Failed(); err != nil {
			out = append(out, err.Error())
		}
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(out, func(w string) bool {
		was := seen[w]
		seen[w] = true
		return was
	})
}

// baseName returns a path's last part; both kinds of slash separate.
func baseName(path string) string { return path[strings.LastIndexAny(path, `/\`)+1:] }

// withBuildID returns a file's name and build id.
func withBuildID(name string, buildID []byte) string {
	if len(buildID) == 0 {
		return name
	}
	return fmt.Sprintf("%s (build id %x)", name, buildID)
}
