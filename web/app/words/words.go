// Package words makes the small texts and attribute values that the page's components share. Begin with
// words.go; address.go shows addresses of memory as links.
package words

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// Bool is a value of an ARIA attribute.
func Bool(b bool) string { return strconv.FormatBool(b) }

// TabIndex is the tabindex of a tab: only the selected one is reached by the Tab key.
func TabIndex(selected bool) string {
	if selected {
		return "0"
	}
	return "-1"
}

// Current marks the selected row of a table; nil leaves the attribute out.
func Current(selected bool) any {
	if selected {
		return "true"
	}
	return nil
}

// RowID is the id of a row's element: "thread-3".
func RowID(kind string, n int) string { return kind + "-" + strconv.Itoa(n) }

// Pair is an argument of two numbers: "3.-1".
func Pair(a, b int) string { return fmt.Sprintf("%d.%d", a, b) }

// ParsePair reads what Pair makes; the first number is not negative.
func ParsePair(arg string) (a, b int, ok bool) {
	first, second, _ := strings.Cut(arg, ".")
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(second)
	return a, b, err == nil && err2 == nil && a >= 0
}

// Lines joins lines.
func Lines(lines []string) string { return strings.Join(lines, "\n") }

// CodeClass is the class of a value, which gives code its font.
func CodeClass(code bool) string {
	if code {
		return "code"
	}
	return "plain"
}

// Count is "1 program" or "2 programs".
func Count(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return rows.Number(n) + " " + what
}

// Hint returns a tooltip, or nil (no attribute) where it would repeat the visible text.
func Hint(title, text string) any {
	if title == "" || title == text {
		return nil
	}
	return title
}

// Height is the height of a list. The list is as high as if it had all rows,
// so the scroll bar is right.
func Height(rows, px int) string { return fmt.Sprintf("height:%dpx", rows*px) }

// Offset is the place of a window in its list.
func Offset(from, px int) string { return fmt.Sprintf("transform:translateY(%dpx)", from*px) }

// Attempt says why an attempt was rejected, and which rule it had.
func Attempt(a rows.Attempt) string {
	s := a.Reason
	if a.Rule != "" {
		s += " (" + strings.ReplaceAll(a.Rule, "\n", "; ") + ")"
	}
	return s
}

// Capital makes the first letter of an English text a capital.
func Capital(s string) string {
	n := min(1, len(s))
	return strings.ToUpper(s[:n]) + s[n:]
}

// Escape writes the bytes of a text that are no letters, digits or in keep as %XX (RFC 3986, section 2.1).
func Escape(s, keep string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.WriteByte('%')
			b.WriteByte(digits[c>>4])
			b.WriteByte(digits[c&15])
		}
	}
	return b.String()
}
