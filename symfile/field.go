package symfile

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// hexVal maps a byte to the value of the hexadecimal digit that it is, or to 0xff. Breakpad writes lower case; both peers
// read upper case too.
var hexVal = func() (t [256]uint8) {
	for i := range t {
		t[i] = 0xff
	}
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c - '0'
	}
	for c := byte('a'); c <= 'f'; c++ {
		t[c], t[c-'a'+'A'] = c-'a'+10, c-'a'+10
	}
	return t
}()

// fields takes the fields of one record off its front. The first field that does not fit sticks in bad.
type fields struct {
	rest []byte
	bad  bool
}

// trimEOL takes line ends and trailing blanks off: some writers leave "\r\r\n".
func trimEOL(b []byte) []byte {
	for len(b) > 0 {
		switch b[len(b)-1] {
		case '\n', '\r', ' ', '\t':
			b = b[:len(b)-1]
			continue
		}
		break
	}
	return b
}

func (f *fields) skipBlanks() {
	for len(f.rest) > 0 && (f.rest[0] == ' ' || f.rest[0] == '\t') {
		f.rest = f.rest[1:]
	}
}

// word is the next field, or empty at the end.
func (f *fields) word() []byte {
	f.skipBlanks()
	i := 0
	for i < len(f.rest) && f.rest[i] != ' ' && f.rest[i] != '\t' {
		i++
	}
	w := f.rest[:i]
	f.rest = f.rest[i:]
	return w
}

// hex is the next field as a hexadecimal number of at most 64 bits.
func (f *fields) hex() uint64 {
	v, ok := parseHex(f.word())
	if !ok {
		f.bad = true
	}
	return v
}

// hex32 is hex for the fields that are 32 bits wide in both peers.
func (f *fields) hex32() uint32 {
	v := f.hex()
	if v > 1<<32-1 {
		f.bad = true
	}
	return uint32(v)
}

// dec is the next field as a decimal number of at most 32 bits.
func (f *fields) dec() uint32 {
	v, ok := parseDec(f.word())
	if !ok {
		f.bad = true
	}
	return v
}

func parseHex(w []byte) (uint64, bool) {
	if len(w) == 0 {
		return 0, false
	}
	var v uint64
	for _, c := range w {
		d := hexVal[c]
		if d == 0xff || v>>60 != 0 {
			return 0, false
		}
		v = v<<4 | uint64(d)
	}
	return v, true
}

func parseDec(w []byte) (uint32, bool) {
	if len(w) == 0 {
		return 0, false
	}
	var v uint64
	for _, c := range w {
		d := uint64(c - '0')
		if d > 9 {
			return 0, false
		}
		if v = v*10 + d; v > 1<<32-1 {
			return 0, false
		}
	}
	return uint32(v), true
}

// name is the rest of the record.
func (f *fields) name() []byte {
	f.skipBlanks()
	return trimEOL(f.rest)
}

// multiple takes the optional "m" of FUNC and PUBLIC, which says that several symbols were folded into one address.
func (f *fields) multiple() bool {
	f.skipBlanks()
	if len(f.rest) > 1 && f.rest[0] == 'm' && (f.rest[1] == ' ' || f.rest[1] == '\t') {
		f.rest = f.rest[1:]
		return true
	}
	return false
}

// keyword reports whether a record starts with a word, and gives what follows it.
func keyword(line []byte, word string) ([]byte, bool) {
	n := len(word)
	if len(line) <= n || string(line[:n]) != word || line[n] != ' ' && line[n] != '\t' {
		return nil, false
	}
	return line[n+1:], true
}

// answerOf is the Answer that goes with an error of a lookup.
func answerOf(err error) symbol.Answer {
	if input.Needs(err) {
		return symbol.Needs
	}
	return symbol.No
}
