package msvc

import "strings"

const (
	// maxLiteral is how many bytes of a string are in its name; Microsoft's compilers put 32 there, others had more.
	maxLiteral = 32 * 4
	// maxWide is how many bytes of a wide string are.
	maxWide = 64
)

// stringLiteral reads a string constant: how wide its characters are, how many bytes it has, a hash, and its first bytes.
func (p *parser) stringLiteral() *node {
	wide := p.take("@_1")
	if !wide {
		p.want("@_0")
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
			if left != 2 || cut { // the last is the 0 at the end
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

// charByte reads a byte of a string: itself, or "?" and a code.
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

// guessWidth is how many bytes a character has in a string whose name does not say: of one that is there as a whole, the zeros
// at its end tell, of others how many of the bytes are zero.
func guessWidth(bytes []byte, size uint64) int {
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

// writeEscaped writes a character as C does.
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
