package rows

import (
	"strings"
	"testing"
)

// TestColumnSizes: each layout of a table has a size for each column that it shows, and the cells of
// the others are hidden by their class.
func TestColumnSizes(t *testing.T) {
	heads := []Head{{Title: "A", Width: "1fr", Narrow: "2fr"}, {Title: "B", Width: "10px", Medium: "-"}, {Title: "C", Width: "minmax(0, 3fr)", Beside: "-"}}
	const want = "--cp-wide:1fr 10px minmax(0, 3fr);--cp-medium:1fr minmax(0, 3fr);--cp-narrow:2fr minmax(0, 3fr);--cp-beside:1fr 10px"
	if got := Tracks(heads); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for i, want := range []string{"", " not-medium not-narrow", " not-beside"} {
		if got := heads[i].Hidden(); got != want {
			t.Errorf("column %d: class %q, want %q", i, got, want)
		}
	}
	for name, heads := range map[string][]Head{"stack": Heads(StackColumns), "modules": Heads(ModuleColumns), "missing": Heads(MissingColumns),
		"dumps": Heads(DumpColumns), "groups of dumps": Heads(DumpGroupColumns), "difference": Heads(DifferenceColumns)} {
		for _, h := range heads {
			if h.Width == "" || strings.Contains(h.Class, "num") && h.Title == "" {
				t.Errorf("%s: the column %q has no size or title", name, h.Title)
			}
		}
	}
}

// TestSearchFollowsColumns: a search finds what columns give it, also what their tooltips alone show.
func TestSearchFollowsColumns(t *testing.T) {
	m := ModuleRow{Name: "app", Path: "/opt/app", DebugID: "ABC", CodeID: "def", Frames: 7}
	for query, want := range map[string]bool{"opt": true, "def": true, "abc": true, "7": false, "nothing": false, "": false} {
		if got := Finds(query, m, ModuleColumns); got != want {
			t.Errorf("%q: %v", query, got)
		}
	}
}
