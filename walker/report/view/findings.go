package view

import (
	"cmp"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// maxFindings is the most findings that the page gets. The JSON has all of them.
const maxFindings = 200

// Findings returns the report's findings, in the report's order.
func (v *View) Findings() []rows.FindingRow {
	out := []rows.FindingRow{}
	for i := range v.r.Findings {
		if i == maxFindings {
			break
		}
		f := &v.r.Findings[i]
		row := rows.FindingRow{Title: findingTitle(f.Kind), Text: sentenceCase(rows.Clean(f.Text)), Suggestion: sentenceCase(rows.Clean(f.Suggestion)),
			Thread: f.Thread, Module: f.Module}
		row.Minor = findingKinds[f.Kind].minor
		row.Adds = f.Suggestion != "" && findingKinds[f.Kind].asks
		if m := v.module(f.Module); m != nil {
			if text := rows.Clean(f.Text); beginsWithFile(m, text) {
				row.Text = text
			}
			row.ModuleName = rows.Clean(m.Title())
			row.Assign = assignable(m) && (m.DebugID == "" || f.Kind == report.FindingMismatch)
		}
		out = append(out, row)
	}
	return out
}

// findingKinds has a row for each kind of finding.
var findingKinds = map[report.FindingKind]struct {
	title string
	asks  bool // its suggestion, if there is one, asks for symbols
	minor bool // the page lists it and does not put it under the headline
}{
	report.FindingCutShort:   {"Truncated file", false, false},
	report.FindingOverflow:   {"Stack overflow", false, false},
	report.FindingNoMemory:   {"No stack memory", false, false},
	report.FindingOutside:    {"Stack pointer outside", false, false},
	report.FindingNoContext:  {"No registers", false, false},
	report.FindingMismatch:   {"Symbols of another build", true, false},
	report.FindingAssigned:   {"Assigned symbols", true, false},
	report.FindingUnreadable: {"Unreadable symbols", true, false},
	report.FindingNoUnwind:   {"No unwind rules", true, false},
	report.FindingBadRecord:  {"Unusable unwind rules", false, false},
	report.FindingOddRecord:  {"Odd unwind rules", false, false},
	report.FindingSwapped:    {"esp and ebp swapped", false, false},
	report.FindingSwitched:   {"No goroutine's stack", false, false},
	report.FindingScanned:    {"Guessed callers", true, false},
	report.FindingEnds:       {"Stack ends early", true, false},
	report.FindingNoDebug:    {"No functions and lines", true, false},
	report.FindingMissing:    {"Missing symbols", true, true},
	report.FindingExports:    {"Only exported names", true, false},
	report.FindingLost:       {"Caller not known", false, false},
	report.FindingLimit:      {"Frame limit", false, false},
	report.FindingNoSystem:   {"No system", false, false},
	report.FindingSeveral:    {"Several exceptions", false, false},
	report.FindingNested:     {"Nested exception", false, false},
	report.FindingUnlisted:   {"Thread not listed", false, false},
	report.FindingWow64:      {"32-bit registers missing", false, false},
	report.FindingLayer:      {"64-bit layer missing", false, false},
	report.FindingNameless:   {"Module without a name", false, false},
	report.FindingUnplaced:   {"Start of a program unknown", true, false},
}

// beginsWithFile reports whether a sentence begins with the name of a module or its file, which may
// be a word of letters: "app has names and no STACK records".
func beginsWithFile(m *report.Module, text string) bool {
	for _, name := range []string{m.Title(), rows.BaseName(m.SymbolFile), rows.BaseName(m.Binary)} {
		if name != "" && strings.HasPrefix(text, rows.Clean(name)+" ") {
			return true
		}
	}
	return false
}

func findingTitle(k report.FindingKind) string {
	return cmp.Or(findingKinds[k].title, rows.Clean(string(k)))
}

// sentenceCase makes the first letter upper case, unless the first word is a name ("libfoo.so has
// …").
//
//	the stack ends early    The stack ends early
//	libfoo.so has no …      libfoo.so has no …       not a word of letters
func sentenceCase(s string) string {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
		case c == ' ' && i > 0, c == ':' && i > 0:
			return upperFirst(s)
		default:
			return s
		}
	}
	return s
}
