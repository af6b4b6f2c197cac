package app

import (
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Find goes to the next hit of what is searched for, or by -1 to the one before.
func (p *Page) Find(by int) {
	if p.State.Search == "" || p.Empty() {
		return
	}
	at := p.Found.At
	if p.hit > 0 {
		at = p.hit
	}
	if p.hit = at + by; p.hit < 1 || p.Found.Total > 0 && p.hit > p.Found.Total {
		p.hit = 1
		if by < 0 {
			p.hit = max(1, p.Found.Total)
		}
	}
	p.ask(partFound)
}

// tookFound takes how many hits there are, and goes to the one that was asked for.
func (p *Page) tookFound(f *protocol.FoundPage) {
	at := p.Found.At
	p.Found = *f
	if f.At == 0 {
		p.Found.At = min(at, f.Total)
		return
	}
	if p.hit != 0 && f.At == p.hit {
		p.hit = 0
	}
	p.Host.Announce(p.foundText())
	switch h := f.Hit; {
	case h.Tab == "modules":
		p.showModule(itoa(h.Row))
	case h.Tab != "":
		p.selectTab(h.Tab, false)
		list := h.Tab
		if p.gridName() == h.Tab {
			list = "grid"
		}
		if h.Tab == "findings" {
			p.Findings = max(p.Findings, h.Row+1)
		}
		if v, ok := p.visible[list]; ok {
			p.visible[list] = protocol.Span{From: max(0, h.Row-v.Count/2), Count: v.Count}
			p.Host.Reveal(list, h.Row)
			p.ask(partOf[list])
		}
	case h.Thread >= 0 && h.Frame < 0:
		p.seek = true
		p.selectThread(h.Thread)
	case h.Thread >= 0:
		p.seek = true
		if h.Thread != p.State.Thread {
			p.selectThread(h.Thread)
		}
		if p.State.HideInlines {
			h.Inline = -1
		}
		p.selectFrame(h.Frame, h.Inline)
	}
}

// foundText says which hit of how many.
func (p *Page) foundText() string {
	switch f := &p.Found; {
	case p.State.Search == "":
		return ""
	case p.searching:
		return "…"
	case f.Total == 0:
		return "Not found"
	case f.At == 0:
		return view.Number(f.Total) + " found"
	default:
		return view.Number(f.At) + " of " + view.Number(f.Total)
	}
}

// foundTitle says where the hit is.
func (p *Page) foundTitle() string {
	h := p.Found.Hit
	if p.Found.At == 0 {
		return "Enter goes to the next, Shift+Enter to the one before"
	}
	for _, t := range Tabs {
		if t.ID == h.Tab {
			return "In the tab " + t.Title
		}
	}
	if h.Thread >= 0 {
		return "In thread " + itoa(h.Thread)
	}
	return "In the verdict"
}

// marks adds the class of a hit to those of an element with these texts.
func (p *Page) marks(class string, texts ...string) string {
	if p.State.Search != "" && view.Holds(view.Query(p.State.Search), texts...) {
		return class + " hit"
	}
	return class
}
