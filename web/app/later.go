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
	page    *Page
	Text    string // "" if there is none
	Percent int    // -1 if it is not known
	began   moment
}

// progress takes a report of it. Work of a moment is not shown. The page is not drawn for it: beside all that works then, drawing takes
// three times as long, and holds up whoever uses the page.
func (z *Later) progress(g protocol.Progress) {
	if z.began == 0 {
		z.began = now()
	}
	if z.began.ago() < 300*time.Millisecond {
		return
	}
	text, percent := z.Text, z.Percent
	z.Text, z.Percent = capital(g.Stage), -1
	if g.Name != "" {
		z.Text += " " + view.Clean(view.BaseName(g.Name))
	}
	if g.Total > 0 {
		z.Percent = int(min(100, g.Done*100/g.Total))
	}
	if z.Text != text || z.Percent != percent {
		z.page.Host.Later(z.Text, z.Percent)
	}
}

// value is nil, an attribute left out, while nobody knows how far the work is.
func (z *Later) value() any {
	if z.Percent < 0 {
		return nil
	}
	return z.Percent
}

// end forgets it.
func (z *Later) end() { *z = Later{page: z.page} }

// canStop: the passes can be left out, the stacks cannot.
func (z *Later) canStop() bool { return len(z.page.Work.Exact.passes) > 0 }

// walked says that the stacks are there which were pending. It reports whether what is shown has changed: the answer to what it asks
// draws what they are.
func (z *Later) walked(r *protocol.Walked) (draw bool) {
	draw = z.Text != ""
	z.end()
	if r.Dump != z.page.Dumps.Open {
		return draw
	}
	z.page.Work.Exact.corrected(r.Changed)
	z.page.Screen.askAll()
	return draw && !z.page.Screen.asking
}

func capital(s string) string {
	n := min(1, len(s))
	return strings.ToUpper(s[:n]) + s[n:]
}
