package view

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// An explanation is shown with its numbers, cleaned; frames without one keep their rules.
func TestWhyNumbers(t *testing.T) {
	r := example()
	r.Threads[1].Frames[1].Rule = "cfa = $rsp + 48, ra = [cfa − 8]"
	r.Threads[1].Stop.Suggestion = "drop x.sym"
	v := New(r, demangled)
	if d := v.Frame(1, 1, -1); len(d.Why.Rules) != 2 || len(d.Why.Steps) != 0 || d.Why.Words == nil {
		t.Errorf("%+v", d.Why)
	}
	asked := ""
	v.ExplainBy(func(thread, frame int) *report.Explanation {
		asked = fmt.Sprint(thread, frame)
		if frame != 1 {
			return nil
		}
		return &report.Explanation{
			Steps: []report.Step{{For: "cfa", Rule: "$rsp + 48", Computed: "0x10 + 48 = 0x40", Value: 0x40, Known: true},
				{For: "ra", Rule: "[cfa − 8]", Computed: "word at 0x38 = 0x500020", Value: 0x500020, Known: true}},
			Words: []report.Word{{Addr: 0x38, Value: 0x500020, Size: 8, For: "ra",
				Place: report.Place{Module: 1, Function: report.Name{Raw: "_Zcallee"}, Offset: 0x20}}},
			Record:  []report.RecordLine{{Line: 81231, Text: "STACK CFI \x1b[31m"}},
			Checks:  []string{"in module app"},
			Scanned: &report.Scanned{Words: 2, Rejected: []report.RejectedWord{{Addr: 8, Value: 0x400100, Module: 0, RVA: 0x100, Reason: "no symbol covers it"}}, More: 3},
			Registers: []report.RegisterChange{{Name: "rsp", Before: 0x10, After: 0x40, HadBefore: true, HasNow: true, How: "rule"},
				{Name: "rax", Before: 1, HadBefore: true, How: "lost"}, {Name: "r8", How: "unknown"}},
		}
	})
	w := v.Frame(1, 1, -1).Why
	if asked != "1 1" {
		t.Errorf("asked for %s", asked)
	}
	if got := strings.Join(w.Rules, "\n"); got != "cfa = $rsp + 48:  0x10 + 48 = 0x40\nra = [cfa − 8]:  word at 0x38 = 0x500020   app::callee + 0x20" {
		t.Errorf("%s", got)
	}
	if w.Words[0].Place != "app::callee + 0x20" || w.Steps[1].Place != w.Words[0].Place || w.Record[0] != "line 81,231: STACK CFI ␛[31m" || w.Checks[0] != "in module app" {
		t.Errorf("%+v", w)
	}
	if got := strings.Join(w.Scanned, "\n"); got != "0x0000000000000008: 0x0000000000400100  app+0x100: no symbol covers it\nand 3 more" {
		t.Errorf("%s", got)
	}
	if len(w.Changes) != 2 || w.Changes[0] != (rows.Change{Name: "rsp", Before: "0x0000000000000010", After: "0x0000000000000040", How: "rule"}) || w.Changes[1].After != "" {
		t.Errorf("%+v", w.Changes)
	}
	if w := v.Frame(1, 2, -1).Why; w.Suggestion != "drop x.sym" || len(w.Steps) != 0 {
		t.Errorf("%+v", w)
	}
}

// A list that is shown as one text is bounded as one, whatever a file holds.
func TestAddIsBounded(t *testing.T) {
	var list []string
	for range 100 {
		add(&list, strings.Repeat("x", 100))
	}
	add(&list, strings.Repeat("y", 10*rows.MaxText))
	if n := len(strings.Join(list, "\n")); n > rows.MaxText+len("\n…") || list[len(list)-1] != "…" || list[len(list)-2] == "…" {
		t.Errorf("%d bytes, %d lines, the last %q", n, len(list), list[len(list)-1])
	}
}
