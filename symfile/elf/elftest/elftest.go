// Package elftest writes ELF files for tests: both classes, both byte orders, with sections,
// segments, notes, symbols and relocations. It shares nothing with the reader, so that a wrong
// layout there is seen. It is written after the tables of the System V ABI and trusts its caller: a
// mistake panics.
package elftest

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
)

// File describes an ELF file to write. The null section and .shstrtab are added by Bytes.
type File struct {
	Class         int // 32 or 64
	Big           bool
	Machine, Type uint16
	Flags         uint32
	Entry         uint64
	Sections      []Section
	Segments      []Segment
	// Bare leaves the section headers out, as if a file had been stripped of them.
	Bare bool
}

// Section is one section. Link and Info name other sections; InfoNumber is for numbers that name no
// section.
type Section struct {
	Name           string
	Type           uint32
	Flags, Address uint64
	Data           []byte
	// NoBits is the size of a section without bytes (type 8).
	NoBits         uint64
	Link, Info     string
	InfoNumber     uint32
	Align, EntSize uint64
	// Compress is "" or how the bytes are to be packed: "zlib" and "zstd" with a compression
	// header, "gnu" with "ZLIB" and a size; the name is not changed by it.
	Compress string
}

// Segment is one program header. With First, its place and sizes are those of the sections from
// First to Last (or of First alone); else they are as given.
type Segment struct {
	Type, Flags                        uint32
	First, Last                        string
	Address, Offset, FileSize, MemSize uint64
	Align                              uint64
}

// Sym is a symbol. Section is a section's name, "" if it is defined elsewhere, "*ABS*" if it is no
// address.
type Sym struct {
	Name        string
	Value, Size uint64
	Type, Bind  uint8
	Other       uint8
	Section     string
}

// Reloc is a relocation; Sym counts symbols from 1 (the order given to Symbols), 0 is not a symbol.
type Reloc struct {
	Off    uint64
	Sym    uint32
	Type   uint32
	Addend int64
}

// Order returns the file's byte order.
func (f *File) Order() binary.ByteOrder {
	if f.Big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// Add appends a section and gives back f.
func (f *File) Add(s Section) *File {
	f.Sections = append(f.Sections, s)
	return f
}

// Word appends an address-sized number.
func (f *File) Word(b []byte, v uint64) []byte {
	if f.Class == 64 {
		return f.u64(b, v)
	}
	return f.u32(b, uint32(v))
}

func (f *File) u16(b []byte, v uint16) []byte {
	return append(b, f.turn([]byte{byte(v), byte(v >> 8)})...)
}

func (f *File) u32(b []byte, v uint32) []byte {
	return append(b, f.turn([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24)})...)
}

func (f *File) u64(b []byte, v uint64) []byte {
	return append(b, f.turn([]byte{byte(v), byte(v >> 8), byte(v >> 16), byte(v >> 24), byte(v >> 32), byte(v >> 40), byte(v >> 48), byte(v >> 56)})...)
}

// turn reverses little-endian bytes if the file is big-endian.
func (f *File) turn(b []byte) []byte {
	if f.Big {
		for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
			b[i], b[j] = b[j], b[i]
		}
	}
	return b
}

// Note is one note, padded to 4 bytes.
func (f *File) Note(name string, kind uint32, content []byte) []byte {
	b := f.u32(nil, uint32(len(name)+1))
	b = f.u32(b, uint32(len(content)))
	b = f.u32(b, kind)
	b = append(append(b, name...), 0)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	b = append(b, content...)
	for len(b)%4 != 0 {
		b = append(b, 0)
	}
	return b
}

// BuildID adds a .note.gnu.build-id section.
func (f *File) BuildID(id []byte) *File {
	return f.Add(Section{Name: ".note.gnu.build-id", Type: 7, Flags: 2, Align: 4, Data: f.Note("GNU", 3, id)})
}

