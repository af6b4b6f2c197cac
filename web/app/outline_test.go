package app

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestOutlineAlone: symbols without a dump are offered on the start screen. Their list is read on until it is complete
// or the user stops it, and nothing is asked before the outline is opened.
func TestOutlineAlone(t *testing.T) {
	p, _, e := newTestPage("")
	p.Reading.Add([]File{fakeFile("a.sym")})
	say(p, &protocol.Added{Items: []protocol.FileRow{{Name: "a.sym", Kind: "sym", Usable: true}}})
	say(p, &protocol.QueryResult{Files: &protocol.FilePage{Symbols: []protocol.Choice{{Item: 0, Name: "a.sym"}}}})
	if q := last[protocol.Query](e); q == nil || q.Overview.Outline != nil {
		t.Fatalf("before it is opened: %+v", q)
	}
	if z := p.Panel.Outline; len(offeredOutlines(z)) != 1 || z.alone() {
		t.Fatalf("%+v", z)
	}
	p.Act("outline", "0")
	say(p, &protocol.QueryResult{}) // of what was asked before
	q := last[protocol.Query](e)
	if q.Overview.Outline == nil || q.Overview.Outline.List || q.Overview.Outline.Item != 0 || !p.Panel.Outline.alone() {
		t.Fatalf("first: %+v", q.Overview.Outline)
	}
	page := &rows.OutlinePage{Name: "a.sym", Selected: -1}
	say(p, &protocol.QueryResult{Overview: protocol.OverviewPage{Outline: page}})
	if q = last[protocol.Query](e); !q.Overview.Outline.List {
		t.Fatalf("then: %+v", q.Overview.Outline)
	}
	part := &rows.OutlinePage{Name: "a.sym", Listed: true, Selected: -1, Rows: []rows.OutlineRow{{Address: "0x1000", Name: "f"}}}
	part.Total = 1
	sent := len(e.sent)
	say(p, &protocol.QueryResult{Overview: protocol.OverviewPage{Outline: part}})
	if len(e.sent) == sent {
		t.Error("it is not read on")
	}
	p.Panel.Outline.stop()
	sent = len(e.sent)
	say(p, &protocol.QueryResult{Overview: protocol.OverviewPage{Outline: part}})
	if len(e.sent) != sent {
		t.Error("it is read on after it was stopped")
	}
	p.Input("outline", "0x1010")
	if q = last[protocol.Query](e); !q.Overview.Outline.Place || q.Overview.Outline.At != 0x1010 || q.Overview.Outline.Text != "" {
		t.Errorf("an address: %+v", q.Overview.Outline)
	}
	p.Act("outline-close", "")
	if p.Panel.Outline.alone() {
		t.Error("it is still shown")
	}
}
