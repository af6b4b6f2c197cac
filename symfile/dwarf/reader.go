package dwarf

import "bytes"

// reader reads numbers and strings from bytes in memory. A read beyond the end returns zero, moves
// to the end and sets bad, so that callers check for errors once, after several reads.
type reader struct {
	b   []byte
	p   int
	big bool
	bad bool
}

// fail marks the reader as having read beyond the end.
func (r *reader) fail() {
	r.p = len(r.b)
	r.bad = true
}

// left is how many bytes are not read yet.
func (r *reader) left() int { return len(r.b) - r.p }

func (r *reader) u8() uint8 {
	if r.p < len(r.b) {
		r.p++
		return r.b[r.p-1]
	}
	r.fail()
	return 0
}

func (r *reader) u16() uint16 {
	if len(r.b)-r.p < 2 {
		r.fail()
		return 0
	}
	b := r.b[r.p : r.p+2]
	r.p += 2
	if r.big {
		return uint16(b[1]) | uint16(b[0])<<8
	}
	return uint16(b[0]) | uint16(b[1])<<8
}

func (r *reader) u32() uint32 {
	if len(r.b)-r.p < 4 {
		r.fail()
		return 0
	}
	b := r.b[r.p : r.p+4]
	r.p += 4
	if r.big {
		return uint32(b[3]) | uint32(b[2])<<8 | uint32(b[1])<<16 | uint32(b[0])<<24
	}
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

func (r *reader) u64() uint64 {
	a, b := uint64(r.u32()), uint64(r.u32())
	if r.big {
		return a<<32 | b
	}
	return b<<32 | a
}

// uint reads an unsigned number of n bytes: 1, 2, 3, 4 or 8.
func (r *reader) uint(n int) uint64 {
	switch n {
	case 1:
		return uint64(r.u8())
	case 2:
		return uint64(r.u16())
	case 3:
		a, b, c := uint64(r.u8()), uint64(r.u8()), uint64(r.u8())
		if r.big {
			return a<<16 | b<<8 | c
		}
		return c<<16 | b<<8 | a
	case 4:
		return uint64(r.u32())
	case 8:
		return r.u64()
	}
	r.fail()
	return 0
}

// uleb reads an unsigned LEB128 number (DWARF 5, section 7.6) and drops bits beyond the 64th. Most
// numbers are one byte.
//
// Seven bits a byte, the lowest first; the upper bit says that more follow. Example: e5 8e 26 is
// 0x65 | 0x0e<<7 | 0x26<<14 = 624485.
func (r *reader) uleb() uint64 {
	if r.p < len(r.b) {
		if c := r.b[r.p]; c < 0x80 {
			r.p++
			return uint64(c)
		}
	}
	return r.longLEB()
}

// longLEB is uleb for numbers of more than one byte. Linkers pad numbers, so 80 80 00 is a 0 of
// three bytes.
func (r *reader) longLEB() uint64 {
	var v uint64
	for shift := uint(0); r.p < len(r.b); shift += 7 {
		c := r.b[r.p]
		r.p++
		if shift < 64 {
			v |= uint64(c&0x7f) << shift
		}
		if c < 0x80 {
			return v
		}
	}
	r.fail()
	return 0
}

// sleb reads a signed LEB128 number.
// Bit 6 of its last byte is the sign. Example: 7f is -1, 80 7f is -128.
func (r *reader) sleb() int64 {
	var v uint64
	for shift := uint(0); r.p < len(r.b); {
		c := r.b[r.p]
		r.p++
		if shift < 64 {
			v |= uint64(c&0x7f) << shift
		}
		shift += 7
		if c < 0x80 {
			if c&0x40 != 0 && shift < 64 {
				v |= ^uint64(0) << shift
			}
			return int64(v)
		}
	}
	r.fail()
	return 0
}

// skipLEB skips a LEB128 number of either kind.
func (r *reader) skipLEB() {
	for r.p < len(r.b) {
		r.p++
		if r.b[r.p-1] < 0x80 {
			return
		}
	}
	r.fail()
}

// skip skips n bytes.
func (r *reader) skip(n uint64) {
	if n > uint64(len(r.b)-r.p) {
		r.fail()
		return
	}
	r.p += int(n)
}

// skipText skips a string and the NUL that ends it.
func (r *reader) skipText() {
	n := bytes.IndexByte(r.b[r.p:], 0)
	if n < 0 {
		r.fail()
		return
	}
	r.p += n + 1
}
