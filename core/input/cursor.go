package input

import (
	"encoding/binary"
	"fmt"
)

// Cursor reads a part of a file from front to back. The first error sticks: every later read gives zeros, and the caller
// looks at Err once at the end. All reads go through one bounds check (take).
type Cursor struct {
	// Order of multi-byte values.
	Order binary.ByteOrder

	src  *Source
	part string
	pos  int64 // file offset of the next byte
	end  int64 // file offset after the part's last byte that the file really has
	said int64 // where the part ends by its own size, which may be beyond the file
	win  []byte
	at   int64 // file offset of win
	err  error
	tmp  [8]byte
}

// NewCursor reads size bytes at off of src; part names them in errors. A part that reaches beyond the file ends with the
// file, and reading on says so.
func NewCursor(src *Source, part string, off, size int64, order binary.ByteOrder) *Cursor {
	c := &Cursor{Order: order, src: src, part: part, pos: off, end: off, said: off}
	if off < 0 || size < 0 {
		c.err = &FormatError{File: src.Name, Part: part, Offset: off, Want: "an offset and a size of 0 or more", Have: fmt.Sprintf("size %d", size)}
		return c
	}
	c.said = off + min(size, 1<<62-1-min(off, 1<<61))
	c.end = max(off, min(c.said, src.Size))
	return c
}

// Err is the first error, or nil.
func (c *Cursor) Err() error { return c.err }

// Off is the file offset of the next byte.
func (c *Cursor) Off() int64 { return c.pos }

// Left is how many bytes can still be read; 0 after an error.
func (c *Cursor) Left() int64 {
	if c.err != nil {
		return 0
	}
	return c.end - c.pos
}

// Fail records an error at the cursor's position, unless there is one already.
func (c *Cursor) Fail(want, have string) { c.FailAt(c.pos, want, have) }

// FailAt is Fail at another file offset.
func (c *Cursor) FailAt(off int64, want, have string) {
	if c.err == nil {
		c.err = &FormatError{File: c.src.Name, Part: c.part, Offset: off, Want: want, Have: have}
	}
}

// take moves over n bytes if they are there. It is the one bounds check.
func (c *Cursor) take(n int64) bool {
	if c.err != nil {
		return false
	}
	if n < 0 || n > c.end-c.pos {
		have := fmt.Sprintf("%d bytes to the end of it", c.end-c.pos)
		if c.said > c.end {
			have = fmt.Sprintf("%d bytes to the end of the file", c.end-c.pos)
		}
		c.Fail(fmt.Sprintf("%d more bytes", n), have)
		return false
	}
	if c.src.Watch != nil {
		c.src.Saw(c.part, c.pos, n)
	}
	c.pos += n
	return true
}

// small is the next n (1 to 8) bytes, or zeros after an error.
func (c *Cursor) small(n int64) []byte {
	if !c.take(n) {
		c.tmp = [8]byte{}
		return c.tmp[:n]
	}
	from := c.pos - n
	if i := from - c.at; i >= 0 && i+n <= int64(len(c.win)) {
		return c.win[i : i+n]
	}
	block, at, err := c.src.Block(from)
	if err != nil {
		c.err = c.src.Wrap(c.part, from, err)
		c.tmp = [8]byte{}
		return c.tmp[:n]
	}
	c.win, c.at = block, at
	if i := from - at; i+n <= int64(len(block)) {
		return block[i : i+n]
	}
	c.read(c.tmp[:n], from) // the value lies across two blocks
	return c.tmp[:n]
}

func (c *Cursor) read(p []byte, off int64) {
	if _, err := c.src.read(p, off); err != nil {
		c.err = c.src.Wrap(c.part, off, err)
		clear(p)
	}
}

func (c *Cursor) U8() uint8   { return c.small(1)[0] }
func (c *Cursor) U16() uint16 { return c.Order.Uint16(c.small(2)) }
func (c *Cursor) U32() uint32 { return c.Order.Uint32(c.small(4)) }
func (c *Cursor) U64() uint64 { return c.Order.Uint64(c.small(8)) }
func (c *Cursor) I32() int32  { return int32(c.U32()) }

// Skip moves over n bytes.
func (c *Cursor) Skip(n int64) { c.take(n) }

// Bytes reads n bytes into a new slice; nil after an error. Nothing is allocated for bytes that are not there.
func (c *Cursor) Bytes(n int64) []byte {
	if !c.take(n) {
		return nil
	}
	p := make([]byte, n)
	if n > 0 {
		c.read(p, c.pos-n)
	}
	if c.err != nil {
		return nil
	}
	return p
}

// Fill reads len(p) bytes into p; p is zeroed after an error.
func (c *Cursor) Fill(p []byte) {
	if !c.take(int64(len(p))) {
		clear(p)
		return
	}
	if len(p) > 0 {
		c.read(p, c.pos-int64(len(p)))
	}
}
