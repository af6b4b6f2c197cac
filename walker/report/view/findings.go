package view

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report"
)

// FindingRow is a finding: a reason why stacks are shorter or less reliable than they could be.
type FindingRow struct {
	Title            string // the kind of finding
	Text, Suggestion string // sentences without full stops
	Thread, Module   int    // the ones that it concerns, or -1
	ModuleName       string
	Assign           bool // the user must assign symbols: the module has no id, or the loaded file has another one
	Adds             bool // Suggestion asks for symbols
}

// maxFindings is the most findings that the page gets. The JSON has all of them.
const maxFindings = 200

// Findings returns the report's findings, in the report's order.
func (v *View) Findings() []FindingRow {
	out := []FindingRow{}
	for i := range v.r.Findings {
		if i == maxFindings {
			break
		}
		f := &v.r.Findings[i]
		row := FindingRow{Title: findingTitle(f.Kind), Text: sentenceCase(Clean(f.Text)), Suggestion: sentenceCase(Clean(f.Suggestion)),
			Thread: f.Thread, Module: f.Module}
		row.Adds = f.Suggestion != "" && slices.Contains(asksForFile, f.Kind)
		if m := v.module(f.Module); m != nil {
			row.ModuleName = Clean(BaseName(m.Name))
			row.Assign = assignable(m) && (m.DebugID == "" || f.Kind == report.FindingMismatch)
		}
		out = append(out, row)
	}
	return out
}

// asksForFile are the kinds whose suggestion, if there is one, asks for symbols.
var asksForFile = []report.FindingKind{report.FindingMismatch, report.FindingAssigned, report.FindingUnreadable, report.FindingNoUnwind,
	report.FindingEnds, report.FindingScanned, report.FindingNoDebug, report.FindingExports}

func findingTitle(k report.FindingKind) string {
	switch k {
	case report.FindingCutShort:
		return "Truncated file"
	case report.FindingOverflow:
		return "Stack overflow"
	case report.FindingNoMemory:
		return "No stack memory"
	case report.FindingOutside:
		return "Stack pointer outside"
	case report.FindingNoContext:
		return "No registers"
	case report.FindingMismatch:
		return "Symbols of another build"
	case report.FindingAssigned:
		return "Assigned symbols"
	case report.FindingUnreadable:
		return "Unreadable symbols"
	case report.FindingNoUnwind:
		return "No unwind records"
	case report.FindingBadRecord:
		return "Unusable records"
	case report.FindingOddRecord:
		return "Odd records"
	case report.FindingSwapped:
		return "esp and ebp swapped"
	case report.FindingScanned:
		return "Found by scanning"
	case report.FindingEnds:
		return "Stack ends early"
	case report.FindingNoDebug:
		return "No functions and lines"
	case report.FindingExports:
		return "Only exported names"
	case report.FindingLimit:
		return "Frame limit"
	}
	return Clean(string(k))
}

// sentenceCase makes the first letter upper case, unless the first word is a name ("libfoo.so has …").
func sentenceCase(s string) string {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z':
		case c == ' ' && i > 0, c == ':' && i > 0:
			return string(s[0]&^0x20) + s[1:]
		default:
			return s
		}
	}
	return s
}

// FindingText returns a finding as text to copy.
func FindingText(f FindingRow) string {
	s := f.Title + ": " + f.Text + "."
	if f.Suggestion != "" {
		s += " " + f.Suggestion + "."
	}
	return s
}
