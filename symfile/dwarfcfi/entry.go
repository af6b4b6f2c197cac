package dwarfcfi

import (
	"fmt"
)

const (
	// maxCIE and maxFDE bound one entry's bytes. A CIE has some dozens; the largest FDEs are those of generated code.
	maxCIE = 8 << 10
	maxFDE = 4 << 20
	// maxCIEs bounds the CIEs that are kept; a compiler makes a handful a file, and a linker joins equal ones.
	maxCIEs = 4096
)

// head is what the first bytes of an entry say.
type head struct {
	off  int64 // of the entry
	body int64 // of what follows the CIE's mark or the pointer to it
	end  int64 // of the next entry
	cie  int64 // of the entry's CIE; its own offset for a CIE
	wide bool  // the 64-bit form
	// empty: a length of 0. In .eh_frame it ends a list; linkers leave such ends in the middle.
	empty bool
}

func (h *head) isCIE() bool { return h.cie == h.off }

// headSize is the most that a head takes, with the version that follows.
const headSize = 4 + 8 + 8 + 1

// head reads the start of the entry at off out of p, which has headSize bytes if the section has them.
//
// The mark of a CIE is 0 in .eh_frame and all ones in .debug_frame; elsewhere the field points at the CIE: in .debug_frame as
// an offset in the section, in .eh_frame as the distance back from the field. LSB Core gives the field 4 bytes in .eh_frame's
// 64-bit form, and assemblers 8: the CIE's version, which is never 0, tells which.
func (s *section) head(p []byte, off int64) (head, error) {
	h := head{off: off}
	r := s.reader(p, off)
	length := r.uint(4)
	switch {
	case length == 0 && r.err == nil:
		h.empty, h.end = true, r.at()
		return h, nil
	case length == 0xffffffff:
		h.wide = true
		length = r.uint(8)
	case length >= 0xfffffff0:
		r.pos = 0
		r.fail("the length of an entry", fmt.Sprintf("0x%x, which is reserved", length))
	}
	if r.err != nil {
		return h, r.err
	}
	if left := s.src.Size - r.at(); length > uint64(left) {
		return h, s.bad(off, "an entry inside of the section", fmt.Sprintf("one of %d bytes, %d before its end", length, left))
	}
	h.end = r.at() + int64(length)
	if h.end-r.at() < int64(len(r.data)-r.pos) {
		r.data = r.data[:h.end-off]
	}
	field := r.at()
	size := 4
	if h.wide && (!s.eh || s.wideMark(r)) {
		size = 8
	}
	id := r.uint(size)
	if r.err != nil {
		return h, r.err
	}
	h.body = r.at()
	switch {
	case s.eh && id == 0, !s.eh && (id == 0xffffffff && size == 4 || id == 1<<64-1):
		h.cie = off
	case s.eh:
		h.cie = field - int64(id)
		if h.cie < 0 || id > uint64(field) {
			return h, s.bad(field, "the distance back to a CIE", fmt.Sprintf("0x%x", id))
		}
	default:
		if id >= uint64(s.src.Size) {
			return h, s.bad(field, "the offset of a CIE", fmt.Sprintf("0x%x in a section of 0x%x bytes", id, s.src.Size))
		}
		h.cie = int64(id)
	}
	if h.cie == off && !(s.eh && id == 0 || !s.eh && id >= 0xffffffff) {
		return h, s.bad(field, "another entry that is a CIE", "a pointer to the entry itself")
	}
	return h, nil
}

// wideMark tells whether an entry of .eh_frame in the 64-bit form has a field of 8 bytes.
func (s *section) wideMark(r reader) bool {
	if r.left() < 9 {
		return false
	}
	p := r.data[r.pos:]
	first, second := s.Order.Uint32(p), s.Order.Uint32(p[4:])
	if first == 0 {
		return second == 0 || !knownVersion(p[4]) // the mark of a CIE, or the high half of a big-endian distance
	}
	// A little-endian distance reads the same in both sizes, and the CIE that it leads to knows.
	off := r.at() - int64(first)
	q, err := s.bytes(max(off, 0), min(headSize, s.src.Size-max(off, 0)))
	if err != nil || off < 0 || len(q) < headSize || s.Order.Uint32(q) != 0xffffffff {
		return false
	}
	return s.Order.Uint64(q[12:]) == 0
}

func knownVersion(v uint8) bool { return v == 1 || v == 3 || v == 4 }

// cie is a common information entry: what the entries of many functions share.
type cie struct {
	off         int64
	version     uint8
	addressSize int
	segmentSize int
	codeAlign   uint64
	dataAlign   int64
	ra          uint64 // the column of the return address
	// sized: the augmentation string begins with z, so entries say how long their augmentation is.
	sized    bool
	pointers uint8 // the encoding of an FDE's addresses
	signal   bool
	keyB     bool // return addresses are signed with arm64's key B

	init    []byte // the instructions that every function begins with
	initOff int64
	start   *state // what init leads to, once it was run
	err     error  // of running it
}

