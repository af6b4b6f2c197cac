package app

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestLimitsHaveRows: every limit of a viewer comes from an option of core.js, reaches the page
// through control_js.go, and is documented. A limit that one of them forgets would never be set.
func TestLimitsHaveRows(t *testing.T) {
	core, control := source(t, "../embed/core.js"), source(t, "../../wasm/viewer/control_js.go")
	docs, types := source(t, "../../docs/EMBEDDING.md"), source(t, "../embed/crashpane.d.ts")
	option := regexp.MustCompile(`(\w+): \(given\) => \["(\w+)",`)
	options := map[string]string{}
	for _, m := range option.FindAllStringSubmatch(core, -1) {
		options[m[2]] = m[1]
	}
	limits := reflect.TypeFor[Limits]()
	for i := range limits.NumField() {
		field := limits.Field(i).Name
		if field == "NoNetwork" { // an option of the loader, for pages of every kind
			continue
		}
		name := strings.ToLower(field[:1]) + field[1:]
		attribute := options[name]
		delete(options, name)
		if attribute == "" {
			t.Errorf("no option of web/embed/core.js sets Limits.%s", field)
			continue
		}
		if !strings.Contains(control, field+`: v.Get("`+name+`").Truthy()`) {
			t.Errorf("wasm/viewer/control_js.go does not set Limits.%s", field)
		}
		if !strings.Contains(docs, "| `"+attribute+"` |") || !strings.Contains(types, attribute+"?: boolean;") {
			t.Errorf("the attribute %s is not in docs/EMBEDDING.md and web/embed/crashpane.d.ts", attribute)
		}
	}
	if len(options) > 0 {
		t.Errorf("options of web/embed/core.js that are no Limits: %v", options)
	}
}

func source(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
