package elf

import (
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// The algorithms of a compression header (gABI, "Section compression"): ELFCOMPRESS_ZLIB,
// ELFCOMPRESS_ZSTD.
const (
	methodZlib = 1
	methodZstd = 2
)

// Data returns random access to a section's uncompressed bytes. A plain section is read from the
// file and not copied. A compressed section is uncompressed once, into a spool if it is large and
// there is a spool, else into memory. In an object file (ET_REL) Data applies
// the section's relocations to a copy in memory, for the addresses that Section.Address has.
//
// Errors of the returned Source have offsets in the section. A section without bytes is an error.
func (f *File) Data(s *Section) (*input.Source, error) {
	if d := f.data[s]; d != nil {
		return d, nil
	}
	if err := f.failed[s]; err != nil {
		return nil, err
	}
	d, err := f.content(s)
	if err != nil {
		if !input.Needs(err) { // a NeedError is not final: try again when the bytes are there
			f.failed[s] = err
		}
		return nil, err
	}
	f.data[s] = d
	return d, nil
}

// content is Data without the cache.
func (f *File) content(s *Section) (*input.Source, error) {
	if !s.HasBytes() {
		return nil, &input.FormatError{File: f.Src.Name, Part: "section " + s.Name, Offset: int64(s.Offset), Want: "its bytes",
			Have: "a section without bytes (SHT_NOBITS)"}
	}
	if err := f.outside(s); err != nil {
		return nil, err
	}
	d := f.raw(s)
	if s.Compressed {
		var err error
		if d, err = f.unpack(s, d); err != nil {
			return nil, err
		}
	}
	if f.Type == TypeRel {
		return f.relocate(s, d)
	}
	return d, nil
}

// outside returns an error if a section is not completely in the file.
func (f *File) outside(s *Section) error {
	if s.Offset <= uint64(f.Src.Size) && s.Size <= uint64(f.Src.Size)-s.Offset {
		return nil
	}
	return &input.FormatError{File: f.Src.Name, Part: "section " + s.Name, Offset: int64(min(s.Offset, 1<<62)),
		Want: fmt.Sprintf("%d bytes", s.Size), Have: fmt.Sprintf("a file of %d bytes", f.Src.Size)}
}

// checkCompression sets Compressed of a section. SHF_COMPRESSED is enough for the gABI's form;
// GNU's older form shows only in the name and the first bytes.
func (f *File) checkCompression(s *Section) {
	if !s.HasBytes() {
		return
	}
	switch {
	case s.Flags&flagCompressed != 0:
		s.Compressed = true
	case strings.HasPrefix(s.Name, ".zdebug_"):
		// A .zdebug_ section that does not begin with "ZLIB" is plain: binutils writes it if
		// compression does not make it smaller. If the section cannot be read, it counts as plain,
		// and Data will return the error.
		head, err := f.raw(s).Bytes(0, 4)
		s.Compressed = err == nil && string(head) == "ZLIB"
	}
}

// Unzip returns random access to the uncompressed bytes of a section in GNU's older form of
// compression (".zdebug_…"), which PE files have too: "ZLIB", the size as 8 bytes big-endian, a
// zlib stream. It returns any other section as it is.
func Unzip(section *input.Source) (*input.Source, error) {
	const head = 12
	p, err := section.Bytes(0, min(head, section.Size))
	if err != nil {
		return nil, err
	}
	if len(p) < head || string(p[:4]) != "ZLIB" {
		return section, nil
	}
	size := binary.BigEndian.Uint64(p[4:])
	if size >= 1<<62 {
		return nil, &input.FormatError{File: section.Name, Offset: 4, Want: "the size of a section", Have: fmt.Sprintf("%#x", size)}
	}
	return unpack(section, section.Name, head, int64(size), openZlib)
}

// unpack returns a compressed section's uncompressed bytes. Its header (gABI, "Section compression"):
//
//	Elf32_Chdr   ch_type 4 | ch_size 4 | ch_addralign 4
//	Elf64_Chdr   ch_type 4 | reserved 4 | ch_size 8 | ch_addralign 8
func (f *File) unpack(s *Section, packed *input.Source) (*input.Source, error) {
	if s.Flags&flagCompressed == 0 {
		return Unzip(packed)
	}
	c := input.NewCursor(packed, "compression header", 0, packed.Size, f.Order)
	method := c.U32()
	if f.Class == 64 {
		c.Skip(4)
	}
	size := f.addr(c)
	f.addr(c) // ch_addralign
	if c.Err() != nil {
		return nil, c.Err()
	}
	open := map[uint32]opener{methodZlib: openZlib, methodZstd: openZstd}[method]
	if open == nil {
		return nil, &input.FormatError{File: f.Src.Name, Part: "section " + s.Name, Offset: int64(s.Offset),
			Want: "compression method 1 (zlib) or 2 (zstd)", Have: fmt.Sprint(method)}
	}
	return unpack(packed, f.part(s), c.Off(), int64(min(size, 1<<62)), open)
}
