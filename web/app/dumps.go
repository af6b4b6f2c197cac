package app

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/web/protocol"
)

// maxDumps bounds the list of dumps, which is no window.
const maxDumps = 500

// Dumps are the dumps of the switcher.
type Dumps struct {
	page *Page
	List []protocol.DumpName
	Open int // the number of the selected one
}

// show shows a dump. keep leaves thread and frame as the address had them.
func (z *Dumps) show(dump int, keep bool) {
	z.Open, z.page.Screen.opening = dump, true
	z.page.forget()
	for _, d := range z.List {
		if d.Dump == dump {
			z.page.State.DumpName = d.Name
		}
	}
	if !keep {
		z.page.State.Thread, z.page.State.Frame, z.page.State.Inline, z.page.Screen.top = -1, 0, -1, true
		z.page.State.Search, z.page.State.ThreadFilter = "", ""
	}
	for _, l := range z.page.Screen.lists {
		l.visible.From = 0
	}
	z.page.Host.Reveal("threads", 0)
	z.page.Host.Reveal("stack", 0)
	z.page.Address.write()
	z.page.Screen.askAll()
}

// closeOpen leaves the open dump out. Its symbols stay: they may be those of another one.
func (z *Dumps) closeOpen() {
	if !z.page.Empty() {
		z.page.Reading.decide(&protocol.CloseDump{Dump: z.Open})
	}
}

// closed takes the dumps that are left, and shows one of them if the closed one was shown.
func (z *Dumps) closed(r *protocol.Closed) {
	z.List = r.Dumps
	for _, d := range z.List {
		if d.Dump == z.Open {
			return
		}
	}
	if len(z.List) > 0 {
		z.show(z.List[0].Dump, false)
		return
	}
	z.page.Reading.forget()
	z.page.State.DumpName = ""
	z.page.Address.write()
	z.page.Screen.ask(z.page.Panel.Files)
}

// again shows a dump that was there already, which the user may have closed, and says so.
func (z *Dumps) again(r *protocol.Added) {
	same := r.Same - 1
	z.page.Reading.decided = slices.DeleteFunc(z.page.Reading.decided, func(d protocol.Request) bool {
		c, ok := d.(*protocol.CloseDump)
		return ok && c.Dump == same
	})
	for _, it := range r.Items {
		if it.Dump >= 0 && it.Message != "" {
			z.page.Notices.say("note", it.Message+".")
		}
	}
	if !z.page.Reading.Job.shown {
		z.page.Reading.Job.shown = true
		z.show(same, false)
	}
}

func (z *Dumps) has(name string) bool {
	for _, d := range z.List {
		if d.Name == name {
			return true
		}
	}
	return false
}

// named is the number of a dump, the first one if there is none of that name.
func (z *Dumps) named(name string) int {
	for _, d := range z.List {
		if d.Name == name {
			return d.Dump
		}
	}
	return z.List[0].Dump
}

// documentTitle is the document's.
func (z *Dumps) documentTitle() string {
	if z.page.Summary == nil {
		return "Crashpane"
	}
	return z.page.Summary.Name + " – Crashpane"
}

// title is the name of the open dump.
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

// choices are the dumps of the switcher, while it is open.
func (z *Dumps) choices() []protocol.DumpName {
	if z.page.Menus.Open != "dumps" {
		return nil
	}
	return z.List[:min(len(z.List), maxDumps)]
}
