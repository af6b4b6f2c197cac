package dwarfcfi

import (
	"fmt"
)

const (
	// maxCIE and maxFDE limit an entry's size in bytes. A CIE has some dozens; the largest FDEs are
	// those of generated code.
	maxCIE = 8 << 10
	maxFDE = 4 << 20
	// maxCIEs limits the cached CIEs. A compiler writes a handful for each file, and a linker
	// merges equal ones.
	maxCIEs = 4096
)

// head is the start of an entry, up to the field that makes it a CIE or an FDE. All its offsets are
// in the section.
//
//	length 4 (0xffffffff, length 8 in the 64-bit form) | CIE_id or CIE_pointer 4 or 8 | body
type head struct {
	off  int64 // of the entry
	body int64 // of the bytes after CIE_id or CIE_pointer
	end  int64 // of the next entry
	cie  int64 // of the entry's CIE; for a CIE its own offset
	wide bool  // the 64-bit form
	// empty: the length is 0. In .eh_frame such an entry ends a list, but linkers leave some in the
	// middle.
	empty bool
}

func (h *head) isCIE() bool { return h.cie == h.off }

// headSize is the largest size of a head in bytes, with the version byte that follows in a CIE.
const headSize = 4 + 8 + 8 + 1

// head parses the start of the entry at off. p has headSize bytes, unless the section ends before.
//
//	              CIE_id               CIE_pointer of an FDE
//	.eh_frame     0                    distance back from this field to the CIE
//	.debug_frame  0xffffffff…          offset of the CIE in the section
//
// In the 64-bit form of .eh_frame the field has 4 bytes in LSB Core, but 8 in what assemblers
// write. wideMark finds out which.
//
// Example, the start of an FDE at offset 0x18 of .eh_frame:
//
//	14 00 00 00    length: the next entry is at 0x1c + 0x14 = 0x30
//	1c 00 00 00    CIE_pointer, at offset 0x1c: the CIE is at 0x1c - 0x1c = 0
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
	// The entry is shorter than what was read: nothing after its end may be taken for a part of
	// it.
	if h.end-r.at() < int64(len(r.data)-r.pos) {
		r.data = r.data[:h.end-off]
	}
	field := r.at()
	size := 4
	if h.wide {
		wide, err := s.wideMark(r)
		if err != nil {
			return h, err
		}
		if wide {
			size = 8
		}
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

// wideMark reports whether the CIE_id or CIE_pointer of an entry in the 64-bit form has 8 bytes. In
// .eh_frame the CIE's version, which follows the field and is never 0, shows it.
//
//	00 00 00 00 01                         CIE_id of 4 bytes, then version 1
//	00 00 00 00 00 00 00 00 01             CIE_id of 8 bytes, then version 1
//	24 00 00 00 00 00 00 00 …              a distance of 0x24 in either size, little-endian
func (s *section) wideMark(r reader) (bool, error) {
	if !s.eh || r.left() < 9 {
		return !s.eh, nil
	}
	p := r.data[r.pos:]
	first, second := s.Order.Uint32(p), s.Order.Uint32(p[4:])
	if first == 0 {
		return second == 0 || !knownVersion(p[4]), nil // a CIE_id of 8 bytes, or the high half of a big-endian distance
	}
	// A little-endian distance has the same value in both sizes, so the CIE that it leads to
	// decides.
	off := r.at() - int64(first)
	q, err := s.bytes(max(off, 0), min(headSize, s.src.Size-max(off, 0)))
	switch {
	case s.src.Interrupted(err):
		return false, err
	case err != nil || off < 0 || len(q) < headSize || s.Order.Uint32(q) != 0xffffffff:
		return false, nil
	}
	return s.Order.Uint64(q[12:]) == 0, nil
}

// knownVersion reports whether a CIE's version is one that exists: 1 of .eh_frame and DWARF 2, 3 of
// DWARF 3, 4 of DWARF 4 and 5.
func knownVersion(v uint8) bool { return v == 1 || v == 3 || v == 4 }

// cie is a common information entry (DWARF 5, section 6.4.1): what the FDEs of many functions
// share.
type cie struct {
	off         int64
	version     uint8
	addressSize int
	segmentSize int
	codeAlign   uint64
	dataAlign   int64
	ra          uint64 // the column of the return address
	// sized: the augmentation string begins with "z", so that FDEs state the size of their
	// augmentation data.
	sized    bool
	pointers uint8 // encoding of an FDE's addresses
	signal   bool  // its functions are signal trampolines ("S")
	keyB     bool  // return addresses are signed with arm64's key B ("B")

	init    []byte // the initial instructions
	initOff int64
	start   *state // the state after init; nil until runCIE
	err     error  // of runCIE
}

// cie returns the CIE at an offset, from the cache if possible. The FDE before mostly has the same
// one, so that is compared first.
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

// parseCIE parses a CIE. r begins after the CIE_id.
//
//	version 1 | augmentation string\0 | version 4: address_size 1, segment_selector_size 1
//	code_alignment_factor ULEB | data_alignment_factor SLEB | return_address_register (version 1: 1 byte, later ULEB)
//	augmentation data | initial instructions
//
// Example, that of GCC for x86-64, from the version on:
//
//	01                version 1
//	7a 52 00          "zR": a size of augmentation data, and in it the encoding of pointers
//	01 78 10          code alignment 1, data alignment -8, return address in column 16
//	01 1b             one byte of augmentation data: pointers of 4 signed bytes, relative to themselves
//	0c 07 08 90 01    initial instructions: cfa = rsp + 8, return address at cfa - 8
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
		r.take(c.addressSize) // the exception table pointer of GCC 2
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

// augment reads the augmentation data, whose parts the letters of the augmentation string name (LSB
// Core, section 10.6.1.1.1; S, B and G are GNU's). An unknown letter is an error only without "z",
// because then the data's size is unknown.
func (t *table) augment(r *reader, c *cie, letters string) error {
	s := r.sec
	end := -1
	if letters == "armcc+" {
		return nil // ARM's compiler marks CIEs without a certain old bug of it
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
			// The personality routine is of no use here, but its pointer must be skipped.
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
			t.warn("augmentation", s.bad(c.off, "an augmentation that is known", fmt.Sprintf("%q; its data is skipped", clip(letters))))
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

// clip shortens text of the file for a message.
func clip(s string) string {
	if len(s) > 16 {
		return s[:16] + "…"
	}
	return s
}

// fde is a frame description entry: the call frame instructions of one function.
type fde struct {
	cie         *cie
	off         int64
	start, size uint64 // link-time address, and size in bytes
	code        []byte // its instructions
	codeOff     int64
}

// fdeAt reads the FDE at an offset:
//
//	initial_location | address_range | if the CIE has "z": augmentation length ULEB, augmentation data | instructions
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

// extent reads an FDE's initial_location and address_range. The range has the size of the pointer
// encoding, but is not relative to anything: with the encoding 0x1b, e0 ff ff ff 16 00 00 00 at
// address 0x2020 is a function of 0x16 bytes at 0x2000.
func (r *reader) extent(c *cie) (start, size uint64) {
	r.take(c.segmentSize)
	start, ok := r.pointer(c.pointers, c.addressSize, 0, r.sec.dataBase())
	if !ok {
		r.fail("the address of a function", "none")
	}
	return start, r.sec.mask(r.plain(c.pointers, c.addressSize))
}
