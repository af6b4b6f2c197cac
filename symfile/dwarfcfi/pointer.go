package dwarfcfi

import "fmt"

// Encodings of pointers in .eh_frame (LSB Core, "DWARF Extensions", section 10.5.1; values from
// GCC's dwarf2.h): the low half of the byte is the format of the number, the high half what it is
// relative to. 0x1b, the usual one, is a signed number of 4 bytes relative to its own address.
const (
	peAbsolute = 0x00 // an address of the file's address size
	peULEB     = 0x01
	peU2       = 0x02
	peU4       = 0x03
	peU8       = 0x04
	peSigned   = 0x08 // the same, signed
	peSLEB     = 0x09
	peS2       = 0x0a
	peS4       = 0x0b
	peS8       = 0x0c
	peFormat   = 0x0f

	peRelative = 0x70
	pePC       = 0x10 // relative to the pointer's own address
	peText     = 0x20 // to the start of .text
	peData     = 0x30 // to the start of the .got or of the data; in .eh_frame_hdr to the start of that section
	peFunction = 0x40 // to the function's start
	peAligned  = 0x50 // absolute, after padding to a multiple of the address size
	peIndirect = 0x80 // the result is the address of the pointer

	peOmit = 0xff // there is no pointer
)

// fixedSize returns the size in bytes of a pointer of an encoding, or 0 if it varies.
func fixedSize(enc uint8, addressSize int) int {
	switch enc & peFormat {
	case peAbsolute, peSigned:
		return addressSize
	case peU2, peS2:
		return 2
	case peU4, peS4:
		return 4
	case peU8, peS8:
		return 8
	}
	return 0
}

// plain reads the number of a pointer as it is stored.
func (r *reader) plain(enc uint8, addressSize int) uint64 {
	switch enc & peFormat {
	case peAbsolute:
		return r.uint(addressSize)
	case peSigned:
		return uint64(r.sint(addressSize))
	case peULEB:
		return r.uleb()
	case peSLEB:
		return uint64(r.sleb())
	case peU2:
		return r.uint(2)
	case peU4:
		return r.uint(4)
	case peU8:
		return r.uint(8)
	case peS2:
		return uint64(r.sint(2))
	case peS4:
		return uint64(r.sint(4))
	case peS8:
		return r.uint(8)
	}
	r.fail("an encoding of pointers", fmt.Sprintf("0x%02x", enc))
	return 0
}

// pointer reads a pointer. function is the base of peFunction, data that of peData. It returns
// false for peOmit.
//
// Example: the bytes f0 ff ff ff at address 0x2000 are, with the encoding 0x1b, the address 0x1ff0.
func (r *reader) pointer(enc uint8, addressSize int, function, data uint64) (uint64, bool) {
	s := r.sec
	if enc == peOmit {
		return 0, false
	}
	var base uint64
	switch enc & peRelative {
	case 0:
	case pePC:
		base = s.address + uint64(r.at())
	case peText:
		base = s.Text
	case peData:
		base = data
	case peFunction:
		base = function
	case peAligned:
		if size := uint64(addressSize); size > 0 {
			r.take(int(-(s.address + uint64(r.at())) & (size - 1)))
		}
	default:
		r.fail("an encoding of pointers", fmt.Sprintf("0x%02x", enc))
		return 0, false
	}
	at := r.at()
	v := s.mask(base + r.plain(enc, addressSize))
	if r.err != nil || enc&peIndirect == 0 {
		return v, r.err == nil
	}
	if s.At == nil {
		r.fail("a file to read the indirect pointer from", "only the section")
		return 0, false
	}
	p, err := s.At(v, int64(addressSize))
	if err != nil || len(p) != addressSize {
		r.err = s.src.Wrap(s.name, at, err)
		r.fail(fmt.Sprintf("a pointer at address 0x%x", v), "nothing there")
		return 0, false
	}
	return s.mask(number(p, s.Order)), true
}

// dataBase returns the base of peData in .eh_frame: the GOT if the file has one, as GCC's runtime
// takes it on i386, else the start of the data.
func (s *section) dataBase() uint64 {
	if s.Got != 0 {
		return s.Got
	}
	return s.Data
}
