package pe

import (
	"bytes"
	"encoding/binary"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/input"
)

// symbolSize is the size of a record of the COFF symbol table ("COFF symbol table"). The string
// table follows the last one.
const symbolSize = 18

// maxName bounds a symbol's name.
const maxName = 16 << 10

// stringAt reads a string of the string table, whose offsets count from its own size field.
// In an image that was copied from memory there is none: the loader does not map it.
func (f *File) stringAt(off, limit int64) (string, error) {
	at := f.symbolsAt + f.symbolCount*symbolSize + off
	if f.symbolsAt == 0 || f.mapped {
		return "", f.bad("string table", -1, "a COFF symbol table", "none")
	}
	return zeroEnded(f.Src, at, limit)
}

// zeroEnded reads a string that ends with a zero byte. One that has no end within limit bytes is
// cut there.
func zeroEnded(src *input.Source, off, limit int64) (string, error) {
	var long []byte
	for limit > 0 {
		block, start, err := src.Block(off)
		if err != nil {
			return "", err
		}
		b := block[off-start:]
		b = b[:min(int64(len(b)), limit)]
		if end := bytes.IndexByte(b, 0); end >= 0 {
			return string(append(long, b[:end]...)), nil
		}
		long = append(long, b...)
		off, limit = off+int64(len(b)), limit-int64(len(b))
		if off >= src.Size {
			break
		}
	}
	return string(long), nil
}

// sectionName is a section's name: eight bytes, or "/" and an offset in the string table, in
// decimal digits ("Section table"). GNU's linker writes ".debug_info" as "/4" or the like;
// Microsoft's cuts long names in images.
func (f *File) sectionName(raw []byte) (string, error) {
	name := string(bytes.TrimRight(raw, "\x00"))
	digits, ok := strings.CutPrefix(name, "/")
	if !ok {
		return name, nil
	}
	off, err := strconv.ParseUint(digits, 10, 32)
	if err != nil {
		return name, nil
	}
	long, err := f.stringAt(int64(off), maxSectionName)
	if err != nil {
		return name, err
	}
	return long, nil
}

// coffSymbol is a record of the symbol table.
// value is the distance from the start of its section, whose number counts from 1; 0 and below are
// no sections. aux is how many of the records that follow belong to the symbol.
type coffSymbol struct {
	name    [8]byte
	value   uint32
	section int16
	kind    uint16
	class   uint8
	aux     uint8
}

// readSymbol reads record i.
//
//	0 name 8 · 8 value u32 · 12 section i16 · 14 type u16 · 16 storage class u8 · 17 auxiliary records u8
func (f *File) readSymbol(i int64) (s coffSymbol, err error) {
	var p [symbolSize]byte
	off := f.symbolsAt + i*symbolSize
	if _, err := f.Src.ReadAt(p[:], off); err != nil {
		return s, f.Src.Wrap("COFF symbol table", off, err)
	}
	copy(s.name[:], p[:8])
	le := binary.LittleEndian
	s.value, s.section, s.kind, s.class, s.aux = le.Uint32(p[8:]), int16(le.Uint16(p[12:])), le.Uint16(p[14:]), p[16], p[17]
	return s, nil
}

// symbolName is a symbol's name: eight bytes, or four zeros and an offset in the string table.
func (f *File) symbolName(s *coffSymbol) (string, error) {
	if binary.LittleEndian.Uint32(s.name[:]) == 0 {
		return f.stringAt(int64(binary.LittleEndian.Uint32(s.name[4:])), maxName)
	}
	return string(bytes.TrimRight(s.name[:], "\x00")), nil
}

// HasSymbols reports whether the file has a COFF symbol table.
func (f *File) HasSymbols() bool { return f.symbolsAt != 0 && f.symbolCount > 0 && !f.mapped }
