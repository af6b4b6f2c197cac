package app

import "github.com/crashpane/crashpane/web/protocol"

// export is a text that was asked for, and what is to be done with it.
type export struct {
	act, kind string
	done      func(text, problem string) // instead of act
}

// Exports are the texts that were asked for, by the number of the request.
type Exports struct {
	page    *Page
	waiting map[int]export
}

// begin asks the engine for a text, to be copied or downloaded when it comes.
func (z *Exports) begin(act, kind string) {
	if z.page.Empty() || z.page.Reading.dead {
		return
	}
	id := z.page.send(&protocol.Export{Kind: kind, Dump: z.page.Dumps.Open, Thread: z.page.State.Thread}, nil)
	z.waiting[id] = export{act: act, kind: kind}
}

// done takes the text.
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
		z.page.Notices.say("error", problem)
		return
	}
	if e.act == "download" {
		mime := "text/plain;charset=utf-8"
		if e.kind == protocol.ExportJSON {
			mime = "application/json"
		}
		z.page.Host.Download(r.FileName, mime, r.Text)
		return
	}
	z.page.Notices.copy(r.Text, map[string]string{protocol.ExportStack: "Stack copied", protocol.ExportMarkdown: "Stack copied as Markdown",
		protocol.ExportWanted: "List of missing symbols copied", protocol.ExportCompare: "Comparison copied"}[e.kind])
}

// Export asks the engine for a text.
func (z *Exports) Export(kind string, done func(text, problem string)) {
	if z.page.Empty() || z.page.Reading.dead {
		done("", "there is no dump")
		return
	}
	id := z.page.send(&protocol.Export{Kind: kind, Dump: z.page.Dumps.Open, Thread: z.page.State.Thread}, nil)
	z.waiting[id] = export{kind: kind, done: done}
}

// forget is for when the engine that was asked is gone.
func (z *Exports) forget() {
	was := z.waiting
	z.waiting = map[int]export{}
	for _, e := range was {
		if e.done != nil {
			e.done("", "the engine was restarted")
		}
	}
}
