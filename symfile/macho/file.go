// Package macho reads Mach-O files: the executables, libraries, bundles, objects and kernel
// extensions of Apple's systems, and the debug information of their dSYM folders. It knows the
// container (load commands, segments, sections), the id, the symbol table, where functions start and
// which stub calls what. Packages compact and dwarfcfi read the unwind data, package dwarf the debug
// sections. A fat file is an archive of such files (core/intake).
//
// Files are untrusted. A broken load command costs only itself, and Warnings says what was skipped.
//
// Source: mach-o/loader.h, nlist.h, stab.h and mach/machine.h of Apple's xnu and cctools.
package macho

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
)

// File is an open Mach-O file. It is not for use by several goroutines at once.
type File struct {
	Src   *input.Source
	Order binary.ByteOrder
	// Class is 32 or 64: the bits of an address, except for arm64_32, whose addresses have 32.
	Class int
	// CPU and SubCPU are the header's cputype and cpusubtype. Arch is the table of registers, or nil.
	CPU, SubCPU uint32
	Arch        *cpu.Arch
	// Type is the header's filetype.
	Type uint32
	// UUID has 16 bytes, or none.
	UUID []byte
	// InstallName is the path that a library has for itself, or "".
	InstallName string
	// Base is the link-time address of the header, from which RVAs count; 0 in objects.
	Base     uint64
	Segments []Segment
	Sections []Section
	// Platform is the number of the system in LC_BUILD_VERSION, or 0.
	Platform uint32

	symtab   symtab
	indirect part // LC_DYSYMTAB's table of indirect symbols: a u32 each
	starts   part // LC_FUNCTION_STARTS
	noStarts bool // a file with LC_FUNCTION_STARTS of size 0
	exports  part // the trie of exported symbols
	fixups   part // LC_DYLD_CHAINED_FIXUPS
	secret   part // what is encrypted
	kexts    int  // programs in a kernel collection
	warnings input.Warnings
}

// part is a range of the file.
type part struct{ off, size uint32 }

// File types.
const (
	TypeObject     = 1
	TypeExecutable = 2
	TypeCore       = 4
	TypeDylib      = 6
	TypeBundle     = 8
	TypeDSYM       = 10
	TypeKext       = 11
	TypeFileSet    = 12
)

// Segment is a part of the program in memory: its first FileSize bytes are in the file from Offset
// on. Prot is its initial protection.
type Segment struct {
	Name                            string
	Address, Size, Offset, FileSize uint64
	Prot                            uint32
}

// Exec reports whether the segment may be executed (VM_PROT_EXECUTE).
func (s *Segment) Exec() bool { return s.Prot&4 != 0 }

// Writable reports whether it may be written (VM_PROT_WRITE).
func (s *Segment) Writable() bool { return s.Prot&2 != 0 }

// Section is a section. Segment is the name of its segment, as the section has it.
type Section struct {
	Segment, Name             string
	Address, Size             uint64
	Offset, Relocs, NumRelocs uint32
	Flags                     uint32
	// Reserved1 is the first entry in the table of indirect symbols of a section of stubs or
	// pointers, Reserved2 the size of a stub.
	Reserved1, Reserved2 uint32
	// Encrypted: the file has no readable bytes of it, because the App Store has encrypted them.
	Encrypted bool
}

// Section flags: the type in the low byte, and attributes.
const (
	typeMask        = 0xff
	typeZeroFill    = 0x1
	typeGBZeroFill  = 0xc
	typeTLZeroFill  = 0x12
	typeLazy        = 0x7
	typeNonLazy     = 0x6
	typeStubs       = 0x8
	attrPure        = 0x80000000 // only instructions
	attrSome        = 0x00000400 // some instructions
	typeLazyDylib   = 0x10
	typeThreadLocal = 0x14
)

// Exec reports whether a section has instructions.
func (s *Section) Exec() bool { return s.Flags&(attrPure|attrSome) != 0 }

// HasBytes reports whether a section has readable bytes in the file.
func (s *Section) HasBytes() bool { return s.stored() && !s.Encrypted }

// stored reports whether a section has bytes in the file. Those of a program in its dSYM have none.
func (s *Section) stored() bool {
	switch s.Flags & typeMask {
	case typeZeroFill, typeGBZeroFill, typeTLZeroFill:
		return false
	}
	return s.Offset != 0
}

