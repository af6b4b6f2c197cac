// Package jsonwriter writes JSON (RFC 8259) as a stream, so that a report with a hundred thousand
// frames is never in memory as JSON.
//
//	w := jsonwriter.New(out, jsonwriter.Pretty)
//	w.PutObject(func() {
//		w.Str("name", name)
//		w.List("frames", n, func(i int) { w.PutUint(pc[i]) })
//	})
//	err := w.Flush()
//
// All JSON with text from files is written here. Keys and strings are always escaped, and JSON text
// of a file can only be passed on as a Value, which Parse makes. The formats are those of
// serde_json: two spaces a level if pretty, no spaces if compact. Control and other hidden
// characters are escaped too (see package visible), so that output on a terminal is harmless.
package jsonwriter

import (
	"encoding/hex"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core/visible"
)

// Writer writes one JSON value. In an object each value follows a Key. The caller chooses the order
// of keys and must not repeat one.
//
// Errors of the underlying writer are kept: the caller checks Flush once. After an error further
// output is dropped.
type Writer struct {
	// Text, if it is set, replaces each string before it is escaped.
	Text func(string) string
	w    io.Writer
	buf  []byte
	err  error
	form Form
	// ends has the closing characters of the open objects and lists. list: the innermost is a list.
	ends  []byte
	list  bool
	empty bool // the innermost object or list has no member yet
}

// Form says where the Writer breaks lines.
type Form uint8

const (
	Compact Form = iota // nowhere
	Pretty              // before each member and element, indented by two spaces a level
	Rows                // between the members or elements of the outermost object or list
)

// bufferSize is the size of the buffer in bytes. The Writer writes when it is about half full.
const bufferSize = 64 << 10

// New makes a Writer. The caller must call Flush at the end.
func New(w io.Writer, form Form) *Writer {
	return &Writer{w: w, buf: make([]byte, 0, bufferSize), form: form}
}

// Flush writes the buffered bytes. It returns the first error of the underlying writer.
func (w *Writer) Flush() error {
	if w.err == nil && len(w.buf) > 0 {
		_, w.err = w.w.Write(w.buf)
	}
	w.buf = w.buf[:0]
	return w.err
}

func (w *Writer) char(c byte)   { w.buf = append(w.buf, c) }
func (w *Writer) text(s string) { w.buf = append(w.buf, s...) }

// Begin begins an object, or a list, as a value.
func (w *Writer) Begin(list bool) {
	w.value()
	begin, end := byte('{'), byte('}')
	if list {
		begin, end = '[', ']'
	}
	w.char(begin)
	w.ends = append(w.ends, end)
	w.list, w.empty = list, true
}

// End ends the innermost object or list.
func (w *Writer) End() {
	end := w.ends[len(w.ends)-1]
	w.ends = w.ends[:len(w.ends)-1]
	if !w.empty {
		w.empty = true // no comma
		w.next()
	}
	w.char(end)
	w.empty = false
	w.list = len(w.ends) > 0 && w.ends[len(w.ends)-1] == ']'
}

// value begins a value. In a list it is an element.
func (w *Writer) value() {
	if w.list {
		w.next()
	}
}

// next begins a member or element: it writes the comma and the line break.
//
// The comma and the spaces are parts of one constant: it skips the comma for a first member, and
// takes as many spaces as the depth needs.
func (w *Writer) next() {
	if len(w.buf) > bufferSize/2 {
		w.Flush() // Flush keeps the error
	}
	const line = ",\n                                                                "
	from, width := 0, 1
	if w.empty {
		from = 1
	}
	if w.form == Pretty {
		width = 2 + 2*len(w.ends)
	} else if w.form == Rows && len(w.ends) == 1 && !w.empty {
		width = 2
	}
	to := min(width, len(line))
	w.empty = false
	w.text(line[from:to])
	for ; to < width; to += 2 {
		w.text("  ")
	}
}

// Key begins a member of an object. The caller writes its value next.
func (w *Writer) Key(k string) {
	w.next()
	w.quote(k)
	w.char(':')
	if w.form == Pretty {
		w.char(' ')
	}
}

// Object writes an object as a member.
func (w *Writer) Object(k string, body func()) {
	w.Key(k)
	w.PutObject(body)
}

// List writes a list of n values as a member. item writes each value.
func (w *Writer) List(k string, n int, item func(i int)) {
	w.Key(k)
	w.PutList(n, item)
}

// Objects writes a list of n objects as a member. body writes the members of each.
func (w *Writer) Objects(k string, n int, body func(i int)) {
	w.List(k, n, func(i int) {
		w.Begin(false)
		body(i)
		w.End()
	})
}

// Str, Null, Bool, Int, Uint and Float write a member.
func (w *Writer) Str(k, v string)           { w.Key(k); w.PutString(v) }
func (w *Writer) Null(k string)             { w.Key(k); w.PutNull() }
func (w *Writer) Bool(k string, v bool)     { w.Key(k); w.PutBool(v) }
func (w *Writer) Int(k string, v int64)     { w.Key(k); w.PutInt(v) }
func (w *Writer) Uint(k string, v uint64)   { w.Key(k); w.PutUint(v) }
func (w *Writer) Float(k string, v float64) { w.Key(k); w.PutFloat(v) }

// StrOrNull writes a string as a member, or null if it is empty.
func (w *Writer) StrOrNull(k, v string) {
	if v == "" {
		w.Null(k)
		return
	}
	w.Str(k, v)
}

