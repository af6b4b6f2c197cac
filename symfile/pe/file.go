// Package pe reads PE files: the executables, libraries and drivers of Windows. It knows the
// container (headers, sections, data directories), the ids that a dump names a module by, and the
// names in the export directory and in a COFF symbol table. Package pdata reads .pdata, other
// packages the debug sections.
//
// Files are untrusted. A broken part costs only itself: with a bad export directory the sections
// are still read, and Warnings says what was skipped.
//
// Source: "PE Format" (Microsoft), the sections named in the code.
package pe

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// File is an open PE file. It is not for use by several goroutines at once.
type File struct {
	Src *input.Source
	// Machine is the file header's machine type; Arch its table of registers, or nil if there is
	// none.
	Machine uint16
	Arch    *cpu.Arch
	// Stamp is the file header's time stamp, which linkers may fill with a hash; ImageSize how much
	// memory the loaded image takes. Both together are the file's code id.
	Stamp, ImageSize uint32
	// Base is the address at which the file asks to be loaded: addresses in DWARF count from 0, and
	// RVA = address − Base.
	Base uint64
	// Class is 32 or 64, the bits of an address.
	Class           int
	Characteristics uint16
	Subsystem       uint16
	Sections        []Section
	// CodeView is the debug directory's record that names the PDB.
	CodeView CodeView
	// Hybrid is "arm64ec" or "arm64x" for a file with code of two processors, else "".
	Hybrid string
	ranges []CodeRange // of a hybrid file
	extra  directory   // see ExtraExceptions

	// mapped: the source is the image as the loader laid it out, so that an RVA is an offset.
	mapped      bool
	headersSize uint32
	fileAlign   uint32 // of sections
	dirs        [dirCount]directory
	symbolsAt   int64 // COFF symbol table
	symbolCount int64
	warnings    input.Warnings
}

// directory is one row of the optional header's data directories.
type directory struct{ rva, size uint32 }

// The data directories that are read ("Optional header data directories").
const (
	dirExport     = 0
	dirException  = 3
	dirDebug      = 6
	dirLoadConfig = 10
	dirCount      = 16
)

// Machine types ("Machine types").
const (
	MachineX86     = 0x14c
	MachineARM     = 0x1c0
	MachineThumb   = 0x1c2
	MachineARMNT   = 0x1c4
	MachineAMD64   = 0x8664
	MachineARM64   = 0xaa64
	MachineARM64EC = 0xa641
	MachineARM64X  = 0xa64e
)

// Characteristics of the file header.
const flagDLL = 0x2000

// IsDLL reports whether the file is a library.
func (f *File) IsDLL() bool { return f.Characteristics&flagDLL != 0 }

// IsDriver reports whether the file runs without a subsystem: a driver or a part of the kernel.
// Its subsystem is then IMAGE_SUBSYSTEM_NATIVE.
func (f *File) IsDriver() bool { return f.Subsystem == 1 }

// IsEFI reports whether the file is an EFI program or driver.
func (f *File) IsEFI() bool { return f.Subsystem >= 10 && f.Subsystem <= 13 }

const (
	// maxSections is the loader's limit on Windows.
	maxSections = 96
	// maxSectionName bounds a section's name in the string table.
	maxSectionName = 256
)

// Is reports whether a file may be PE, by its first bytes.
func Is(head []byte) bool { return len(head) >= 2 && head[0] == 'M' && head[1] == 'Z' }

// Open reads the headers of a file. It returns an error if the file header or the optional header
// is bad; anything less is a warning. If parts of the file are not there yet, the error is a
// *input.NeedError.
func Open(src *input.Source) (*File, error) { return open(src, false) }

// OpenMapped opens an image as the loader laid it out in memory: offsets of the source are RVAs.
func OpenMapped(src *input.Source) (*File, error) { return open(src, true) }

// The sections come first, since directories are found by RVA. An id or a hybrid's map that cannot
// be read costs itself only.
func open(src *input.Source, mapped bool) (*File, error) {
	f := &File{Src: src, mapped: mapped}
	count, at, err := f.headers()
	if err != nil {
		return nil, err
	}
	if err := f.readSections(count, at); err != nil {
		return nil, err
	}
	f.lookForEnd()
	f.lookForPacker()
	for _, read := range []func() error{f.readDebug, f.readHybrid} {
		if err := read(); f.Src.Interrupted(err) {
			return nil, err
		} else if err != nil {
			f.warnings.Add(err)
		}
	}
	return f, nil
}