// Load commands.
const (
	cmdSegment        = 0x1
	cmdSymtab         = 0x2
	cmdDysymtab       = 0xb
	cmdIDDylib        = 0xd
	cmdSegment64      = 0x19
	cmdUUID           = 0x1b
	cmdEncryption     = 0x21
	cmdDyldInfo       = 0x22
	cmdDyldInfoOnly   = 0x80000022
	cmdFunctionStarts = 0x26
	cmdEncryption64   = 0x2c
	cmdBuildVersion   = 0x32
	cmdExportsTrie    = 0x80000033
	cmdChainedFixups  = 0x80000034
	cmdFileSetEntry   = 0x80000035
)

// Magic numbers of a thin file, in the byte order of its processor.
const (
	magic32 = 0xfeedface
	magic64 = 0xfeedfacf
)

// maxCommands is how many load commands are read, maxSections how many sections of them, and
// maxSegments how many segments. Real files have some hundred at most, and a symbol names its section by
// 8 bits; each symbol looks for its segment and section.
const (
	maxCommands = 1 << 14
	maxSections = 1 << 10
	maxSegments = 1 << 10
)

// Is reports whether a file is a thin Mach-O file, by its first bytes.
func Is(head []byte) bool { return len(head) >= 4 && orderOf(head) != nil }

// Kind returns the processor and the type of a thin Mach-O file, by its first bytes.
func Kind(head []byte) (cputype, filetype uint32) {
	if len(head) < 16 || !Is(head) {
		return 0, 0
	}
	return orderOf(head).Uint32(head[4:]), orderOf(head).Uint32(head[12:])
}

func orderOf(head []byte) binary.ByteOrder {
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if m := order.Uint32(head); m == magic32 || m == magic64 {
			return order
		}
	}
	return nil
}

// Open reads the header and the load commands of a thin file. It returns an error if the header is
// bad; anything less is a warning. If parts of the file are not there yet, the error is a
// *input.NeedError.
//
//	header: 0 magic u32 · 4 cputype u32 · 8 cpusubtype u32 · 12 filetype u32 · 16 number of load commands u32 ·
//	        20 size of the load commands u32 · 24 flags u32 · (64 bits:) 28 reserved u32
func Open(src *input.Source) (*File, error) {
	const name = "Mach-O header"
	head, err := src.Bytes(0, min(4, src.Size))
	if err != nil {
		return nil, err
	}
	if !Is(head) {
		return nil, &input.FormatError{File: src.Name, Part: name, Offset: 0, Want: "the magic number of a Mach-O file", Have: fmt.Sprintf("% x", head)}
	}
	f := &File{Src: src, Order: orderOf(head), Class: 32}
	size := int64(28)
	if f.Order.Uint32(head) == magic64 {
		f.Class, size = 64, 32
	}
	c := input.NewCursor(src, name, 0, size, f.Order)
	c.U32()
	f.CPU, f.SubCPU, f.Type = c.U32(), c.U32()&0xffffff, c.U32()
	count, length := c.U32(), c.U32()
	if c.Err() != nil {
		return nil, c.Err()
	}
	f.Arch = cpu.ByMachO(f.CPU)
	if f.CPU == cpuARM64of32 {
		f.Arch = cpu.ARM64 // the registers are arm64's, addresses have 32 bits
	}
	if err := f.commands(size, count, int64(length)); err != nil {
		return nil, err
	}
	f.setBase()
	f.sayUnusual()
	return f, nil
}

const (
	cpuARM64of32 = 0x0200000c
	cpuX86of64   = 0x01000007
)

