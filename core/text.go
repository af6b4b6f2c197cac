package core

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core/input"
)

// maxString is the longest MINIDUMP_STRING that is read, in bytes of UTF-16. Breakpad's limit is
// 1024 units; paths on Windows can have 32767.
const maxString = 128 << 10

// utf16String decodes UTF-16; a surrogate without its partner becomes U+FFFD.
func utf16String(p []byte, order binary.ByteOrder) string {
	var b strings.Builder
	b.Grow(len(p) / 2)
	for i := 0; i+1 < len(p); i += 2 {
		r := rune(order.Uint16(p[i:]))
		if utf16.IsSurrogate(r) {
			second := rune(0)
			if i+3 < len(p) {
				second = rune(order.Uint16(p[i+2:]))
			}
			if r = utf16.DecodeRune(r, second); r != utf8.RuneError {
				i += 2
			}
		}
		b.WriteRune(r)
	}
	return b.String()
}

// utf16Field decodes a field of fixed size that ends at its first 0.
func utf16Field(p []byte, order binary.ByteOrder) string {
	for i := 0; i+1 < len(p); i += 2 {
		if p[i] == 0 && p[i+1] == 0 {
			return utf16String(p[:i], order)
		}
	}
	return utf16String(p, order)
}

// stringAt reads a MINIDUMP_STRING: its length in bytes (u32), then UTF-16. Offset 0 is the header,
// so it means "none". What is wrong with it is a diagnostic of the stream that points to it.
func (d *Dump) stringAt(stream StreamType, off FileOff, what string) string {
	if off == 0 {
		return ""
	}
	c := input.NewCursor(d.Src, stream.part()+", "+what, int64(off), 4+maxString, d.Header.Order)
	n := int64(c.U32())
	if c.Err() == nil && n > c.Left() {
		// Without its end a string is still worth reading, but a length that no writer would write
		// is a wrong offset.
		if n > maxString {
			c.FailAt(int64(off), fmt.Sprintf("a string of at most %d bytes", maxString), fmt.Sprintf("%d bytes", n))
		} else {
			d.diagnose(Warning, stream, &input.FormatError{File: d.Src.Name, Part: stream.part() + ", " + what, Offset: int64(off),
				Want: fmt.Sprintf("a string of %d bytes", n), Have: fmt.Sprintf("%d bytes to the end of the file", c.Left())})
			n = c.Left()
		}
	}
	if c.Err() == nil && !d.afford(stream, n) {
		return ""
	}
	p := c.Bytes(n)
	if c.Err() != nil {
		d.diagnose(Bad, stream, c.Err())
		return ""
	}
	d.ending(c, 2)
	return utf16String(p, d.Header.Order)
}

// ending goes over the zero after a text, which its length does not count. No value needs it: this
// is only for the account of bytes only.
func (d *Dump) ending(c *input.Cursor, size int64) {
	if d.Src.OnRead == nil || c.Left() < size {
		return
	}
	if p, err := d.Src.Bytes(c.Off(), size); err == nil && allZero(p) {
		c.Skip(size)
	}
}

// afford counts the bytes of names and debug records that were read. Honest entries point to bytes
// of their own, so all of them together are smaller than the file; entries that share one long name
// could fill any memory.
func (d *Dump) afford(stream StreamType, n int64) bool {
	if n < 0 || d.namesRead < 0 {
		return n <= 0
	}
	if d.namesRead += n; d.namesRead <= d.Src.Size+4<<20 {
		return true
	}
	d.remark(Bad, stream, -1, "names and debug records that do not overlap",
		fmt.Sprintf("more than %d bytes of them; the rest is left out", d.namesRead-n))
	d.namesRead = -1 // said once; nothing more is read
	return false
}

// cString decodes bytes up to their first 0 as UTF-8; what is not UTF-8 becomes U+FFFD.
func cString(p []byte) string {
	if i := bytes.IndexByte(p, 0); i >= 0 {
		p = p[:i]
	}
	return strings.ToValidUTF8(string(p), "\uFFFD")
}
