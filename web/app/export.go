package app

import "github.com/crashpane/crashpane/web/protocol"

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
	id := p.send(&protocol.Export{Kind: kind, Dump: p.Dump, Thread: p.State.Thread}, nil)
	p.exports[id] = export{act: act, kind: kind}
}

// exported takes the text.
func (p *Page) exported(id int, r *protocol.Exported, problem string) {
	e, ok := p.exports[id]
	if !ok {
		return
	}
	delete(p.exports, id)
	if e.done != nil {
		e.done(r.Text, problem)
		return
	}
	if problem != "" {
		p.say("error", problem)
		return
	}
	if e.act == "download" {
		mime := "text/plain;charset=utf-8"
		if e.kind == protocol.ExportJSON {
			mime = "application/json"
		}
		p.Host.Download(r.FileName, mime, r.Text)
		return
	}
	p.copy(r.Text, map[string]string{protocol.ExportStack: "Stack copied", protocol.ExportMarkdown: "Stack copied as Markdown",
		protocol.ExportWanted: "List of missing symbols copied", protocol.ExportCompare: "Comparison copied"}[e.kind])
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
