// Package visible makes text of files safe to show. Characters that move a terminal's cursor or change its colours, that end a line, or
// that change how their neighbours are read, are replaced by others that can be seen.
package visible

import (
	"strings"
	"unicode/utf8"
)

// Control reports whether a character is a control character: C0, DEL or C1 (ECMA-48). A terminal obeys these.
func Control(r rune) bool { return r >= 0 && r < ' ' || r >= 0x7f && r < 0xa0 }

// Hidden reports whether a character is not seen itself and changes what is seen of others: a control character, one that changes the
// direction of writing, one without width, or a separator of lines or paragraphs.
func Hidden(r rune) bool {
	switch {
	case Control(r):
	case r < 0x061c:
		return false
	case r >= 0x202a && r <= 0x202e, r >= 0x2066 && r <= 0x2069: // embeddings, overrides, isolates
	case r == 0x200e, r == 0x200f, r == 0x061c: // marks
	case r >= 0x200b && r <= 0x200d, r == 0x2060, r == 0xfeff: // of no width
	case r == 0x2028, r == 0x2029: // separators of lines and paragraphs
	default:
		return false
	}
	return true
}

// Text is a text on one line, with nothing hidden in it: "a\x1b[31m" becomes "a␛[31m". Bytes that are not UTF-8 become U+FFFD, tabs blanks.
func Text(s string) string {
	from := clean(s)
	if from == len(s) {
		return s
	}
	var b strings.Builder
	b.WriteString(s[:from])
	for _, r := range s[from:] {
		if r == '\t' {
			r = ' '
		}
		Write(&b, r)
	}
	return b.String()
}

// clean is how many bytes come before the first character that Text replaces.
func clean(s string) int {
	for i := 0; i < len(s); {
		if c := s[i]; c >= ' ' && c < 0x7f {
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		if r == utf8.RuneError || Hidden(r) {
			return i
		}
		i += n
	}
	return len(s)
}

// Write writes a character, or what is shown in its place: control pictures for C0 and DEL, U+FFFD for C1, ‹U+202E› for others.
func Write(b *strings.Builder, r rune) {
	switch {
	case r >= 0 && r < ' ':
		b.WriteRune(0x2400 + r)
	case r == 0x7f:
		b.WriteRune(0x2421)
	case Control(r):
		b.WriteRune(utf8.RuneError)
	case Hidden(r):
		b.WriteString("‹U+")
		for shift := 12; shift >= 0; shift -= 4 { // none is beyond U+FFFF
			b.WriteByte("0123456789ABCDEF"[r>>shift&15])
		}
		b.WriteString("›")
	default:
		b.WriteRune(r)
	}
}
