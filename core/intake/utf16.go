package intake

import (
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"
)

// Windows PowerShell writes UTF-16 where a program's output goes into a file ("dump_syms a.pdb >
// a.sym"), so that symbol files are. Their readers want UTF-8: Expand converts them.

// utf16Order returns the byte order of a text in UTF-16, and how many bytes its mark has; nil for
// others. Without a mark, as iconv writes UTF-16LE, it must begin as a symbol file does.
func utf16Order(head []byte) (order binary.ByteOrder, mark int) {
	const plain = "MODULE "
	if len(head) < 2 {
		return nil, 0
	}
	for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
		if order.Uint16(head) == 0xfeff {
			return order, 2
		}
		n := 0
		for n < len(plain) && 2*n+2 <= len(head) && order.Uint16(head[2*n:]) == uint16(plain[n]) {
			n++
		}
		if n == len(plain) {
			return order, 0
		}
	}
	return nil, 0
}

// toUTF8 returns the beginning of a file in UTF-8 if it is a text in UTF-16, else as it is.
func toUTF8(head []byte) []byte {
	order, mark := utf16Order(head)
	if order == nil {
		return head
	}
	d := &utf16Decoder{order: order}
	return d.decode(head[mark : len(head)&^1])
}

// utf16Decoder converts a text from UTF-16 to UTF-8. What is not a character becomes U+FFFD.
type utf16Decoder struct {
	in    io.Reader
	order binary.ByteOrder
	// first is the first half of a surrogate pair whose second has not been read yet, or 0.
	first rune
	begun bool
	buf   [32 << 10]byte
	space []byte
	out   []byte // converted, not read yet
	err   error
}

func newUTF16(in io.Reader) (io.Reader, error) { return &utf16Decoder{in: in}, nil }

// Read implements io.Reader.
func (d *utf16Decoder) Read(p []byte) (int, error) {
	for len(d.out) == 0 && d.err == nil {
		n, err := io.ReadFull(d.in, d.buf[:])
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		raw := d.buf[:n&^1] // half a unit at the end is dropped
		if !d.begun && n >= 2 {
			order, mark := utf16Order(raw)
			d.order, d.begun, raw = order, true, raw[mark:]
			if order == nil {
				d.order = binary.LittleEndian
			}
		}
		d.out, d.err = d.decode(raw), err
		if err != nil && d.first != 0 {
			d.out = utf8.AppendRune(d.out, utf8.RuneError)
		}
	}
	if len(d.out) == 0 {
		return 0, d.err
	}
	n := copy(p, d.out)
	d.out = d.out[n:]
	return n, nil
}

// decode converts whole units. The result is valid until the next call.
func (d *utf16Decoder) decode(raw []byte) []byte {
	out := d.space[:0]
	for ; len(raw) > 1; raw = raw[2:] {
		u := rune(d.order.Uint16(raw))
		if u < utf8.RuneSelf && d.first == 0 {
			out = append(out, byte(u))
			continue
		}
		if first := d.first; first != 0 {
			d.first = 0
			if r := utf16.DecodeRune(first, u); r != utf8.RuneError {
				out = utf8.AppendRune(out, r)
				continue
			}
			out = utf8.AppendRune(out, utf8.RuneError)
		}
		if u >= 0xd800 && u < 0xdc00 {
			d.first = u
			continue
		}
		out = utf8.AppendRune(out, u) // the second half of a pair alone becomes U+FFFD
	}
	d.space = out
	return out
}
