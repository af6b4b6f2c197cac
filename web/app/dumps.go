package app

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// DumpMenu is the menu of dumps, and opens and closes them.
type DumpMenu struct{ page *Page }

// show opens a dump. With keep, the thread and frame stay as the address has them.
func (z *DumpMenu) show(dump int, keep bool) {
	z.page.Dumps.Open, z.page.Screen.Opening, z.page.State.Table = dump, true, false
	z.page.forget()
	for _, d := range z.page.Dumps.List {
		if d.Dump == dump {
			z.page.State.DumpName, z.page.State.DumpID = d.Name, d.ID
		}
	}
	if !keep {
		z.page.State.Signature = ""
		z.page.State.Thread, z.page.State.Frame, z.page.State.Inline, z.page.State.At, z.page.Screen.Top = -1, 0, -1, 0, true
		z.page.State.Search, z.page.State.ThreadFilter, z.page.State.OutlineState = "", "", state.OutlineState{}
	}
	for _, l := range z.page.Screen.Lists {
		if l.Zone != zone.Zone(&z.page.Table) {
			l.List.Visible.From = 0
		}
	}
	z.page.Host.Reveal("threads", 0)
	z.page.Host.Reveal("stack", 0)
	z.page.Address.write()
	z.page.Screen.AskAll()
}

// add adds the new dumps of an answer to the list, and returns them.
func (z *DumpMenu) add(r *protocol.Added) (news []protocol.DumpName) {
	if r.All <= len(r.Dumps) { // all of them
		news = r.Dumps[min(len(z.page.Dumps.List), len(r.Dumps)):]
		z.page.Dumps.List = r.Dumps
		return news
	}
	for _, d := range r.Dumps {
		z.page.Dumps.List = append(z.page.Dumps.List, d)
		// One that was closed before comes to its place again.
		for i := len(z.page.Dumps.List) - 1; i > 0 && z.page.Dumps.List[i-1].Dump > d.Dump; i-- {
			z.page.Dumps.List[i-1], z.page.Dumps.List[i] = z.page.Dumps.List[i], z.page.Dumps.List[i-1]
		}
	}
	return r.Dumps
}

// many reports whether there are so many that their table is the way from one to another.
func (z *DumpMenu) many() bool { return len(z.page.Dumps.List) > fewDumps }

// closeOpen closes the open dump. Its symbols stay, because another dump may need them.
func (z *DumpMenu) closeOpen() {
	if !z.page.Empty() {
		z.page.Reading.decide(&protocol.CloseDump{Dump: z.page.Dumps.Open})
	}
}

// closed applies the remaining dumps, and opens one of them if the closed one was open.
func (z *DumpMenu) closed(r *protocol.Closed) {
	z.page.Dumps.List = r.Dumps
	if z.page.Table.Open() {
		z.page.Table.shown()
		return
	}
	for _, d := range z.page.Dumps.List {
		if d.Dump == z.page.Dumps.Open && !z.page.State.Table {
			return
		}
	}
	if len(z.page.Dumps.List) > 0 {
		z.show(z.page.Dumps.List[0].Dump, false)
		return
	}
	z.page.Reading.forget()
	z.page.State.DumpName, z.page.State.DumpID, z.page.State.Signature = "", "", ""
	z.page.Address.write()
	z.page.Screen.Ask(z.page.Panel.Files)
}

// again handles a dump that was added before, and that the user may have closed since: it opens it,
// and says that it is the same.
func (z *DumpMenu) again(r *protocol.Added) {
	same := r.Same - 1
	z.page.Decisions = slices.DeleteFunc(z.page.Decisions, func(d protocol.Request) bool {
		c, ok := d.(*protocol.CloseDump)
		return ok && c.Dump == same
	})
	for _, it := range r.Items {
		if it.Dump >= 0 && it.Message != "" {
			z.page.Notices.Show("note", it.Message+".")
		}
	}
	if !z.page.Reading.Job.shown {
		z.page.Reading.Job.shown = true
		z.show(same, false)
	}
}

// match returns the number of the dump that an address is about: the one with its id, or of an address
// without one the one with its name. It is the first one, and ok is false, if neither is there.
func (z *DumpMenu) match(s state.State) (dump int, ok bool) {
	for _, d := range z.page.Dumps.List {
		if s.DumpID != "" && d.ID == s.DumpID || s.DumpID == "" && s.DumpName != "" && d.Name == s.DumpName {
			return d.Dump, true
		}
	}
	return z.page.Dumps.List[0].Dump, false
}

// documentTitle is the title of the browser's tab.
func (z *DumpMenu) documentTitle() string {
	switch {
	case z.page.Table.Open():
		return rows.Number(len(z.page.Dumps.List)) + " dumps – Crashpane"
	case z.page.Summary == nil:
		return "Crashpane"
	}
	return z.page.Summary.Name + " – Crashpane"
}

// title is the text of the menu's button.
func (z *DumpMenu) title() string {
	if z.page.Summary == nil {
		return ""
	}
	for i, d := range z.page.Dumps.List {
		if d.Dump == z.page.Dumps.Open && len(z.page.Dumps.List) > 1 {
			return fmt.Sprintf("%s (%d of %d)", z.page.Summary.Name, i+1, len(z.page.Dumps.List))
		}
	}
	return z.page.Summary.Name
}

// choices returns the items of the menu, while it is open.
func (z *DumpMenu) choices() []protocol.DumpName {
	if z.page.Menus.Open != "dumps" {
		return nil
	}
	return z.page.Dumps.List[:min(len(z.page.Dumps.List), zone.MaxDumps)]
}
