package msvc

import "strings"

const (
	// maxLiteral is the most bytes of a string that its name has. Microsoft's compilers write 32,
	// others more.
	maxLiteral = 32 * 4
	// maxWide is the most bytes of a wide string that its name has.
	maxWide = 64
)

// stringLiteral reads the name of a string constant. The part after "??_C" has the width of a
// character, the size of the string in bytes, a hash, and the first bytes:
//
//	??_C@_02PCEFGMJL@hi?$AA@     2 + 1 bytes, hash PCEFGMJL, 'h' 'i' '\0'
//	_0 char (or char16_t, char32_t: see guessWidth), _1 wchar_t, whose bytes are high before low
func (p *parser) stringLiteral() *node {
	wide := p.take("@_1")
	if !wide {
		p.expect("@_0")
	}
	size := p.unsigned()
	p.text() // the hash
	if p.failed || size == 0 || wide && size < 2 || p.at == len(p.in) {
		return p.fail()
	}
	var b strings.Builder
	cut := false
	if wide {
		b.WriteString(`L"`)
		cut = size > maxWide
		for left := size; !p.failed && !p.take("@"); left -= 2 {
			if left == 0 || size%2 != 0 {
				return p.fail()
			}
			high := p.charByte()
			c := uint32(high)<<8 | uint32(p.charByte())
			if left != 2 || cut { // do not show the terminating 0
				writeEscaped(&b, c)
			}
		}
	} else {
		var bytes []byte
		for !p.failed && !p.take("@") {
			if len(bytes) == maxLiteral {
				return p.fail()
			}
			bytes = append(bytes, p.charByte())
		}
		if p.failed {
			return nil
		}
		cut = size > uint64(len(bytes))
		width := guessWidth(bytes, size)
		b.WriteString(map[int]string{1: `"`, 2: `u"`, 4: `U"`}[width])
		for n := len(bytes) / width; n > 0; n-- {
			c := uint32(0)
			for i := width - 1; i >= 0; i-- {
				c = c<<8 | uint32(bytes[i])
			}
			if bytes = bytes[width:]; n > 1 || cut {
				writeEscaped(&b, c)
			}
		}
	}
	b.WriteByte('"')
	if cut {
		b.WriteString("...")
	}
	return p.add(verbatim, b.String(), nil)
}

// charByte reads a byte of a string: the byte itself, or an escape.
//
//	?$xy     the byte with the hexadecimal digits x and y, written A to P
//	?0 to ?9 , / \ : . space newline tab ' -
//	?a ?A …  the letter with bit 7 set
func (p *parser) charByte() byte {
	c := p.next()
	if c != '?' {
		return c
	}
	switch c = p.next(); {
	case c == '$':
		high, low := p.next()-'A', p.next()-'A'
		if high > 15 || low > 15 {
			p.failed = true
		}
		return high<<4 | low
	case isDigit(c):
		return ",/\\:. \n\t'-"[c-'0']
	case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
		return c | 0x80
	}
	p.failed = true
	return 0
}

// guessWidth guesses the width of a character in bytes, which "_0" does not state: by the
// terminating zeros if the name has the whole string, else by the share of zero bytes. llvm-undname
// guesses the same.
func guessWidth(bytes []byte, size uint64) int {
	// An odd number of bytes cannot be of wide characters.
	if size%2 != 0 {
		return 1
	}
	if size < 32 {
		zeros := len(bytes) - len(strings.TrimRight(string(bytes), "\x00"))
		if zeros >= 4 && size%4 == 0 {
			return 4
		}
		if zeros >= 2 {
			return 2
		}
		return 1
	}
	zeros := strings.Count(string(bytes), "\x00")
	if zeros >= 2*len(bytes)/3 && size%4 == 0 {
		return 4
	}
	if zeros >= len(bytes)/3 {
		return 2
	}
	return 1
}

var escapes = map[uint32]string{0: `\0`, '\'': `\'`, '"': `\"`, '\\': `\\`, '\a': `\a`, '\b': `\b`, '\f': `\f`, '\n': `\n`,
	'\r': `\r`, '\t': `\t`, '\v': `\v`}

// writeEscaped writes a character as in a C string literal.
func writeEscaped(b *strings.Builder, c uint32) {
	if s := escapes[c]; s != "" {
		b.WriteString(s)
		return
	}
	if c > 0x1f && c < 0x7f {
		b.WriteByte(byte(c))
		return
	}
	const digits = "0123456789ABCDEF"
	b.WriteString(`\x`)
	started := false
	for shift := 24; shift >= 0; shift -= 8 {
		if v := byte(c >> shift); v != 0 || started {
			started = true
			b.WriteByte(digits[v>>4])
			b.WriteByte(digits[v&15])
		}
	}
}
