package macho

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// Fixups are the pointers in the data of a file with LC_DYLD_CHAINED_FIXUPS. There a pointer has the
// distance to the next one in its upper bits, and the loader writes the address in its place. In files
// with the older opcodes (LC_DYLD_INFO) the data has the addresses at which the file was linked.
//
// Source: mach-o/fixup-chains.h of Apple's dyld.
type Fixups struct {
	f      *File
	chains []chained
}

// chained is where the chains of a segment begin: a u16 for each page, and after them those of pages
// with several chains.
type chained struct {
	address, pageSize uint64
	pages             uint64
	starts            *input.Source
	format            chainFormat
	maxPointer        uint64
}

// chainFormat says which bits of a word of size bytes are what: the distance to the next one in
// units of stride, whether it is bound to a symbol, and whether it is signed. The lowest are the
// target, an address or (fromBase) the distance from the header, and after it come the highest 8.
type chainFormat struct {
	size, stride         int
	next, nextBits       int
	bind, signed, target int // 0 if the format has no such bits
	fromBase             bool
}

// chainFormats are the formats of programs, by pointer_format. Of the others 4, 8, 11 and 13 are
// those of caches and kernel collections.
var chainFormats = map[uint16]chainFormat{
	1:  {8, 8, 51, 11, 62, 63, 43, false}, // ARM64E
	2:  {8, 4, 51, 12, 63, 0, 36, false},  // 64
	3:  {4, 4, 26, 5, 31, 0, 26, false},   // 32
	5:  {4, 4, 26, 6, 0, 0, 26, false},    // 32_FIRMWARE
	6:  {8, 4, 51, 12, 63, 0, 36, true},   // 64_OFFSET
	7:  {8, 4, 51, 11, 62, 63, 43, true},  // ARM64E_KERNEL
	9:  {8, 8, 51, 11, 62, 63, 43, true},  // ARM64E_USERLAND
	10: {8, 4, 51, 11, 62, 63, 43, false}, // ARM64E_FIRMWARE
	12: {8, 8, 51, 11, 62, 63, 43, true},  // ARM64E_USERLAND24
}

const fixupsName = "LC_DYLD_CHAINED_FIXUPS"

// Fixups reads where the chains begin. It returns nil if the file has none.
//
//	header:  version u32 · offset of the segments' table u32 …
//	table:   count u32 · offset from the table u32 for each segment, 0 without chains
//	segment: size u32 · page size u16 · pointer format u16 · distance from the header u64 · largest pointer u32 (32 bits) ·
//	         number of pages u16 · start u16 for each
func (f *File) Fixups() (*Fixups, error) {
	if f.fixups.size == 0 {
		return nil, nil
	}
	src := f.ranged(fixupsName, f.fixups)
	cursor := func(off int64) *input.Cursor {
		return input.NewCursor(src, fixupsName, off, max(src.Size-off, 0), f.Order)
	}
	c := cursor(4)
	table := int64(c.U32())
	if c.Err() != nil {
		return nil, c.Err()
	}
	x := &Fixups{f: f}
	list := cursor(table)
	for range min(list.U32(), uint32(len(f.Segments))) {
		off := int64(list.U32())
		if off == 0 {
			continue
		}
		c := cursor(table + off)
		c.U32()
		s := chained{pageSize: uint64(c.U16())}
		format := c.U16()
		s.address, s.maxPointer, s.pages = f.Base+c.U64(), uint64(c.U32()), uint64(c.U16())
		if c.Err() != nil {
			return nil, c.Err()
		}
		var known bool
		if s.format, known = chainFormats[format]; !known || s.pageSize == 0 {
			f.bad(fixupsName, int64(f.fixups.off)+table+off+4, "pages of pointers in a format of programs", fmt.Sprintf("format %d, pages of %d bytes", format, s.pageSize))
			continue
		}
		const fields = 22
		s.starts = src.Sub(src.Name, table+off+fields, src.Size)
		x.chains = append(x.chains, s)
	}
	return x, list.Err()
}

// Starts of the chains in a page.
const (
	noChain    = 0xffff
	manyChains = 0x8000 // the rest is the number of the first of several starts
	lastChain  = 0x8000 // in the last of them
)

