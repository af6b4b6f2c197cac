package engine

import (
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// listing is the last listing of code that was made, and what it was made for: the page asks for
// windows of it.
type listing struct {
	of   listingOf
	list interface {
		Page(from, n int) *rows.CodePage
	}
	link string // to the source file
}

// listingOf is what a listing is made for.
type listingOf struct {
	view                  *view.View
	thread, frame, inline int
	at                    uint64
	source                bool
	before, after         int
	files                 int // how many files there were, since sources may have come
}

// code makes a window of a listing of code, or of the source file of a frame; v is the view of a dump, or of the
// outline that is open.
func (e *Engine) code(v *view.View, q protocol.Query) *protocol.CodePage {
	w := q.Code
	path, line := v.Position(q.Thread, q.Frame, q.Inline)
	if v == e.outline.view {
		path, line = e.outline.of.Position(w.At)
	}
	of := listingOf{view: v, thread: q.Thread, frame: q.Frame, inline: q.Inline, at: w.At, source: w.Source, before: w.Before, after: w.After, files: e.files.SourceCount()}
	if e.listed.list == nil || e.listed.of != of {
		e.listed.of, e.listed.link = of, ""
		if w.Source {
			text := e.files.AnySource(path)
			if v != e.outline.view {
				e.listed.link = e.files.Session(q.Dump).SourceLink(q.Thread, q.Frame, path)
				text = e.files.SourceOf(q.Dump, q.Thread, q.Frame, path)
			}
			e.listed.list = view.NewSourceList(path, line, textOf(text))
		} else {
			c := e.instructions(v, q)
			if e.listed.list = v.CodeList(c, e.sourceText); c.Absent { // the file that has it may come
				e.listed.of = listingOf{}
			}
		}
	}
	page := e.listed.list.Page(w.Span.From, w.Span.Count)
	page.Path, page.Line, page.HasSource = rows.Clean(path), line, e.sourceText(path) != nil
	page.Link = e.listed.link
	return &protocol.CodePage{CodePage: *page, Thread: q.Thread, Frame: v.Number(q.Thread, q.Frame), Around: w.At, OfSource: w.Source}
}

// instructions are those around a frame or an address.
func (e *Engine) instructions(v *view.View, q protocol.Query) (c *report.Code) {
	s, w := e.files.Session(q.Dump), q.Code
	wish := session.CodeWish{Before: max(0, w.Before), After: max(1, w.After), Redact: e.redact}
	var err error
	switch {
	case v == e.outline.view:
		c, err = e.outline.of.CodeAt(w.At, wish)
	case w.At != 0:
		c, err = s.CodeAt(w.At, wish)
	default:
		c, err = s.FrameCode(q.Thread, q.Frame, wish)
	}
	if err != nil { // the thread has no such frame
		c = &report.Code{Place: report.Place{Module: -1}, Unread: err.Error()}
	}
	return c
}

// sourceText returns the source file that was added for a path, or nil.
func (e *Engine) sourceText(path string) view.SourceText { return textOf(e.files.AnySource(path)) }

// textOf keeps a nil pointer from being an interface that is not nil.
func textOf(t *session.SourceText) view.SourceText {
	if t == nil {
		return nil
	}
	return t
}
