package dumptext

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core/jsonwriter"
)

// textPrinter writes lines of "path = value".
type textPrinter struct {
	b     *bufio.Writer
	stack []level
}

// level is an open object or list.
type level struct {
	path string
	list bool
	n    int // elements so far
}

// path returns the path of a member of the innermost open object or list.
//
// Example: a member "rip" of the object "context", in element 3 of the list "thread", has the path
// thread[3].context.rip.
func (p *textPrinter) path(name string) string {
	if len(p.stack) == 0 {
		return name
	}
	top := &p.stack[len(p.stack)-1]
	if top.list {
		top.n++
		return top.path + "[" + strconv.Itoa(top.n-1) + "]"
	}
	if top.path == "" {
		return name
	}
	return top.path + "." + name
}

// open begins an object or a list, whose members have its path before their names.
func (p *textPrinter) open(name string, list bool) {
	p.stack = append(p.stack, level{path: p.path(name), list: list})
}

func (p *textPrinter) close() { p.stack = p.stack[:len(p.stack)-1] }

// value prints one line: "path = value", and after it a remark if there is one.
func (p *textPrinter) value(name string, s scalar) {
	p.b.WriteString(p.path(name))
	p.b.WriteString(" = ")
	p.b.WriteString(s.remarked())
	p.b.WriteString("\n")
}

// remarked returns the text with what is remarked.
func (s scalar) remarked() string {
	text := s.text
	if s.remark != "" {
		text += " " + s.remark
	}
	if len(s.remarks) > 0 {
		text += " " + strings.Join(s.remarks, "|")
	}
	return text
}

// perLine is the number of bytes in a line of a hex dump.
const perLine = 16

// bytes writes lines of "path address: hex  |text|".
//
//	stream[12].bytes 0x00000010: 73 6f 00 00 01 00 00 00 00 00 00 00 00 00 00 00  |so..............|
//
// next may return any number of bytes; lines have 16, the last one may have fewer.
func (p *textPrinter) bytes(name string, at uint64, next func() []byte) {
	path := p.path(name)
	var line []byte
	flush := func() {
		if len(line) == 0 {
			return
		}
		fmt.Fprintf(p.b, "%s 0x%08x: % -47x  |", path, at, line)
		for _, c := range line {
			if c < ' ' || c > '~' {
				c = '.'
			}
			p.b.WriteByte(c)
		}
		p.b.WriteString("|\n")
		at += uint64(len(line))
		line = line[:0]
	}
	for {
		piece := next()
		if len(piece) == 0 {
			break
		}
		for len(piece) > 0 {
			n := min(perLine-len(line), len(piece))
			line = append(line, piece[:n]...)
			piece = piece[n:]
			if len(line) == perLine {
				flush()
			}
		}
	}
	flush()
}

// jsonPrinter writes one JSON value.
type jsonPrinter struct {
	w     *jsonwriter.Writer
	lists []bool // of the open objects and lists: whether each is a list
}

// name writes the key of a member of an object. Elements of lists have none.
func (p *jsonPrinter) name(name string) {
	if p.inObject() {
		p.w.Key(name)
	}
}

func (p *jsonPrinter) inObject() bool { return len(p.lists) > 0 && !p.lists[len(p.lists)-1] }

// open begins an object or a list.
func (p *jsonPrinter) open(name string, list bool) {
	p.name(name)
	p.lists = append(p.lists, list)
	p.w.Begin(list)
}

func (p *jsonPrinter) close() {
	p.lists = p.lists[:len(p.lists)-1]
	p.w.End()
}

// value writes a value in the type that JSON has for it.
//
// A remark has a key of its own, the member's with a suffix: "flags": "0x21", "flags_names": […].
// An element of a list has no key, and so no remark.
func (p *jsonPrinter) value(name string, s scalar) {
	p.name(name)
	switch s.kind {
	case isText:
		p.w.PutString(s.value)
	case isSigned:
		p.w.PutInt(int64(s.number))
	case isUnsigned:
		p.w.PutUint(s.number)
	case isBool:
		p.w.PutBool(s.number != 0)
	}
	if s.remarkName == "" || !p.inObject() {
		return
	}
	p.w.Key(name + "_" + s.remarkName)
	if s.remarks == nil {
		p.w.PutString(s.remark)
		return
	}
	p.w.PutList(len(s.remarks), func(i int) { p.w.PutString(s.remarks[i]) })
}

// bytes writes a string of hexadecimal digits. An address other than 0 is a member of its own.
func (p *jsonPrinter) bytes(name string, at uint64, next func() []byte) {
	if at != 0 {
		p.value(name+"_at", hexadecimal(at, 0))
	}
	p.name(name)
	p.w.PutBytes(next)
}

// quoted returns text of the file.
func quoted(s string) scalar { return scalar{text: quote(s), value: s} }

// quote is strconv.Quote, in half its time: dumps of megabytes of names exist.
func quote(s string) string {
	var b strings.Builder
	b.Grow(len(s) + len(s)/2 + 2)
	b.WriteByte('"')
	done := 0 // of s
	for i, r := range s {
		if r >= ' ' && r < 0x7f && r != '"' && r != '\\' || r > utf8.RuneSelf && r != utf8.RuneError && strconv.IsPrint(r) {
			continue
		}
		b.WriteString(s[done:i])
		_, size := utf8.DecodeRuneInString(s[i:])
		if done = i + size; r < ' ' && (r < '\a' || r > '\r') {
			const digits = "0123456789abcdef"
			b.WriteString(`\x`)
			b.WriteByte(digits[r>>4])
			b.WriteByte(digits[r&15])
			continue
		}
		var one [16]byte
		q := strconv.AppendQuote(one[:0], s[i:done])
		b.Write(q[1 : len(q)-1])
	}
	b.WriteString(s[done:])
	b.WriteByte('"')
	return b.String()
}

// plain returns text without quotes, for words of this package.
func plain(s string) scalar { return scalar{text: s, value: s} }

func decimal[T int | int32 | int64 | uint64](v T) scalar {
	kind := isUnsigned
	if v < 0 {
		kind = isSigned
	}
	return scalar{text: fmt.Sprint(v), kind: kind, number: uint64(v)}
}

// hexadecimal returns a number with at least so many digits.
func hexadecimal(v uint64, digits int) scalar {
	s := fmt.Sprintf("0x%0*x", digits, v)
	return plain(s)
}

func boolean(v bool) scalar {
	s := scalar{text: strconv.FormatBool(v), kind: isBool}
	if v {
		s.number = 1
	}
	return s
}

// with returns the value with a remark.
func (s scalar) with(name, remark string) scalar {
	s.remarkName, s.remark = name, remark
	return s
}
