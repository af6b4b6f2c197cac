package view

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
)

func TestModuleDetail(t *testing.T) {
	r := report.Build(reporttest.Windows())
	m := &r.Modules[0]
	m.State, m.SymbolsRequested, m.Frames, m.Binary, m.SymbolFile = report.SymbolsLoaded, true, 2, "lib/libx.so", "libx.sym"
	m.Has = symbol.Contents{CFI: true, OnlyExports: true, Parts: []symbol.Part{{What: "unwind rules", File: "lib/libx.so", Section: ".eh_frame"},
		{What: "unwind rules", File: "libx.sym", Section: "STACK"}, {What: "names", File: "lib/libx.so", Section: ".dynsym"}},
		Missing: []string{"libx.so.debug, the debug information\x01"}}
	v := New(r, nil)
	d := v.Module(0)
	if len(d.Has) != 2 || d.Has[0].Key != "Unwind rules" || d.Has[0].Value != "libx.so, .eh_frame\nlibx.sym, STACK" {
		t.Errorf("%+v", d.Has)
	}
	missing := strings.Join(d.Missing, "\n")
	if !strings.HasPrefix(missing, "libx.so.debug") || strings.Contains(missing, "\x01") || !strings.Contains(missing, "No functions but exported names") ||
		!strings.Contains(missing, "No source lines") || strings.Contains(missing, "No unwind rules") {
		t.Errorf("%q", missing)
	}
	if d.Binary != "lib/libx.so" || !d.Rules || d.Ignored || d.Status != "Its symbols are loaded; 2 frames are in it." {
		t.Errorf("%+v", d)
	}
	page := v.Modules(0, 50, 0, 0, "")
	if page.Detail == nil || page.Detail.Index != 0 || v.Modules(0, 50, -1, 0, "").Detail != nil {
		t.Error("the list's detail is not that of the module asked for")
	}
	if row := page.Rows[page.Selected]; row.Has != "unwind rules" {
		t.Errorf("%q", row.Has)
	}
	m.IgnoredCFI = true
	if row := v.Modules(0, 50, 0, 0, "").Rows[page.Selected]; row.Has != "unwind rules, not used" {
		t.Errorf("%q", row.Has)
	}
	if v.Module(-1) != nil || v.Module(99) != nil {
		t.Error("a module that is not there")
	}
}

// If two files know a module, a frame says which one named it.
func TestFrameSaysWhichFileNamedIt(t *testing.T) {
	r := report.Build(reporttest.Windows())
	v := New(r, nil)
	said := func() string {
		for _, f := range v.Frame(1, 0, -1).Facts {
			if f.Key == "Names from" {
				return f.Value
			}
		}
		return ""
	}
	if said() != "" {
		t.Errorf("%q where there is only one file", said())
	}
	r.Threads[1].Frames[0].From = "symbols/libx.so.debug"
	if said() != "libx.so.debug" {
		t.Errorf("%q", said())
	}
}

// TestNoIDToCompare: of a module without an id it is not known whether a file is of another build.
func TestNoIDToCompare(t *testing.T) {
	r := report.Build(reporttest.Windows())
	for _, c := range []struct{ id, status, differs string }{
		{r.Modules[3].DebugID, "is of another build", "another signature: another build"},
		{"", "no id of the module to compare with", "no id of the module to compare with"},
	} {
		r.Modules[3].DebugID = c.id
		for i := range r.Missing {
			r.Missing[i].DebugID = c.id
		}
		d := New(r, nil).Module(3)
		if !strings.Contains(d.Status, c.status) || len(d.Missing) == 0 || !strings.Contains(d.Missing[0], c.differs) {
			t.Errorf("id %q: %q, %q", c.id, d.Status, d.Missing)
		}
	}
}
