package view

import (
	"slices"
	"testing"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// TestSortedModules: modules are sorted by any column, numbers by their value and what is unknown last;
// unloaded ones are among them, and a filter leaves out the others.
func TestSortedModules(t *testing.T) {
	r := &report.Report{FirstThread: 0, MainModule: 0, Modules: []report.Module{
		{Name: "/opt/app", Base: 0x400000, Size: 0x1000, Version: "9.0", Frames: 9, State: report.SymbolsLoaded},
		{Name: "/lib/libc.so.6", Base: 0x7000000, Size: 0x1000, System: true, Frames: 10, State: report.SymbolsMissing},
		{Name: "/opt/libA.so", Base: 0x600000, Size: 0x1000, Version: "10.1", Publisher: "Mozilla", State: report.SymbolsNotNeeded},
	}, Unloaded: []report.UnloadedModule{{Name: "/opt/gone.so", Base: 0x900000, Size: 0x1000}},
		Threads: []report.Thread{{Frames: []report.Frame{{Module: 1}, {Module: 2}, {Module: 0}}}}}
	column := func(title string) int {
		return 1 + slices.IndexFunc(rows.ModuleColumns, func(c rows.Column[rows.ModuleRow]) bool { return c.Title == title })
	}
	for _, c := range []struct {
		sort   int
		filter string
		want   []string
	}{
		{0, "", []string{"libc.so.6", "app", "libA.so · first on the stack", "gone.so"}},
		{column("Module"), "", []string{"app", "gone.so", "libA.so · first on the stack", "libc.so.6"}},
		{-column("Module"), "", []string{"libc.so.6", "libA.so · first on the stack", "gone.so", "app"}},
		{column("Frames"), "", []string{"app", "libc.so.6", "libA.so · first on the stack", "gone.so"}},
		{-column("Version"), "", []string{"libA.so · first on the stack", "app", "libc.so.6", "gone.so"}},
		{0, "mozilla", []string{"libA.so · first on the stack"}},
		{0, "unloaded", []string{"gone.so"}},
	} {
		page := New(r, nil).Modules(0, 10, 2, c.sort, c.filter)
		var names []string
		for _, m := range page.Rows {
			names = append(names, m.Named())
		}
		if !slices.Equal(names, c.want) || page.Total != len(c.want) {
			t.Errorf("sorted by %d, %q: %q", c.sort, c.filter, names)
		}
		if i := slices.Index(c.want, "libA.so · first on the stack"); page.Selected != i {
			t.Errorf("sorted by %d: row %d is selected, not %d", c.sort, page.Selected, i)
		}
	}
}
