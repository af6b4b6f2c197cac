package app

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// addRequest is the request that reads a file. What a server sent may be nothing but the symbol file that it was asked for.
func (p *Page) addRequest(f File) *protocol.Add {
	req := &protocol.Add{Name: f.Name()}
	for _, a := range p.Sources.Asked {
		if a.file == f {
			req.Symbols, req.DebugID = true, a.ID
		}
	}
	return req
}

// askProblem says why nothing can be asked, or is "".
func (p *Page) askProblem() string {
	_, problem := p.toAsk()
	return problem
}

// addresses are the lines that say what the button asks for.
func (p *Page) addresses() string {
	rows, _ := p.toAsk()
	lines := make([]string, len(rows))
	for i, a := range rows {
		if lines[i] = a.URL; a.Else != "" {
			lines[i] += "\n" + a.Else + " if that is not there"
		}
	}
	return strings.Join(lines, "\n")
}

// askText is the button's.
func (p *Page) askText() string {
	rows, _ := p.toAsk()
	switch len(rows) {
	case 0:
		return "Nothing to ask for"
	case 1:
		return "Ask for this file"
	}
	return "Ask for these " + files(len(rows))
}

// leadText says what is sent, and what not.
func (p *Page) leadText() string {
	if !p.Sources.known {
		return "Finding out what is missing…"
	}
	rows, _ := p.toAsk()
	if len(rows) == 0 {
		return "Of a source only the addresses of missing symbol files are asked: their names and ids. Nothing of the dump is sent."
	}
	return "These addresses would be asked, and no others. Nothing else is sent: no cookie, no referrer, nothing of the dump."
}

// askedText says what was asked, and what came from where.
func (p *Page) askedText() string {
	var lines []string
	for _, a := range p.Sources.Asked {
		lines = append(lines, a.URL+"\n"+a.says())
	}
	return strings.Join(lines, "\n")
}

func (a *Asked) says() string {
	text := a.Text
	switch a.State {
	case askedWaiting:
		text = "waits"
	case askedRunning:
		if text = "is asked"; a.done > 0 {
			text = "comes, " + view.Size(a.done)
			if a.total > 0 {
				text += " of " + view.Size(a.total)
			}
		}
	}
	if a.At != "" {
		text += "; by way of " + view.Clean(a.At)
	}
	return "    " + text
}

// inParts are the files that could be read as a whole.
func (p *Page) inParts() (out []*Asked) {
	for _, a := range p.Sources.Asked {
		if a.State == askedParts && p.passOf(a.item) == nil && len(out) < 20 {
			out = append(out, a)
		}
	}
	return out
}

func readAllText(a *Asked) string {
	return fmt.Sprintf("Read all of %s, %s", view.BaseName(a.URL), view.Size(a.file.Size()))
}

// readWhole takes that a file was read as a whole.
func (p *Page) readWhole(item int) {
	for _, a := range p.Sources.Asked {
		if a.State == askedParts && a.item == item {
			a.State, a.Text = askedHere, "came, "+view.Size(a.file.Size())+", and was read as a whole"
		}
	}
}

// askingText says what goes on.
func (p *Page) askingText() string {
	var done, total int64
	n, known := 0, true
	for _, a := range p.Sources.Asked {
		switch a.State {
		case askedRunning:
			done += a.done
			total += a.total
			known = known && a.total > 0
			n++
		case askedWaiting:
			n++
		}
	}
	text := "Asking for " + files(n)
	if done > 0 {
		text += ", " + view.Size(done)
		if known {
			text += " of " + view.Size(total)
		}
	}
	return text
}

// askedWord says in the row of a missing file what a source said.
func (p *Page) askedWord(w view.WantedRow) string {
	for i := len(p.Sources.Asked) - 1; i >= 0; i-- {
		a := p.Sources.Asked[i]
		for _, f := range w.Stores {
			for _, path := range [...]string{f.Path, f.Else} {
				if at := Address("", path); at != "" && strings.HasSuffix(a.URL, at) {
					return strings.TrimSpace(a.says())
				}
			}
		}
	}
	return ""
}

// sourcesClass makes room beside the table for the panel.
func (p *Page) sourcesClass() string {
	if !p.Sources.Open {
		return "beside"
	}
	return "beside open"
}

// bases are the sources that the page was built with.
func (p *Page) bases() []string {
	list, _ := p.Host.SymbolBases()
	return list
}

func (p *Page) storeText() string {
	if p.Sources.Folder != "" {
		return "Look in the folder " + view.Clean(p.Sources.Folder)
	}
	return ""
}

// promise says on the start page what the page can reach.
func (p *Page) promise() string {
	bases, ok := p.Host.SymbolBases()
	var others []string
	for _, b := range bases {
		if _, address := layoutOf(b); address != "" {
			others = append(others, address)
		}
	}
	switch {
	case p.Inside && len(others) == 0:
		return "This viewer reads files where they are, and sends nothing. What the page around it does is up to that page."
	case p.Inside:
		return "This viewer reads files where they are, and sends nothing; when you ask for symbols and have seen what is asked, it asks " + strings.Join(others, ", ") + ". What the page around it does is up to that page."
	case !ok:
		return "Switch the network off: everything still works, binaries, .zst and .xz too once their reader was needed and fetched. The page’s own policy (Content-Security-Policy) forbids every request."
	case len(others) == 0:
		return "Switch the network off: everything still works, binaries, .zst and .xz too once their reader was needed and fetched. The page’s own policy (Content-Security-Policy) forbids it to reach any other server, and it asks its own only for its files."
	}
	return "Switch the network off: everything still works, binaries, .zst and .xz too once their reader was needed and fetched. The page’s own policy (Content-Security-Policy) forbids it to reach any server but its own and, when you ask for symbols and have seen what is asked, " + strings.Join(others, ", ") + "."
}
