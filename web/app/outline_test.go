package app

import (
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestOutlineAlone: symbols without a dump are offered on the start screen. Their list is read on until it is complete
// or the user stops it, and nothing is asked before the outline is opened.
func TestOutlineAlone(t *testing.T) {
	p, _, e := newTestPage("")
	p.Reading.Add([]host.File{fakeFile("a.sym")})
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

// symbolsRead has the page read a symbol file without a dump.
func symbolsRead(p *Page, names ...string) {
	var all []protocol.Choice
	for i, name := range names {
		p.Reading.Add([]host.File{fakeFile(name)})
		say(p, &protocol.Added{Items: []protocol.FileRow{{Name: name, Kind: "sym", Usable: true}}})
		all = append(all, protocol.Choice{Item: i, Name: name})
	}
	say(p, &protocol.QueryResult{Files: &protocol.FilePage{Symbols: all}})
	say(p, &protocol.QueryResult{})
}

// TestOutlineInAddress: file, list, address and code of an outline are in the page's address: the same files show the
// same place again, Back leads from one place to the one before, and to the start screen.
func TestOutlineInAddress(t *testing.T) {
	p, h, e := newTestPage("")
	symbolsRead(p, "a.sym", "b.sym")
	p.Act("outline", "1")
	page := &rows.OutlinePage{Item: 1, Name: "b.sym", Listed: true, Ended: true, Selected: -1, Place: &rows.OutlinePlace{Address: "0x00001200"}}
	answer := func() { say(p, &protocol.QueryResult{Overview: protocol.OverviewPage{Outline: page}}) }
	answer()
	p.Input("outline", "tree")
	page.Text = "tree"
	answer()
	p.Act("outline-at", "0x1200")
	answer()
	if p.Act("outline-code", "0x1200"); h.address != "address=0x1200&symbols=b.sym&functions=tree&side=code" {
		t.Fatalf("%q", h.address)
	}
	answer()
	answer()
	if q := last[protocol.Query](e); q.Code == nil || q.Code.Item != 1 || q.Code.At != 0x1200 {
		t.Errorf("the code: %+v", q.Code)
	}
	p.Frame.Code.goTo("0x1300") // a jump
	answer()
	if z := p.Panel.Outline; z.at != 0x1300 || p.State.At != 0x1300 {
		t.Errorf("0x%x, 0x%x", z.at, p.State.At)
	}
	p.Address.Changed("#address=0x1200&symbols=b.sym&functions=tree&side=code")
	if z := p.Panel.Outline; z.at != 0x1200 || !z.alone() || !z.listsCode() || z.text != "tree" {
		t.Errorf("back: %+v", z)
	}
	p.Address.Changed("#symbols=a.sym")
	if z := p.Panel.Outline; z.file != 0 || z.place || z.text != "" || !z.alone() {
		t.Errorf("back to another file: %+v", z)
	}
	if p.Address.Changed(""); p.Panel.Outline.alone() {
		t.Error("back to the start screen")
	}

	// Another page, with the files dropped again.
	p, h, e = newTestPage("#address=0x1200&symbols=b.sym&functions=tree&side=code&list=sources")
	if text := p.Address.startText(); text != "This address is about the functions of b.sym. Drop it to see the same place." {
		t.Errorf("%q", text)
	}
	symbolsRead(p, "a.sym", "b.sym")
	q := last[protocol.Query](e)
	if w := q.Overview.Outline; w == nil || w.Item != 1 || w.At != 0x1200 || !w.Place || w.Text != "tree" || !w.Files || q.Code == nil || q.Code.Item != 1 {
		t.Errorf("%+v %+v", w, q.Code)
	}
	if h.address != "" && h.address != "address=0x1200&symbols=b.sym&functions=tree&side=code&list=sources" {
		t.Errorf("%q", h.address)
	}
	if p.Act("outline-close", ""); h.address != "side=code" || p.Address.startText() != "" {
		t.Errorf("%q, %q", h.address, p.Address.startText())
	}
	// Without the file nothing is shown in its place.
	p, _, _ = newTestPage("#symbols=b.sym")
	if symbolsRead(p, "a.sym"); p.Panel.Outline.alone() {
		t.Error("the outline of another file")
	}
}

// TestCodeLinks: a jump leads to its target, an operand to memory, or without a dump to a function alone.
func TestCodeLinks(t *testing.T) {
	p, _, _ := newTestPage("")
	jump, data, function := rows.CodeRow{Target: "0x401000"}, rows.CodeRow{Target: "0x402000", Data: true}, rows.CodeRow{Target: "0x401000", Data: true, IsCode: true}
	for _, c := range []struct {
		row  rows.CodeRow
		want [2]any // without a dump, with one
	}{{jump, [2]any{"code-go", "code-go"}}, {data, [2]any{nil, "address"}}, {function, [2]any{"address", "address"}}, {rows.CodeRow{}, [2]any{nil, nil}}} {
		if got := p.Frame.Code.goalAct(c.row); got != c.want[0] {
			t.Errorf("%+v without a dump: %v", c.row, got)
		}
		with, _, _ := newTestPage("")
		with.Summary = &rows.Summary{}
		if got := with.Frame.Code.goalAct(c.row); got != c.want[1] {
			t.Errorf("%+v with a dump: %v", c.row, got)
		}
	}
}

// TestLinksNeedTheNetwork: a host page that forbids the network gets no links to sources either.
func TestLinksNeedTheNetwork(t *testing.T) {
	p, _, _ := newTestPage("")
	p.Frame.Code.Path, p.Frame.Code.Link = "x.c", "https://files.example/x.c"
	if got := p.Frame.Code.link(); got != "https://files.example/x.c" {
		t.Errorf("%q", got)
	}
	if p.Limits.NoNetwork = true; p.Frame.Code.link() != "" {
		t.Errorf("no-network: %q", p.Frame.Code.link())
	}
}
