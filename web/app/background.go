package app

import (
	"time"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Background shows the progress of background work: walking the stacks of other threads, and
// indexing symbol files.
type Background struct {
	page    *Page
	Text    string // "" if there is no such work
	Percent int    // -1 if unknown
	began   time.Time
}

// progress shows a report, unless the work began less than 300 ms ago. It goes straight to the
// elements (Host.ShowBackground) and does not draw the page: while the engine and the workers keep
// all cores busy, drawing takes three times as long and would make the page stutter.
func (z *Background) progress(g protocol.Progress) {
	if z.began.IsZero() {
		z.began = time.Now()
	}
	if time.Since(z.began) < 300*time.Millisecond {
		return
	}
	text, percent := z.Text, z.Percent
	z.Text, z.Percent = words.Capital(g.Stage), -1
	if g.Name != "" {
		z.Text += " " + rows.Clean(rows.BaseName(g.Name))
	}
	if g.Total > 0 {
		z.Percent = int(min(100, g.Done*100/g.Total))
	}
	if z.Text != text || z.Percent != percent {
		z.page.Host.ShowBackground(z.Text, z.Percent)
	}
}

// value is the value of the progress bar, or nil, which leaves the attribute out, if it is unknown.
func (z *Background) value() any {
	if z.Percent < 0 {
		return nil
	}
	return z.Percent
}

// end clears the progress.
func (z *Background) end() { *z = Background{page: z.page} }

// canStop reports whether the user can stop the work: indexing is optional, walking the stacks is
// not.
func (z *Background) canStop() bool { return len(z.page.Work.Indexing.running) > 0 }

// walked handles the message that all pending stacks are walked, and queries them. It reports
// whether the page must be drawn now; if a query is pending, its result will draw it.
func (z *Background) walked(r *protocol.Walked) (draw bool) {
	draw = z.Text != ""
	z.end()
	if r.Dump != z.page.Dumps.Open {
		return draw
	}
	z.page.Work.Indexing.reportChanged(r.Changed)
	z.page.Screen.AskAll()
	return draw && !z.page.Pace.asking
}