// Symbols adds a symbol table and its section of names: ".symtab" with ".strtab", or ".dynsym" with
// ".dynstr". The sections that symbols name must have been added before.
func (f *File) Symbols(name string, symbols []Sym) *File {
	strtab, kind, flags := ".strtab", uint32(2), uint64(0)
	if name == ".dynsym" {
		strtab, kind, flags = ".dynstr", 11, 2
	}
	names := []byte{0}
	size := 16
	if f.Class == 64 {
		size = 24
	}
	table := make([]byte, size)
	more := make([]byte, 4)
	wide := false
	for _, s := range symbols {
		at := uint32(0)
		if s.Name != "" {
			at = uint32(len(names))
			names = append(append(names, s.Name...), 0)
		}
		index := uint32(0)
		switch s.Section {
		case "":
		case "*ABS*":
			index = 0xfff1
		default:
			index = uint32(f.index(s.Section))
		}
		short := uint16(index)
		if s.Section != "*ABS*" && index >= 0xff00 {
			short, wide = 0xffff, true
			more = f.u32(more, index)
		} else {
			more = f.u32(more, 0)
		}
		table = f.u32(table, at)
		if f.Class == 64 {
			table = append(table, s.Bind<<4|s.Type, s.Other)
			table = f.u16(table, short)
			table = f.u64(f.u64(table, s.Value), s.Size)
		} else {
			table = f.u32(f.u32(table, uint32(s.Value)), uint32(s.Size))
			table = append(table, s.Bind<<4|s.Type, s.Other)
			table = f.u16(table, short)
		}
	}
	f.Add(Section{Name: name, Type: kind, Flags: flags, Data: table, Link: strtab, EntSize: uint64(size), Align: 8})
	if wide {
		f.Add(Section{Name: ".symtab_shndx", Type: 18, Data: more, Link: name, EntSize: 4, Align: 4})
	}
	return f.Add(Section{Name: strtab, Type: 3, Flags: flags, Data: names, Align: 1})
}

// Relocs adds ".rela"+target or, without addends, ".rel"+target.
func (f *File) Relocs(target, symtab string, addends bool, list []Reloc) *File {
	s := Section{Name: ".rel" + target, Type: 9, Flags: 0x40, Link: symtab, Info: target, Align: 8, EntSize: uint64(f.Class / 4)}
	if addends {
		s.Name, s.Type, s.EntSize = ".rela"+target, 4, uint64(f.Class*3/8)
	}
	if symtab == ".dynsym" {
		s.Flags |= 2
	}
	s.Data = f.RelocBytes(addends, list)
	return f.Add(s)
}

// RelocBytes returns the records of a relocation section.
func (f *File) RelocBytes(addends bool, list []Reloc) []byte {
	var b []byte
	for _, r := range list {
		b = f.Word(b, r.Off)
		switch {
		case f.Class == 32:
			b = f.u32(b, r.Sym<<8|r.Type&0xff)
		case f.Machine == 8: // MIPS: three types of one byte each
			b = append(f.u32(b, r.Sym), 0, byte(r.Type>>16), byte(r.Type>>8), byte(r.Type))
		default:
			b = f.u64(b, uint64(r.Sym)<<32|uint64(r.Type))
		}
		if addends {
			b = f.Word(b, uint64(r.Addend))
		}
	}
	return b
}

// Dynamic adds a .dynamic section of pairs of tag and value; the last, null pair is added.
func (f *File) Dynamic(address uint64, pairs ...uint64) *File {
	var b []byte
	for _, v := range append(pairs, 0, 0) {
		b = f.Word(b, v)
	}
	return f.Add(Section{Name: ".dynamic", Type: 6, Flags: 3, Address: address, Data: b, Link: ".dynstr", EntSize: uint64(f.Class / 4), Align: 8})
}

// index returns a section's number in the file: the null section is 0.
func (f *File) index(name string) int {
	for i, s := range f.Sections {
		if s.Name == name {
			return i + 1
		}
	}
	panic(fmt.Sprintf("elftest: no section %q", name))
}

func (f *File) pack(s Section) []byte {
	var head []byte
	switch s.Compress {
	case "":
		return s.Data
	case "gnu":
		head = append([]byte("ZLIB"), binary.BigEndian.AppendUint64(nil, uint64(len(s.Data)))...)
		return append(head, Zlib(s.Data)...)
	case "zlib", "zstd":
		kind := uint32(1)
		packed := Zlib(s.Data)
		if s.Compress == "zstd" {
			kind, packed = 2, Zstd(s.Data)
		}
		head = f.u32(nil, kind)
		if f.Class == 64 {
			head = f.u32(head, 0)
		}
		head = f.Word(f.Word(head, uint64(len(s.Data))), max(s.Align, 1))
		return append(head, packed...)
	}
	panic("elftest: compression " + s.Compress)
}

// Zlib packs bytes in the zlib format.
func Zlib(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	w.Write(data)
	w.Close()
	return b.Bytes()
}

