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
