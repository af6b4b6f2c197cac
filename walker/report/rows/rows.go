// Package rows has what the page shows, as plain data: a type for each kind of row, and how texts
// and numbers are written there. The engine makes rows (package view); the page draws them, and
// needs nothing else of the engine.
package rows

import (
	"fmt"
	"strconv"
)

// Page is a window of a list.
type Page struct {
	From  int // number of the first row in the window
	Total int // number of rows in the list
}

// Number formats 10881 as "10,881".
func Number(n int) string {
	s := strconv.Itoa(n)
	start := 0
	if n < 0 {
		start = 1
	}
	for i := len(s) - 3; i > start; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Some is Number, but "" for 0.
func Some(n int) string {
	if n == 0 {
		return ""
	}
	return Number(n)
}

// Summary is the top of a dump's page, and the counts of its lists.
type Summary struct {
	Name    string
	Verdict []Span
	// Reason is the exception as rust-minidump or Breakpad print it, Facts the line below the
	// verdict.
	Reason string
	Facts  []string
	// Messages has the program's own messages about its end, the most important first.
	Messages []Fact
	// Signature is the crash's signature, or "" without a crash.
	Signature string
	// FirstThread is the thread to show first.
	FirstThread                     int
	Threads, Modules, Missing, Diag int
	Errors                          int // number of diagnostics that are errors
	System                          []Group
	Log                             []LogRow
	// Findings say why stacks are incomplete.
	Findings []FindingRow
}

// Group is a titled list of facts.
type Group struct {
	Title string
	Facts []Fact
}

// Fact is a value with its name.
type Fact struct {
	Key, Value string
	Code       bool // show it in the monospaced font
}

// LogRow is a diagnostic.
type LogRow struct{ Severity, Text string }

// Size formats a number of bytes: "9,000 bytes", "120 KB", "1.5 GB".
func Size(n int64) string {
	switch {
	case n < 10_000:
		return Number(int(n)) + " bytes"
	case n < 10_000_000:
		return Number(int(n/1000)) + " KB"
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1f MB", float64(n)/1e6)
	case n < 1_000_000_000_000:
		return fmt.Sprintf("%.1f GB", float64(n)/1e9)
	}
	return Number(int(n/1_000_000_000_000)) + " TB"
}

// Policies are the unwind policies that the page offers, by their names in package walker.
var Policies = []struct{ Name, What string }{
	{"best", "best: Crashpane’s default"},
	{"breakpad", "like Breakpad"},
	{"rust-minidump", "like rust-minidump"},
	{"cfi", "unwind rules (CFI) only"},
	{"fp", "frame pointers only"},
	{"scan", "a search of the stack (scan) only"},
}

// Span is a part of a sentence with its role: "" for plain text, "name" for the process, "code" for
// addresses and functions, "guess" for what is uncertain.
type Span struct{ Text, Role string }
