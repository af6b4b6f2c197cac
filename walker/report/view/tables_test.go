package view

import (
	"testing"

	"github.com/crashpane/crashpane/core/enumtest"
	"github.com/crashpane/crashpane/walker/report"
)

// TestFindingsHaveTitles: every kind of finding has a title of its own on the page, and not its stable word.
func TestFindingsHaveTitles(t *testing.T) {
	titles := map[string]string{}
	for name, k := range enumtest.Strings[report.FindingKind](t, "..", "FindingKind") {
		title := findingTitle(k)
		if title == string(k) || titles[title] != "" {
			t.Errorf("the title of %s is %q, as of %q", name, title, titles[title])
		}
		titles[title] = name
	}
}
