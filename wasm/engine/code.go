package engine

import (
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// listing is the last listing of code that was made, and what it was made for: the page asks for
// windows of it.
type listing struct {
	view          *view.View
	thread, frame int
	at            uint64
	before, after int
	list          *view.CodeList
}

// code makes a window of a listing of code.
func (e *Engine) code(v *view.View, q protocol.Query) *protocol.CodePage {
	w := q.Code
	key := listing{view: v, thread: q.Thread, frame: q.Frame, at: w.At, before: w.Before, after: w.After, list: e.listed.list}
	if e.listed.list == nil || e.listed != key {
		s := e.files.Session(q.Dump)
		wish := session.CodeWish{Before: max(0, w.Before), After: max(1, w.After), Redact: e.redact}
		var c *report.Code
		var err error
		if w.At != 0 {
			c, err = s.CodeAt(w.At, wish)
		} else {
			c, err = s.FrameCode(q.Thread, q.Frame, wish)
		}
		if err != nil { // the thread has no such frame
			c = &report.Code{Place: report.Place{Module: -1}, Unread: err.Error()}
		}
		key.list = v.CodeList(c)
		e.listed = key
	}
	page := e.listed.list.Page(w.Span.From, w.Span.Count)
	return &protocol.CodePage{CodePage: *page, Thread: q.Thread, Frame: q.Frame, Around: w.At}
}
