package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

func boolWord(b bool) string { return strconv.FormatBool(b) }

func tabIndex(selected bool) string {
	if selected {
		return "0"
	}
	return "-1"
}

// current marks the selected row of a table; nil leaves the attribute out.
func current(selected bool) any {
	if selected {
		return "true"
	}
	return nil
}

func rowID(kind string, n int) string { return kind + "-" + strconv.Itoa(n) }

func itoa(n int) string { return strconv.Itoa(n) }

func pair(a, b int) string { return fmt.Sprintf("%d.%d", a, b) }

func joinLines(lines []string) string { return strings.Join(lines, "\n") }

func codeClass(code bool) string {
	if code {
		return "code"
	}
	return "plain"
}

// counted is "1 program" or "2 programs".
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return rows.Number(n) + " " + what
}

// hint returns a tooltip, or nil (no attribute) where it would repeat the visible text.
func hint(title, text string) any {
	if title == "" || title == text {
		return nil
	}
	return title
}

// height and offset place a window of rows in its list. The list is as high as if it had all rows,
// so the scroll bar is right.
func height(rows, px int) string { return fmt.Sprintf("height:%dpx", rows*px) }

func offset(from, px int) string { return fmt.Sprintf("transform:translateY(%dpx)", from*px) }

// attemptText says why an attempt was rejected, and which rule it had.
func attemptText(a rows.Attempt) string {
	s := a.Reason
	if a.Rule != "" {
		s += " (" + strings.ReplaceAll(a.Rule, "\n", "; ") + ")"
	}
	return s
}

// capital makes the first letter of an English text a capital.
func capital(s string) string {
	n := min(1, len(s))
	return strings.ToUpper(s[:n]) + s[n:]
}
