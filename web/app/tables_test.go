package app

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/app/tabs"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestTabsAreNamed: every part of a tab is named where host pages read which there are.
func TestTabsAreNamed(t *testing.T) {
	docs, types := source(t, "../../docs/EMBEDDING.md"), source(t, "../embed/crashpane.d.ts")
	for _, tab := range Tabs {
		for _, part := range tab.Parts {
			if !strings.Contains(docs, fmt.Sprintf("\n| `%s` | %s | %s |\n", part.ID, tab.Title, part.Title)) || !strings.Contains(types, `"`+part.ID+`"`) {
				t.Errorf("docs/EMBEDDING.md or web/embed/crashpane.d.ts does not name the part %s of %s", part.ID, tab.Title)
			}
		}
	}
}

// TestGridsAreOpened: the engine has a table for each part that shows one, and each table has its part.
func TestGridsAreOpened(t *testing.T) {
	_, table, _ := strings.Cut(source(t, "../../wasm/engine/grids.go"), "var gridTables = ")
	table, _, _ = strings.Cut(table, "\n}\n")
	var has, shown []string
	for _, row := range regexp.MustCompile(`(?m)^\t\{"(\w+)"`).FindAllStringSubmatch(table, -1) {
		has = append(has, row[1])
	}
	p, _, _ := newTestPage("")
	for i, part := range Parts() {
		if _, ok := p.Panel.tabs[i].(*tabs.Grid); ok {
			shown = append(shown, part.ID)
		}
	}
	slices.Sort(has)
	slices.Sort(shown)
	if len(has) < 4 || !slices.Equal(has, shown) {
		t.Errorf("gridTables in wasm/engine has %q, Tabs has grids for %q", has, shown)
	}
}

// TestHarnessKnowsTabs: the browser tests open every part by its tab.
func TestHarnessKnowsTabs(t *testing.T) {
	harness := source(t, "../../build/browser/harness.mjs")
	for _, tab := range Tabs {
		var ids []string
		for _, part := range tab.Parts {
			ids = append(ids, fmt.Sprintf("%q", part.ID))
		}
		if row := fmt.Sprintf("\n  %s: [%s],\n", tab.Parts[0].ID, strings.Join(ids, ", ")); !strings.Contains(harness, row) {
			t.Errorf("build/browser/harness.mjs lacks the row%s", row)
		}
	}
}

// TestOldTabNames: addresses and host pages that have the name of a tab that is a part now open that
// part, with its tab, and buttons that name it do.
func TestOldTabNames(t *testing.T) {
	for name, tab := range map[string]string{
		"modules": "Modules", "wanted": "Modules", "files": "Modules", "findings": "Findings", "compare": "Findings", "log": "Findings",
		"system": "System", "streams": "System", "handles": "System", "annotations": "System", "memory": "Memory",
	} {
		address, _, e := newTestPage("#tab=" + name)
		drop(address, e)
		selected, _, e := newTestPage("")
		drop(selected, e)
		selected.Have = []string{name}
		selected.Select(-1, -1, name, "")
		acted, _, e := newTestPage("")
		drop(acted, e)
		acted.Have = []string{name}
		acted.Act("show", name)
		for how, p := range map[string]*Page{"address": address, "select": selected, "button": acted} {
			if p.State.Tab != name && (how != "address" || !p.Panel.disabled(name)) || how != "address" && tabOf(p.State.Tab).Title != tab {
				t.Errorf("%s: %s opened %q of %s", how, name, p.State.Tab, tabOf(p.State.Tab).Title)
			}
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
