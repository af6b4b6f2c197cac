// Package visible makes text of files safe to show: it replaces characters that control a terminal,
// end a line, or change how adjacent characters are displayed by visible ones. "a\x1b[31m" becomes
// "a␛[31m". Start at Text.
package visible

import (
	"strings"
	"unicode/utf8"
)

// Control reports whether a character is a control character, which a terminal obeys: C0, DEL or C1
// (ECMA-48).
func Control(r rune) bool { return r >= 0 && r < ' ' || r >= 0x7f && r < 0xa0 }

// Hidden reports whether a character is invisible and can change how others are displayed: control
// characters, bidirectional controls, zero-width characters, separators of lines and paragraphs.
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

// Text returns s as one line without hidden characters. Bytes that are not UTF-8 become U+FFFD,
// tabs become spaces.
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

// clean returns how many bytes of s precede the first character that Text replaces.
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

// Write writes a character, or its visible replacement: control pictures (␛) for C0 and DEL, U+FFFD
// for C1, ‹U+202E› for others.
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
