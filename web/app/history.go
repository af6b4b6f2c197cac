package app

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/state"
)

// parseState reads the page's address. Of tabs that there are not it keeps the usual ones.
func parseState(hash string) state.State {
	s, usual := state.Parse(hash), state.New()
	if tabOf(s.Tab).Title == "" {
		s.Tab = usual.Tab
	}
	if !isSide(s.Side) {
		s.Side = usual.Side
	}
	return s
}

// Address keeps the state in the page's address.
type Address struct {
	page  *Page
	place state.State // the place last written
	// linked is the state of an address that was opened before its dump was.
	linked state.State
}

// refresh writes a new signature to the address, which stays the same place. That is the dump's start
// until the user selects something, also if the stack shows by now what that is.
func (z *Address) refresh() {
	s := z.page.State
	if z.page.Screen.Top {
		s.Thread, s.Frame, s.Inline = z.place.Thread, 0, -1
	}
	z.page.Host.SetAddress(s.Address(), false)
}

// follow opens the dump that the address was about when it came, at its place, and reports whether
// it is there now.
func (z *Address) follow() bool {
	dump, ok := z.page.Menu.match(z.linked)
	if !ok {
		return false
	}
	s, now := z.linked, &z.page.State
	s.Theme, s.Policy = now.Theme, now.Policy
	*now, z.linked = s, state.State{}
	z.page.Screen.Top, z.page.Screen.Seek = s.Thread < 0, true
	z.page.Menu.show(dump, true)
	return true
}

// isAbout names the dump that the page's address is about, if it is not there yet, or returns "".
func (z *Address) isAbout() string {
	var parts []string
	for _, part := range [][2]string{{"", z.linked.DumpName}, {"id ", z.linked.DumpID}, {"signature ", z.linked.Signature}} {
		if part[1] != "" {
			parts = append(parts, part[0]+rows.Clean(part[1]))
		}
	}
	return strings.Join(parts, ", ")
}

// startText says on the start screen which file to drop, or is "".
func (z *Address) startText() string {
	if name := z.linked.Outline; name != "" && z.linked.DumpID == "" && z.linked.DumpName == "" {
		return "This address is about the functions of " + rows.Clean(name) + ". Drop it to see the same place."
	}
	if what := z.isAbout(); what != "" {
		return "This address is about a dump that is not open: " + what + ". Drop it to see the same place."
	}
	return ""
}

// copyLink copies the address of what is shown. Without names it has neither the dump's file name nor
// anything else from the dump, but its id.
func (z *Address) copyLink(names bool) {
	s := z.page.State
	if !names {
		s.DumpName, s.Signature, s.Search, s.ThreadFilter, s.OutlineState = "", "", "", "", state.OutlineState{}
	}
	z.page.Notices.Copy(z.page.Host.Link(s.Address()), "Link copied")
}

// write writes the state to the address, and notifies the host page. With the first dump it waits
// until its stack is there (Pace.show): the browser handles a new address like a visit, in
// several processes, which takes about 40 ms of two cores.
func (z *Address) write() {
	if !z.page.Empty() || len(z.page.Dumps.List) == 0 || z.page.State.Table {
		z.set()
	}
	z.page.HostPage.notify(Event{Kind: EventSelect, State: z.page.State})
}

// set writes the state to the address. Another place makes an entry of the history, except the
// first one.
func (z *Address) set() {
	place := z.page.State.Place()
	z.page.Host.SetAddress(z.page.State.Address(), (!z.page.Empty() || z.place.Table || z.place.Outline != "" || place.Outline != "") && place != z.place)
	z.place = place
}

// Changed applies an address that the user has typed or gone back to.
func (z *Address) Changed(hash string) {
	s := parseState(hash)
	if s.DumpID == z.page.State.DumpID {
		s.Signature = z.page.State.Signature // an entry of the history may have one from before symbols came
	}
	if s.Address() == z.page.State.Address() {
		return
	}
	theme, policy := z.page.State.Theme, z.page.State.Policy
	z.page.State, z.place = s, s.Place()
	if z.page.State.Theme == "" {
		z.page.State.Theme = theme
	}
	z.page.Host.SetTheme(z.page.State.Theme)
	if s.Policy != policy {
		z.page.setPolicy(s.Policy)
	}
	z.page.Panel.Outline.restored = false
	if len(z.page.Dumps.List) == 0 {
		z.linked = s
		z.page.Panel.Outline.reopen()
	} else if s.Table {
		z.page.Table.shown()
	} else if dump, _ := z.page.Menu.match(s); dump != z.page.Dumps.Open {
		z.page.Dumps.Open = dump
		z.page.forget()
	}
	z.page.Search.begin()
	z.page.Screen.Top, z.page.Screen.Seek = s.Thread < 0, true
	z.page.Screen.AskAll()
}