// Warnings returns what was wrong with the file's headers and was skipped, as text.
func (f *File) Warnings() []string { return f.warnings.List(f.Src.Name) }

// bad returns an error about a part of the file, with -1 for an offset that is not known.
func (f *File) bad(part string, off int64, want, have string) error {
	return &input.FormatError{File: f.Src.Name, Part: part, Offset: off, Want: want, Have: have}
}

// headers reads the DOS header, the file header and the optional header. It returns the number of
// section headers and their offset.
//
//	DOS header:   0 "MZ" · 60 offset of the PE signature u32
//	file header:  0 "PE\0\0" · 4 machine u16 · 6 sections u16 · 8 time stamp u32 · 12 symbol table u32 · 16 symbols u32 ·
//	              20 size of the optional header u16 · 22 characteristics u16
//	optional:     0 magic u16 (0x10b PE32, 0x20b PE32+) · 28 image base u32, or 24 u64 · 36 file alignment u32 · 56 size of image u32 · 60 size of headers u32 ·
//	              68 subsystem u16 · 92 or 108 number of directories u32 · directories 8 bytes each
func (f *File) headers() (sections int, at int64, err error) {
	head, err := f.Src.Bytes(0, min(64, f.Src.Size))
	if err != nil {
		return 0, 0, err
	}
	if len(head) < 64 || !Is(head) {
		return 0, 0, f.bad("DOS header", 0, "64 bytes that begin with \"MZ\"", fmt.Sprintf("%d bytes: % x", len(head), head[:min(2, len(head))]))
	}
	pe := int64(binary.LittleEndian.Uint32(head[60:]))
	c := input.NewCursor(f.Src, "file header", pe, 24, binary.LittleEndian)
	if sig := c.U32(); c.Err() == nil && sig != 0x4550 {
		return 0, 0, f.bad("file header", pe, "the signature \"PE\", as the DOS header says", fmt.Sprintf("0x%08x: a DOS program, or a damaged file", sig))
	}
	f.Machine = c.U16()
	sections = int(c.U16())
	f.Stamp = c.U32()
	f.symbolsAt, f.symbolCount = int64(c.U32()), int64(c.U32())
	size := int64(c.U16())
	f.Characteristics = c.U16()
	if c.Err() != nil {
		return 0, 0, c.Err()
	}
	opt := pe + 24
	c = input.NewCursor(f.Src, "optional header", opt, size, binary.LittleEndian)
	switch magic := c.U16(); {
	case c.Err() != nil:
		return 0, 0, c.Err()
	case magic == 0x10b:
		f.Class = 32
		c.Skip(26)
		f.Base = uint64(c.U32())
	case magic == 0x20b:
		f.Class = 64
		c.Skip(22)
		f.Base = c.U64()
	default:
		return 0, 0, f.bad("optional header", opt, "magic number 0x10b (32 bit) or 0x20b (64 bit)", fmt.Sprintf("0x%x", magic))
	}
	c.Skip(4)
	f.fileAlign = c.U32()
	c.Skip(16) // versions
	f.ImageSize, f.headersSize = c.U32(), c.U32()
	c.Skip(4)
	f.Subsystem = c.U16()
	// Characteristics, then the stack's and heap's sizes, which have the width of an address, and
	// the loader's flags.
	c.Skip(2 + 4*int64(f.Class/8) + 4)
	dirs := c.U32()
	if c.Err() != nil {
		return 0, 0, c.Err()
	}
	for i := range min(dirs, dirCount) {
		if c.Left() < 8 {
			break
		}
		f.dirs[i] = directory{c.U32(), c.U32()}
	}
	f.Arch = f.arch()
	return sections, opt + size, c.Err()
}

// arch is the processor's table.
// A header of 64 bits for a 32-bit processor, or the reverse, is of no program that runs, so it has
// no table.
func (f *File) arch() *cpu.Arch {
	a := cpu.ByPE(f.Machine)
	if a != nil && a.WordSize*8 != f.Class {
		return nil
	}
	return a
}

