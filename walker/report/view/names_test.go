package view

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// Names in sentences are shorter than in the stack.
func TestShortNames(t *testing.T) {
	for in, want := range map[string]string{"f": "f", "a::f": "a::f", "std::sys::futex::wait": "futex::wait", "a::b<c::d>::e": "b<c::d>::e"} {
		if got := lastParts(in); got != want {
			t.Errorf("lastParts(%q) = %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"f(int)": "f", "operator()": "operator()", "a::operator()(int) const": "a::operator()", "T<std::vector<int>>::f()": "T<…>::f"} {
		if got := rows.Bare(in); got != want {
			t.Errorf("Bare(%q) = %q, want %q", in, got, want)
		}
	}
}

// A value is said to be what a runtime of this program fills memory with, and of no other one.
func TestPattern(t *testing.T) {
	for os, want := range map[core.OS]string{core.Windows: "Microsoft's debug heap has freed", core.OSLinux: "filled with one byte"} {
		r := &report.Report{Patterns: analysis.PatternsOf(&core.Dump{System: &core.SystemInfo{OS: os}}, 8)}
		v := New(r, demangle.Name)
		if have := v.pattern(0xdddddddddddddddd); !strings.Contains(have, want) || v.pattern(0x1234) != "" {
			t.Errorf("%v: %q, want %q", os, have, want)
		}
	}
}
