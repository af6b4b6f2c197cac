package text

import (
	"testing"

	"github.com/crashpane/crashpane/core/enumtest"
	"github.com/crashpane/crashpane/walker"
)

// TestTrustHasBreakpadsWords: every level of trust but none has Breakpad's words.
func TestTrustHasBreakpadsWords(t *testing.T) {
	for name, v := range enumtest.Numbers[walker.Trust](t, "../..", "Trust") {
		if w := trustWords(v.String()); (w == "unknown") != (v == walker.TrustNone) {
			t.Errorf("%s is %q", name, w)
		}
	}
}

// TestSourcesHaveWords: every source has words of its own in the explanation of a frame, and not
// its stable word.
func TestSourcesHaveWords(t *testing.T) {
	words := map[string]string{}
	for name, s := range enumtest.Strings[walker.Source](t, "../..", "Source") {
		w := sourceWords(string(s))
		if w == string(s) && s != walker.SourceContext || words[w] != "" {
			t.Errorf("the words of %s are %q, as of %q", name, w, words[w])
		}
		words[w] = name
	}
}
