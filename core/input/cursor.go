package input

import (
	"encoding/binary"
	"fmt"
)

// Cursor reads a part of a file from front to back. The first error stays: every later read returns
// zeros, so that a decoder can read all fields of a record and check Err once at the end. All reads
// go through one bounds check (take).
type Cursor struct {
	// Order of multi-byte values.
	Order binary.ByteOrder

	src        *Source
	part       string
	pos        int64  // file offset of the next byte
	end        int64  // where the part ends in the file: at claimedEnd, or at the end of a file that is shorter
	claimedEnd int64  // where the part ends by its own size, which may be beyond the file
	win        []byte // the block that the last small read was in
	at         int64  // file offset of win
	err        error
	drawn      int // reads that were drawn from the Budget, and are not done yet
	tmp        [8]byte
}

// readsPerDraw is how many reads of a Cursor are drawn from the Budget together, before they are
// done: to make a Cursor costs as much as some reads.
const readsPerDraw = 1 << 4

// bytesPerStep is how many bytes that are in memory are copied in a step of work.
const bytesPerStep = 16

// NewCursor returns a Cursor over size bytes at off of src. part is their name in errors. A part
// that reaches beyond the end of the file is clipped; an error of a read past it says so.
func NewCursor(src *Source, part string, off, size int64, order binary.ByteOrder) *Cursor {
	c := &Cursor{Order: order, src: src, part: part, pos: off, end: off, claimedEnd: off}
	if off < 0 || size < 0 {
		c.err = &FormatError{File: src.Name, Part: part, Offset: off, Want: "an offset and a size of 0 or more", Have: fmt.Sprintf("size %d", size)}
		return c
	}
	c.claimedEnd = off + min(size, 1<<62-1-min(off, 1<<61))
	c.end = max(off, min(c.claimedEnd, src.Size))
	return c
}

// Err returns the first error, or nil.
func (c *Cursor) Err() error { return c.err }

// Off returns the file offset of the next byte.
func (c *Cursor) Off() int64 { return c.pos }

// Left returns how many bytes can still be read. It is 0 after an error.
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

// take moves past n bytes if the part has them. It is the only bounds check.
func (c *Cursor) take(n int64) bool {
	if c.err != nil {
		return false
	}
	if n < 0 || n > c.end-c.pos {
		have := fmt.Sprintf("%d bytes to the end of it", c.end-c.pos)
		if c.claimedEnd > c.end {
			have = fmt.Sprintf("%d bytes to the end of the file", c.end-c.pos)
		}
		c.Fail(fmt.Sprintf("%d more bytes", n), have)
		return false
	}
	if c.src.OnRead != nil {
		c.src.NoteRead(c.part, c.pos, n)
	}
	if c.drawn--; c.drawn < 0 {
		c.drawn = readsPerDraw - 1
		if err := c.src.Draw(Work, readsPerDraw); err != nil {
			c.err = c.src.Wrap(c.part, c.pos, err)
			return false
		}
	}
	c.pos += n
	return true
}

// small returns the next n (1 to 8) bytes, or zeros after an error.
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
	c.read(c.tmp[:n], from) // the value spans two blocks
	return c.tmp[:n]
}

func (c *Cursor) read(p []byte, off int64) {
	if err := c.src.Draw(Work, int64(len(p))/bytesPerStep); err != nil {
		c.err = c.src.Wrap(c.part, off, err)
	} else if _, err := c.src.read(p, off); err != nil {
		c.err = c.src.Wrap(c.part, off, err)
	}
	if c.err != nil {
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

// Bytes reads n bytes into a new slice, or returns nil after an error. It allocates nothing for
// bytes that the part does not have.
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

// Fill reads len(p) bytes into p. After an error it sets p to zeros.
func (c *Cursor) Fill(p []byte) {
	if !c.take(int64(len(p))) {
		clear(p)
		return
	}
	if len(p) > 0 {
		c.read(p, c.pos-int64(len(p)))
	}
}
