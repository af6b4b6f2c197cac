package view

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
)

// TestWhoseSymbols: the ids that differ are those of the module to which the user assigned symbols. A frame that was found by
// the symbols of the function that it called may have symbols of its own build.
func TestWhoseSymbols(t *testing.T) {
	const assigned = "Found or named by symbols that you assigned. They may not match this build."
	r := report.Build(reporttest.Windows())
	frames, modules := r.Threads[1].Frames, r.Modules
	frames[0].AssignedSymbols = true
	v := New(r, nil)
	if have := v.Frame(1, 0, -1).Warning; have != assigned {
		t.Errorf("of its own build: %q", have)
	}
	if have := v.Frame(1, 2, -1).Warning; !strings.Contains(have, "another build: the module has id "+modules[2].DebugID+", the file has BAD0.") {
		t.Errorf("of another build: %q", have)
	}
	modules[2].DebugID = ""
	if have := v.Frame(1, 2, -1).Warning; have != assigned {
		t.Errorf("a module without an id: %q", have)
	}
}
