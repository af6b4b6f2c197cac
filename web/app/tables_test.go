package app

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

// TestTabsAreNamed: every tab is named where host pages read which there are.
func TestTabsAreNamed(t *testing.T) {
	docs, types := source(t, "../../docs/EMBEDDING.md"), source(t, "../embed/crashpane.d.ts")
	for _, row := range Tabs {
		if !strings.Contains(docs, "`"+row.ID+"`") || !strings.Contains(types, `"`+row.ID+`"`) {
			t.Errorf("docs/EMBEDDING.md or web/embed/crashpane.d.ts does not name the tab %s", row.ID)
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
