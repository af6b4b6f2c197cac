package app

import (
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/app/zone"
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
	limits := reflect.TypeFor[zone.Limits]()
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

// TestForbiddenIsHidden: what a host page may forbid has a rule in the style sheet that hides it.
func TestForbiddenIsHidden(t *testing.T) {
	style := source(t, "../embed/embed.css")
	p, _, _ := newTestPage("")
	for _, a := range p.actions {
		if a.limit != nil && !strings.Contains(style, `[data-act="`+a.id+`"]`) {
			t.Errorf("web/embed/embed.css does not hide the action %s", a.id)
		}
	}
	for _, in := range inputTable {
		word, _, _ := strings.Cut(in.field, "-")
		if in.limit != nil && !strings.Contains(style, `[data-input="`+in.field+`"]`) && !strings.Contains(style, `[data-input^="`+word) {
			t.Errorf("web/embed/embed.css does not hide the field %s", in.field)
		}
	}
}

// TestAttributesAreDocumented: every attribute of the element, and every option of the frame's
// address and of its messages, is in the documentation and the types.
func TestAttributesAreDocumented(t *testing.T) {
	core, element, frame := source(t, "../embed/core.js"), source(t, "../embed/element.js"), source(t, "../embed/embed.js")
	docs, types := source(t, "../../docs/EMBEDDING.md"), source(t, "../embed/crashpane.d.ts")
	// names are what a pattern's group finds between two texts.
	names := func(text, from, to, pattern string) (out []string) {
		_, rest, _ := strings.Cut(text, from)
		rest, _, _ = strings.Cut(rest, to)
		for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(rest, -1) {
			out = append(out, m[1])
		}
		return out
	}
	limits := names(core, "const limiting = {", "};", `(\w+): \(`)
	options := slices.Concat(limits, names(frame, "const known = new Set([", "]", `"(\w+)"`))
	address := slices.Concat(options, names(frame, "", "\x00", `parameters\.(?:has|get)\("(\w+)"`))
	attributes := slices.Concat(limits, names(element, "observedAttributes = [", "]", `"(\w+)"`), names(element, "", "\x00", `this\.(?:has|get)Attribute\("(\w+)"`))
	for _, c := range []struct {
		names, in   []string
		what, where string
	}{
		{attributes, names(docs, "### Attributes", "### Methods", "`(\\w+)`"), "attributes", "docs/EMBEDDING.md"},
		{attributes, names(types, "Attributes:", "*/", `(\w+)`), "attributes", "the comment of CrashPaneElement in crashpane.d.ts"},
		{address, names(docs, "may have options after", "\n\n", "`(\\w+)"), "options of the frame's address", "docs/EMBEDDING.md"},
		{options, names(docs, "| `options: {", "}", `(\w+)`), "options in the frame's messages", "docs/EMBEDDING.md"},
		{options, append(names(types, "export interface Place ", "\n}", `(\w+)\?:`), names(types, "export interface FrameOptions ", "\n}", `(\w+)\?:`)...), "fields of FrameOptions", "crashpane.d.ts"},
	} {
		for _, name := range c.names {
			if !slices.Contains(c.in, name) {
				t.Errorf("%s is not among the %s of %s", name, c.what, c.where)
			}
		}
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
