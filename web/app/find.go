package app

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// Search steps through the hits of the text in the header's search field.
type Search struct {
	page      *Page
	hit       int  // number of the hit to go to, from 1; 0 for none
	searching bool // the result is pending
}

// begin resets the hits for another text.
func (z *Search) begin() {
	z.page.Found, z.hit, z.searching = protocol.FoundPage{}, 0, z.page.State.Search != ""
}

// Want implements Zone.
func (z *Search) Want(q *protocol.Query) { q.Find = &protocol.FindQuery{Hit: z.hit} }

// Apply implements Zone.
func (z *Search) Apply(r *protocol.QueryResult) {
	if r.Found != nil {
		z.searching = false
		z.take(r.Found)
	}
}

// Hidden implements Zone.
func (z *Search) Hidden() bool { return z.page.State.Search == "" }

// Find goes to the next hit, or with -1 to the previous one. After the last hit it goes to the
// first.
func (z *Search) Find(by int) {
	if z.page.State.Search == "" || z.page.Empty() {
		return
	}
	at := z.page.Found.At
	if z.hit > 0 {
		at = z.hit
	}
	if z.hit = at + by; z.hit < 1 || z.page.Found.Total > 0 && z.hit > z.page.Found.Total {
		z.hit = 1
		if by < 0 {
			z.hit = max(1, z.page.Found.Total)
		}
	}
	z.page.Screen.Ask(z)
}

// take applies the number of hits, and goes to the requested one.
func (z *Search) take(f *protocol.FoundPage) {
	at := z.page.Found.At
	z.page.Found = *f
	if f.At == 0 {
		z.page.Found.At = min(at, f.Total)
		return
	}
	if z.hit != 0 && f.At == z.hit {
		z.hit = 0
	}
	z.page.Host.Announce(z.text())
	switch h := f.Hit; {
	case h.Tab != "":
		z.page.Panel.goTo(h.Tab, h.Row)
	case h.Thread >= 0 && h.Frame < 0:
		z.page.Screen.Seek = true
		z.page.selectThread(h.Thread)
	case h.Thread >= 0:
		z.page.Screen.Seek = true
		if h.Thread != z.page.State.Thread {
			z.page.selectThread(h.Thread)
		}
		if z.page.State.HideInlines {
			h.Inline = -1
		}
		z.page.selectFrame(h.Frame, h.Inline)
	}
}

// text is "3 of 17", or how many hits there are.
func (z *Search) text() string {
	switch f := &z.page.Found; {
	case z.page.State.Search == "":
		return ""
	case z.searching:
		return "…"
	case f.Total == 0:
		return "Not found"
	case f.At == 0:
		return rows.Number(f.Total) + " found"
	default:
		return rows.Number(f.At) + " of " + rows.Number(f.Total)
	}
}

// title says in which tab or thread the current hit is.
func (z *Search) title() string {
	h := z.page.Found.Hit
	if z.page.Found.At == 0 {
		return "Enter goes to the next hit, Shift+Enter to the previous one"
	}
	for _, t := range Tabs {
		for _, part := range t.Parts {
			if part.ID == h.Tab {
				return "In " + t.Title + ": " + part.Title
			}
		}
	}
	if h.Thread >= 0 {
		return "In thread " + strconv.Itoa(h.Thread)
	}
	return "In the verdict"
}

// search starts a search for a text.
func (z *Search) search(text string) {
	z.page.State.Search = text
	z.begin()
	z.page.Address.write()
	z.page.Screen.Ask(&z.page.Threads, &z.page.Stack, z.page.Panel.Modules, z.page.Panel.tab("threads"), z)
}
