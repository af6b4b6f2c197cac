package app

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// This file has small texts and classes that several components use.

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

func frameCount(n int) string {
	if n == 1 {
		return "1 frame"
	}
	return rows.Number(n) + " frames"
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

func regValue(r rows.Register) string {
	if r.Value == "" {
		return "unknown"
	}
	return r.Value
}

// attemptText says why an attempt was rejected, and which rule it had.
func attemptText(a rows.Attempt) string {
	s := a.Reason
	if a.Rule != "" {
		s += " (" + strings.ReplaceAll(a.Rule, "\n", "; ") + ")"
	}
	return s
}

// addressHelp explains the addresses and offsets of frames, in the help dialog.
const addressHelp = "A caller’s address and its offset in the module point into its call instruction: they are the return address minus 1 byte on x86, 2 on ARM and 4 on ARM64, " +
	"as in Breakpad’s text and rust-minidump’s JSON. “Returns to” in a frame’s details is the return address itself."

// trustWord is a line of the help dialog: a way in which a frame can be found.
type trustWord struct{ Trust, Word, Sentence string }

// trustWords are the lines of the dialog, the most reliable first.
func trustWords() []trustWord {
	var out []trustWord
	for _, t := range []string{"context", "cfi", "prewalked", "leaf", "frame_pointer", "cfi_scan", "scan", "none", "inline"} {
		w, s := rows.Word(t)
		out = append(out, trustWord{t, w, s})
	}
	return out
}