// page calls fn for each pointer of a page: its address and value, which is 0 if it is bound to a
// symbol.
func (x *Fixups) page(s *chained, page uint64, fn func(at, value uint64) error) error {
	start := func(n uint64) (int, error) {
		c := input.NewCursor(s.starts, fixupsName, int64(2*n), 2, x.f.Order)
		return int(c.U16()), c.Err()
	}
	off, err := start(page)
	if err != nil || off == noChain {
		return err
	}
	at := s.address + page*s.pageSize
	data, err := x.data(at, s.pageSize)
	if err != nil {
		return err
	}
	if off&manyChains == 0 {
		_, err := x.chain(s, at, data, off, fn)
		return err
	}
	// The chains of a page follow each other, so that each word is in one.
	for n, end, more := uint64(off&^manyChains), 0, true; more && err == nil; n++ {
		if off, err = start(n); err != nil {
			return err
		}
		more = off&lastChain == 0
		if off &^= lastChain; off < end {
			return &input.FormatError{File: x.f.Src.Name, Part: fixupsName, Offset: -1, Want: "chains in the order of addresses", Have: fmt.Sprintf("0x%x after 0x%x", off, end)}
		}
		end, err = x.chain(s, at, data, off, fn)
	}
	return err
}

// data returns the bytes of a page, as many as the file has, and draws the work of its chains.
func (x *Fixups) data(at, size uint64) ([]byte, error) {
	for i := range x.f.Segments {
		if s := &x.f.Segments[i]; at >= s.Address && at-s.Address < s.FileSize {
			size = min(size, s.FileSize-(at-s.Address))
		}
	}
	if err := x.f.Src.Draw(input.Work, int64(size)/8); err != nil {
		return nil, err
	}
	return x.f.At(at, int64(size))
}

// chain follows a chain from an offset of a page to its end, and returns the offset there.
func (x *Fixups) chain(s *chained, at uint64, data []byte, off int, fn func(at, value uint64) error) (end int, err error) {
	fm := &s.format
	end = off
	for off+fm.size <= len(data) {
		var v uint64
		if fm.size == 8 {
			v = x.f.Order.Uint64(data[off:])
		} else {
			v = uint64(x.f.Order.Uint32(data[off:]))
		}
		if err := fn(at+uint64(off), x.value(s, v)); err != nil {
			return 0, err
		}
		end = off + fm.size
		distance := int(v>>fm.next&(1<<fm.nextBits-1)) * fm.stride
		if distance == 0 {
			break
		}
		off += distance
	}
	return end, nil
}

// value decodes a pointer.
func (x *Fixups) value(s *chained, v uint64) uint64 {
	fm := &s.format
	switch {
	case fm.bind > 0 && v>>fm.bind&1 != 0:
		return 0
	case fm.signed > 0 && v>>fm.signed&1 != 0:
		return x.f.Base + v&0xffffffff
	}
	target := v & (1<<fm.target - 1)
	if fm.size == 4 {
		if s.maxPointer > 0 && target > s.maxPointer {
			return target - (1<<26+s.maxPointer)/2 // a number, that the linker has put into the chain
		}
		return target
	}
	target |= v >> fm.target & 0xff << 56
	if fm.fromBase {
		target += x.f.Base
	}
	return target
}

// Each calls fn for every pointer: its address, and its value where the file is at the address that
// it was linked for; 0 for one that the loader gets from another file.
func (x *Fixups) Each(fn func(at, value uint64) error) error {
	for i := range x.chains {
		s := &x.chains[i]
		for page := range s.pages {
			if err := x.page(s, page, fn); err != nil {
				return err
			}
		}
	}
	return nil
}

// At returns the pointer at an address; ok is false if no pointer is there.
func (x *Fixups) At(address uint64) (value uint64, ok bool, err error) {
	for i := range x.chains {
		s := &x.chains[i]
		page := (address - s.address) / s.pageSize
		if address < s.address || page >= s.pages {
			continue
		}
		err = x.page(s, page, func(at, v uint64) error {
			if at == address {
				value, ok = v, true
				return errFound
			}
			return nil
		})
		if err == errFound {
			err = nil
		}
		break
	}
	return value, ok, err
}