// Section is one section header. Addresses are RVAs.
type Section struct {
	Name string
	// RVA and Size are the section's address and size in memory, Offset and FileSize those of its
	// bytes in the file.
	RVA, Size        uint32
	Offset, FileSize uint32
	Flags            uint32
}

// Flags of a section ("Section flags").
const (
	flagCode  = 0x20
	flagExec  = 0x20000000
	flagWrite = 0x80000000
)

// Exec reports whether the section holds code.
func (s *Section) Exec() bool { return s.Flags&(flagExec|flagCode) != 0 }

// Write reports whether the program may write to the section.
func (s *Section) Write() bool { return s.Flags&flagWrite != 0 }

// span is how much of the address space the section takes; older linkers leave Size 0.
func (s *Section) span() uint32 {
	if s.Size == 0 {
		return s.FileSize
	}
	return s.Size
}

// backed is how many of the section's bytes the file has. Beyond the size in memory there is only
// padding.
func (s *Section) backed() uint32 { return min(s.span(), s.FileSize) }

// readSections reads the section headers.
//
//	0 name 8 · 8 virtual size u32 · 12 RVA u32 · 16 size of raw data u32 · 20 offset u32 · 24 relocations and line numbers 12 · 36 flags u32
func (f *File) readSections(count int, at int64) error {
	if count > maxSections {
		f.warnings.Add(f.bad("file header", -1, fmt.Sprintf("at most %d sections", maxSections), fmt.Sprint(count)))
		count = maxSections
	}
	for i := range count {
		c := input.NewCursor(f.Src, fmt.Sprintf("section header %d", i), at+int64(i)*40, 40, binary.LittleEndian)
		name := c.Bytes(8)
		s := Section{Size: c.U32(), RVA: c.U32(), FileSize: c.U32(), Offset: c.U32()}
		c.Skip(12)
		s.Flags = c.U32()
		if err := c.Err(); err != nil {
			if f.Src.Interrupted(err) {
				return err
			}
			f.warnings.Add(err)
			return nil
		}
		// Data that is all zeros has no bytes in the file.
		if s.Offset == 0 {
			s.FileSize = 0
		}
		// The loader reads whole sectors of 512 bytes. Firmware and drivers may be aligned to less, and
		// are loaded as they are.
		if f.fileAlign >= 512 {
			s.Offset &^= 0x1ff
		}
		var err error
		if s.Name, err = f.sectionName(name); f.Src.Interrupted(err) {
			return err
		} else if err != nil {
			f.warnings.Add(err)
		}
		f.Sections = append(f.Sections, s)
	}
	return nil
}

// Section finds a section by its name, or nil; ".debug_x" also finds ".zdebug_x", its compressed
// form.
func (f *File) Section(name string) *Section {
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Name == name && (s.FileSize > 0 || f.mapped) {
			return s
		}
	}
	if rest, ok := strings.CutPrefix(name, ".debug_"); ok {
		return f.Section(".zdebug_" + rest)
	}
	return nil
}

// SectionAt is the section that covers an RVA, or nil.
func (f *File) SectionAt(rva uint64) *Section {
	for i := range f.Sections {
		if s := &f.Sections[i]; rva >= uint64(s.RVA) && rva-uint64(s.RVA) < uint64(s.span()) {
			return s
		}
	}
	return nil
}

// Data is random access to a section's bytes, as they are in the file.
func (f *File) Data(s *Section) (*input.Source, error) {
	size, off := s.backed(), s.Offset
	if f.mapped {
		size, off = s.span(), s.RVA
	}
	if int64(off)+int64(size) > f.Src.Size {
		return nil, f.bad("section "+s.Name, int64(off), fmt.Sprintf("%d bytes", size), fmt.Sprintf("a file of %d bytes", f.Src.Size))
	}
	return f.Src.Sub(f.Src.Name+": section "+s.Name, int64(off), int64(size)), nil
}

