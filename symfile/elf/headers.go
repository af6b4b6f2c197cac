package elf

import (
	"cmp"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// readSections reads the section headers. Counts above 16 bits are in section header 0: e_shnum in
// sh_size, e_shstrndx in sh_link, e_phnum in sh_info (gABI, "Sections").
func (f *File) readSections(h *rawHeader) {
	const part = "section headers"
	if h.shOff == 0 {
		if h.shCount != 0 {
			f.warn(part, 0, "a table", "none, but a count of "+fmt.Sprint(h.shCount))
		}
		return
	}
	size := int64(16 + 6*f.word())
	if f.Class == 32 {
		size = 40
	}
	if int64(h.shSize) < size {
		f.warn(part, h.shOff, fmt.Sprintf("headers of %d bytes", size), fmt.Sprintf("headers of %d bytes", h.shSize))
		return
	}
	// Later versions of the format may have longer headers: e_shentsize is the distance between
	// two.
	step := int64(h.shSize)
	if h.shOff >= uint64(f.Src.Size) {
		f.warn(part, h.shOff, "a table inside the file", fmt.Sprintf("a file of %d bytes", f.Src.Size))
		return
	}
	off := int64(h.shOff)
	first, err := f.section(0, off)
	if err != nil {
		f.warnErr(err)
		return
	}
	count := cmp.Or(h.shCount, first.Size)
	if h.names == countMore {
		h.names = uint64(first.Link)
	}
	if h.phCount == countMore {
		h.phCount = uint64(first.Info)
	}
	if have := uint64((f.Src.Size - off) / step); count > have {
		f.warn(part, h.shOff, fmt.Sprintf("%d headers", count), fmt.Sprintf("space for %d to the end of the file", have))
		count = have
	}
	if count > maxSections {
		f.warn(part, h.shOff, fmt.Sprintf("at most %d headers", maxSections), fmt.Sprint(count))
		count = maxSections
	}
	for i := range int64(count) {
		s, err := f.section(int(i), off+i*step)
		if err != nil {
			f.warnErr(err)
			return
		}
		f.Sections = append(f.Sections, s)
	}
}

// section reads one section header. Both classes have the same fields in the same order; those
// marked w have the size of an address.
//
//	sh_name 4 | sh_type 4 | sh_flags w | sh_addr w | sh_offset w | sh_size w | sh_link 4 | sh_info 4 | sh_addralign w | sh_entsize w
func (f *File) section(i int, off int64) (Section, error) {
	c := input.NewCursor(f.Src, fmt.Sprintf("section header %d", i), off, 64, f.Order)
	s := Section{Index: i}
	nameAt := c.U32()
	s.Type = c.U32()
	s.Flags = f.addr(c)
	s.Address, s.Offset, s.Size = f.addr(c), f.addr(c), f.addr(c)
	s.Link, s.Info = c.U32(), c.U32()
	s.Align, s.EntSize = f.addr(c), f.addr(c)
	s.nameAt = nameAt
	return s, c.Err()
}

// readNames sets the names of all sections. table is the index of the section that has them.
func (f *File) readNames(table int) {
	if len(f.Sections) == 0 {
		return
	}
	if table <= 0 || table >= len(f.Sections) || !f.Sections[table].HasBytes() {
		f.warn("section headers", 0, "a section of names", fmt.Sprintf("index %d of %d sections", table, len(f.Sections)))
		return
	}
	names := f.raw(&f.Sections[table])
	for i := range f.Sections {
		s := &f.Sections[i]
		var err error
		if s.Name, err = names.Text(int64(s.nameAt), maxSectionName); err != nil {
			f.warnErr(err)
		}
		f.checkCompression(s)
	}
}

// raw returns a section's bytes as the file has them: compressed if they are, and not relocated. If
// the file ends before the section does, raw returns what there is, with a warning.
func (f *File) raw(s *Section) *input.Source {
	if s.HasBytes() {
		f.warnErr(f.outside(s))
	}
	if !s.HasBytes() || s.Offset >= uint64(f.Src.Size) {
		return f.Src.Sub(f.part(s), f.Src.Size, 0)
	}
	return f.Src.Sub(f.part(s), int64(s.Offset), int64(min(s.Size, uint64(f.Src.Size)-s.Offset)))
}

// part names a section in errors about its content.
func (f *File) part(s *Section) string { return f.Src.Name + ": section " + s.Name }

// readSegments reads the program headers (gABI, chapter 5, "Program Header"). p_flags is the second
// field of the 64-bit form, so that the fields of 8 bytes are aligned.
//
//	Elf32_Phdr   p_type 4 | p_offset 4 | p_vaddr 4 | p_paddr 4 | p_filesz 4 | p_memsz 4 |
//	             p_flags 4 | p_align 4
//	Elf64_Phdr   p_type 4 | p_flags 4 | p_offset 8 | p_vaddr 8 | p_paddr 8 | p_filesz 8 |
//	             p_memsz 8 | p_align 8
func (f *File) readSegments(h *rawHeader) {
	const part = "program headers"
	if h.phOff == 0 || h.phCount == 0 {
		return
	}
	size := int64(32)
	if f.Class == 64 {
		size = 56
	}
	if int64(h.phSize) < size {
		f.warn(part, h.phOff, fmt.Sprintf("headers of %d bytes", size), fmt.Sprintf("headers of %d bytes", h.phSize))
		return
	}
	if h.phOff >= uint64(f.Src.Size) {
		f.warn(part, h.phOff, "a table inside the file", fmt.Sprintf("a file of %d bytes", f.Src.Size))
		return
	}
	count := min(h.phCount, maxSegments)
	for i := range int64(count) {
		at := int64(h.phOff) + i*int64(h.phSize)
		c := input.NewCursor(f.Src, fmt.Sprintf("program header %d", i), at, size, f.Order)
		var s Segment
		s.Type = c.U32()
		if f.Class == 64 {
			s.Flags = c.U32()
		}
		s.Offset, s.Address = f.addr(c), f.addr(c)
		f.addr(c) // p_paddr
		s.FileSize, s.MemSize = f.addr(c), f.addr(c)
		if f.Class == 32 {
			s.Flags = c.U32()
		}
		s.Align = f.addr(c)
		if c.Err() != nil {
			f.warnErr(c.Err())
			return
		}
		f.Segments = append(f.Segments, s)
	}
}

// checkEnd warns of a truncated file: one that ends before the end of its sections. Segments count
// only without section headers, because the program headers of a separate debug file may describe
// the program's file.
func (f *File) checkEnd(h *rawHeader) {
	end := uint64(0)
	upTo := func(off, size uint64) {
		if off+size >= off {
			end = max(end, off+size)
		}
	}
	if h.shOff != 0 {
		upTo(h.shOff, uint64(h.shSize)*h.shCount)
	}
	for i := range f.Sections {
		if s := &f.Sections[i]; s.HasBytes() {
			upTo(s.Offset, s.Size)
		}
	}
	if h.shOff == 0 {
		for _, s := range f.Segments {
			upTo(s.Offset, s.FileSize)
		}
	}
	if size := uint64(f.Src.Size); end > size {
		f.cutOff = &input.FormatError{File: f.Src.Name, Offset: f.Src.Size, Want: fmt.Sprintf("a file of at least %d bytes, by its headers", end), Have: "its end: the file is truncated or damaged"}
	}
}

// findBase sets Base. The loader maps whole pages, so a module starts at the page that has its
// first segment's start.
func (f *File) findBase() {
	base, found := uint64(0), false
	for _, s := range f.Segments {
		if s.Type == segLoad && (!found || s.Address < base) {
			base, found = s.Address, true
		}
	}
	f.Base = base &^ (pageSize - 1)
}

// assignAddresses assigns addresses to the sections of an object file, which all have address 0 and
// would overlap. The program's sections follow one another from 0 on, in the order of the file,
// with their alignment. Debug sections stay at 0, because references to them are offsets.
func (f *File) assignAddresses() {
	next := uint64(0)
	for i := range f.Sections {
		s := &f.Sections[i]
		if !s.Alloc() || s.Type == 0 {
			continue
		}
		align := max(s.Align, 1)
		if align&(align-1) != 0 || align > 1<<32 {
			f.warn("section "+s.Name, s.Offset, "an alignment that is a power of two", fmt.Sprint(s.Align))
			align = 1
		}
		next = (next + align - 1) &^ (align - 1)
		s.Address = next
		if s.Size > 1<<48 {
			f.warn("section "+s.Name, s.Offset, "a size below 2^48", fmt.Sprintf("%#x", s.Size))
			continue
		}
		next += s.Size
	}
}

// Section returns the section with a name, or nil. ".debug_x" also finds ".zdebug_x", its older
// compressed form. A section without bytes in the file (SHT_NOBITS) counts as absent.
func (f *File) Section(name string) *Section {
	for i := range f.Sections {
		if s := &f.Sections[i]; s.Name == name && s.HasBytes() {
			return s
		}
	}
	if len(name) > 7 && name[:7] == ".debug_" {
		return f.Section(".z" + name[1:])
	}
	return nil
}

// SectionAt returns the program's section that covers an address, or nil.
func (f *File) SectionAt(address uint64) *Section {
	for i := range f.Sections {
		const tls = 0x400 // SHF_TLS: .tbss occupies no memory, and its addresses overlap those of other sections
		if s := &f.Sections[i]; s.Alloc() && address >= s.Address && address-s.Address < s.Size && (s.Type != secNoBits || s.Flags&tls == 0) {
			return s
		}
	}
	return nil
}

// At reads n bytes at a link-time address: from the section that covers it, else from the
// file-backed part of a segment. Sections come first because a separate debug file may keep program
// headers that describe the program's file, not its own.
func (f *File) At(address uint64, n int64) ([]byte, error) {
	if s := f.SectionAt(address); s != nil {
		off := address - s.Address
		if s.Type == secNoBits || n < 0 || uint64(n) > s.Size-off {
			if s.Type == secNoBits || f.Type == TypeRel {
				return nil, f.notThere(address, n, "section "+s.Name)
			}
		} else {
			d, err := f.Data(s)
			if err != nil {
				return nil, err
			}
			return d.Bytes(int64(off), n)
		}
	}
	for _, s := range f.Segments {
		if s.Type == segLoad && address >= s.Address && address-s.Address < s.FileSize && n >= 0 && uint64(n) <= s.FileSize-(address-s.Address) {
			if off := s.Offset + (address - s.Address); off >= s.Offset && off < 1<<62 {
				return f.Src.Bytes(int64(off), n)
			}
		}
	}
	return nil, f.notThere(address, n, "segments")
}

// notThere returns the error for an address that the file has no bytes for.
func (f *File) notThere(address uint64, n int64, part string) error {
	return &input.FormatError{File: f.Src.Name, Part: part, Offset: -1,
		Want: fmt.Sprintf("%d bytes at address 0x%x", n, address), Have: "no such bytes in the file"}
}
