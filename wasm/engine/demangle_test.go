package engine

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

// TestDemangleOption: names in rows and exports are demangled with the engine's option.
func TestDemangleOption(t *testing.T) {
	const readable = "a readable name"
	k := newTalkWith(t, Options{Demangle: func(string) string { return readable }})
	k.addSample("tilecruncher.dmp", "tilecruncher.sym.gz")
	r := k.screen(-1)
	for _, f := range functionsOf(r.Stack) {
		if f != readable && f != "" && !strings.HasPrefix(f, "0x") && !strings.Contains(f, "+0x") {
			t.Errorf("%q in a row", f)
		}
	}
	if x, _ := k.export(protocol.ExportJSON, r.Stack.Thread); !strings.Contains(x.Text, `"demangled": "`+readable+`"`) {
		t.Errorf("no readable name in %.300s", x.Text)
	}
}
