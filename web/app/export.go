package app

import "github.com/crashpane/crashpane/web/protocol"

// export is a requested text: what to do with it when it arrives.
type export struct {
	act, kind string                     // act is "copy" or "download"
	done      func(text, problem string) // in place of act
}

// Exports requests texts from the engine: stacks to copy, reports to download. waiting has the
// pending ones, by the number of the request.
type Exports struct {
	page    *Page
	waiting map[int]export
}

// begin requests a text, and copies or downloads it when it arrives.
func (z *Exports) begin(act, kind string) {
	if z.page.Empty() || z.page.Reading.stopped || protocol.ExportOf(kind) == nil {
		return
	}
	id := z.page.send(&protocol.Export{Kind: kind, Dump: z.page.Dumps.Open, Thread: z.page.State.Thread}, nil)
	z.waiting[id] = export{act: act, kind: kind}
}

// done handles a text that has arrived.
func (z *Exports) done(id int, r *protocol.Exported, problem string) {
	e, ok := z.waiting[id]
	if !ok {
		return
	}
	delete(z.waiting, id)
	if e.done != nil {
		e.done(r.Text, problem)
		return
	}
	if problem != "" {
		z.page.Notices.show("error", problem)
		return
	}
	kind := protocol.ExportOf(e.kind)
	if e.act == "download" {
		z.page.Host.Download(r.FileName, kind.MIME, r.Text)
		return
	}
	z.page.Notices.copy(r.Text, kind.Copied)
}

// exportsIn returns the exports of a menu.
func exportsIn(menu string) (out []protocol.ExportKind) {
	for _, k := range protocol.Exports {
		if k.Menu == menu {
			out = append(out, k)
		}
	}
	return out
}

// Export requests a text for the host page. done is called exactly once, whatever happens to the
// engine.
func (z *Exports) Export(kind string, done func(text, problem string)) {
	if z.page.Empty() || z.page.Reading.stopped {
		done("", "there is no dump")
		return
	}
	id := z.page.send(&protocol.Export{Kind: kind, Dump: z.page.Dumps.Open, Thread: z.page.State.Thread}, nil)
	z.waiting[id] = export{kind: kind, done: done}
}

// forget fails the pending requests, which the engine does not answer.
func (z *Exports) forget() {
	was := z.waiting
	z.waiting = map[int]export{}
	for _, e := range was {
		if e.done != nil {
			e.done("", "it was cancelled, or the engine has ended")
		}
	}
}