// cie reads the CIE at an offset, or finds it among those that were read.
func (t *table) cie(off int64) (*cie, error) {
	if t.last != nil && t.last.off == off {
		return t.last, nil
	}
	if c := t.cies[off]; c != nil {
		t.last = c
		return c, nil
	}
	s := &t.section
	p, err := s.bytes(off, min(headSize, max(0, s.src.Size-off)))
	if err != nil {
		return nil, err
	}
	h, err := s.head(p, off)
	switch {
	case err != nil:
		return nil, err
	case h.empty || !h.isCIE():
		return nil, s.bad(off, "a CIE", "another entry")
	case h.end-h.body > maxCIE:
		return nil, s.bad(off, fmt.Sprintf("a CIE of at most %d bytes", maxCIE), fmt.Sprintf("one of %d", h.end-h.body))
	}
	if p, err = s.bytes(h.body, h.end-h.body); err != nil {
		return nil, err
	}
	c, err := t.parseCIE(s.reader(p, h.body), off)
	if err != nil {
		return nil, err
	}
	if len(t.cies) >= maxCIEs {
		clear(t.cies)
	}
	t.cies[off], t.last = c, c
	return c, nil
}

func (t *table) parseCIE(r reader, off int64) (*cie, error) {
	s := r.sec
	c := &cie{off: off, addressSize: s.AddressSize, pointers: peAbsolute}
	c.version = r.u8()
	if r.err == nil && !knownVersion(c.version) {
		return nil, s.bad(r.off, "a CIE of version 1, 3 or 4", fmt.Sprintf("version %d", c.version))
	}
	augmentation := r.text()
	if c.version == 4 {
		c.addressSize, c.segmentSize = int(r.u8()), int(r.u8())
		if a := c.addressSize; r.err == nil && a != 2 && a != 4 && a != 8 {
			return nil, s.bad(r.at()-2, "an address size of 2, 4 or 8", fmt.Sprint(a))
		}
	}
	rest := augmentation
	if len(rest) >= 2 && rest[:2] == "eh" {
		r.take(c.addressSize) // a pointer of GCC 2's runtime
		rest = rest[2:]
	}
	c.codeAlign, c.dataAlign = r.uleb(), r.sleb()
	if c.version == 1 {
		c.ra = uint64(r.u8())
	} else {
		c.ra = r.uleb()
	}
	if err := t.augment(&r, c, rest); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	c.init, c.initOff = r.data[r.pos:], r.at()
	return c, nil
}

// augment reads what the letters of the augmentation string stand for (LSB Core, section 10.6.1.1.1; S, B and G are GNU's).
func (t *table) augment(r *reader, c *cie, letters string) error {
	s := r.sec
	end := -1
	if letters == "armcc+" {
		return nil // ARM's compiler says by it that it no longer makes a certain mistake
	}
	for i := 0; i < len(letters) && r.err == nil; i++ {
		switch letters[i] {
		case 'z':
			if i > 0 {
				return s.bad(c.off, "z at the augmentation's start", fmt.Sprintf("%q", letters))
			}
			n := r.uleb()
			if n > uint64(r.left()) {
				r.fail("an augmentation inside of the entry", fmt.Sprintf("one of %d bytes", n))
				break
			}
			c.sized, end = true, r.pos+int(n)
		case 'R':
			c.pointers = r.u8()
		case 'L':
			r.u8()
		case 'P':
			// Where the function's personality routine lies plays no part.
			enc := r.u8()
			r.pointer(enc&^peIndirect, c.addressSize, 0, s.dataBase())
		case 'S':
			c.signal = true
		case 'B':
			c.keyB = true
		case 'G': // memory tagging of the frame
		default:
			if end < 0 {
				return s.bad(c.off, "an augmentation that is known", fmt.Sprintf("%q", clip(letters)))
			}
			t.warn("augmentation", s.bad(c.off, "an augmentation that is known", fmt.Sprintf("%q; its data is passed over", clip(letters))))
			i = len(letters)
		}
	}
	if end >= 0 && r.err == nil {
		if r.pos > end {
			return s.bad(r.at(), fmt.Sprintf("an augmentation of %d bytes", end), "letters that need more")
		}
		r.pos = end
	}
	return r.err
}

func clip(s string) string {
	if len(s) > 16 {
		return s[:16] + "…"
	}
	return s
}

// fde is a frame description entry: the rules of one stretch of code.
type fde struct {
	cie         *cie
	off         int64
	start, size uint64 // link-time address and bytes
	code        []byte // its instructions
	codeOff     int64
}

// fdeAt reads the FDE at an offset.
func (t *table) fdeAt(off int64) (fde, error) {
	s := &t.section
	p, err := s.bytes(off, min(headSize, max(0, s.src.Size-off)))
	if err != nil {
		return fde{}, err
	}
	h, err := s.head(p, off)
	switch {
	case err != nil:
		return fde{}, err
	case h.empty || h.isCIE():
		return fde{}, s.bad(off, "an FDE", "another entry")
	case h.end-h.body > maxFDE:
		return fde{}, s.bad(off, fmt.Sprintf("an entry of at most %d bytes", maxFDE), fmt.Sprintf("one of %d", h.end-h.body))
	}
	c, err := t.cie(h.cie)
	if err != nil {
		return fde{}, err
	}
	if p, err = s.bytes(h.body, h.end-h.body); err != nil {
		return fde{}, err
	}
	r := s.reader(p, h.body)
	f := fde{cie: c, off: off}
	f.start, f.size = r.extent(c)
	if c.sized {
		r.take(int(min(r.uleb(), maxFDE)))
	}
	f.code, f.codeOff = r.data[r.pos:], r.at()
	return f, r.err
}

// extent reads the code that an FDE is about. Its size has the encoding's form, and is relative to nothing.
func (r *reader) extent(c *cie) (start, size uint64) {
	r.take(c.segmentSize)
	start, ok := r.pointer(c.pointers, c.addressSize, 0, r.sec.dataBase())
	if !ok {
		r.fail("the address of a function", "none")
	}
	return start, r.sec.mask(r.plain(c.pointers, c.addressSize))
}
