package app

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Threads is the list of threads, the crashed one first.
type Threads struct {
	page *Page
	rows.ThreadPage
	Choosing bool // the thread chooser of narrow windows is open
	goTo     int  // row to select when the engine has sent it, or -1
	list     table.List
}

func (z *Threads) init(p *Page) {
	z.page, z.goTo = p, -1
	z.list = table.List{ID: "threads", Visible: protocol.Span{Count: 9}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	p.Screen.Add(z, &z.list)
}

// Want implements Zone.
func (z *Threads) Want(q *protocol.Query) {
	q.Threads = &protocol.ThreadsQuery{Span: z.list.Span(), Filter: z.page.State.ThreadFilter}
}

// Apply implements Zone.
func (z *Threads) Apply(r *protocol.QueryResult) {
	if r.Threads == nil {
		return
	}
	z.keepPending(r.Threads)
	if z.page.Screen.Updated(z, r.ReportID) {
		z.page.Screen.ChangedRows.Mark(z.changed(r.Threads))
	}
	z.ThreadPage = *r.Threads
	if z.page.Screen.Seek && z.Selected >= 0 {
		z.page.Host.Reveal("threads", z.Selected)
	}
	if row := z.goTo; row >= 0 {
		z.goTo = -1
		if from, to, _ := z.list.Loaded(); row >= from && row < to {
			z.toRow(row)
		}
	}
}

// filter shows the threads whose name or id contains a text.
func (z *Threads) filter(text string) {
	z.page.State.ThreadFilter = text
	z.list.Visible.From = 0
	z.page.Host.Reveal("threads", 0)
	z.page.Address.write()
	z.page.Screen.Ask(z)
}

// changed returns the ids of rows that differ from what is shown.
func (z *Threads) changed(t *rows.ThreadPage) (ids []string) {
	old := map[int]rows.ThreadRow{}
	for _, r := range z.Rows {
		old[r.Index] = r
	}
	for _, r := range t.Rows {
		if was, ok := old[r.Index]; ok && (was.Stack.Top != r.Stack.Top && !(was.Pending && was.Stack.Top == "") || was.Name != r.Name) {
			ids = append(ids, words.RowID("thread", r.Index))
		}
	}
	return ids
}

// move selects the next or previous thread of the list.
func (z *Threads) move(by int) {
	row := z.Selected + by
	if z.Selected < 0 {
		row = 0
	}
	z.toRow(row)
}

// toRow selects a row by its number. If the engine has not sent the row yet, Apply selects it
// later.
func (z *Threads) toRow(row int) {
	if row < 0 || row >= z.Total {
		return
	}
	i := row - z.From
	if i < 0 || i >= len(z.Rows) {
		z.goTo = row
		z.list.Around(row)
		z.page.Screen.Ask(z)
		return
	}
	z.Selected = row
	z.page.Host.Reveal("threads", row)
	z.page.selectThread(z.Rows[i].Index)
}

// crashed selects the first frame of the crashed thread, or of the one that the dump starts with.
func (z *Threads) crashed() {
	if z.page.Summary == nil || z.page.Summary.FirstThread < 0 {
		return
	}
	z.page.Host.Reveal("threads", 0)
	if z.page.State.Thread == z.page.Summary.FirstThread {
		z.page.Stack.toRow(0)
		return
	}
	z.page.selectThread(z.page.Summary.FirstThread)
}

// keepPending keeps the texts of threads that are being walked again, so that they do not flicker:
// their new texts arrive in a moment.
func (z *Threads) keepPending(t *rows.ThreadPage) {
	if z.page.Screen.Reports[z].Dump != z.page.Dumps.Open {
		return
	}
	for i := range t.Rows {
		if r := &t.Rows[i]; r.Pending {
			for _, old := range z.Rows {
				if old.Index == r.Index {
					r.Stack = old.Stack
				}
			}
		}
	}
}

// label is the thread chooser's text.
func (z *Threads) label() string {
	if z.page.Stack.Thread == z.page.State.Thread && z.page.Stack.Title != "" {
		return z.page.Stack.Title
	}
	if z.page.Stack.Thread == z.page.State.Thread && z.page.Stack.Name != "" {
		return fmt.Sprintf("Thread %d, %s", z.page.Stack.Thread, z.page.Stack.Name)
	}
	return fmt.Sprintf("Thread %d", max(z.page.State.Thread, 0))
}

func (z *Threads) count() string {
	if z.page.Summary == nil {
		return ""
	}
	if z.page.State.ThreadFilter != "" {
		return rows.Number(z.Total) + " of " + rows.Number(z.page.Summary.Threads)
	}
	return rows.Number(z.page.Summary.Threads)
}

func (z *Threads) class(t rows.ThreadRow) string {
	class := "thread"
	if t.Crashed {
		class += " crashed"
	}
	if z.selects(t) {
		class += " selected"
	}
	if t.Hit {
		class += " hit"
	}
	return z.page.Screen.ChangedRows.Class(class, words.RowID("thread", t.Index))
}

// selects reports whether a thread's stack, or its second one, is shown.
func (z *Threads) selects(t rows.ThreadRow) bool {
	return t.Index == z.page.State.Thread || t.HasSecond && t.Other == z.page.State.Thread
}

func (z *Threads) name(t rows.ThreadRow) string {
	if t.Name == "" && t.Unlisted {
		return "id " + t.ID + ", not in the dump’s list"
	}
	if t.Name == "" {
		return "id " + t.ID
	}
	return t.Name
}

func (z *Threads) rowTitle(t rows.ThreadRow) string {
	return strings.TrimSpace(fmt.Sprintf("%s thread %d, id %s, %s", t.Name, t.Index, t.ID, words.Count(t.Stack.Frames, "frame")))
}

// tag is the mark in a thread's first line: the number of hits, or that the thread crashed or
// requested the dump.
func (z *Threads) tag(t rows.ThreadRow) string {
	switch {
	case z.page.State.Search != "" && t.Hits > 0:
		return rows.Number(t.Hits) + " found"
	case t.Crashed:
		return "crashed"
	case t.Requesting:
		return "requesting"
	}
	return ""
}

func (z *Threads) tagClass(t rows.ThreadRow) string {
	if t.Crashed && (z.page.State.Search == "" || t.Hits == 0) {
		return "thread-tag danger"
	}
	return "thread-tag"
}

// top is a thread's second line: the first named function on its stack.
func (z *Threads) top(t rows.ThreadRow) string {
	if t.Stack.Top == "" && t.Pending {
		return "…"
	}
	if t.Stack.Top == "" {
		return "no frames"
	}
	return t.Stack.Top
}

func (z *Threads) active() any {
	for _, t := range z.Rows {
		if z.selects(t) {
			return words.RowID("thread", t.Index)
		}
	}
	return nil
}

func (z *Threads) none() string {
	if z.page.State.ThreadFilter != "" {
		return "No thread matches."
	}
	return "The dump lists no threads."
}
