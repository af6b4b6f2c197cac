package app

import (
	"slices"
	"testing"
	"time"

	"github.com/crashpane/crashpane/web/protocol"
)

// TestBackground: background work is shown without drawing the page, not in its first moment, and
// only when it has changed.
func TestBackground(t *testing.T) {
	p, h, _ := newTestPage("")
	tell := func(g protocol.Progress) {
		g.Background = true
		if say(p, &g) {
			t.Errorf("%+v: the page is drawn", g)
		}
	}
	tell(protocol.Progress{Stage: "walking", Name: "/a/b.dmp", Done: 1, Total: 4})
	if len(h.background) > 0 {
		t.Errorf("in the first moment: %q", h.background)
	}
	p.Work.Background.began = time.Now().Add(-time.Second)
	for _, g := range []protocol.Progress{
		{Stage: "walking", Name: "/a/b.dmp", Done: 1, Total: 4},
		{Stage: "walking", Name: "/a/b.dmp", Done: 10, Total: 40},
		{Stage: "walking", Name: "/a/b.dmp", Done: 3, Total: 4},
		{Stage: "indexing", Name: "x.sym"},
		{Stage: "indexing", Name: "x.sym", Done: 7, Total: 4},
	} {
		tell(g)
	}
	want := []string{"Walking b.dmp 25", "Walking b.dmp 75", "Indexing x.sym -1", "Indexing x.sym 100"}
	if !slices.Equal(h.background, want) {
		t.Errorf("shown: %q", h.background)
	}
	p.Dumps.Open = -1
	say(p, &protocol.Walked{})
	if p.Work.Background.Text != "" {
		t.Errorf("behind it: %q", p.Work.Background.Text)
	}
}
