package jsonreport

import (
	"bufio"
	"strconv"
	"strings"
	"unicode/utf8"
)

// encoder writes JSON as it goes, so that a report with many thousand frames needs no second copy of itself. It keeps
// the form of serde_json: two blanks a level when pretty, nothing between tokens when not, no escapes beyond the needed.
// Whoever calls it is responsible for the order of keys.
type encoder struct {
	b      *bufio.Writer
	pretty bool
	depth  int
	empty  bool // nothing was written into the innermost object or list yet
	digits int  // of a hex string
}

func (e *encoder) open(c byte) {
	e.b.WriteByte(c)
	e.depth++
	e.empty = true
}

func (e *encoder) close(c byte) {
	e.depth--
	if !e.empty {
		e.newline()
	}
	e.b.WriteByte(c)
	e.empty = false
}

// next begins a member of the innermost object or list.
func (e *encoder) next() {
	if !e.empty {
		e.b.WriteByte(',')
	}
	e.empty = false
	e.newline()
}

func (e *encoder) newline() {
	if e.pretty {
		const blanks = "\n                                "
		at := min(1+2*e.depth, len(blanks))
		e.b.WriteString(blanks[:at])
		for ; at < 1+2*e.depth; at += 2 {
			e.b.WriteString("  ")
		}
	}
}

// key begins a member of an object; its value is written next. No key has a character that needs an escape.
func (e *encoder) key(k string) {
	e.next()
	e.b.WriteByte('"')
	e.b.WriteString(k)
	if e.pretty {
		e.b.WriteString(`": `)
	} else {
		e.b.WriteString(`":`)
	}
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

func (e *encoder) null(k string)           { e.key(k); e.b.WriteString("null") }
func (e *encoder) str(k, v string)         { e.key(k); e.quote(v) }
func (e *encoder) hex(k string, v uint64)  { e.key(k); e.hexValue(v) }
func (e *encoder) bool(k string, v bool)   { e.key(k); e.b.WriteString(strconv.FormatBool(v)) }
func (e *encoder) int(k string, v int64)   { e.key(k); e.b.WriteString(strconv.FormatInt(v, 10)) }
func (e *encoder) uint(k string, v uint64) { e.key(k); e.b.WriteString(strconv.FormatUint(v, 10)) }

// number writes a value in a list.
func (e *encoder) number(v int) { e.b.WriteString(strconv.Itoa(v)) }

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
	e.b.WriteString(`"0x`)
	e.b.Write(buf[at:])
}

const hexDigits = "0123456789abcdef"

// quote writes a string: RFC 8259's must-be-escaped characters and no others; bytes that are not UTF-8 become U+FFFD.
func (e *encoder) quote(s string) {
	e.b.WriteByte('"')
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, "\uFFFD")
	}
	start := 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= 0x20 && c != '"' && c != '\\' {
			continue
		}
		e.b.WriteString(s[start:i])
		start = i + 1
		switch c {
		case '"', '\\':
			e.b.WriteByte('\\')
			e.b.WriteByte(c)
		case '\b':
			e.b.WriteString(`\b`)
		case '\f':
			e.b.WriteString(`\f`)
		case '\n':
			e.b.WriteString(`\n`)
		case '\r':
			e.b.WriteString(`\r`)
		case '\t':
			e.b.WriteString(`\t`)
		default:
			e.b.WriteString(`\u00`)
			e.b.WriteByte(hexDigits[c>>4])
			e.b.WriteByte(hexDigits[c&15])
		}
	}
	e.b.WriteString(s[start:])
	e.b.WriteByte('"')
}