// extent returns the file offset of the bytes at an RVA, and how many there are up to the end of
// the section; 0 if the file has none.
func (f *File) extent(rva uint64) (off, n int64) {
	if f.mapped {
		if rva < uint64(f.Src.Size) && rva < uint64(max(f.ImageSize, f.headersSize)) {
			return int64(rva), f.Src.Size - int64(rva)
		}
		return 0, 0
	}
	if s := f.SectionAt(rva); s != nil {
		in := rva - uint64(s.RVA)
		// The rest of a section in memory is filled with zeros, which no file has.
		if in >= uint64(s.backed()) {
			return 0, 0
		}
		off, n = int64(s.Offset)+int64(in), int64(uint64(s.backed())-in)
	} else if rva < uint64(f.headersSize) {
		off, n = int64(rva), int64(uint64(f.headersSize)-rva)
	}
	if off >= f.Src.Size {
		return 0, 0
	}
	return off, min(n, f.Src.Size-off)
}

// At reads n bytes at an RVA.
func (f *File) At(rva uint64, n int64) ([]byte, error) {
	off, have := f.extent(rva)
	if n < 0 || have < n {
		return nil, f.bad("image", -1, fmt.Sprintf("%d bytes at RVA 0x%x", n, rva), fmt.Sprintf("%d bytes", have))
	}
	return f.Src.Bytes(off, n)
}

// part is a range of the image as a source of its own, cut to what the file has.
func (f *File) part(name string, d directory) *input.Source {
	off, have := f.extent(uint64(d.rva))
	return f.Src.Sub(f.Src.Name+": "+name, off, min(int64(d.size), have))
}

// Exceptions are the exception directory's bytes, which .pdata holds, and its RVA; nil if the file
// has none.
func (f *File) Exceptions() (*input.Source, uint64) {
	d := f.dirs[dirException]
	if d.rva == 0 || d.size == 0 {
		return nil, 0
	}
	return f.part(".pdata", d), uint64(d.rva)
}

// Code are the ranges of code that the file has bytes of: pairs of RVAs, the second one the end.
func (f *File) Code() (out [][2]uint64) {
	for i := range f.Sections {
		s := &f.Sections[i]
		n := s.backed()
		if f.mapped {
			n = s.span()
		}
		if s.Exec() && n > 0 {
			out = append(out, [2]uint64{uint64(s.RVA), uint64(s.RVA) + uint64(n)})
		}
	}
	return out
}

// ReadCode reads the program's bytes at an RVA, as far as they are the same in memory: those of
// sections that are not written to. It returns how many there were.
func (f *File) ReadCode(rva uint64, p []byte) int {
	if s := f.SectionAt(rva); s == nil || s.Write() {
		return 0
	}
	return f.ReadInitial(rva, p)
}

// ReadInitial reads the bytes that the file has at an RVA, also of sections that are written to.
func (f *File) ReadInitial(rva uint64, p []byte) int {
	off, n := f.extent(rva)
	if n = min(n, int64(len(p))); n <= 0 {
		return 0
	}
	got, err := f.Src.ReadAt(p[:n], off)
	if err != nil {
		return 0
	}
	return got
}

// Place names an RVA by its section: ".xdata" and the distance from its start.
func (f *File) Place(rva uint64) (section string, off int64) {
	if s := f.SectionAt(rva); s != nil {
		return s.Name, int64(rva - uint64(s.RVA))
	}
	return "image", int64(rva)
}

// lookForEnd warns of a truncated file, which ends before the parts that its headers name.
// A partial download lacks the last sections or the symbol table.
func (f *File) lookForEnd() {
	if f.mapped {
		return
	}
	end := f.symbolsAt + f.symbolCount*symbolSize
	if f.symbolsAt == 0 {
		end = 0
	}
	for i := range f.Sections {
		if s := &f.Sections[i]; s.FileSize > 0 {
			end = max(end, int64(s.Offset)+int64(s.backed()))
		}
	}
	if end > f.Src.Size {
		f.warnings.Add(f.bad("", f.Src.Size, fmt.Sprintf("a file of at least %d bytes, as its headers tell of", end), "its end: it is cut off, or damaged"))
	}
}

// lookForPacker warns of a program whose code is packed.
// A packed file has sections UPX0 (empty, where the code is unpacked to) and UPX1 (the packed
// code).
func (f *File) lookForPacker() {
	for i := range f.Sections {
		if n := f.Sections[i].Name; n == "UPX0" || n == "UPX1" {
			f.warnings.Add(f.bad("section "+n, -1, "a program's code", "one that is packed with UPX: unpack it (upx -d), or its code and unwind rules cannot be read"))
			return
		}
	}
}
