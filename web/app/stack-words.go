package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// StackWords shows the words of the selected thread's stack in place of its frames, and what the walk found them
// to be.
type StackWords struct {
	page *Page
	rows.StackWordPage
	list   table.List
	sought zone.Sought
	seek   bool // scroll to the selected frame when its first word is known
	known  bool // the first result is there
}

func (z *StackWords) init(p *Page) {
	z.page = p
	z.list = table.List{ID: "stack-words", Visible: protocol.Span{Count: 24}, More: 12, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	p.Screen.Add(z, &z.list)
}

// Hidden implements Zone.
func (z *StackWords) Hidden() bool { return !z.page.State.StackWords }

// Want implements Zone.
func (z *StackWords) Want(q *protocol.Query) {
	s := &z.page.State
	now := zone.Sought{Known: true, Dump: s.DumpName, Thread: s.Thread, Frame: s.Frame}
	z.seek = z.seek || now != z.sought
	z.sought = now
	q.Memory.Stack = &protocol.StackWordsQuery{Span: z.list.Span(), Around: z.seek}
}

// Apply implements Zone.
func (z *StackWords) Apply(r *protocol.QueryResult) {
	if r.Memory.Stack == nil {
		return
	}
	z.StackWordPage, z.known = *r.Memory.Stack, true
	if z.seek {
		z.seek = false
		if z.Selected >= 0 {
			z.list.Visible.From = z.Selected
			z.page.Host.Reveal("stack-words", min(z.Selected+3, z.Total-1))
			z.page.Host.Reveal("stack-words", z.Selected)
		}
	}
}

// toggle switches between the words and the frames.
func (z *StackWords) toggle() {
	s := &z.page.State
	s.StackWords = !s.StackWords
	z.sought, z.known = zone.Sought{}, false
	z.page.Address.write()
	z.page.Screen.Ask(z, &z.page.Stack)
	if s.StackWords {
		z.page.Host.Focus("stack-words")
	} else {
		z.page.Host.Focus("stack")
	}
}

// class marks a word: whose it is, and what it is.
func (z *StackWords) class(r rows.StackWordRow) string {
	class := "word"
	if r.Kind != "" {
		class += " word-" + r.Kind
	}
	if r.Frame >= 0 {
		class += " band " + r.Trust
		if r.Frame == z.page.State.Frame {
			class += " here"
		}
	}
	if r.Label != "" {
		class += " first"
	}
	return class
}

// act is the action that selects the frame of a word, or nil.
func (z *StackWords) act(r rows.StackWordRow) any {
	if r.Frame < 0 {
		return nil
	}
	return "frame"
}

// says is the text after a word: what the walk found it to be, then what it points to.
func says(r rows.StackWordRow) string {
	if r.Meaning == "" || r.Points == "" {
		return r.Meaning + r.Points
	}
	return r.Meaning + " · " + r.Points
}

// emptyText says why there are no words.
func (z *StackWords) emptyText() string {
	if !z.known || z.Total > 0 {
		return ""
	}
	return "The dump does not have the memory of this thread’s stack."
}
