package dwarfcfi

import "fmt"

// Pointers in .eh_frame have an encoding each: a byte whose low half says how the number is stored and whose high half what it
// is relative to (LSB Core, "DWARF Extensions", section 10.5.1, "DWARF Exception Header Encoding"; the values of GCC's
// dwarf2.h).
const (
	peAbsolute = 0x00 // an address in its natural size
	peULEB     = 0x01
	peU2       = 0x02
	peU4       = 0x03
	peU8       = 0x04
	peSigned   = 0x08 // an address in its natural size, signed
	peSLEB     = 0x09
	peS2       = 0x0a
	peS4       = 0x0b
	peS8       = 0x0c
	peFormat   = 0x0f

	peRelative = 0x70
	pePC       = 0x10 // to where the pointer stands
	peText     = 0x20 // to the text's start
	peData     = 0x30 // to the data's, that is mostly the .got; in .eh_frame_hdr to that section's
	peFunction = 0x40 // to the function's start
	peAligned  = 0x50 // an address at the next multiple of its size
	peIndirect = 0x80 // the value is where the pointer lies

	peOmit = 0xff // there is none
)

// fixedSize is how many bytes a pointer of an encoding takes, or 0 if that depends on its value.
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

// plain reads the stored number of a pointer.
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

// pointer reads a pointer. function is the start of the function that it may be relative to, data what peData is relative to.
// False says that there is none (peOmit).
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
		r.fail("a file that can be read at an address, for an indirect pointer", "a section alone")
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

// dataBase is what peData is relative to in the section itself.
func (s *section) dataBase() uint64 {
	if s.Got != 0 {
		return s.Got
	}
	return s.Data
}
