package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/tabs"
	"github.com/crashpane/crashpane/web/protocol"
)

func withFindings(n int) (*Page, *fakeHost, *fakeEngine) {
	p, h, e := newTestPage("")
	drop(p, e)
	answered(p, e)
	for i := range n {
		p.Summary.Findings = append(p.Summary.Findings, rows.FindingRow{Title: "Found by scanning", Text: fmt.Sprintf("No symbols for %s%d", hostile, i),
			Suggestion: "Drop it", Thread: i - 1, Module: -1})
	}
	return p, h, e
}

// answered answers queries until the page sends no more.
func answered(p *Page, e *fakeEngine) {
	for i := 0; p.Pace.asking && i < 9; i++ {
		say(p, screen())
	}
}

func TestFindingsStandInTheVerdictAndTheirTab(t *testing.T) {
	p, h, _ := withFindings(30)
	out := render(t, p)
	if !strings.Contains(out, "Findings: 30") || !strings.Contains(out, "Found by scanning") || strings.Contains(out, "<img") {
		t.Error("the verdict does not show the findings, or text of a file became an element")
	}
	p.Act("findings", "")
	out = render(t, p)
	if n := strings.Count(out, `class="finding"`); n != tabs.FindingsShown {
		t.Errorf("%d findings are drawn", n)
	}
	for range 3 {
		p.Act("more-findings", "")
	}
	out = render(t, p)
	if n := strings.Count(out, `class="finding"`); n != 30 || !strings.Contains(out, "hidden") {
		t.Errorf("%d findings are drawn after asking for more", n)
	}
	p.Act("copy-finding", "2")
	if !strings.HasPrefix(h.copied, "Found by scanning: No symbols for ") || !strings.HasSuffix(h.copied, "2. Drop it.") {
		t.Errorf("%q", h.copied)
	}
	p.Act("copy-finding", "all")
	if strings.Count(h.copied, "\n") != 30 {
		t.Errorf("%q", h.copied)
	}
	p.Act("copy-finding", "99")
}

// The finding in the headline is about the selected thread.
func TestFindingOfTheSelectedThread(t *testing.T) {
	p, _, _ := withFindings(3)
	p.Summary.Findings[0].Thread = 0
	if p.State.Thread = 1; !strings.HasSuffix(p.Verdict.findingText(), "2. Drop it") {
		t.Errorf("%q", p.Verdict.findingText())
	}
	p.Summary.Findings = nil
	if p.Verdict.hasFinding() {
		t.Error("a finding out of nothing")
	}
	p.Act("findings", "")
	if out := render(t, p); !strings.Contains(out, "Nothing makes these stacks incomplete or unreliable.") {
		t.Error("an empty tab says nothing")
	}
}

func TestWalksAreComparedWhenAskedFor(t *testing.T) {
	p, _, e := withFindings(0)
	if look := last[protocol.Query](e); look.Compare != nil {
		t.Fatal("six walks are made for a tab that is not open")
	}
	p.Act("tab", "compare")
	look := last[protocol.Query](e)
	if look.Compare == nil || look.Thread != 1 || look.Compare.Row != -1 {
		t.Fatalf("%+v", look)
	}
	c := rows.ComparePage{Selected: -1, Agreed: 1, Found: 2, Walks: []rows.CompareWalk{{Policy: "cfi", Frames: 1, Stop: hostile}, {Policy: "best", Frames: 2}},
		Rows: []rows.CompareRow{{Index: 0, Function: hostile, Cells: []rows.CompareCell{{Trust: "context", Word: "context"}, {Trust: "context", Word: "context"}}, Same: true},
			{Index: 1, Function: "main", Cells: []rows.CompareCell{{}, {Trust: "scan", Word: "scan"}}}}}
	c.Total = 2
	answered(p, e)
	say(p, &protocol.QueryResult{Compare: &c})
	out := render(t, p)
	for _, want := range []string{"Breakpad, rust-minidump and best agree on 1 of 2 frames", "row choice-row differs", "trust scan", "trust absent"} {
		if !strings.Contains(out, want) {
			t.Errorf("the comparison does not show %q", want)
		}
	}
	if strings.Contains(out, "<img") {
		t.Error("text of a file became an element")
	}
	p.Act("compared", "0")
	if look = last[protocol.Query](e); look.Compare.Row != 0 {
		t.Errorf("%+v", look)
	}
	answered(p, e)
	p.Act("thread", "0")
	if look = last[protocol.Query](e); look.Compare == nil || look.Compare.Row != -1 {
		t.Errorf("another thread keeps the selection: %+v", look)
	}
}
