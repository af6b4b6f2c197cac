package jsonreport

import (
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encoder writes JSON as it goes, so that a report with many thousand frames needs no second copy of itself. It keeps
// the form of serde_json: two blanks a level when pretty, nothing between tokens when not, no escapes beyond the needed.
// Whoever calls it is responsible for the order of keys.
type encoder struct {
	b      *output
	pretty bool
	depth  int
	empty  bool // nothing was written into the innermost object or list yet
	digits int  // of a hex string
}

// output collects what is written, and hands it on in large pieces. Its first error sticks.
type output struct {
	w   io.Writer
	buf []byte
	err error
}

// outputSize is how many bytes are handed on at a time, more or less: nobody writes half as many between two looks at it.
const outputSize = 64 << 10

func newOutput(w io.Writer) *output { return &output{w: w, buf: make([]byte, 0, outputSize)} }

func (o *output) char(c byte)   { o.buf = append(o.buf, c) }
func (o *output) text(s string) { o.buf = append(o.buf, s...) }

// flush hands on what there is.
func (o *output) flush() error {
	if o.err == nil && len(o.buf) > 0 {
		_, o.err = o.w.Write(o.buf)
	}
	o.buf = o.buf[:0]
	return o.err
}

func (e *encoder) open(c byte) {
	e.b.char(c)
	e.depth++
	e.empty = true
}

func (e *encoder) close(c byte) {
	e.depth--
	if !e.empty {
		e.empty = true // no comma
		e.next()
	}
	e.b.char(c)
	e.empty = false
}

// next begins a member of the innermost object or list.
func (e *encoder) next() { e.b.buf = e.begin() }

// begin is next, with what is collected then.
func (e *encoder) begin() []byte {
	if len(e.b.buf) > outputSize/2 {
		e.b.flush()
	}
	const line = ",\n                                                                "
	from, to := 0, 1
	if e.empty {
		from = 1
	}
	if e.pretty {
		to = min(2+2*e.depth, len(line))
	}
	e.empty = false
	b := append(e.b.buf, line[from:to]...)
	for ; e.pretty && to < 2+2*e.depth; to += 2 {
		b = append(b, "  "...)
	}
	return b
}

// key begins a member of an object; its value is written next. No key has a character that needs an escape.
func (e *encoder) key(k string) {
	b := append(e.begin(), '"')
	b = append(b, k...)
	if e.pretty {
		b = append(b, `": `...)
	} else {
		b = append(b, `":`...)
	}
	e.b.buf = b
}

func (e *encoder) object(k string, body func()) {
	e.key(k)
	e.open('{')
	body()
	e.close('}')
}

func (e *encoder) list(k string, n int, item func(i int)) {
	e.key(k)
	e.items(n, item)
}

// items writes a list of n values; item writes the value of each.
func (e *encoder) items(n int, item func(i int)) {
	e.open('[')
	for i := range n {
		e.next()
		item(i)
	}
	e.close(']')
}

// member writes an object as a value, inside a list.
func (e *encoder) member(body func()) {
	e.open('{')
	body()
	e.close('}')
}

func (e *encoder) null(k string)           { e.key(k); e.b.text("null") }
func (e *encoder) str(k, v string)         { e.key(k); e.quote(v) }
func (e *encoder) hex(k string, v uint64)  { e.key(k); e.hexValue(v) }
func (e *encoder) bool(k string, v bool)   { e.key(k); e.b.text(strconv.FormatBool(v)) }
func (e *encoder) int(k string, v int64)   { e.key(k); e.b.buf = strconv.AppendInt(e.b.buf, v, 10) }
func (e *encoder) uint(k string, v uint64) { e.key(k); e.b.buf = strconv.AppendUint(e.b.buf, v, 10) }

// number writes a value in a list.
func (e *encoder) number(v int) { e.b.text(strconv.Itoa(v)) }

// strOrNull writes null for an empty string.
func (e *encoder) strOrNull(k, v string) {
	if v == "" {
		e.null(k)
		return
	}
	e.str(k, v)
}

// hexValue is an address as wide as those of the crashed machine.
func (e *encoder) hexValue(v uint64) {
	var buf [24]byte
	at := len(buf) - 1
	buf[at] = '"'
	for n := e.digits; n > 0 || v > 0; n-- {
		at--
		buf[at] = hexDigits[v&15]
		v >>= 4
	}
	e.b.text(`"0x`)
	e.b.buf = append(e.b.buf, buf[at:]...)
}

const hexDigits = "0123456789abcdef"

// quote writes a string: RFC 8259's must-be-escaped characters and no others; bytes that are not UTF-8 become U+FFFD.
func (e *encoder) quote(s string) {
	from := plain(s)
	if from == len(s) {
		e.b.buf = append(append(append(e.b.buf, '"'), s...), '"')
		return
	}
	e.b.char('"')
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	start := 0
	for i := from; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		e.b.text(s[start:i])
		start = i + 1
		switch c {
		case '"', '\\':
			e.b.char('\\')
			e.b.char(c)
		case '\b':
			e.b.text(`\b`)
		case '\f':
			e.b.text(`\f`)
		case '\n':
			e.b.text(`\n`)
		case '\r':
			e.b.text(`\r`)
		case '\t':
			e.b.text(`\t`)
		default:
			e.b.text(`\u00`)
			e.b.char(hexDigits[c>>4])
			e.b.char(hexDigits[c&15])
		}
	}
	e.b.text(s[start:])
	e.b.char('"')
}

// plain is how many bytes of a string, more or less, stand before the first that is not ASCII or may need an escape.
func plain(s string) int {
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(s); i += 8 {
		w := uint64(s[i]) | uint64(s[i+1])<<8 | uint64(s[i+2])<<16 | uint64(s[i+3])<<24 |
			uint64(s[i+4])<<32 | uint64(s[i+5])<<40 | uint64(s[i+6])<<48 | uint64(s[i+7])<<56
		quotes, slashes := w^'"'*ones, w^'\\'*ones
		if ((w-0x20*ones)|(quotes-ones)|(slashes-ones)|w)&highs != 0 {
			return i
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c >= 0x80 || c == '"' || c == '\\' {
			return i
		}
	}
	return i
}
