package walker

import (
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/enumtest"
)

// TestTrustHasWords: every level of trust has a stable word of its own.
func TestTrustHasWords(t *testing.T) {
	words := map[string]string{}
	for name, v := range enumtest.Numbers[Trust](t, ".", "Trust") {
		if w := v.String(); w == "" || words[w] != "" {
			t.Errorf("%s is %q, as %q is", name, w, words[w])
		} else {
			words[w] = name
		}
	}
}

// TestSourcesAreAsked: every source but the thread's context is in Best, and is one that propose
// knows. What Go's runtime saved is asked for when the walk is over and all names are known.
func TestSourcesAreAsked(t *testing.T) {
	for name, src := range enumtest.Strings[Source](t, ".", "Source") {
		if src != SourceContext && src != SourceGo && !slices.Contains(Best.Sources, src) {
			t.Errorf("nobody asks %s", name)
		}
	}
}
