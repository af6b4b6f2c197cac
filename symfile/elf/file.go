// Package elf reads ELF files: executables, libraries, separate debug files and object files, of both classes and byte orders.
// It knows the container (headers, segments, sections, notes, compression, relocation of object files) and the symbol
// tables; what is inside of debug sections is for others to read.
//
// Files are untrusted. What is broken costs no more than itself: a file whose section headers are damaged still has its
// segments, and Warnings says what was left out.
//
// Sources: the System V ABI (gABI) chapters 4 and 5, the processor supplements of it, and GNU extensions as binutils writes
// them.
package elf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// File is an open ELF file. It is not for use by several goroutines at once.
type File struct {
	Src *input.Source
	// Class is 32 or 64, the bits of an address.
	Class int
	Order binary.ByteOrder
	// Machine and Type are e_machine and e_type; Flags is e_flags.
	Machine, Type uint16
	Flags         uint32
	// Arch is the processor's table, or nil if there is none.
	Arch *cpu.Arch
	// Entry is the address at which the program starts.
	Entry uint64
	// Base is the link-time address that corresponds to the start of the module in memory, so that RVA = address − Base: the
	// lowest PT_LOAD address, rounded down to a page. It is 0 for position-independent files and for object files.
	Base     uint64
	Sections []Section // [0] is the null section, as the file has it
	Segments []Segment
	// BuildID is the content of the NT_GNU_BUILD_ID note, or empty.
	BuildID []byte
	// HashIDs are the debug ids that writers of dumps and symbol files give a file in which they find no build id, Breakpad's first: hashes
	// of how its code begins. A file with a build id has them too, since not every writer finds it: minidump-writer sees only what a
	// PT_NOTE segment covers, and Go's linker leaves .note.gnu.build-id out of it. The code of several files may begin alike, so such
	// an id says less than a build id.
	HashIDs []string
	// Interp is the program interpreter (PT_INTERP), SoName the library's own name (DT_SONAME); often empty.
	Interp, SoName string

	warnings []string
	inflated int64 // how many bytes compressed sections have become so far
	data     map[*Section]*input.Source
	failed   map[*Section]error
	dyn      *dynamic
	need     *input.NeedError
	tables   map[*Section]*symTable
	opd      *Section // function descriptors of ppc64, or nil
	cpu      *cpu.ELF // what Machine's files have of their own
}

// Section is one section header. Addresses are link-time addresses; those of an object file are made up, see File.Data.
type Section struct {
	Name                 string
	Index                int
	Type                 uint32
	Flags                uint64
	Address, Offset      uint64
	Size                 uint64 // as it lies in the file, or in memory for SHT_NOBITS
	Link, Info           uint32
	Align, EntSize       uint64
	Compressed           bool   // by SHF_COMPRESSED or, as .zdebug_…, by the older GNU way
	CompressedSizeClaims uint64 // the uncompressed size that a Compressed section's header claims
	nameAt               uint32
}

// HasBytes reports whether the file holds the section's content. The sections of a program that a .debug file only mentions
// have none.
func (s *Section) HasBytes() bool { return s.Type != secNoBits && s.Type != 0 }

// Alloc reports whether the section is part of the program in memory, Exec whether it holds code.
func (s *Section) Alloc() bool { return s.Flags&flagAlloc != 0 }

// Exec reports whether the section holds code.
func (s *Section) Exec() bool { return s.Flags&flagExec != 0 }

// Segment is one program header.
type Segment struct {
	Type, Flags       uint32
	Offset, Address   uint64
	FileSize, MemSize uint64
	Align             uint64
}

// Is reports whether a file is ELF, by its first bytes.
func Is(head []byte) bool { return len(head) >= 4 && string(head[:4]) == "\x7fELF" }

// Open reads the headers of a file. An error means that not even the file header is sound; anything less is a warning. Where
// parts of the file are not there yet, the error is a *input.NeedError.
func Open(src *input.Source) (*File, error) {
	f := &File{Src: src, data: map[*Section]*input.Source{}, failed: map[*Section]error{}, tables: map[*Section]*symTable{}}
	h, err := f.header()
	if err != nil {
		return nil, err
	}
	f.Arch, f.cpu = cpu.ByELF(f.Machine, f.Class, f.Flags), cpu.ELFOf(f.Machine)
	f.readSections(&h)
	f.readSegments(&h)
	f.lookForEnd(&h)
	f.name(int(h.names))
	if f.Type == TypeRel {
		f.layOut()
	}
	if f.cpu.Glink && f.Class == 64 {
		f.opd = f.Section(".opd")
	}
	f.findBase()
	f.readNotes()
	f.readHashIDs()
	f.readDynamic()
	if f.need != nil {
		return nil, f.need
	}
	return f, nil
}

// Warnings are what was wrong with the file's headers and has been passed over, in words.
func (f *File) Warnings() []string { return f.warnings }

func (f *File) warn(part string, off uint64, want, have string) {
	if len(f.warnings) < 100 {
		e := input.FormatError{File: f.Src.Name, Part: part, Offset: int64(off), Want: want, Have: have}
		f.warnings = append(f.warnings, e.Error())
	}
}

// warnErr passes an error over, but for a lack of bytes that are still to come.
func (f *File) warnErr(err error) {
	if err == nil || errors.As(err, &f.need) {
		return
	}
	if text := err.Error(); len(f.warnings) < 100 && !slices.Contains(f.warnings, text) {
		f.warnings = append(f.warnings, text)
	}
}

// word is the size of an address in bytes.
func (f *File) word() int64 { return int64(f.Class / 8) }

// addr reads an address-sized number.
func (f *File) addr(c *input.Cursor) uint64 {
	if f.Class == 64 {
		return c.U64()
	}
	return uint64(c.U32())
}

// rawHeader is what of the file header is needed only to find the rest.
type rawHeader struct {
	phOff, shOff            uint64
	phSize, shSize          uint16
	phCount, shCount, names uint64
}

func (f *File) header() (h rawHeader, err error) {
	const part = "ELF header"
	fail := func(off int64, want string, have any) error {
		return &input.FormatError{File: f.Src.Name, Part: part, Offset: off, Want: want, Have: fmt.Sprint(have)}
	}
	id, err := f.Src.Bytes(0, min(16, f.Src.Size))
	if err != nil {
		return h, err
	}
	if len(id) < 16 || !Is(id) {
		return h, fail(0, "the magic number of an ELF file", fmt.Sprintf("% x", id[:min(4, len(id))]))
	}
	switch id[4] {
	case class32:
		f.Class = 32
	case class64:
		f.Class = 64
	default:
		return h, fail(4, "class 1 (32 bit) or 2 (64 bit)", id[4])
	}
	switch id[5] {
	case dataLSB:
		f.Order = binary.LittleEndian
	case dataMSB:
		f.Order = binary.BigEndian
	default:
		return h, fail(5, "byte order 1 (little-endian) or 2 (big-endian)", id[5])
	}
	c := input.NewCursor(f.Src, part, 16, 24+3*f.word(), f.Order)
	f.Type, f.Machine = c.U16(), c.U16()
	c.Skip(4) // e_version
	f.Entry = f.addr(c)
	h.phOff, h.shOff = f.addr(c), f.addr(c)
	f.Flags = c.U32()
	c.Skip(2) // e_ehsize
	h.phSize, h.phCount = c.U16(), uint64(c.U16())
	h.shSize, h.shCount, h.names = c.U16(), uint64(c.U16()), uint64(c.U16())
	return h, c.Err()
}
