package app

// Address keeps the state in the page's address.
type Address struct {
	page  *Page
	place State // the place last written
}

// write writes the state to the address, and notifies the host page. With the first dump it waits
// until its stack is there (Screen.apply): the browser handles a new address like a visit, in
// several processes, which takes about 40 ms of two cores.
func (z *Address) write() {
	if !z.page.Empty() || len(z.page.Dumps.List) == 0 {
		z.set()
	}
	z.page.HostPage.notify(Event{Kind: EventSelect, State: z.page.State})
}

// set writes the state to the address. Another place makes an entry of the history, except the
// first one.
func (z *Address) set() {
	place := z.page.State.place()
	z.page.Host.SetAddress(z.page.State.Address(), !z.page.Empty() && place != z.place)
	z.place = place
}

// Changed applies an address that the user has typed or gone back to.
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
