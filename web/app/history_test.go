package app

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/protocol"
)

func TestStateOfAnyAddress(t *testing.T) {
	for _, hash := range []string{"#thread=-5&frame=x&tab=nonsense&side=up", "#%zz", "#thread=99999999999999999999", "#=&&&"} {
		if got := parseState(hash); got != state.New() {
			t.Errorf("%q: %+v", hash, got)
		}
	}
	if got := state.Parse("#theme=dark"); got.Theme != "dark" {
		t.Errorf("theme %q", got.Theme)
	}
}

// TestLowWindow: in a low window the panel is only its tabs, until the user or the address asks for one.
func TestLowWindow(t *testing.T) {
	for _, c := range []struct {
		address string
		act     func(p *Page)
		folded  bool
		written string // a part of the address
	}{
		{"", func(*Page) {}, true, ""},
		{"", func(p *Page) { p.Act("tab", state.UsualTab) }, false, "panel=open"},
		{"", func(p *Page) { p.Act("tab", state.UsualTab); p.Act("tab", state.UsualTab) }, true, "panel=closed"},
		{"", func(p *Page) { p.Act("show", "files") }, false, "panel=open"},
		{"", func(p *Page) { p.Layout.Resize("panel", 200) }, false, ""},
		{"#tab=files", func(*Page) {}, false, "tab=files"},
		{"#panel=open", func(*Page) {}, false, "panel=open"},
		{"#tab=files&panel=closed", func(*Page) {}, true, "panel=closed"},
	} {
		p, h, e := newTestPage(c.address)
		h.low = true
		drop(p, e)
		c.act(p)
		if out := render(t, p); p.Folded() != c.folded || strings.Contains(out, `class="main folded"`) != c.folded || !strings.Contains(h.address, c.written) {
			t.Errorf("%+v: folded %v, address %q", c, p.Folded(), h.address)
		}
	}
}

// TestAddressOfAbsentDump: the start screen says which dump the address is about. That dump is known
// by its id whatever its name is, and opened at the place; another is opened at its start.
func TestAddressOfAbsentDump(t *testing.T) {
	const about = "This address is about a dump that is not open: a.dmp, id 77, signature crash_here. Drop it to see the same place."
	added := func(p *Page, names ...protocol.DumpName) {
		p.Reading.Add([]host.File{fakeFile(names[len(names)-1].Name)})
		for i := range names {
			names[i].Dump = i
		}
		p.Reading.added(&protocol.Added{Items: []protocol.FileRow{{Name: "x", Usable: true, Dump: len(names) - 1}}, Dumps: names}, "")
	}
	const link = "#dump=a.dmp&id=77&crash=crash_here&thread=3&frame=2"
	p, _, _ := newTestPage(link)
	if out := render(t, p); !strings.Contains(out, about) {
		t.Errorf("%s", out)
	}
	added(p, protocol.DumpName{Name: "copy.dmp", ID: "77"})
	if s := p.State; s.Thread != 3 || s.Frame != 2 || s.DumpName != "copy.dmp" || p.Address.isAbout() != "" || len(p.Notices.List) != 0 {
		t.Errorf("%+v %v", s, p.Notices.List)
	}

	p, _, _ = newTestPage(link)
	other := protocol.DumpName{Name: "a.dmp", ID: "88"}
	added(p, other)
	if s := p.State; s.Thread != -1 || s.Signature != "" || len(p.Notices.List) != 1 || p.Notices.List[0].Text != "This is not the dump of the address, which is a.dmp, id 77, signature crash_here." {
		t.Errorf("%+v %v", s, p.Notices.List)
	}
	p.Reading.finish()
	added(p, other, protocol.DumpName{Name: "copy.dmp", ID: "77"})
	if s := p.State; s.Thread != 3 || s.DumpID != "77" || p.Dumps.Open != 1 {
		t.Errorf("%+v, dump %d", s, p.Dumps.Open)
	}

	// An address without an id, as they were earlier, goes by the name.
	p, _, _ = newTestPage("#dump=a.dmp&thread=3")
	added(p, other)
	if p.State.Thread != 3 {
		t.Errorf("%+v", p.State)
	}
}

// TestLinks: a link without names has nothing from the dump but its id.
func TestLinks(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	p.State = state.State{DumpName: "customer.dmp", DumpID: "77", Signature: "secret", Search: "token", ThreadFilter: "x", OutlineState: state.OutlineState{Outline: "customer.sym", Functions: "y"}, Thread: 3, Frame: 2, Inline: -1, Tab: "files", Side: "why"}
	p.Act("copy-link", "")
	if h.copied != "https://x.example/#id=77&thread=3&frame=2&tab=files&side=why" {
		t.Errorf("%s", h.copied)
	}
	p.Act("copy-link", "names")
	if !strings.Contains(h.copied, "dump=customer.dmp&id=77&crash=secret") {
		t.Errorf("%s", h.copied)
	}
}