// Zstd writes a Zstandard frame (RFC 8878) of raw blocks, and of run-length blocks where a block is
// one byte repeated.
func Zstd(data []byte) []byte {
	b := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0} // magic; one segment, its size in 8 bytes
	b = binary.LittleEndian.AppendUint64(b, uint64(len(data)))
	for done := false; !done; {
		n := min(len(data), 1<<17)
		block := data[:n]
		data = data[n:]
		done = len(data) == 0
		head := uint32(n) << 3
		if done {
			head |= 1
		}
		if n > 1 && bytes.Count(block, block[:1]) == n {
			head |= 1 << 1
			block = block[:1]
		}
		b = append(b, byte(head), byte(head>>8), byte(head>>16))
		b = append(b, block...)
	}
	return b
}

// Bytes writes the file: header, program headers, sections, section headers.
func (f *File) Bytes() []byte {
	headSize, phSize, shSize := 52, 32, 40
	if f.Class == 64 {
		headSize, phSize, shSize = 64, 56, 64
	}
	sections := append([]Section{{}}, f.Sections...)
	names := []byte{0}
	nameAt := make([]uint32, len(sections)+1)
	for i, s := range sections[1:] {
		nameAt[i+1] = uint32(len(names))
		names = append(append(names, s.Name...), 0)
	}
	nameAt[len(sections)] = uint32(len(names))
	names = append(names, ".shstrtab\x00"...)
	sections = append(sections, Section{Name: ".shstrtab", Type: 3, Data: names, Align: 1})

	body := make([]byte, headSize+phSize*len(f.Segments))
	offsets, sizes := make([]uint64, len(sections)), make([]uint64, len(sections))
	for i, s := range sections {
		if i == 0 {
			continue
		}
		for a := int(max(s.Align, 1)); len(body)%a != 0; {
			body = append(body, 0)
		}
		offsets[i] = uint64(len(body))
		packed := f.pack(s)
		sizes[i] = uint64(len(packed))
		body = append(body, packed...)
		if s.Type == 8 {
			sizes[i] = s.NoBits
		}
	}
	for len(body)%8 != 0 {
		body = append(body, 0)
	}
	shOff := uint64(len(body))
	count, last := len(sections), len(sections)-1
	for i, s := range sections {
		var h []byte
		flags := s.Flags
		if s.Compress == "zlib" || s.Compress == "zstd" {
			flags |= 0x800
		}
		link, info, size := uint32(0), s.InfoNumber, sizes[i]
		if s.Link != "" {
			link = uint32(f.index(s.Link))
		}
		if s.Info != "" {
			info = uint32(f.index(s.Info))
		}
		if i == 0 && count >= 0xff00 {
			size, link = uint64(count), uint32(last)
		}
		h = f.u32(f.u32(h, nameAt[i]), s.Type)
		h = f.Word(f.Word(f.Word(f.Word(h, flags), s.Address), offsets[i]), size)
		h = f.u32(f.u32(h, link), info)
		h = f.Word(f.Word(h, s.Align), s.EntSize)
		body = append(body, h...)
	}
	if f.Bare {
		body, shOff, count, last = body[:shOff], 0, 0, 0
	}

	class, data := byte(f.Class/32), byte(1)
	if f.Big {
		data = 2
	}
	head := append([]byte{0x7f, 'E', 'L', 'F', class, data, 1}, make([]byte, 9)...)
	head = f.u32(f.u16(f.u16(head, f.Type), f.Machine), 1)
	phOff := uint64(0)
	if len(f.Segments) > 0 {
		phOff = uint64(headSize)
	}
	head = f.Word(f.Word(f.Word(head, f.Entry), phOff), shOff)
	head = f.u32(head, f.Flags)
	head = f.u16(f.u16(f.u16(head, uint16(headSize)), uint16(phSize)), uint16(len(f.Segments)))
	if count >= 0xff00 {
		count, last = 0, 0xffff
	}
	head = f.u16(f.u16(f.u16(head, uint16(shSize)), uint16(count)), uint16(last))
	for _, s := range f.Segments {
		if s.First != "" {
			i := f.index(s.First)
			j := i
			if s.Last != "" {
				j = f.index(s.Last)
			}
			s.Offset, s.Address = offsets[i], sections[i].Address
			s.FileSize = offsets[j] - offsets[i]
			s.MemSize = sections[j].Address - sections[i].Address + sizes[j]
			if sections[j].Type != 8 {
				s.FileSize += sizes[j]
			}
		}
		h := f.u32(nil, s.Type)
		if f.Class == 64 {
			h = f.u32(h, s.Flags)
		}
		h = f.Word(f.Word(f.Word(h, s.Offset), s.Address), s.Address)
		h = f.Word(f.Word(h, s.FileSize), s.MemSize)
		if f.Class == 32 {
			h = f.u32(h, s.Flags)
		}
		head = append(head, f.Word(h, s.Align)...)
	}
	copy(body, head)
	return body
}