// IntOrNull writes a number as a member, or null if it is not known.
func (w *Writer) IntOrNull(k string, v int64, known bool) {
	if !known {
		w.Null(k)
		return
	}
	w.Int(k, v)
}

// ObjectOrNull writes an object as a member, or null without one.
func (w *Writer) ObjectOrNull(k string, is bool, body func()) {
	if !is {
		w.Null(k)
		return
	}
	w.Object(k, body)
}

// NumberOrNull writes the number that a pointer has as a member, or null without one.
func NumberOrNull[T uint32 | uint64](w *Writer, k string, n *T) {
	if n == nil {
		w.Null(k)
		return
	}
	w.Uint(k, uint64(*n))
}

// Strings writes a list of strings as a member.
func (w *Writer) Strings(k string, all []string) {
	w.List(k, len(all), func(i int) { w.PutString(all[i]) })
}

// StrIf and BoolIf write a member that is absent where it is empty or false.
func (w *Writer) StrIf(k, v string) {
	if v != "" {
		w.Str(k, v)
	}
}

func (w *Writer) BoolIf(k string, v bool) {
	if v {
		w.Bool(k, v)
	}
}

// PutObject writes an object. body writes its members.
func (w *Writer) PutObject(body func()) {
	w.Begin(false)
	body()
	w.End()
}

// PutList writes a list of n values. item writes each value.
func (w *Writer) PutList(n int, item func(i int)) {
	w.Begin(true)
	for i := range n {
		item(i)
	}
	w.End()
}

// PutNull writes null.
func (w *Writer) PutNull() { w.value(); w.text("null") }

// PutBool writes true or false.
func (w *Writer) PutBool(v bool) { w.value(); w.buf = strconv.AppendBool(w.buf, v) }

// PutInt writes a number.
func (w *Writer) PutInt(v int64) { w.value(); w.buf = strconv.AppendInt(w.buf, v, 10) }

// PutUint writes a number.
func (w *Writer) PutUint(v uint64) { w.value(); w.buf = strconv.AppendUint(w.buf, v, 10) }

// PutFloat writes the shortest number that reads back as v, or null for NaN and infinities, which
// JSON does not have.
func (w *Writer) PutFloat(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		w.PutNull()
		return
	}
	w.value()
	w.buf = strconv.AppendFloat(w.buf, v, 'g', -1, 64)
}

// PutHex writes a number as a string of at least so many hexadecimal digits: "0x00401000".
//
// rust-minidump writes addresses so; JSON readers that use float64 would lose digits of a number.
func (w *Writer) PutHex(v uint64, digits int) {
	w.value()
	var tmp [24]byte
	at := len(tmp) - 1
	tmp[at] = '"'
	for ; (digits > 0 || v > 0) && at > 0; digits-- {
		at--
		tmp[at] = hexDigits[v&15]
		v >>= 4
	}
	w.text(`"0x`)
	w.buf = append(w.buf, tmp[at:]...)
}

// PutBytes writes bytes as a string of hexadecimal digits. next returns the next bytes, or none at
// the end.
func (w *Writer) PutBytes(next func() []byte) {
	w.value()
	w.buf = append(w.buf, '"')
	for piece := next(); len(piece) > 0; piece = next() {
		w.buf = hex.AppendEncode(w.buf, piece)
		if len(w.buf) > bufferSize/2 {
			w.Flush() // Flush keeps the error
		}
	}
	w.buf = append(w.buf, '"')
}

// PutString writes a string. Bytes that are not UTF-8 become U+FFFD.
func (w *Writer) PutString(s string) {
	w.value()
	w.quote(s)
}

const hexDigits = "0123456789abcdef"

// quote writes a string with its quotes, escaping '"', '\' and hidden characters.
//
//	a"b\c, newline, U+202E    "a\"b\\c, \n, \u202e"
//
// visible.Hidden has control characters and those that change how text is laid out, all of them
// below U+10000, so four digits suffice.
func (w *Writer) quote(s string) {
	if w.err != nil {
		return
	}
	if w.Text != nil {
		s = w.Text(s)
	}
	from := plainPrefix(s)
	if from == len(s) {
		w.char('"')
		w.text(s)
		w.char('"')
		return
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	w.char('"')
	start := 0
	for i := from; i < len(s); {
		r, n := rune(s[i]), 1
		if r >= utf8.RuneSelf {
			r, n = utf8.DecodeRuneInString(s[i:])
		}
		if r != '"' && r != '\\' && !visible.Hidden(r) {
			i += n
			continue
		}
		w.text(s[start:i])
		i += n
		start = i
		w.char('\\')
		if short := strings.IndexRune("\"\\\b\f\n\r\t", r); short >= 0 {
			w.char(`"\bfnrt`[short])
			continue
		}
		w.char('u')
		for shift := 12; shift >= 0; shift -= 4 {
			w.char(hexDigits[r>>shift&15])
		}
	}
	w.text(s[start:])
	w.char('"')
}

// plainPrefix returns how many bytes of s are certainly ASCII without need of an escape. It checks
// 8 bytes at a time: (w ^ c*ones) - ones has a high bit set if a byte equals c, (w - 0x20*ones) if
// a byte is below 0x20.
func plainPrefix(s string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quotes, slashes, deletes := w^'"'*ones, w^'\\'*ones, w^0x7f*ones
		if ((w-0x20*ones)|(quotes-ones)|(slashes-ones)|(deletes-ones)|w)&highs != 0 {
			return i
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
