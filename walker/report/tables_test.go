package report

import (
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/enumtest"
	"github.com/crashpane/crashpane/walker"
)

// TestFindingOrder: every kind of finding has its place among the others. One without would come
// first.
func TestFindingOrder(t *testing.T) {
	kinds := enumtest.Strings[FindingKind](t, ".", "FindingKind")
	for name, k := range kinds {
		if !slices.Contains(kindOrder, k) {
			t.Errorf("%s is not in kindOrder", name)
		}
	}
	if len(kindOrder) != len(kinds) {
		t.Errorf("kindOrder has %d kinds, there are %d", len(kindOrder), len(kinds))
	}
}

// TestChecksHaveWords: every check that a frame can pass is in its explanation.
func TestChecksHaveWords(t *testing.T) {
	r := &Report{Modules: []Module{{Name: "a.so"}}}
	said := map[string]string{}
	for name, k := range enumtest.Strings[walker.CheckKind](t, "..", "CheckKind") {
		out := r.checks(&Frame{}, &walker.Explanation{Checks: []walker.Check{{Kind: k, Number: 8}}})
		if len(out) != 1 || out[0] == "" || said[out[0]] != "" {
			t.Errorf("%s is %q, as %q is", name, out, said[out[0]])
			continue
		}
		said[out[0]] = name
	}
}

// A kernel's version is one word, and zeros are not a version.
func TestSystemVersion(t *testing.T) {
	for words, want := range map[string]string{
		"10.0.19045 ": "10.0.19045", "0.0.0 ": "", "": "", "6.1.0 -18-amd64 #1 SMP": "6.1.0-18-amd64 #1 SMP", "5.15.0-91-generic": "5.15.0-91-generic",
	} {
		if have := (&System{OSVersion: words}).Version(); have != want {
			t.Errorf("%q: %q, want %q", words, have, want)
		}
	}
}
