package app

// export is a text that was asked for, and what is to be done with it.
type export struct {
	act, kind string
	done      func(text, problem string) // instead of act
}

// export asks the engine for a text, to be copied or downloaded when it comes.
func (p *Page) export(act, kind string) {
	if p.Empty() || p.dead {
		return
	}
	id := p.send(Request{Op: OpExport, Kind: kind, Dump: p.Dump, Thread: p.State.Thread}, nil)
	p.exports[id] = export{act: act, kind: kind}
}

// exported takes the text.
func (p *Page) exported(r Reply) {
	e, ok := p.exports[r.ID]
	if !ok {
		return
	}
	delete(p.exports, r.ID)
	if e.done != nil {
		e.done(r.Text, r.Error)
		return
	}
	if r.Error != "" {
		p.say("error", r.Error)
		return
	}
	if e.act == "download" {
		mime := "text/plain;charset=utf-8"
		if e.kind == ExportJSON {
			mime = "application/json"
		}
		p.Host.Download(r.FileName, mime, r.Text)
		return
	}
	p.copy(r.Text, map[string]string{ExportStack: "Stack copied", ExportMarkdown: "Stack copied as Markdown",
		ExportWanted: "List of missing symbols copied", ExportCompare: "Comparison copied"}[e.kind])
}

// toast says that something was done, for a moment.
func (p *Page) toast(text string) {
	p.Toast = text
	p.toasts++
	mine := p.toasts
	p.Host.Announce(text)
	p.Host.After(1800, func() (draw bool) {
		if draw = p.toasts == mine; draw {
			p.Toast = ""
		}
		return draw
	})
}
