package app

import (
	"fmt"
	"strings"
	"testing"

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
