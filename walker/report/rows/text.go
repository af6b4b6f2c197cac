package rows

import (
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core/visible"
)

// MaxText is the length in bytes of the longest text of a file that the page gets. Vugu cannot
// render a text or attribute of 16 KiB or more, and escaping makes a text up to five times as long
// (quotes).
const MaxText = 3000

// Clean makes text of a file safe to show: valid UTF-8, at most MaxText long, with control
// characters made visible. Bidirectional controls could make a name look like another one.
func Clean(s string) string {
	plain := len(s) <= MaxText
	for i := 0; plain && i < len(s); i++ {
		plain = s[i] >= ' ' && s[i] < 0x7f
	}
	if plain {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if b.Len() >= MaxText {
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

// BaseName returns the last part of a path of any system. In a path of a version control system, as
// in Mozilla's symbol files ("hg:host/repo:dom/x.cpp:revision"), the file is before the revision.
//
//	hg:hg.mozilla.org/mozilla-central:dom/base/Element.cpp:abcdef    Element.cpp
//	C:\a\b.dll                                                       b.dll
//	/usr/lib/                                                        lib
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

// foldAt and pathAt are the lengths above which Fold shortens a name and its path, if the width of
// the column is unknown.
const (
	foldAt = 56
	pathAt = 39
)

// Fold shortens a readable name for a row, in steps until it is short enough: template arguments
// ("vector<…>::push_back"), parameters ("f(…)"), the beginning of the path ("…::backtrace::begin").
// The end of a name is the most useful part.
//
//	std::vector<std::basic_string<char, …>, std::allocator<int>>::push_back(int const&)
//	    std::vector<…>::push_back(int const&)
//	mozilla::dom::Element::SetAttribute(nsAtom*, nsAString const&, mozilla::ErrorResult&)
//	    mozilla::dom::Element::SetAttribute(…)
//	std::sys_common::backtrace::__rust_begin_short_backtrace_of_long_name
//	    …::backtrace::__rust_begin_short_backtrace_of_long_name
func Fold(s string) string { return fold(s, foldAt, pathAt) }

// FoldTo is Fold for a column of a width in characters. 0 means an unknown width.
func FoldTo(s string, width int) string {
	if width <= 0 {
		return Fold(s)
	}
	return fold(s, width, width)
}

// fold is Fold for a maximum width of the name and of its path.
func fold(s string, width, pathWidth int) string {
	if utf8.RuneCountInString(s) > width {
		s = FoldTemplates(s)
	}
	if utf8.RuneCountInString(s) > width {
		s = foldParams(s)
	}
	if utf8.RuneCountInString(s) > pathWidth {
		s = foldPath(s, pathWidth)
	}
	return s
}

// foldPath removes parts of a path from the left and keeps at least two. In Rust's "<a::T as
// b::Trait>" it keeps "<T as Trait>".
func foldPath(s string, width int) string {
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
		if n := utf8.RuneCountInString(folded); n <= width || i+2 == len(at) && n+8 < utf8.RuneCountInString(s) {
			return folded
		}
	}
	return s
}

// pathParts returns where the parts of a path begin, except the first, or nil if its brackets do
// not match.
//
// Example: for "a::b<c::d>::e" it returns 3 and 12, the parts b<c::d> and e. A "::" inside of
// brackets separates nothing. The "<" of operator<, operator<< and operator<=> and the ">" of
// operator-> are not brackets.
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

// closing returns the index of the ">" that closes the "<" at the start of s, or -1.
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

// lastPart returns a type without its path.
func lastPart(s string) string {
	if at := pathParts(s); len(at) > 0 && !strings.HasPrefix(s, "&") {
		return s[at[len(at)-1]:]
	}
	return s
}

// Bare returns a name without template arguments and parameters, for a sentence.
//
//	std::vector<std::basic_string<char>>::push_back(int const&)    std::vector<…>::push_back
func Bare(name string) string {
	s := FoldTemplates(name)
	if strings.HasSuffix(s, ")") || strings.HasSuffix(s, ") const") {
		if p := cutParams(s); p != "" && !strings.HasSuffix(p, "operator") {
			return p
		}
	}
	return s
}

// cutParams removes the parameters, or returns "" if it cannot find their start.
func cutParams(s string) string {
	end := strings.LastIndexByte(s, ')')
	depth := 0
	for i := end; i >= 0; i-- {
		switch s[i] {
		case ')':
			depth++
		case '(':
			depth--
			if depth == 0 {
				return strings.TrimSpace(s[:i])
			}
		}
	}
	return ""
}

// FoldTemplates replaces template arguments by "…". Arguments of up to 6 bytes stay.
func FoldTemplates(s string) string {
	var b strings.Builder
	depth, opened := 0, 0
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c == '<' && !operatorBefore(s[:i]) && i > 0 && s[i-1] != ' ' && !strings.HasPrefix(s[i:], "<lambda") &&
			!strings.HasPrefix(s[i:], "<unnamed"):
			// A "<" after a space or at the start is not a template's: Rust's "<T as Trait>". Nor
			// is that of "<lambda" and "<unnamed".
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
	if depth != 0 { // the brackets do not match
		return s
	}
	return b.String()
}

// operatorBefore reports whether s ends with "operator", so that the following "<" is part of
// "operator<", "operator<<" or "operator<=>".
func operatorBefore(s string) bool {
	s = s[max(0, len(s)-len("operator<<")):] // not all of a long name, at each of its brackets
	return strings.HasSuffix(strings.TrimRight(s, "<"), "operator")
}

// foldParams replaces the parameters of a function by "(…)".
//
// The parenthesis of "(anonymous namespace)", of "operator()" and at the start of a name begins no
// parameters.
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
