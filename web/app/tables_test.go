package app

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

// TestTabsAreNamed: every tab is named where host pages read which there are, and in the test that
// looks for private data on each.
func TestTabsAreNamed(t *testing.T) {
	docs, types := source(t, "../../docs/EMBEDDING.md"), source(t, "../embed/crashpane.d.ts")
	private := source(t, "../../build/browser/embed-data.test.mjs")
	for _, row := range Tabs {
		if !strings.Contains(docs, "`"+row.ID+"`") || !strings.Contains(types, `"`+row.ID+`"`) {
			t.Errorf("docs/EMBEDDING.md or web/embed/crashpane.d.ts does not name the tab %s", row.ID)
		}
		if row.ID != "compare" && !strings.Contains(private, `"`+row.ID+`"`) {
			t.Errorf("build/browser/embed-data.test.mjs does not open the tab %s", row.ID)
		}
	}
}

// TestColumns: the tables' templates have as many titles as cells in a row, and the style sheet
// gives each a width. How narrower windows lay them out is not tested.
func TestColumns(t *testing.T) {
	style := source(t, "../static/css/2-zones.css") + source(t, "../static/css/3-panel.css")
	for name, template := range map[string]string{"stack": "stack", "modules": "modules", "wanted": "missing", "files": "files"} {
		head, rows, _ := strings.Cut(source(t, template+".vugu"), `class="list"`)
		rows, _, _ = strings.Cut(rows, `class="list-empty"`)
		titles, cells := strings.Count(head, `role="columnheader"`), len(regexp.MustCompile(`role="(grid)?cell"`).FindAllString(rows, -1))
		_, room, _ := strings.Cut(style, "\n."+name+" .row {\n  grid-template-columns: ")
		room, _, _ = strings.Cut(room, ";")
		room = regexp.MustCompile(`\([^()]*(\([^()]*\)[^()]*)*\)`).ReplaceAllString(room, "")
		if n := len(strings.Fields(room)); titles == 0 || titles != cells || titles != n {
			t.Errorf("%s: %d titles, %d cells, %d widths", name, titles, cells, n)
		}
	}
}

// TestRepliesHaveCases: the page, or what makes symbol files for it, has a case for every reply.
func TestRepliesHaveCases(t *testing.T) {
	cases := source(t, "page.go") + source(t, "../../wasm/viewer/maker_js.go")
	for _, r := range protocol.Replies() {
		if name := fmt.Sprintf("%T", r); name != "*protocol.IndexingStopped" && !strings.Contains(cases, "case "+name+":") {
			t.Errorf("nothing is done with %s", name)
		}
	}
}
