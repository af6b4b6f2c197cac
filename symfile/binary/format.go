package binary

import (
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/pe"
)

// format is a format of programs, libraries and their debug information.
type format struct {
	name string // what its files are called
	// is recognizes a file by its first headSize bytes, open reads its headers.
	is   func(head []byte) bool
	open func(src *input.Source, notes *input.Warnings) (program, error)
	// image opens a program that the loader mapped in memory. It is nil for a format that is read from
	// files only.
	image func(src *input.Source) (program, error)
	// unsized: names have no sizes, and are in the order of their functions, so that the unwind tables
	// say where each ends.
	unsized bool
}

// formats has a row for each format. What a format is to the rest of the program, its program says
// (symbol.Identity, symbol.Contents). core/intake recognizes files for messages.
var formats = []format{
	{name: "ELF file", is: elf.Is, open: openELF},
	{name: "PE file", is: pe.Is, open: openPE, image: openImage, unsized: true},
	{name: "PDB", is: pdb.Is, open: openPDB, unsized: true},
	{name: "Mach-O file", is: macho.Is, open: openMachO, unsized: true},
}

// headSize is how many bytes of a file show its format.
const headSize = 32

func firstBytes(src *input.Source) ([]byte, error) { return src.Bytes(0, min(headSize, src.Size)) }

// Is reports whether Open reads files of a file's format.
func Is(src *input.Source) bool {
	f, err := formatOf(src)
	return f != nil && err == nil
}

// formatOf returns a file's format, or nil for one that has no row.
func formatOf(src *input.Source) (*format, error) {
	head, err := firstBytes(src)
	for i := range formats {
		if err == nil && formats[i].is(head) {
			return &formats[i], nil
		}
	}
	return nil, err
}

// Formats names the formats, for messages: "ELF file, PE file, PDB or Mach-O file".
func Formats() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// Open reads a file's headers. It returns an error for a file of another format, and for ELF core
// files.
func Open(src *input.Source) (*File, error) {
	of, err := formatOf(src)
	switch {
	case err != nil:
		return nil, err
	case of == nil:
		return nil, &input.FormatError{File: src.Name, Offset: 0, Want: "an " + Formats(), Have: "another format"}
	}
	f := &File{src: src, format: of, notes: &input.Warnings{}}
	p, err := of.open(src, f.notes)
	if err != nil {
		return nil, err
	}
	f.setProgram(p)
	return f, nil
}

// OpenImage opens a program that the loader mapped in memory at base. read copies bytes at an address
// and returns how many there were. It returns an error if there is no program, or if its function
// table is not completely in memory.
func OpenImage(name string, read func(address uint64, p []byte) int, base, size uint64) (*File, error) {
	src := input.New(name, memory{read, base}, int64(min(size, 1<<40)))
	of, err := formatOf(src)
	if err != nil {
		return nil, err
	}
	if of == nil || of.image == nil {
		return nil, fmt.Errorf("%s: no program that is read from memory", name)
	}
	p, err := of.image(src)
	if err != nil {
		return nil, err
	}
	f := &File{src: src, format: of, notes: &input.Warnings{}}
	f.setProgram(p)
	return f, nil
}

// memory reads an image; offsets are RVAs.
type memory struct {
	read func(address uint64, p []byte) int
	base uint64
}

// ReadAt implements io.ReaderAt.
func (m memory) ReadAt(p []byte, off int64) (int, error) {
	n := m.read(m.base+uint64(off), p)
	if n < len(p) {
		return n, io.ErrUnexpectedEOF
	}
	return n, nil
}
