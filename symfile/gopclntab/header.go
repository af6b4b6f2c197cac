package gopclntab

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/crashpane/crashpane/core/input"
)

// version is a layout of the table, by the release that began it.
type version uint8

const (
	go2  version = 2  // Go 1.2: addresses of functions, one table for everything
	go16 version = 16 // Go 1.16: names, files and pc-value tables have their own parts
	go18 version = 18 // Go 1.18: distances from the start of the text
	go20 version = 20 // Go 1.20: records have the line of the func keyword
)

// magics are the header's first word (abi.PCLnTabMagic). Read in the other byte order none is
// another one.
var magics = map[uint32]version{0xfffffffb: go2, 0xfffffffa: go16, 0xfffffff0: go18, 0xfffffff1: go20}

// header is what the table says about itself. Offsets count from its start.
//
//	magic 4 | 0 0 | quantum 1 | pointer size 1 | words:
//	Go 1.2   functions, then functab; the offset of the files is behind it
//	Go 1.16  functions, files, names, cutab, files, pctab, functab
//	Go 1.18  functions, files, start of the text, names, cutab, files, pctab, functab
//
// Since Go 1.26 the start of the text is 0 there, and only the module's list has it.
type header struct {
	version version
	order   binary.ByteOrder
	quantum uint64 // the size of the processor's smallest instruction
	word    int    // the size of a pointer
	field   int    // the size of a field of functab
	count   int    // the number of functions
	// functab is followed by records, whose offsets count from funcs.
	functab, funcs                int64
	names, units, files, pcTables int64
}

// headerSize is the size of the largest header.
const headerSize = 8 + 8*8

// readHeader reads and checks the header.
func readHeader(src *input.Source) (h header, err error) {
	bad := func(off int64, want, have string) (header, error) {
		return header{}, &input.FormatError{File: src.Name, Part: part, Offset: off, Want: want, Have: have}
	}
	p, err := src.Bytes(0, min(headerSize, src.Size))
	if err != nil {
		return h, err
	}
	if !h.start(p) {
		return bad(0, "a header of Go's table of functions", fmt.Sprintf("% x", p[:min(8, len(p))]))
	}
	c := input.NewCursor(src, part, 8, src.Size-8, h.order)
	count := uint(c, h.word)
	if h.version == go2 {
		h.functab = c.Off()
	} else {
		c.Skip(int64(h.word)) // the number of files
		if h.version >= go18 {
			c.Skip(int64(h.word)) // the start of the text
		}
		for _, off := range []*int64{&h.names, &h.units, &h.files, &h.pcTables, &h.functab} {
			at := c.Off()
			v := uint(c, h.word)
			if c.Err() == nil && v >= uint64(src.Size) {
				return bad(at, "an offset inside the table", fmt.Sprintf("0x%x", v))
			}
			*off = int64(v)
		}
		h.funcs = h.functab
	}
	if err := c.Err(); err != nil {
		return h, err
	}
	// functab has two fields for each function, and the end of the last one.
	end := src.Size - h.functab - int64(h.field)
	if count == 0 || end < 0 || count > uint64(end)/uint64(2*h.field) || count > math.MaxInt32 {
		return bad(8, "as many functions as fit into the table", fmt.Sprint(count))
	}
	h.count = int(count)
	if h.version == go2 {
		at := h.functab + int64(2*h.count+1)*int64(h.field)
		c := input.NewCursor(src, part, at, 4, h.order)
		if h.files = int64(c.U32()); c.Err() != nil {
			return h, c.Err()
		}
	}
	return h, nil
}

// start reads the eight bytes that all versions have. It reports whether they are a header.
func (h *header) start(p []byte) bool {
	if len(p) < 8 || p[4] != 0 || p[5] != 0 || p[6] != 1 && p[6] != 2 && p[6] != 4 || p[7] != 4 && p[7] != 8 {
		return false
	}
	h.order = binary.LittleEndian
	if h.version = magics[h.order.Uint32(p)]; h.version == 0 {
		h.order = binary.BigEndian
		h.version = magics[h.order.Uint32(p)]
	}
	h.quantum, h.word = uint64(p[6]), int(p[7])
	h.field = h.word
	if h.version >= go18 {
		h.field = 4
	}
	return h.version != 0
}

// Find returns the offset of a table in a part of a program, or -1. It looks where the linker may
// put one, at multiples of the pointer size, and checks the whole header. It reads the part once.
func Find(in Part, order binary.ByteOrder, word int) (int64, error) {
	const most = 256 << 10 // bytes for one read
	src := in.Src
	for off := in.aligned(word); off < src.Size; off += most {
		p, err := src.Bytes(off, min(most+headerSize, src.Size-off))
		if err != nil {
			return -1, err
		}
		// The three upper bytes of each magic are ff.
		for i := 0; i+8 <= len(p) && i < most; {
			n := bytes.IndexByte(p[i:], 0xff)
			if n < 0 {
				break
			}
			i = (i + n) &^ (word - 1)
			var h header
			if i+8 <= len(p) && h.start(p[i:]) && h.word == word && h.order == order {
				at := off + int64(i)
				_, err := readHeader(src.Sub(src.Name, at, src.Size-at))
				if err == nil || input.Needs(err) {
					return at, err
				}
			}
			i += word
		}
	}
	return -1, nil
}
