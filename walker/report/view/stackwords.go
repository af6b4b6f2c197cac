package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// StackWords makes the rows of a window of a stack's words. Redacted: only words that point into a module or
// a stack are shown.
func (v *View) StackWords(part *report.StackWords, redacted bool) rows.StackWordPage {
	out := rows.StackWordPage{Thread: part.Thread, Selected: part.Selected, Rows: []rows.StackWordRow{}}
	out.From, out.Total = part.From, part.Total
	if redacted {
		out.Withheld = wordsHidden
	}
	t := v.thread(part.Thread)
	if t == nil {
		return out
	}
	before := -1
	for i := range part.Rows {
		w := &part.Rows[i]
		row := rows.StackWordRow{Address: hexOf(part.WordSize, w.Address), Word: hexOf(part.WordSize, w.Value), Frame: w.Frame}
		if w.Frame >= 0 && w.Frame < len(t.Frames) {
			f := &t.Frames[w.Frame]
			row.Trust, row.Frame = f.Trust, t.Number(w.Frame)
			if w.Frame != before {
				row.Label = fmt.Sprintf("%d %s", t.Number(w.Frame), v.frameRow(f, w.Frame).Function)
			}
		}
		before = w.Frame
		row.Kind, row.Meaning = v.stackWord(t, w)
		if row.Points = v.pointee(&w.Points); row.Points == "" {
			row.Points = v.pattern(w.Value)
		}
		if redacted && w.Points.Place.Module < 0 && w.Points.Thread < 0 {
			row.Word, row.Points = "hidden", ""
		}
		out.Rows = append(out.Rows, row)
	}
	return out
}

// stackWord says what the walk found a word to be.
func (v *View) stackWord(t *report.Thread, w *report.StackWord) (kind, meaning string) {
	var parts []string
	for i := range w.Roles {
		role := &w.Roles[i]
		words := rows.Clean(role.Words(t))
		if role.Kind == report.RoleReturn {
			kind = string(role.Kind)
			if role.Frame < len(t.Frames) {
				word, _ := rows.Word(t.Frames[role.Frame].Trust)
				words += ", by " + word
			}
			parts = append([]string{words}, parts...)
			continue
		}
		parts = append(parts, words)
		if kind == "" {
			kind = string(role.Kind)
		}
	}
	skipped := ""
	if w.PassedBy != "" {
		skipped = "the scan passed it by: " + rows.Clean(w.PassedBy)
	}
	switch {
	case len(parts) == 0 && w.Canary:
		return "canary", "canary of the stack protector"
	case len(parts) == 0 && skipped != "":
		return "skipped", skipped
	case kind == string(report.RoleArgument) && skipped != "":
		parts = append(parts, skipped)
	}
	return kind, strings.Join(parts, "; ")
}
