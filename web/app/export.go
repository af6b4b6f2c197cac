package app

import "github.com/crashpane/crashpane/web/protocol"

// export is a requested text: what to do with it when it arrives.
type export func(r *protocol.Exported, problem string)

// Exports requests texts from the engine: tickets and stacks to copy, reports to download. waiting
// has the pending ones, by the number of the request.
type Exports struct {
	page    *Page
	waiting map[int]export
}

// request requests a text of the open dump and the selected thread.
func (z *Exports) request(kind string, private bool, do export) int {
	id := z.page.send(&protocol.Export{Kind: kind, Dump: z.page.Dumps.Open, Thread: z.page.State.Thread, Private: private}, nil)
	z.waiting[id] = do
	return id
}

// copy requests a text without what is private, and copies it when it arrives. The page shows the same
// list already.
func (z *Exports) copy(id string) {
	kind := protocol.ExportOf(id)
	if z.page.Empty() || z.page.Reading.stopped || kind == nil {
		return
	}
	z.request(id, false, func(r *protocol.Exported, problem string) {
		if problem != "" {
			z.page.Notices.Show("error", problem)
			return
		}
		z.page.Notices.Copy(r.Text, kind.Copied)
	})
}

// done handles a text that has arrived.
func (z *Exports) done(id int, r *protocol.Exported, problem string) {
	if do := z.waiting[id]; do != nil {
		delete(z.waiting, id)
		do(r, problem)
	}
}

// exportItems returns the items of the menu "copy" or "download": exports of the open dump, or of the table.
func (p *Page) exportItems(menu string) (out []MenuItem) {
	if p.Table.Open() {
		for _, k := range protocol.DumpExports {
			out = append(out, MenuItem{"export-dumps", menu + "." + k.ID, k.Title, ""})
		}
		return out
	}
	for _, k := range exportsIn(menu) {
		key := ""
		if menu == "copy" {
			key = keyOf("copy-" + k.ID)
		}
		out = append(out, MenuItem{"export", k.ID, k.Title, key})
	}
	return out
}

// hasLink reports whether the menu "copy" has links to the open dump.
func (p *Page) hasLink() bool { return !p.Inside && !p.Table.Open() }

// exportsIn returns the exports of a menu: tickets are in both, the others are for downloads.
func exportsIn(menu string) (out []protocol.ExportKind) {
	for _, k := range protocol.Exports {
		if k.Title != "" && (k.Ticket || menu == "download") {
			out = append(out, k)
		}
	}
	return out
}

// Export requests a text for the host page, with what is private unless that is hidden from its
// users, too. done is called exactly once, whatever happens to the engine.
func (z *Exports) Export(kind string, done func(text, problem string)) {
	if z.page.Empty() || z.page.Reading.stopped {
		done("", "there is no dump")
		return
	}
	z.request(kind, true, func(r *protocol.Exported, problem string) { done(r.Text, problem) })
}

// forget fails the pending requests, which the engine does not answer.
func (z *Exports) forget() {
	was := z.waiting
	z.waiting = map[int]export{}
	for _, do := range was {
		do(&protocol.Exported{}, "it was cancelled, or the engine has ended")
	}
}
