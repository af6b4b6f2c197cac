package session_test

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
)

// The line above the stack, the line after its last frame, the finding about missing symbols and
// the list of missing symbols ask for the same file, over all dumps of the corpus; a complete stack
// is not called one that ends early; missing symbols are one finding.
func TestOneThingIsAskedFor(t *testing.T) {
	asked := 0
	for _, c := range verdictCases(t) {
		_, r := c.openedBy(t, session.Options{Policy: walker.Best, OpenBinary: readers.Open}, "")
		if r == nil || r.FirstThread < 0 {
			continue
		}
		th := &r.Threads[r.FirstThread]
		var finding *report.Finding
		for i := range r.Findings {
			f := &r.Findings[i]
			if f.Kind != report.FindingEnds && (f.Kind != report.FindingScanned || f.Suggestion == "") {
				continue
			}
			if finding != nil {
				t.Errorf("%s: two findings ask for symbols: %s; %s", c.name, finding.Text, f.Text)
			}
			finding = f
		}
		complete := th.Stop.Kind == string(walker.StopEnd)
		if finding != nil && complete && finding.Thread == th.Index && finding.Kind == report.FindingEnds {
			t.Errorf("%s: a complete stack is said to end early: %s", c.name, finding.Text)
		}
		if th.Stop.Suggestion == "" || th.Stop.Wants < 0 {
			continue
		}
		asked++
		name := report.BaseName(r.Modules[th.Stop.Wants].Name)
		if finding == nil {
			t.Errorf("%s: no finding asks for symbols, the stack does: %s", c.name, th.Stop.Suggestion)
			continue
		}
		if !strings.HasPrefix(th.Stop.Suggestion, "no symbols for "+name) {
			t.Errorf("%s: wants %s, says %s", c.name, name, th.Stop.Suggestion)
		}
		quality := view.New(r, demangle.Name).Stack(view.StackQuery{Thread: th.Index, Count: 1}).Quality
		if m := &r.Modules[th.Stop.Wants]; m.State == report.SymbolsMissing && !strings.Contains(quality, "add "+name+" first") {
			t.Errorf("%s: the end wants %s, the line above the stack says %s", c.name, name, quality)
		}
		if len(r.Threads) == 1 && finding.Module != th.Stop.Wants {
			t.Errorf("%s: the end wants %s, the finding %s", c.name, name, finding.Text)
		}
	}
	if asked < 20 {
		t.Errorf("%d stacks ask for symbols; the corpus has more", asked)
	}
}
