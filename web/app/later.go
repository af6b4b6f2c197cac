package app

import (
	"strings"
	"time"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Later is work that goes on while the page can be used: the stacks that nobody has looked at, and the pass over files that
// were only searched.
type Later struct {
	Text    string // "" if there is none
	Percent int    // -1 if it is not known
	began   time.Time
}

// laterProgress takes a report of it. Work of a moment is not shown. The page is not drawn for it: beside all that works then, drawing takes
// three times as long, and holds up whoever uses the page.
func (p *Page) laterProgress(g protocol.Progress) {
	if p.Later.began.IsZero() {
		p.Later.began = time.Now()
	}
	if time.Since(p.Later.began) < 300*time.Millisecond {
		return
	}
	was := p.Later
	p.Later.Text, p.Later.Percent = capital(g.Stage), -1
	if g.Name != "" {
		p.Later.Text += " " + view.Clean(view.BaseName(g.Name))
	}
	if g.Total > 0 {
		p.Later.Percent = int(min(100, g.Done*100/g.Total))
	}
	if p.Later != was {
		p.Host.Later(p.Later.Text, p.Later.Percent)
	}
}

// laterValue is nil, an attribute left out, while nobody knows how far the work is.
func (p *Page) laterValue() any {
	if p.Later.Percent < 0 {
		return nil
	}
	return p.Later.Percent
}

// canStop: the passes can be left out, the stacks cannot.
func (p *Page) canStop() bool { return len(p.Exact.passes) > 0 }

// walked says that the stacks are there which were pending. It reports whether what is shown has changed: the answer to what it asks
// draws what they are.
func (p *Page) walked(r *protocol.Walked) (draw bool) {
	draw = p.Later.Text != ""
	p.Later = Later{}
	if r.Dump != p.Dump {
		return draw
	}
	p.corrected(r.Changed)
	p.ask(partsAll)
	return draw && !p.asking
}

// keepPending leaves the rows of threads that are being walked again as they were: what they do comes in a moment.
func (p *Page) keepPending(t *view.ThreadPage) {
	if p.editions["threads"].Dump != p.Dump {
		return
	}
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Pending {
			for _, old := range p.Threads.Rows {
				if old.Index == r.Index {
					r.Top, r.Frames = old.Top, old.Frames
				}
			}
		}
	}
}

func capital(s string) string {
	n := min(1, len(s))
	return strings.ToUpper(s[:n]) + s[n:]
}
