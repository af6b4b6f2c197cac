// Package elf reads ELF files of both classes and byte orders: executables, libraries, separate
// debug files and object files. It reads headers, segments, sections (with compression and the
// relocations of object files), ids, and symbol tables. Other packages read what debug sections
// contain.
//
// Open reads the headers and returns a File. Start at Open in this file. Then: File.Data (data.go)
// gives a section's bytes, Publics (publics.go, plt.go) the names of code, DebugID and CodeID
// (ids.go) the ids, DebugLink and MiniDebugInfo (links.go) other files that belong to this one.
//
// Files are untrusted. Damage affects only the part that it is in: a file with bad section headers
// still has its segments, and Warnings says what is missing.
//
// Specification: System V ABI (gABI), chapters 4 and 5, its processor supplements, and GNU's
// extensions as binutils writes them.
package elf

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// File is an open ELF file. It is not safe for concurrent use.
type File struct {
	Src *input.Source
	// Class is the size of an address in bits: 32 or 64.
	Class int
	Order binary.ByteOrder
	// Machine and Type are e_machine and e_type; Flags is e_flags.
	Machine, Type uint16
	Flags         uint32
	// Arch is the processor's table, or nil.
	Arch *cpu.Arch
	// Entry is the address at which the program starts.
	Entry uint64
	// Base is the link-time address of RVA 0, which is the start of the module in memory: RVA =
	// address − Base. It is the lowest PT_LOAD address, rounded down to a page; 0 for
	// position-independent files and object files.
	//
	// Example: a program that ld links without -pie has 0x400000 on x86-64. A file whose first
	// PT_LOAD is at 0x10054 has 0x10000.
	Base     uint64
	Sections []Section // [0] is the null section, as the file has it
	Segments []Segment
	// BuildID is the content of the NT_GNU_BUILD_ID note, or empty.
	BuildID []byte
	// checksumID is that of ChecksumID, "" until it was computed.
	checksumID string
	// IDLoaded: the build id is in a note segment that is in memory where it is in the file, so that
	// every writer of dumps finds it there. Go's linker leaves .note.gnu.build-id out of the segment.
	IDLoaded bool
	// OtherIDs are the debug ids that writers of dumps and symbol files use for a file in which they
	// do not find the build id: hashes of the first bytes of its code, Breakpad's first, and see
	// readOtherIDs. A file with a build id has them too, because not every writer finds that.
	// Different files can have such an id in common, for example if they begin with the same code.
	OtherIDs []string
	// Interp is the program interpreter (PT_INTERP), SoName the library's own name (DT_SONAME).
	// Both may be empty.
	Interp, SoName string

	warnings input.Warnings
	cutOff   error // why the file is too short, or nil: the first of Warnings
	data     map[*Section]*input.Source
	failed   map[*Section]error
	dyn      *dynamic
	need     *input.NeedError
	tables   map[*Section]*symTable
	opd      *Section // function descriptors of ppc64, or nil
	cpu      *cpu.ELF // the processor's ELF conventions
}

// Section is one section header. Addresses are link-time addresses. Those of an object file are
// assigned by assignAddresses.
type Section struct {
	Name            string
	Index           int
	Type            uint32
	Flags           uint64
	Address, Offset uint64
	Size            uint64 // in the file (compressed, if it is), or in memory for SHT_NOBITS
	Link, Info      uint32
	Align, EntSize  uint64
	Compressed      bool // by SHF_COMPRESSED, or in GNU's older form (.zdebug_…)
	nameAt          uint32
}

// HasBytes reports whether the file has the section's content. In a separate debug file the
// program's own sections have none.
func (s *Section) HasBytes() bool { return s.Type != secNoBits && s.Type != 0 }

// Alloc reports whether the section is part of the program in memory.
func (s *Section) Alloc() bool { return s.Flags&flagAlloc != 0 }

// Exec reports whether the section has code.
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

// Open reads the headers of a file. It returns an error only if the file header is bad; other
// damage is a warning. If bytes of the file are not loaded yet, the error is an *input.NeedError.
func Open(src *input.Source) (*File, error) {
	f := &File{Src: src, data: map[*Section]*input.Source{}, failed: map[*Section]error{}, tables: map[*Section]*symTable{}}
	h, err := f.header()
	if err != nil {
		return nil, err
	}
	f.Arch, f.cpu = cpu.ByELF(f.Machine, f.Class, f.Flags), cpu.ELFOf(f.Machine)
	// The order matters: names and the base need the headers, and notes and hashes need the names
	// of sections.
	f.readSections(&h)
	f.readSegments(&h)
	f.checkEnd(&h)
	f.readNames(int(h.names))
	if f.Type == TypeRel {
		f.assignAddresses()
	}
	if f.cpu.Glink && f.Class == 64 {
		f.opd = f.Section(".opd")
	}
	f.findBase()
	f.readOtherIDs(f.readNotes())
	f.readDynamic()
	if f.need != nil {
		return nil, f.need
	}
	return f, nil
}

// Warnings lists the damage that was found in the file so far.
func (f *File) Warnings() []string {
	var out []string
	if f.cutOff != nil {
		out = append(out, f.cutOff.Error())
	}
	return append(out, f.warnings.List(f.Src.Name)...)
}

// warn adds a warning about a part of the file.
func (f *File) warn(part string, off uint64, want, have string) {
	f.warnings.Add(&input.FormatError{File: f.Src.Name, Part: part, Offset: int64(off), Want: want, Have: have})
}

// warnErr makes a warning of an error. A NeedError is kept instead, for Open to return.
func (f *File) warnErr(err error) {
	if err != nil && !errors.As(err, &f.need) {
		f.warnings.Add(err)
	}
}

// word returns the size of an address in bytes.
func (f *File) word() int64 { return int64(f.Class / 8) }

// addr reads an address-sized number.
func (f *File) addr(c *input.Cursor) uint64 {
	if f.Class == 64 {
		return c.U64()
	}
	return uint64(c.U32())
}

// rawHeader has the fields of the file header that locate the other headers.
type rawHeader struct {
	phOff, shOff            uint64
	phSize, shSize          uint16
	phCount, shCount, names uint64
}

// header reads the file header (gABI, "ELF Header"). Fields marked w have the size of an address.
//
//	e_ident 16: magic 4, class 1, byte order 1, … | e_type 2 | e_machine 2 | e_version 4 | e_entry w | e_phoff w | e_shoff w
//	e_flags 4 | e_ehsize 2 | e_phentsize 2 | e_phnum 2 | e_shentsize 2 | e_shnum 2 | e_shstrndx 2
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
