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
	before := -1
	for i := range part.Rows {
		w := &part.Rows[i]
		row := rows.StackWordRow{Address: hexOf(part.WordSize, w.Address), Word: hexOf(part.WordSize, w.Value), Frame: w.Frame}
		if t != nil && w.Frame >= 0 && w.Frame < len(t.Frames) {
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
	for _, role := range w.Roles {
		how, frame := "", role.Frame
		if t != nil && role.Frame < len(t.Frames) {
			frame = t.Number(role.Frame)
			word, _ := rows.Word(t.Frames[role.Frame].Trust)
			how = ", by " + word
		}
		switch role.Kind {
		case report.RoleReturn:
			kind = "return"
			parts = append([]string{fmt.Sprintf("return address of frame %d%s", frame, how)}, parts...)
			continue
		case report.RoleFramePointer:
			parts = append(parts, fmt.Sprintf("frame pointer (%s) of frame %d, saved by frame %d", rows.Clean(role.Register), frame, frame-1))
		case report.RoleSaved:
			parts = append(parts, fmt.Sprintf("%s of frame %d, saved by frame %d", rows.Clean(role.Register), frame, frame-1))
		case report.RoleArgument:
			parts = append(parts, role.Argument(frame))
		case report.RoleRead:
			parts = append(parts, fmt.Sprintf("read by the rules that lead to frame %d", frame))
		}
		if kind == "" {
			kind = string(role.Kind)
		}
	}
	switch {
	case len(parts) > 0 && kind != string(report.RoleArgument):
	case len(parts) > 0 && w.PassedBy != "":
		parts = append(parts, "the scan passed it by: "+rows.Clean(w.PassedBy))
	case len(parts) > 0:
	case w.Canary:
		return "canary", "canary of the stack protector"
	case w.PassedBy != "":
		return "skipped", "the scan passed it by: " + rows.Clean(w.PassedBy)
	}
	return kind, strings.Join(parts, "; ")
}