// commands reads the load commands, each "0 cmd u32 · 4 cmdsize u32". What is wrong with one is a
// warning; without its size the next cannot be found.
func (f *File) commands(at int64, count uint32, length int64) error {
	end := min(at+length, f.Src.Size)
	for n := uint32(0); n < count; n++ {
		what := fmt.Sprintf("load command %d", n)
		if n == maxCommands {
			f.bad(what, at, fmt.Sprintf("at most %d load commands", maxCommands), fmt.Sprint(count))
			return nil
		}
		c := input.NewCursor(f.Src, what, at, min(8, max(end-at, 0)), f.Order)
		cmd, size := c.U32(), int64(c.U32())
		if c.Err() != nil {
			return f.warnings.Pass(c.Err())
		}
		if size < 8 || size > end-at {
			f.bad(what, at+4, fmt.Sprintf("a size from 8 to %d", end-at), fmt.Sprint(size))
			return nil
		}
		c = input.NewCursor(f.Src, what, at, size, f.Order)
		c.Skip(8)
		f.command(cmd, c, at)
		if err := c.Err(); err != nil {
			if err := f.warnings.Pass(err); err != nil {
				return err
			}
		}
		at += size
	}
	return nil
}

// command reads one load command, after its size. Those that are not listed say nothing about
// symbols, code or ids.
//
//	LC_UUID             uuid 16
//	LC_SYMTAB           symbols u32 · count u32 · strings u32 · size u32
//	LC_DYSYMTAB         first local symbol u32 · count u32 · 10 words · indirect symbols u32 · count u32 …
//	LC_FUNCTION_STARTS  offset u32 · size u32, as LC_DYLD_EXPORTS_TRIE and LC_DYLD_CHAINED_FIXUPS
//	LC_DYLD_INFO        rebase, bind, weak bind, lazy bind, export: offset u32 · size u32 each
//	LC_ID_DYLIB         offset of the name in the command u32 …
//	LC_ENCRYPTION_INFO  offset u32 · size u32 · cryptid u32
//	LC_BUILD_VERSION    platform u32 …
func (f *File) command(cmd uint32, c *input.Cursor, at int64) {
	switch cmd {
	case cmdSegment, cmdSegment64:
		f.segment(c, cmd == cmdSegment64)
	case cmdUUID:
		f.UUID = c.Bytes(16)
	case cmdSymtab:
		f.symtab.symbols, f.symtab.count, f.symtab.names = c.U32(), c.U32(), part{c.U32(), c.U32()}
	case cmdDysymtab:
		f.symtab.locals, f.symtab.divided = part{c.U32(), c.U32()}, true
		c.Skip(10 * 4)
		f.indirect.off = c.U32()
		f.indirect.size = c.U32()
	case cmdFunctionStarts:
		f.starts = part{c.U32(), c.U32()}
		f.noStarts = f.starts.size == 0
	case cmdExportsTrie:
		f.exports = part{c.U32(), c.U32()}
	case cmdChainedFixups:
		f.fixups = part{c.U32(), c.U32()}
	case cmdDyldInfo, cmdDyldInfoOnly:
		c.Skip(8 * 4)
		f.exports = part{c.U32(), c.U32()}
	case cmdIDDylib:
		f.InstallName = f.commandString(c, at)
	case cmdEncryption, cmdEncryption64:
		if p := (part{c.U32(), c.U32()}); c.U32() != 0 && c.Err() == nil {
			f.secret = p
		}
	case cmdFileSetEntry:
		f.kexts++
	case cmdBuildVersion:
		f.Platform = c.U32()
	}
}

// commandString reads a text of a load command, whose offset in the command is the next word.
func (f *File) commandString(c *input.Cursor, at int64) string {
	off := int64(c.U32())
	left := c.Left() + 12 - off
	if c.Err() != nil || off < 12 || left <= 0 {
		return ""
	}
	b, err := f.Src.Bytes(at+off, min(left, maxName))
	if err != nil {
		return ""
	}
	name, _, _ := strings.Cut(string(b), "\x00")
	return name
}

