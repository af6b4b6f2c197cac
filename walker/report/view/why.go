package view

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// shownWords is the most words of memory that the page gets. Frames of real programs need fewer.
const shownWords = 64

// add appends a cleaned line. The page shows the list as one text, so add replaces what exceeds
// MaxText by "…".
func add(list *[]string, line string) {
	size := 0
	for _, l := range *list {
		size += len(l) + 1
	}
	if line = rows.Clean(line); size+len(line) <= rows.MaxText {
		*list = append(*list, line)
	} else if n := len(*list); n == 0 || (*list)[n-1] != "…" {
		*list = append(*list, "…")
	}
}

// emptyWhy returns a Why whose lists are empty and not nil, which JavaScript would get as null.
func emptyWhy() rows.Why {
	return rows.Why{Rules: []string{}, Attempts: []rows.Attempt{}, StopAttempts: []rows.Attempt{}, Steps: []rows.Step{}, Record: []string{}, Words: []rows.ReadWord{},
		Checks: []string{}, Notes: []string{}, Scanned: []string{}, Changes: []rows.Change{}}
}

// numbers sets the fields of Why that need an explanation.
func (v *View) numbers(w *rows.Why, x *report.Explanation, f *report.Frame) {
	v.steps(w, x, f)
	for _, l := range x.Record {
		if l.Line > 0 {
			add(&w.Record, fmt.Sprintf("line %s: %s", rows.Number(l.Line), l.Text))
		} else {
			add(&w.Record, l.Text)
		}
	}
	for _, c := range x.Checks {
		add(&w.Checks, c)
	}
	for _, n := range x.Notes {
		add(&w.Notes, n)
	}
	v.scanned(w, x.Scanned, f)
	if x.End != nil {
		v.scanned(w, x.End.Scanned, f)
	}
	for _, c := range x.Registers {
		if c.How == "unknown" || c.How == "context" {
			continue
		}
		out := rows.Change{Name: c.Name, How: c.How}
		if c.HadBefore {
			out.Before = v.frameHex(f, c.Before)
		}
		if c.HasNow {
			out.After = v.frameHex(f, c.After)
		}
		w.Changes = append(w.Changes, out)
	}
}

// steps sets the words and the steps, and adds the numbers to Rules.
func (v *View) steps(w *rows.Why, x *report.Explanation, f *report.Frame) {
	if len(x.Steps) > 0 {
		w.Rules = w.Rules[:0]
	}
	for i := range x.Words {
		if i < shownWords {
			word := &x.Words[i]
			w.Words = append(w.Words, rows.ReadWord{Addr: v.frameHex(f, word.Addr), Value: v.frameHex(f, word.Value), For: word.For, Place: rows.Clean(word.Place.Text(v.r, v.full))})
		}
	}
	for _, s := range x.Steps {
		out := rows.Step{For: s.For, Rule: rows.Clean(s.Rule), Computed: rows.Clean(s.Computed), Place: rows.Clean(x.PlaceOf(&s, v.r, v.full))}
		w.Steps = append(w.Steps, out)
		line := out.For + " = " + out.Rule
		if out.Computed != out.Rule {
			line += ":  " + out.Computed
		}
		if out.Place != "" {
			line += "   " + rows.Fold(out.Place)
		}
		add(&w.Rules, line)
	}
}

func (v *View) scanned(w *rows.Why, s *report.Scanned, f *report.Frame) {
	if s == nil {
		return
	}
	for _, r := range s.Rejected {
		m := v.module(r.Module)
		if m == nil {
			continue
		}
		add(&w.Scanned, fmt.Sprintf("%s: %s  %s+%s: %s", v.frameHex(f, r.Addr), v.frameHex(f, r.Value), m.Title(), short(r.RVA), r.Reason))
	}
	if s.More > 0 {
		add(&w.Scanned, fmt.Sprintf("and %s more", rows.Number(s.More)))
	}
}
