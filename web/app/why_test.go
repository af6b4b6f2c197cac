package app

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
)

func TestWhyTexts(t *testing.T) {
	w := rows.Why{Checks: []string{"in module app", "after a call instruction"}, Notes: []string{"rbx is lost"},
		Stop: "The stack ends early: no caller was found", Suggestion: "drop app.sym"}
	if got := checksText(w); got != "in module app · after a call instruction · rbx is lost" {
		t.Errorf("%q", got)
	}
	if got := checksText(rows.Why{}); got != "" {
		t.Errorf("%q", got)
	}
	if got := stopText(w); got != "The stack ends early: no caller was found. What would help: drop app.sym." {
		t.Errorf("%q", got)
	}
	got := changesText([]rows.Change{{Name: "rsp", Before: "0x10", After: "0x20", How: "rule"}, {Name: "rbx", Before: "0x1", After: "0x1", How: "unchanged"},
		{Name: "rax", Before: "0x2", How: "lost"}})
	if got != "rsp  0x10 → 0x20\nrbx  0x1 → the same\nrax  0x2 → unknown" {
		t.Errorf("%q", got)
	}
}
