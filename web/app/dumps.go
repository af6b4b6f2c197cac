package app

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/protocol"
)

// maxDumps bounds the menu of dumps, which is drawn completely.
const maxDumps = 500

// Dumps is the menu of dumps.
type Dumps struct {
	page *Page
	List []protocol.DumpName
	Open int // number of the open dump
	// Table is what the page shows in place of the zones of a dump.
	Table DumpTable
}

// show opens a dump. With keep, the thread and frame stay as the address has them.
func (z *Dumps) show(dump int, keep bool) {
	z.Open, z.page.Screen.Pace.opening, z.page.State.Table = dump, true, false
	z.page.forget()
	for _, d := range z.List {
		if d.Dump == dump {
			z.page.State.DumpName, z.page.State.DumpID = d.Name, d.ID
		}
	}
	if !keep {
		z.page.State.Signature = ""
		z.page.State.Thread, z.page.State.Frame, z.page.State.Inline, z.page.State.At, z.page.Screen.top = -1, 0, -1, 0, true
		z.page.State.Search, z.page.State.ThreadFilter, z.page.State.OutlineState = "", "", state.OutlineState{}
	}
	for _, l := range z.page.Screen.lists {
		if l.zone != Zone(&z.Table) {
			l.list.Visible.From = 0
		}
	}
	z.page.Host.Reveal("threads", 0)
	z.page.Host.Reveal("stack", 0)
	z.page.Address.write()
	z.page.Screen.askAll()
}

// add adds the new dumps of an answer to the list, and returns them.
func (z *Dumps) add(r *protocol.Added) (news []protocol.DumpName) {
	if r.All <= len(r.Dumps) { // all of them
		news = r.Dumps[min(len(z.List), len(r.Dumps)):]
		z.List = r.Dumps
		return news
	}
	for _, d := range r.Dumps {
		z.List = append(z.List, d)
		// One that was closed before comes to its place again.
		for i := len(z.List) - 1; i > 0 && z.List[i-1].Dump > d.Dump; i-- {
			z.List[i-1], z.List[i] = z.List[i], z.List[i-1]
		}
	}
	return r.Dumps
}

// many reports whether there are so many that their table is the way from one to another.
func (z *Dumps) many() bool { return len(z.List) > fewDumps }

// closeOpen closes the open dump. Its symbols stay, because another dump may need them.
func (z *Dumps) closeOpen() {
	if !z.page.Empty() {
		z.page.Reading.decide(&protocol.CloseDump{Dump: z.Open})
	}
}

// closed applies the remaining dumps, and opens one of them if the closed one was open.
func (z *Dumps) closed(r *protocol.Closed) {
	z.List = r.Dumps
	if z.Table.Open() {
		z.Table.shown()
		return
	}
	for _, d := range z.List {
		if d.Dump == z.Open && !z.page.State.Table {
			return
		}
	}
	if len(z.List) > 0 {
		z.show(z.List[0].Dump, false)
		return
	}
	z.page.Reading.forget()
	z.page.State.DumpName, z.page.State.DumpID, z.page.State.Signature = "", "", ""
	z.page.Address.write()
	z.page.Screen.ask(z.page.Panel.Files)
}

// again handles a dump that was added before, and that the user may have closed since: it opens it,
// and says that it is the same.
func (z *Dumps) again(r *protocol.Added) {
	same := r.Same - 1
	z.page.Reading.decisions = slices.DeleteFunc(z.page.Reading.decisions, func(d protocol.Request) bool {
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
func (z *Dumps) match(s state.State) (dump int, ok bool) {
	for _, d := range z.List {
		if s.DumpID != "" && d.ID == s.DumpID || s.DumpID == "" && s.DumpName != "" && d.Name == s.DumpName {
			return d.Dump, true
		}
	}
	return z.List[0].Dump, false
}

// documentTitle is the title of the browser's tab.
func (z *Dumps) documentTitle() string {
	switch {
	case z.page.Dumps.Table.Open():
		return rows.Number(len(z.List)) + " dumps – Crashpane"
	case z.page.Summary == nil:
		return "Crashpane"
	}
	return z.page.Summary.Name + " – Crashpane"
}

// title is the text of the menu's button.
func (z *Dumps) title() string {
	if z.page.Summary == nil {
		return ""
	}
	for i, d := range z.List {
		if d.Dump == z.Open && len(z.List) > 1 {
			return fmt.Sprintf("%s (%d of %d)", z.page.Summary.Name, i+1, len(z.List))
		}
	}
	return z.page.Summary.Name
}

// choices returns the items of the menu, while it is open.
func (z *Dumps) choices() []protocol.DumpName {
	if z.page.Menus.Open != "dumps" {
		return nil
	}
	return z.List[:min(len(z.List), maxDumps)]
}