// segment reads a segment with its sections.
//
//	segment: name 16 · address · size · file offset · file size (u32, or u64) · maximum and initial protection u32 each ·
//	         number of sections u32 · flags u32
//	section: name 16 · segment's name 16 · address · size (u32, or u64) · file offset u32 · alignment u32 · relocations u32 · count u32 ·
//	         flags u32 · reserved u32 twice, (64 bits:) three times
func (f *File) segment(c *input.Cursor, wide bool) {
	word := func() uint64 {
		if wide {
			return c.U64()
		}
		return uint64(c.U32())
	}
	s := Segment{Name: fixedName(c), Address: word(), Size: word(), Offset: word(), FileSize: word()}
	c.U32()
	s.Prot = c.U32()
	count := c.U32()
	c.U32()
	if c.Err() != nil {
		return
	}
	if len(f.Segments) == maxSegments {
		f.bad("segment "+s.Name, -1, fmt.Sprintf("at most %d segments", maxSegments), "more")
		return
	}
	f.Segments = append(f.Segments, s)
	for range count {
		if len(f.Sections) == maxSections {
			f.bad("segment "+s.Name, -1, fmt.Sprintf("at most %d sections", maxSections), "more")
			return
		}
		x := Section{Name: fixedName(c), Segment: fixedName(c), Address: word(), Size: word(), Offset: c.U32()}
		c.U32()
		x.Relocs, x.NumRelocs, x.Flags, x.Reserved1, x.Reserved2 = c.U32(), c.U32(), c.U32(), c.U32(), c.U32()
		if wide {
			c.U32()
		}
		if c.Err() != nil {
			return
		}
		if s.FileSize == 0 {
			x.Offset = 0 // the program's, in its dSYM
		}
		f.Sections = append(f.Sections, x)
	}
}

// fixedName reads a name of up to 16 bytes, padded with zeros.
func fixedName(c *input.Cursor) string {
	var b [16]byte
	c.Fill(b[:])
	name, _, _ := strings.Cut(string(b[:]), "\x00")
	return name
}

// setBase finds the address of the header: that of the segment __TEXT, which in a program also is
// the segment that the file begins with.
func (f *File) setBase() {
	if f.Type == TypeObject {
		return
	}
	for i := range f.Segments {
		if f.Segments[i].Name == "__TEXT" {
			f.Base = f.Segments[i].Address
			return
		}
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; s.Offset == 0 && s.FileSize > 0 {
			f.Base = s.Address
			return
		}
	}
}

// sayUnusual says what is true of the file as a whole and hides a part of it: encryption, code that
// has no RVA, and programs in it.
func (f *File) sayUnusual() {
	var secret []string
	for i := range f.Sections {
		s := &f.Sections[i]
		if s.Encrypted = s.stored() && f.secret.overlaps(uint64(s.Offset), s.Size); s.Encrypted {
			secret = append(secret, s.Name)
		}
		if s.Exec() && f.Type != TypeObject && s.Address-f.Base >= 1<<32 {
			f.bad("section "+s.Segment+","+s.Name, -1, fmt.Sprintf("code in the 4 GB after the header's address 0x%x", f.Base),
				fmt.Sprintf("address 0x%x; the segments were moved apart, and its functions have no names here", s.Address))
		}
	}
	var cut []string
	for i, size := 0, uint64(f.Src.Size); i < len(f.Segments); i++ {
		if s := &f.Segments[i]; s.FileSize > 0 && (s.Offset > size || s.FileSize > size-s.Offset) {
			cut = append(cut, s.Name)
		}
	}
	if len(cut) > 0 {
		f.bad("segments "+strings.Join(cut, ", "), -1, "their bytes", fmt.Sprintf("a file of %d bytes, which ends before. It was cut off, or copied from memory or "+
			"out of a dyld shared cache: take the file as it was linked, or extract it (ipsw dyld extract)", f.Src.Size))
	}
	if f.secret.size > 0 {
		f.bad("LC_ENCRYPTION_INFO", -1, "", fmt.Sprintf("%d bytes from offset 0x%x on are encrypted, as in a program from the App Store. They are not read: %s. "+
			"Functions have the names that the symbol table and the dSYM have", f.secret.size, f.secret.off, strings.Join(secret, ", ")))
	}
	if f.Type == TypeFileSet {
		f.bad("Mach-O header", 12, "", fmt.Sprintf("a kernel collection of %d programs, which are not opened; extract those that you need (ipsw kernel extract)", f.kexts))
	}
}

// overlaps reports whether bytes of the file are in the part.
func (p part) overlaps(off, size uint64) bool {
	return off < uint64(p.off)+uint64(p.size) && uint64(p.off) < off+size
}

// bad adds a warning about a part of the file.
func (f *File) bad(what string, off int64, want, have string) {
	f.warnings.Add(&input.FormatError{File: f.Src.Name, Part: what, Offset: off, Want: want, Have: have})
}

