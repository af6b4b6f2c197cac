package view

import (
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core/visible"
)

// maxText is the longest text that the page gets from a file, in bytes. The page's renderer takes no text or attribute of
// 16 KiB and more, and escaping makes a text up to five times as long in the worst case that matters (quotes).
const maxText = 3000

// Clean makes text of a file fit to be shown: valid UTF-8, not longer than maxText, with control characters made visible.
// The bidirectional controls among them could make a name read as another one.
func Clean(s string) string {
	plain := len(s) <= maxText
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= maxText {
			b.WriteString("…")
			break
		}
		if r == '\t' || r == '\n' || r == '\r' {
			r = ' '
		}
		visible.Write(&b, r)
	}
	return b.String()
}

// BaseName is the last part of a path of any system. Paths of version control systems, as Mozilla's symbol files have
// them ("hg:host/repo:dom/x.cpp:revision"), name the file before the revision.
func BaseName(path string) string {
	if parts := strings.Split(path, ":"); len(parts) == 4 && len(parts[0]) > 1 && len(parts[0]) <= 4 {
		path = parts[2]
	}
	path = strings.TrimRight(path, `/\`)
	if i := strings.LastIndexAny(path, `/\`); i >= 0 && i+1 < len(path) {
		return path[i+1:]
	}
	return path
}

// foldAt is the length from which a name is folded, pathAt the one from which its path is, where nobody knows how much room there is.
const (
	foldAt = 56
	pathAt = 39
)

// Fold shortens a readable name for a row: template arguments first ("vector<…>::push_back"), then the parameters
// ("(…)"), then the beginning of the path ("…::backtrace::begin"), since the end of a name says most. A name that is short
// enough stays as it is.
func Fold(s string) string { return fold(s, foldAt, pathAt) }

// FoldTo is Fold for a row that has room for so many characters; 0 if that is not known.
func FoldTo(s string, room int) string {
	if room <= 0 {
		return Fold(s)
	}
	return fold(s, room, room)
}

func fold(s string, room, pathRoom int) string {
	if utf8.RuneCountInString(s) > room {
		s = foldTemplates(s)
	}
	if utf8.RuneCountInString(s) > room {
		s = foldParams(s)
	}
	if utf8.RuneCountInString(s) > pathRoom {
		s = foldPath(s, pathRoom)
	}
	return s
}

// foldPath leaves parts of a path out, from the left, and keeps two; in Rust's "<a::T as b::Trait>" it keeps the types' own names.
func foldPath(s string, room int) string {
	if strings.HasPrefix(s, "<") {
		if end := closing(s); end > 0 {
			if of, trait, ok := strings.Cut(s[1:end], " as "); ok {
				s = "<" + lastPart(of) + " as " + lastPart(trait) + s[end:]
			}
		}
	}
	at := pathParts(s)
	for i := 0; i+2 <= len(at); i++ {
		folded := "…::" + s[at[i]:]
		if n := utf8.RuneCountInString(folded); n <= room || i+2 == len(at) && n+8 < utf8.RuneCountInString(s) {
			return folded
		}
	}
	return s
}

// pathParts is where the parts of a path begin, but for the first one; nil if its brackets are not understood.
func pathParts(s string) []int {
	var at []int
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			if !operatorBefore(s[:i]) {
				depth++
			}
		case '(', '{', '[':
			depth++
		case '>':
			if i > 0 && s[i-1] != '-' && !operatorBefore(strings.TrimRight(s[:i], "=>")) {
				depth--
			}
		case ')', '}', ']':
			depth--
		case ':':
			if depth == 0 && strings.HasPrefix(s[i:], "::") {
				i++
				at = append(at, i+1)
			}
		}
		if depth < 0 {
			return nil
		}
	}
	if depth != 0 {
		return nil
	}
	return at
}

// closing is where the bracket that a text begins with is closed, or -1.
func closing(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '<':
			depth++
		case s[i] == '>' && s[i-1] != '-':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// lastPart is a type without its path, if that can be told.
func lastPart(s string) string {
	if at := pathParts(s); len(at) > 0 && !strings.HasPrefix(s, "&") {
		return s[at[len(at)-1]:]
	}
	return s
}

func foldTemplates(s string) string {
	var b strings.Builder
	depth, opened := 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '<' && !operatorBefore(s[:i]) && i > 0 && s[i-1] != ' ' && !strings.HasPrefix(s[i:], "<lambda") &&
			!strings.HasPrefix(s[i:], "<unnamed"):
			// A "<" after a space or at the start begins a name of its own (Rust's "<T as Trait>"), as do these two words.
			if depth == 0 {
				b.WriteByte(c)
				opened = i
			}
			depth++
		case c == '<' && depth > 0 && !operatorBefore(s[:i]):
			depth++
		case c == '>' && depth > 0 && i > 0 && s[i-1] != '-':
			depth--
			if depth == 0 {
				if inner := s[opened+1 : i]; len(inner) <= 6 {
					b.WriteString(inner)
				} else {
					b.WriteString("…")
				}
				b.WriteByte(c)
			}
		case depth == 0:
			b.WriteByte(c)
		}
	}
	if depth != 0 { // not balanced: not a name that is understood here
		return s
	}
	return b.String()
}

// lastParts shortens a name to what says most in a narrow column: its last two parts.
func lastParts(s string) string {
	depth, seen := 0, 0
	for i := len(s) - 1; i > 0; i-- {
		switch s[i] {
		case '>', ')', '}':
			depth++
		case '<', '(', '{':
			depth--
		case ':':
			if depth == 0 && s[i-1] == ':' {
				if seen++; seen == 2 {
					return s[i+1:]
				}
				i--
			}
		}
	}
	return s
}

// operatorBefore reports whether what comes next belongs to "operator<", "operator<<" or "operator<=>".
func operatorBefore(s string) bool {
	s = strings.TrimRight(s, "<")
	return strings.HasSuffix(s, "operator")
}

func foldParams(s string) string {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '<':
			if !operatorBefore(s[:i]) {
				depth++
			}
		case '>':
			if depth > 0 && s[i-1] != '-' {
				depth--
			}
		case '(':
			if depth > 0 || strings.HasPrefix(s[i:], "(anonymous") || strings.HasPrefix(s[i:], "(.") ||
				strings.HasSuffix(s[:i], "operator") || i == 0 {
				if j := strings.IndexByte(s[i:], ')'); depth == 0 && j >= 0 {
					i += j
				}
				continue
			}
			end := strings.LastIndexByte(s, ')')
			if end < i || end-i <= 6 {
				return s
			}
			return s[:i] + "(…)" + s[end+1:]
		}
	}
	return s
}
