package dumptext

import (
	"bufio"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// textPrinter writes lines of "path = value".
type textPrinter struct {
	b     *bufio.Writer
	stack []level
}

// level is an object or list that is open.
type level struct {
	path string
	list bool
	n    int // elements or members so far
}

// path is the place of a member of what is open.
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

func (p *textPrinter) open(name string, list bool) {
	p.stack = append(p.stack, level{path: p.path(name), list: list})
}

func (p *textPrinter) close() { p.stack = p.stack[:len(p.stack)-1] }

func (p *textPrinter) value(name string, s scalar) {
	p.b.WriteString(p.path(name))
	p.b.WriteString(" = ")
	p.b.WriteString(s.text)
	if s.remark != "" {
		p.b.WriteString(" " + s.remark)
	}
	if len(s.remarks) > 0 {
		p.b.WriteString(" " + strings.Join(s.remarks, "|"))
	}
	p.b.WriteByte('\n')
}

// perLine is how many bytes stand in a line of a hex dump.
const perLine = 16

// bytes writes lines of "path address: hex  |text|", the address as wide as its place in a 32-bit or 64-bit process needs.
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
	b     *bufio.Writer
	stack []level
}

// member writes what stands before a member: a comma, the end of the line, the key.
func (p *jsonPrinter) member(name string) {
	if len(p.stack) == 0 {
		return
	}
	top := &p.stack[len(p.stack)-1]
	if top.n > 0 {
		p.b.WriteByte(',')
	}
	top.n++
	p.line()
	if !top.list {
		p.b.WriteString(jsonText(name) + ": ")
	}
}

func (p *jsonPrinter) line() {
	p.b.WriteByte('\n')
	for range p.stack {
		p.b.WriteString("  ")
	}
}

func (p *jsonPrinter) open(name string, list bool) {
	p.member(name)
	p.stack = append(p.stack, level{list: list})
	p.b.WriteByte("{["[index(list)])
}

func (p *jsonPrinter) close() {
	top := p.stack[len(p.stack)-1]
	p.stack = p.stack[:len(p.stack)-1]
	if top.n > 0 {
		p.line()
	}
	p.b.WriteByte("}]"[index(top.list)])
}

func index(list bool) int {
	if list {
		return 1
	}
	return 0
}

func (p *jsonPrinter) value(name string, s scalar) {
	p.member(name)
	p.b.WriteString(s.json)
	if s.remarkName == "" || len(p.stack) > 0 && p.stack[len(p.stack)-1].list {
		return
	}
	p.member(name + "_" + s.remarkName)
	if s.remarks == nil {
		p.b.WriteString(jsonText(s.remark))
		return
	}
	p.b.WriteByte('[')
	for i, r := range s.remarks {
		if i > 0 {
			p.b.WriteString(", ")
		}
		p.b.WriteString(jsonText(r))
	}
	p.b.WriteByte(']')
}

// bytes writes a string of hexadecimal digits; the address is a member of its own where it is not 0.
func (p *jsonPrinter) bytes(name string, at uint64, next func() []byte) {
	if at != 0 {
		p.value(name+"_at", hexadecimal(at, 0))
	}
	p.member(name)
	p.b.WriteByte('"')
	for piece := next(); len(piece) > 0; piece = next() {
		p.b.WriteString(hex.EncodeToString(piece))
	}
	p.b.WriteByte('"')
}

func quoted(s string) scalar {
	return scalar{text: strconv.Quote(s), json: jsonText(strings.ToValidUTF8(s, "\uFFFD"))}
}

// plain is text without quotes: a word of this package's own.
func plain(s string) scalar { return scalar{text: s, json: jsonText(s)} }

func decimal[T int | int32 | int64 | uint64](v T) scalar {
	s := fmt.Sprint(v)
	return scalar{text: s, json: s}
}

// hexadecimal is a number with at least so many digits.
func hexadecimal(v uint64, digits int) scalar {
	s := fmt.Sprintf("0x%0*x", digits, v)
	return scalar{text: s, json: jsonText(s)}
}

func boolean(v bool) scalar {
	s := strconv.FormatBool(v)
	return scalar{text: s, json: s}
}

// with adds what a value is in other words.
func (s scalar) with(name, remark string) scalar {
	s.remarkName, s.remark = name, remark
	return s
}