// Warnings returns what was wrong with the file and was skipped, as text.
func (f *File) Warnings() []string { return f.warnings.List(f.Src.Name) }

// AddressSize is the size of an address in bytes.
func (f *File) AddressSize() int {
	if f.Class == 64 {
		return 8
	}
	return 4
}

// Section returns the first section with a name, in any segment, or nil.
func (f *File) Section(name string) *Section {
	for i := range f.Sections {
		if f.Sections[i].Name == name {
			return &f.Sections[i]
		}
	}
	return nil
}

// Debug returns the section that has a DWARF section's content, or nil. Names are cut after 16
// characters: ".debug_str_offsets" is __debug_str_offs. Go's linker compresses the sections in the
// older form of GNU's tools, and names them __zdebug_….
func (f *File) Debug(name string) *Section {
	for _, begin := range []string{"__", "__z"} {
		name := begin + strings.TrimPrefix(name, ".")
		if s := f.Section(name[:min(16, len(name))]); s != nil {
			return s
		}
	}
	return nil
}

// Data returns a section's bytes, those of an object with its relocations applied.
func (f *File) Data(s *Section) (*input.Source, error) {
	what := f.Src.Name + ": " + s.Segment + "," + s.Name
	if !s.HasBytes() {
		return input.FromBytes(what, nil), nil
	}
	if end := uint64(f.Src.Size); uint64(s.Offset) > end || s.Size > end-uint64(s.Offset) {
		return nil, &input.FormatError{File: f.Src.Name, Part: "section " + s.Name, Offset: int64(s.Offset), Want: fmt.Sprintf("%d bytes", s.Size),
			Have: fmt.Sprintf("a file of %d bytes", end)}
	}
	return f.relocated(s, f.Src.Sub(what, int64(s.Offset), int64(s.Size)))
}

// SectionAt returns the section at a link-time address, or nil.
func (f *File) SectionAt(address uint64) *Section {
	for i := range f.Sections {
		if s := &f.Sections[i]; address >= s.Address && address-s.Address < s.Size {
			return s
		}
	}
	return nil
}

// At reads n bytes at a link-time address.
func (f *File) At(address uint64, n int64) ([]byte, error) {
	if s := f.SectionAt(address); s != nil && s.HasBytes() && n >= 0 && uint64(n) <= s.Size-(address-s.Address) {
		return f.Src.Bytes(int64(uint64(s.Offset)+(address-s.Address)), n)
	}
	for i := range f.Segments {
		if s := &f.Segments[i]; address >= s.Address && n >= 0 && address-s.Address < s.FileSize && uint64(n) <= s.FileSize-(address-s.Address) {
			off := s.Offset + (address - s.Address)
			if off > uint64(f.Src.Size) || f.secret.overlaps(off, uint64(n)) {
				break
			}
			return f.Src.Bytes(int64(off), n)
		}
	}
	return nil, &input.FormatError{File: f.Src.Name, Offset: -1, Want: fmt.Sprintf("%d bytes at address 0x%x", n, address), Have: "no section or segment with readable ones"}
}

// Encrypted reports whether the program's code is in the file and cannot be read.
func (f *File) Encrypted() bool { return f.secret.size > 0 }

// HasCode reports whether the file has the program's code. A dSYM has the headers of its sections,
// but no bytes.
func (f *File) HasCode() bool {
	if f.Type == TypeDSYM {
		return false
	}
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Exec() && s.stored() && s.Size > 0 {
			return true
		}
	}
	return false
}

// DebugID is the uuid as a debug id: 32 hex digits and an age of 0. It is "" without one.
func (f *File) DebugID() string {
	if len(f.UUID) != 16 || strings.Trim(string(f.UUID), "\x00") == "" {
		return ""
	}
	return fmt.Sprintf("%X0", f.UUID)
}

// ranged returns a part of the file as a source, clipped to the file. If the file ends earlier, that
// is a warning.
func (f *File) ranged(what string, p part) *input.Source {
	if int64(p.off)+int64(p.size) > f.Src.Size {
		f.bad(what, int64(p.off), fmt.Sprintf("%d bytes", p.size), fmt.Sprintf("a file of %d bytes", f.Src.Size))
	}
	return f.Src.Sub(f.Src.Name+": "+what, int64(p.off), int64(p.size))
}
