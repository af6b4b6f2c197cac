package view

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
	"github.com/crashpane/crashpane/walker/report/rows"
)

func TestFindingsAreSentences(t *testing.T) {
	r := report.Build(reporttest.Windows())
	r.Findings = []report.Finding{
		{Kind: report.FindingScanned, Thread: 1, Module: 0, Text: "no symbols for app: 3 frames were found by scanning", Suggestion: "drop app.sym with id AAA0"},
		{Kind: report.FindingNoUnwind, Thread: -1, Module: -1, Text: "libfoo.sym has names\x07 and no STACK records"},
		{Kind: "something-new", Thread: -1, Module: 99, Text: "x"},
	}
	list := New(r, nil).Findings()
	if len(list) != 3 {
		t.Fatalf("%d rows", len(list))
	}
	if list[0].Text != "No symbols for app: 3 frames were found by scanning" || list[0].Suggestion != "Drop app.sym with id AAA0" || list[0].ModuleName == "" {
		t.Errorf("%+v", list[0])
	}
	// A name keeps its letters, a control character of a file does not come through.
	if !strings.HasPrefix(list[1].Text, "libfoo.sym") || strings.Contains(list[1].Text, "\x07") || list[1].Module != -1 {
		t.Errorf("%+v", list[1])
	}
	if list[2].Title != "something-new" || list[2].ModuleName != "" {
		t.Errorf("%+v", list[2])
	}
	if got := rows.FindingText(list[0]); got != "Guessed callers: No symbols for app: 3 frames were found by scanning. Drop app.sym with id AAA0." {
		t.Errorf("%q", got)
	}
}

// A finding that begins with the name of a file keeps it, even if it is a word of letters.
func TestFindingsKeepNames(t *testing.T) {
	r := report.Build(reporttest.Windows())
	r.Modules[0].Name, r.Modules[0].SymbolFile = "/opt/app", "/sym/apps"
	texts := []string{"app alone has no functions", "apps has no STACK records", "a file is damaged"}
	r.Findings = nil
	for _, text := range texts {
		r.Findings = append(r.Findings, report.Finding{Kind: report.FindingNoDebug, Thread: -1, Module: 0, Text: text})
	}
	list := New(r, nil).Findings()
	if list[0].Text != texts[0] || list[1].Text != texts[1] || list[2].Text != "A file is damaged" {
		t.Errorf("%+v", list)
	}
}

// The suggestion is a row of its own after the stack, in every window that reaches it.
func TestStackEndsWithWhatWouldHelp(t *testing.T) {
	r := report.Build(reporttest.Windows())
	r.Threads[1].Stop.Suggestion = "drop app.sym with id AAA0"
	v := New(r, nil)
	whole := v.Stack(StackQuery{Thread: 1, Count: 100})
	last := whole.Rows[len(whole.Rows)-1]
	if !last.Suggestion || last.Function != "Drop app.sym with id AAA0" || whole.Rows[len(whole.Rows)-2].Kind != rows.RowStop || len(whole.Rows) != whole.Total {
		t.Fatalf("%+v", whole.Rows)
	}
	for from := range whole.Total {
		got := v.Stack(StackQuery{Thread: 1, From: from, Count: 1})
		if len(got.Rows) != 1 || got.Rows[0] != whole.Rows[from] {
			t.Errorf("row %d alone is %+v", from, got.Rows)
		}
	}
}

func TestCompareMarksWhatDiffers(t *testing.T) {
	r := report.Build(reporttest.Windows())
	frames := r.Threads[1].Frames
	stop := report.Stop{Kind: "nothing-found", Detail: "no caller was found", Attempts: []report.Attempt{}}
	c := &report.Comparison{Thread: 1, Walks: []report.ComparedWalk{
		{Policy: "breakpad", Frames: frames[:1], Stop: stop}, {Policy: "best", Frames: frames[:2], Stop: stop}},
		Rows: []report.ComparedRow{{SP: 0x10, PC: frames[0].PC, At: []int{0, 0}, Same: true}, {SP: 0x20, PC: frames[1].PC, At: []int{-1, 1}}},
		Divergences: []report.Divergence{{Row: 0, Branches: []report.Branch{{Walks: []int{0}, Next: -1, Stop: stop},
			{Walks: []int{1}, Next: 1, Source: "frame-pointer", Origin: "frame pointer", Rule: "cfa = rbp + 16, ra = [cfa - 8]"}}}}}
	v := New(r, nil)
	p := v.Compare(c, 0, 10, 0)
	// The mark is on the row that differs, and not on the one before, which all have.
	if p.Total != 2 || p.Found != 2 || p.Agreed != 1 || !p.Rows[0].Same || p.Rows[0].Diverges || !p.Rows[1].Diverges || p.Rows[1].Same || p.Rows[1].Cells[0].Word != "" || p.Rows[1].Cells[1].Word == "" {
		t.Fatalf("%+v", p)
	}
	if len(p.Branches) != 2 || p.Branches[0].Walks != "breakpad" || p.Branches[0].Text != "The stack ends early: no caller was found" ||
		!strings.HasPrefix(p.Branches[1].Text, "Frame pointer → ") || p.Branches[1].Rule != "cfa = rbp + 16\nra = [cfa - 8]" {
		t.Errorf("%+v", p.Branches)
	}
	if p = v.Compare(c, 1, 1, 1); len(p.Rows) != 1 || p.Rows[0].Index != 1 || p.Selected != 1 || len(p.Branches) != 2 {
		t.Errorf("%+v", p)
	}
	// What one source finds alone has gaps by design: it is not a disagreement.
	c.Walks[0].Policy = "fp"
	if p = v.Compare(c, 0, 10, -1); p.Found != 2 || p.Agreed != 2 || !p.Rows[1].Same {
		t.Errorf("%+v", p)
	}
	if p = v.Compare(c, 5, 9, 7); len(p.Rows) != 0 || p.Selected != -1 {
		t.Errorf("%+v", p)
	}
}
