package app

import (
	"fmt"
	"strconv"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Stack is the table of frames of the selected thread.
type Stack struct {
	page *Page
	view.StackPage
	nameWidth int // for a frame's name, in characters; 0 if not known
	goTo      int // row to select when it is there, or -1
	list      List
}

func (z *Stack) init(p *Page) {
	z.page, z.goTo = p, -1
	z.list = List{id: "stack", visible: protocol.Span{Count: 16}, more: overscan, here: func() (view.Page, int) { return z.Page, len(z.Rows) }}
	p.Screen.add(z, &z.list)
}

// Want implements Zone.
func (z *Stack) Want(q *protocol.Look) {
	w := z.list.span()
	q.Stack = &w
}

// Apply implements Zone. It moves the selection onto the stack where that was asked for.
func (z *Stack) Apply(r *protocol.Looked) {
	s, state := r.Stack, &z.page.State
	if s == nil || state.Thread >= 0 && s.Thread != state.Thread {
		return
	}
	if z.page.Screen.renewed(z, r.Edition) && s.Thread == z.Thread {
		z.page.Screen.Fresh.mark(z.changed(s))
		z.keepPlace(s)
	}
	z.StackPage = *s
	z.hideHints()
	if z.page.Screen.seek && s.Selected >= 0 {
		z.page.Screen.seek = false
		z.page.Host.Reveal("stack", s.Selected)
	}
	state.Thread = s.Thread
	if at := s.Selected - s.From; z.page.Screen.top && z.goTo < 0 && at >= 0 && at < len(s.Rows) {
		state.Frame, state.Inline = max(0, s.Rows[at].Frame), s.Rows[at].Inline
	}
	if z.goTo >= 0 {
		row := z.goTo
		z.goTo = -1
		z.selectRow(row)
		return
	}
	if state.Frame > 0 && state.Frame >= s.Frames {
		state.Frame, state.Inline = 0, -1
		z.page.Screen.ask(&z.page.Frame, z)
	}
}

// toggleInlines shows inlined calls, or leaves them out.
func (z *Stack) toggleInlines() {
	s := &z.page.State
	if s.HideInlines = !s.HideInlines; s.HideInlines {
		s.Inline = -1
	}
	z.page.Address.write()
	z.page.Screen.ask(z, &z.page.Frame)
}

// hideHints takes what would lead the stack further out of its last row while files are read: what is missing is known when all are.
func (z *Stack) hideHints() {
	if z.page.Reading.symbolsText() == "" {
		return
	}
	for i := range z.Rows {
		if r := &z.Rows[i]; r.Suggestion {
			r.Suggestion, r.Function, r.Full = false, "Symbols are being read.", ""
		}
	}
}

// changed are the rows of a stack that are not as they were, among the frames that were shown.
func (z *Stack) changed(s *view.StackPage) (ids []string) {
	old := map[string]view.StackRow{}
	last := -1
	for _, r := range z.Rows {
		old[frameKey(r)] = r
		last = max(last, r.Frame)
	}
	for _, r := range s.Rows {
		if r.Kind == view.RowStop || r.Frame < z.firstFrame() || r.Frame > last {
			continue
		}
		if was, ok := old[frameKey(r)]; !ok || !sameRow(was, r) {
			ids = append(ids, frameID(r))
		}
	}
	return ids
}

func (z *Stack) firstFrame() int {
	if len(z.Rows) == 0 {
		return 0
	}
	return z.Rows[0].Frame
}

// keepPlace moves the list with the selected row, when rows have come or gone above it. A list that stands at its top stays
// there.
func (z *Stack) keepPlace(s *view.StackPage) {
	if z.Selected >= 0 && s.Selected >= 0 && s.Selected != z.Selected && z.list.visible.From > 0 {
		z.page.Host.Shift("stack", s.Selected-z.Selected)
	}
}

// move selects another row of the stack.
func (z *Stack) move(by int) {
	at := z.Selected
	if z.goTo >= 0 {
		at = z.goTo
	}
	if at < 0 {
		z.toRow(0)
		return
	}
	z.toRow(at + by)
}

// pageful is how many rows a page up or down moves by.
func (z *Stack) pageful() int { return max(1, z.list.visible.Count-2) }

// toRow selects a row of the stack by its number, and fetches it first if it is not here.
func (z *Stack) toRow(row int) {
	row = max(0, min(row, z.Total-1))
	if z.Total == 0 {
		return
	}
	from, to, _ := z.list.loaded()
	if row >= from && row < to {
		z.selectRow(row)
		return
	}
	z.goTo = row
	z.list.around(row)
	z.page.Screen.ask(z)
}

// selectRow selects a row that is here; those behind the last frame belong to it.
func (z *Stack) selectRow(row int) {
	i := row - z.From
	if i < 0 || i >= len(z.Rows) {
		return
	}
	r := z.Rows[i]
	if r.Frame < 0 {
		z.page.Host.Reveal("stack", row) // what stands behind the last frame is to be seen, too
	}
	for r.Frame < 0 {
		if i == 0 {
			return
		}
		i--
		row--
		r = z.Rows[i]
	}
	z.Selected = row
	z.page.Host.Reveal("stack", row)
	z.page.selectFrame(r.Frame, r.Inline)
}

// policyText names the unwind policy where it is another than the usual one.
func (z *Stack) policyText() string {
	if z.page.State.Policy == "" {
		return ""
	}
	return "Unwind policy: " + z.page.State.Policy + ". Use the default"
}

func (z *Stack) title() string { return z.page.Threads.label() }

func (z *Stack) count() string {
	if z.Frames == 0 && z.page.Work.Busy() {
		return "…"
	}
	return frameCount(z.Frames)
}

func (z *Stack) isSelected(r view.StackRow) bool {
	return r.Frame == z.page.State.Frame && r.Inline == z.page.State.Inline
}

func (z *Stack) class(r view.StackRow) string {
	class := "row " + r.Kind
	for _, c := range []struct {
		is   bool
		name string
	}{{z.isSelected(r), " selected"}, {r.Unreliable, " weak"}, {r.AssignedSymbols, " forced"}, {r.NoSymbol, " nosym"}, {r.Missing, " missing"}, {r.Suggestion, " hint"}, {r.Hit, " hit"}} {
		if c.is {
			class += c.name
		}
	}
	return z.page.Screen.Fresh.withFresh(class, frameID(r))
}

func frameID(r view.StackRow) string { return "frame-" + frameKey(r) }

func frameKey(r view.StackRow) string { return pair(r.Frame, r.Inline) }

func frameAct(r view.StackRow) any {
	switch {
	case r.Suggestion:
		return "findings"
	case r.Kind == view.RowStop:
		return nil
	}
	return "frame"
}

func frameNumber(r view.StackRow) string {
	switch r.Kind {
	case view.RowInline:
		return "↳"
	case view.RowStop:
		return ""
	}
	return strconv.Itoa(r.Frame)
}

// SetNameWidth sets the width of a frame's name cell in characters, and reports whether it changed.
func (z *Stack) SetNameWidth(characters int) bool {
	news := z.nameWidth != characters
	z.nameWidth = characters
	return news
}

// name is a row's name, as long as its cell.
func (z *Stack) name(r view.StackRow) string {
	if r.NoSymbol || r.Kind == view.RowStop || z.nameWidth == 0 {
		return r.Function
	}
	width := z.nameWidth
	if r.Kind == view.RowInline {
		width -= 2 // it is indented
	}
	return view.FoldTo(r.Full, max(width, 1))
}

// columns are the widths of the stack's columns, which follow what the stack has.
func (z *Stack) columns() string {
	return fmt.Sprintf("--cp-source:%dch;--cp-where:%dch", z.SourceWidth, z.WhereWidth+2)
}

func trustTitle(r view.StackRow) string {
	if r.Kind == view.RowStop {
		return ""
	}
	_, s := view.Word(r.Trust)
	if r.AssignedSymbols {
		s += " Symbols that do not match the module were used."
	}
	return s
}

func moduleTitle(r view.StackRow) string {
	switch {
	case r.AssignedSymbols:
		return r.Module + ": symbols that do not match are used"
	case r.Missing:
		return r.Module + ": its symbols are missing"
	}
	return r.Where()
}

func (z *Stack) active() any {
	if z.Selected < 0 {
		return nil
	}
	return "frame-" + pair(z.page.State.Frame, z.page.State.Inline)
}
