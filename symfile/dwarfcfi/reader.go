package dwarfcfi

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
)

// section reads the bytes of a section and makes errors about it.
type section struct {
	src  *input.Source
	name string
	// address is the link-time address of the section's first byte, for pointers relative to their
	// own address.
	address uint64
	// eh: the section has the format of .eh_frame, else that of .debug_frame. They differ in how an
	// entry refers to its CIE.
	eh bool
	Config

	// near is the size in bytes of a read for a few bytes, and back how many of those are before
	// the wanted ones. If near is 0, as during Each, a read is a block of the Source.
	near, back int64
	wins       [windows]window
	next       int
}

// A lookup needs a few entries at unrelated offsets, so that its reads are small.
const (
	windows    = 16
	windowSize = 4 << 10
)

// window is a cached part of the section. Its bytes never change, so slices of them stay valid.
type window struct {
	at   int64
	data []byte
}

// bad returns an error about an offset of the section.
func (s *section) bad(off int64, want, have string) error {
	return &input.FormatError{File: s.File, Part: s.name, Offset: off, Want: want, Have: have}
}

// mask truncates an address to the file's address size.
func (s *section) mask(v uint64) uint64 {
	if s.AddressSize == 4 {
		return v & 0xffffffff
	}
	return v
}

// bytes returns n bytes at off, as a slice of the Source's memory if it has the section in memory.
// The caller must not change them.
func (s *section) bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > s.src.Size || n > s.src.Size-off {
		return nil, s.bad(off, fmt.Sprintf("%d bytes", n), fmt.Sprintf("a section of %d bytes", s.src.Size))
	}
	if n == 0 {
		return nil, nil
	}
	if all := s.src.Memory(); all != nil {
		return all[off : off+n : off+n], nil
	}
	if n <= s.near-s.back {
		w, err := s.window(off, n)
		if err != nil {
			return nil, s.src.Wrap(s.name, off, err)
		}
		return w.data[off-w.at : off-w.at+n : off-w.at+n], nil
	}
	block, start, err := s.src.Block(off)
	if err != nil {
		return nil, s.src.Wrap(s.name, off, err)
	}
	if at := off - start; at+n <= int64(len(block)) {
		return block[at : at+n : at+n], nil
	}
	p := make([]byte, n)
	if _, err := s.src.ReadAt(p, off); err != nil {
		return nil, s.src.Wrap(s.name, off, err)
	}
	return p, nil
}

// window returns a window that has n bytes at off, from the cache or by a read. A new one replaces
// the oldest.
func (s *section) window(off, n int64) (window, error) {
	for _, w := range s.wins {
		if off >= w.at && off+n <= w.at+int64(len(w.data)) {
			return w, nil
		}
	}
	w := window{at: max(0, off-s.back)}
	w.data = make([]byte, min(s.near, s.src.Size-w.at))
	if _, err := s.src.ReadDirect(w.data, w.at); err != nil {
		return window{}, err
	}
	s.wins[s.next] = w
	s.next = (s.next + 1) % windows
	return w, nil
}

// reader reads values from a part of the section. Its first error stays, and later reads return 0.
type reader struct {
	sec  *section
	data []byte
	off  int64 // of data[0] in the section
	pos  int
	err  error
}

func (s *section) reader(data []byte, off int64) reader { return reader{sec: s, data: data, off: off} }

// at returns the section offset of the next byte.
func (r *reader) at() int64 { return r.off + int64(r.pos) }

// left is how many bytes are not read yet.
func (r *reader) left() int { return len(r.data) - r.pos }

// fail keeps the first error and moves to the end, so that loops over the bytes end.
func (r *reader) fail(want, have string) {
	if r.err == nil {
		r.err = r.sec.bad(r.at(), want, have)
	}
	r.pos = len(r.data)
}

// draw draws steps of work. If there are not enough left, that is the reader's error.
func (r *reader) draw(steps int64) {
	s := r.sec
	if err := s.src.Draw(input.Work, steps); err != nil && r.err == nil {
		r.err = s.src.Wrap(s.name, r.at(), err)
		r.pos = len(r.data)
	}
}

// take returns the next n bytes.
func (r *reader) take(n int) []byte {
	if n < 0 || n > r.left() {
		r.fail(fmt.Sprintf("%d more bytes", n), fmt.Sprintf("%d to the end of the entry", r.left()))
		return nil
	}
	r.pos += n
	return r.data[r.pos-n : r.pos]
}

// uint reads an unsigned number of 1, 2, 4 or 8 bytes.
func (r *reader) uint(size int) uint64 {
	p := r.take(size)
	if p == nil {
		return 0
	}
	return number(p, r.sec.Order)
}

// number reads an unsigned number of 1, 2, 4 or 8 bytes.
func number(p []byte, order binary.ByteOrder) uint64 {
	switch len(p) {
	case 1:
		return uint64(p[0])
	case 2:
		return uint64(order.Uint16(p))
	case 4:
		return uint64(order.Uint32(p))
	case 8:
		return order.Uint64(p)
	}
	return 0
}

func (r *reader) u8() uint8 {
	if r.pos < len(r.data) {
		r.pos++
		return r.data[r.pos-1]
	}
	return uint8(r.uint(1))
}

// sint reads a signed number of 1, 2, 4 or 8 bytes.
func (r *reader) sint(size int) int64 { return extend(r.uint(size), size) }

// extend sign-extends the low size bytes of v.
func extend(v uint64, size int) int64 {
	shift := 64 - 8*uint(size)
	return int64(v<<shift) >> shift
}

// uleb reads an unsigned LEB128 number (DWARF 5, section 7.6). Bits beyond the 64th are an error
// unless they are 0: some assemblers pad numbers.
func (r *reader) uleb() uint64 {
	var v uint64
	for shift := uint(0); ; shift += 7 {
		b := r.u8()
		if r.err != nil {
			return 0
		}
		low := uint64(b & 0x7f)
		if shift < 64 {
			v |= low << shift
		}
		if shift > 57 && low>>max(64-int(shift), 0) != 0 {
			r.fail("a number of at most 64 bits", "a longer one")
			return 0
		}
		if b&0x80 == 0 {
			return v
		}
	}
}

// sleb reads a signed LEB128 number.
func (r *reader) sleb() int64 {
	var v int64
	for shift := uint(0); ; {
		b := r.u8()
		if r.err != nil {
			return 0
		}
		if shift < 64 {
			v |= int64(b&0x7f) << shift
		}
		shift += 7
		if b&0x80 == 0 {
			if b&0x40 != 0 && shift < 64 {
				v |= -1 << shift
			}
			return v
		}
	}
}

// text reads a NUL-terminated string and its NUL.
func (r *reader) text() string {
	if i := bytes.IndexByte(r.data[r.pos:], 0); i >= 0 {
		return string(r.take(i + 1)[:i])
	}
	r.fail("a string that ends with a zero byte", "none to the end of the entry")
	return ""
}
