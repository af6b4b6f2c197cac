package app

// Address is the state in the address of the page.
type Address struct {
	page  *Page
	place State // that it was last given
}

// write writes the state where a link can be copied from; for the first dump when its stack is there (took): to the browser an address is a
// visit, of which several processes hear, some 40 ms of what both cores do.
func (z *Address) write() {
	if !z.page.Empty() || len(z.page.Dumps.List) == 0 {
		z.set()
	}
	z.page.Around.tell(Event{Kind: EventSelect, State: z.page.State})
}

// set writes the state. Another place is an entry of the history, unless nothing was shown before.
func (z *Address) set() {
	place := z.page.State.place()
	z.page.Host.SetAddress(z.page.State.Address(), !z.page.Empty() && place != z.place)
	z.place = place
}

// Changed takes an address that a person typed or went back to.
func (z *Address) Changed(hash string) {
	s := ParseState(hash)
	if s.Address() == z.page.State.Address() {
		return
	}
	theme, policy := z.page.State.Theme, z.page.State.Policy
	z.page.State, z.place = s, s.place()
	if z.page.State.Theme == "" {
		z.page.State.Theme = theme
	}
	z.page.Host.SetTheme(z.page.State.Theme)
	if s.Policy != policy {
		z.page.setPolicy(s.Policy)
	}
	if len(z.page.Dumps.List) > 0 {
		if dump := z.page.Dumps.named(s.DumpName); dump != z.page.Dumps.Open {
			z.page.Dumps.Open = dump
			z.page.forget()
		}
	}
	z.page.Search.begin()
	z.page.Screen.top, z.page.Screen.seek = s.Thread < 0, true
	z.page.Screen.askAll()
}
