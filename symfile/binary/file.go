// Package binary makes one source of symbols and unwind rules out of a binary and of what belongs to it: the executable or
// library, its separate debug file or PDB, split and supplementary DWARF, the small symbol table that is packed into stripped files. It
// is the one place that knows which sections there are and in which order they are asked; each is read by a package of its own.
//
// Unwind rules are asked for in this order: .eh_frame, .debug_frame, .sframe, .ARM.exidx. The first two say all that there is to
// know at every instruction; .eh_frame comes first because it is there for programs that must unwind themselves, and so is
// complete. SFrame has no other registers than the frame pointer. .ARM.exidx describes a function once its prologue is done.
// Of Windows' files .pdata comes first, which is complete too, and last what follows from an address not being in it: that there is
// a leaf function. Names are asked for in this order: PDB, DWARF, STABS, symbol tables.
package binary

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/pe"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// File is an opened binary or debug file with its companions. Only headers are read before something is asked. It is not for use
// by several goroutines at once.
type File struct {
	src     *input.Source
	program program
	id      symbol.Identity

	tables  []*table // nil until the first row is asked for
	names   []*names
	symbols []*symbolSource
	rows    map[uint64]rowAnswer // by RVA, see Row
	// notes are what could not be read and was done without.
	notes *notes
}

// program is what File needs of the file that holds the program and of those that belong to it, whatever their format.
type program interface {
	identity() symbol.Identity
	arch() *cpu.Arch
	// base is the link-time address of RVA 0.
	base() uint64
	// code reads what is not written to at an RVA and answers how many bytes there were; isCode says whether there is code.
	code(rva uint64, p []byte) int
	isCode(rva uint64) bool
	// unwindTables, symbolSources and symbolTables are what there is, in the order in which it is asked.
	unwindTables() []*table
	symbolSources() []*symbolSource
	symbolTables() ([]*names, error)
	// frameData is the frame data of x86; nil if there is none.
	frameData() frameTable
	// attach takes another file in and answers what has both, nil if the other does not belong to this one.
	attach(src *input.Source) (program, error)
	// missing adds which files are known to exist and are not here.
	missing(id *symbol.Identity, out *symbol.Contents)
	warnings() []string
	// sources are the files that were opened.
	sources() []*input.Source
}

// Open reads a file's headers. The error of something that is neither ELF nor PE nor PDB, or no executable, library, object or debug
// file, says where.
func Open(src *input.Source) (*File, error) {
	head, err := src.Bytes(0, min(4, src.Size))
	if err != nil {
		return nil, err
	}
	f := &File{src: src, notes: &notes{}}
	var p program
	switch {
	case pe.Is(head):
		p, err = openPE(src)
	case pdb.Is(src):
		p, err = openPDB(src)
	default:
		p, err = openELF(src, f.notes)
	}
	if err != nil {
		return nil, err
	}
	f.use(p)
	return f, nil
}

// OpenImage opens a PE image as the loader laid it out in memory, at an address. read copies bytes and answers how many there were. An
// error says that it is none, or that what it unwinds with is not there.
func OpenImage(name string, read func(address uint64, p []byte) int, base, size uint64) (*File, error) {
	src := input.New(name, memory{read, base}, int64(min(size, 1<<40)))
	f := &File{src: src, notes: &notes{}}
	p, err := openImage(src)
	if err != nil {
		return nil, err
	}
	f.use(p)
	return f, nil
}

// use makes a program that of the file. What was opened of the one before is closed: there is more now.
func (f *File) use(p program) {
	f.program, f.id = p, p.identity()
	f.tables, f.names, f.symbols, f.rows = nil, nil, nil, nil
}

// Name is the name of the file's source.
func (f *File) Name() string { return f.src.Name }

// Arch is the processor's table of registers, or nil if there is none.
func (f *File) Arch() *cpu.Arch { return f.program.arch() }

// Base is the link-time address that module-relative addresses count from.
func (f *File) Base() uint64 { return f.program.base() }

// Identity is what the headers say.
func (f *File) Identity() symbol.Identity { return f.id }

// Code reads the program's bytes at an RVA, as far as they are the same in memory: those of what is not written to. It answers how
// many there were.
func (f *File) Code(rva uint64, p []byte) int { return f.program.code(rva, p) }

// Attach takes another file in, if it belongs to this one:
//
//	the separate debug file  by its build id; where one of the two has none, by the name and CRC in .gnu_debuglink
//	what dwz shared          by the build id in .gnu_debugaltlink
//	split DWARF              any, if this file's units are split: they are found by their names and ids when they are needed
//	a PDB, a PDB's program   by the debug id
//
// The error of a file that is called like one of these says why it is not it.
func (f *File) Attach(src *input.Source) (bool, error) {
	p, err := f.program.attach(src)
	if p == nil || err != nil {
		return false, err
	}
	f.use(p)
	return true, nil
}

// Warnings are what was passed over so far, in the headers and in what was read of the sections. A part that could not be opened is
// always among them, whichever call opened it.
func (f *File) Warnings() []string {
	out := append(f.program.warnings(), f.notes.list...)
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
	for _, s := range f.symbolSources() {
		add(s.err, s.warnings())
	}
	for _, n := range f.names {
		add(n.err, nil)
	}
	for _, src := range f.program.sources() {
		if err := src.Failed(); err != nil {
			add(err, nil)
		}
	}
	return out
}

// notes are errors that cost a part of the file only.
type notes struct{ list []string }

func (n *notes) add(err error) {
	text := err.Error()
	for _, have := range n.list {
		if have == text {
			return
		}
	}
	const most = 100
	if len(n.list) < most {
		n.list = append(n.list, text)
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
