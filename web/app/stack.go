package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Stack is the table of frames of the selected thread.
type Stack struct {
	page *Page
	rows.StackPage
	nameWidth int // room for a frame's name, in characters; 0 if unknown
	goTo      int // row to select when the engine has sent it, or -1
	Words     StackWords
	list      table.List
	heads     []table.Cell
}

var stackTracks = rows.Tracks(rows.Heads(rows.StackColumns))

func (z *Stack) init(p *Page) {
	z.page, z.goTo, z.heads = p, -1, table.Heads(rows.Heads(rows.StackColumns))
	z.list = table.List{ID: "stack", Visible: protocol.Span{Count: 16}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	p.Screen.Add(z, &z.list)
	z.Words.init(p)
}

// Want implements Zone.
func (z *Stack) Want(q *protocol.Query) {
	w := z.list.Span()
	q.Stack = &w
}

// Apply implements Zone. It also completes selections that had to wait for the rows: the thread's
// first row, and goTo.
func (z *Stack) Apply(r *protocol.QueryResult) {
	s, state := r.Stack, &z.page.State
	other := s != nil && state.Thread >= 0 && s.Thread != state.Thread
	if s == nil || other && z.page.Screen.Dirty[z] { // it is of the thread that was selected before
		return
	}
	if other { // the dump has no thread of the number that an address or the host page gave
		z.page.Screen.Top = true
	}
	if z.page.Screen.Updated(z, r.ReportID) && s.Thread == z.Thread {
		z.page.Screen.ChangedRows.Mark(z.changed(s))
		z.keepPlace(s)
	}
	z.StackPage = *s
	if z.runOf(state.Frame) != nil {
		state.ShowGuesses = true
	}
	z.hideHints()
	if z.page.Screen.Seek && s.Selected >= 0 {
		z.page.Screen.Seek = false
		z.page.Host.Reveal("stack", s.Selected)
	}
	state.Thread = s.Thread
	if at := s.Selected - s.From; z.page.Screen.Top && z.goTo < 0 && at >= 0 && at < len(s.Rows) {
		state.Frame, state.Inline = max(0, s.Rows[at].Frame), s.Rows[at].Inline
	}
	if other {
		z.page.Address.place = state.Place() // it takes the place of the one that there is not
		z.page.Address.write()
	}
	if z.goTo >= 0 {
		row := z.goTo
		z.goTo = -1
		z.selectRow(row)
		return
	}
	// The address, or another report, may have had more frames.
	if state.Frame > 0 && state.Frame >= s.Frames {
		state.Frame, state.Inline = 0, -1
		z.page.Screen.Ask(&z.page.Frame, &z.page.Frame.Code, z)
	}
}

// toggleInlines switches whether the stack has rows for inlined calls.
func (z *Stack) toggleInlines() {
	s := &z.page.State
	if s.HideInlines = !s.HideInlines; s.HideInlines {
		s.Inline = -1
	}
	z.page.Address.write()
	z.page.Screen.Ask(z, &z.page.Frame, &z.page.Frame.Code)
}

// toggleGuesses switches whether runs of possible callers and of repeated frames are listed. A selected one gives way to the
// frame before its run.
func (z *Stack) toggleGuesses() {
	s := &z.page.State
	s.ShowGuesses = !s.ShowGuesses
	if run := z.runOf(s.Frame); run != nil && !s.ShowGuesses {
		s.Frame, s.Inline = run.From-1, -1
	}
	z.page.Address.write()
	z.page.Screen.Ask(z, &z.page.Frame, &z.page.Frame.Code)
}

// runOf returns the folded run of frames that a frame is in, or nil.
func (z *Stack) runOf(frame int) *rows.Run {
	for i := range z.Folds {
		if r := &z.Folds[i]; frame >= r.From && frame < r.From+r.Count {
			return r
		}
	}
	return nil
}

// hideHints replaces the suggestion in the last row ("add libc.so.6.sym") while files are being
// read: the file may be among them.
func (z *Stack) hideHints() {
	if z.page.Reading.symbolsText() == "" {
		return
	}
	for i := range z.Rows {
		if r := &z.Rows[i]; r.Suggestion {
			r.Suggestion, r.Function, r.Full = false, "Crashpane is reading symbols.", ""
		}
	}
}

// changed returns the ids of rows that differ from what is shown, among the frames in the window.
func (z *Stack) changed(s *rows.StackPage) (ids []string) {
	old := map[string]rows.StackRow{}
	last := -1
	for _, r := range z.Rows {
		old[frameKey(r)] = r
		last = max(last, r.Frame)
	}
	for _, r := range s.Rows {
		if r.Frame < z.firstFrame() || r.Frame > last {
			continue
		}
		if was, ok := old[frameKey(r)]; !ok || !rows.Same(was, r, rows.StackColumns) || was.AssignedSymbols != r.AssignedSymbols {
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

// keepPlace scrolls the list with the selected row when rows appear or disappear above it, so that
// the row stays where it is on the screen. A list that is at its top stays there.
func (z *Stack) keepPlace(s *rows.StackPage) {
	if z.Selected >= 0 && s.Selected >= 0 && s.Selected != z.Selected && z.list.Visible.From > 0 {
		z.page.Host.Shift("stack", s.Selected-z.Selected)
	}
}

// move selects the row that is by rows further.
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
func (z *Stack) pageful() int { return max(1, z.list.Visible.Count-2) }

// toRow selects a row by its number. If the engine has not sent the row yet, Apply selects it
// later.
func (z *Stack) toRow(row int) {
	row = max(0, min(row, z.Total-1))
	if z.Total == 0 {
		return
	}
	from, to, _ := z.list.Loaded()
	if row >= from && row < to {
		z.selectRow(row)
		return
	}
	z.goTo = row
	z.list.Around(row)
	z.page.Screen.Ask(z)
}

// selectRow selects a row of the window. The rows after the last frame, which say why the stack
// ends, select that frame. A row of several frames is passed over in the direction of the move.
func (z *Stack) selectRow(row int) {
	i := row - z.From
	if i < 0 || i >= len(z.Rows) {
		return
	}
	if r := z.Rows[i]; r.IsFold() && row > z.Selected && row+1 < z.Total {
		z.toRow(row + 1)
		return
	}
	r := z.Rows[i]
	if r.Frame < 0 {
		z.page.Host.Reveal("stack", row) // scroll to the rows after the last frame, too
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

// policyText is the text of the button that goes back to the default unwind policy, "" if it is
// used.
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
	n := 0
	for _, run := range z.Folds {
		if !run.Repeats {
			n += run.Count
		}
	}
	if n > 0 {
		return words.Count(z.Frames-n, "frame") + " · " + rows.Number(n) + " possible callers"
	}
	return words.Count(z.Frames, "frame")
}

func (z *Stack) isSelected(r rows.StackRow) bool {
	return r.Frame == z.page.State.Frame && r.Inline == z.page.State.Inline
}

// class marks a row with all properties that the style sheet shows.
func (z *Stack) class(r rows.StackRow) string {
	class := "row " + r.Kind
	for _, c := range []struct {
		is   bool
		name string
	}{{z.isSelected(r), " selected"}, {r.Unreliable, " weak"}, {r.AssignedSymbols, " forced"}, {r.NoSymbol, " nosym"}, {r.Missing, " missing"}, {r.Suggestion, " hint"}, {r.Hit, " hit"}} {
		if c.is {
			class += c.name
		}
	}
	return z.page.Screen.ChangedRows.Class(class, frameID(r))
}

// frameID is the id of a row's element, and frameKey its data-arg: "FRAME.INLINE".
func frameID(r rows.StackRow) string { return "frame-" + frameKey(r) }

func frameKey(r rows.StackRow) string { return words.Pair(r.Frame, r.Inline) }

// frameAct is the action of a click on a row. The suggestion after the last frame leads to the
// findings.
func frameAct(r rows.StackRow) any {
	switch {
	case r.IsFold():
		return "guesses"
	case r.Suggestion:
		return "findings"
	case r.Kind == rows.RowStop:
		return nil
	}
	return "frame"
}

// SetNameWidth sets the width of a frame's name cell in characters, and reports whether it changed.
func (z *Stack) SetNameWidth(characters int) bool {
	news := z.nameWidth != characters
	z.nameWidth = characters
	return news
}

// name returns a row's function name, folded to the width of its cell.
func (z *Stack) name(r rows.StackRow) string {
	offset := ""
	if z.page.State.ShowOffsets {
		offset = r.InFunction
	}
	if r.NoSymbol || r.Frame < 0 || z.nameWidth == 0 {
		return r.Function + offset
	}
	width := z.nameWidth - len(offset)
	if r.Kind == rows.RowInline {
		width -= 2 // it is indented
	}
	return rows.FoldTo(r.Full, max(width, 1)) + offset
}

// cells returns the cells of a row. The name is folded to the width of its cell.
func (z *Stack) cells(r rows.StackRow) []table.Cell {
	cells := table.Cells(r, rows.StackColumns)
	for i := range cells {
		switch rows.StackColumns[i].Class {
		case "fn":
			cells[i].Text = z.name(r)
			cells[i].Tip = words.Hint(r.Full, cells[i].Text)
		case "src":
			cells[i].Tip = words.Hint(r.Path, r.Source)
		case "trust":
			cells[i].Class += " " + r.Trust
		}
	}
	return cells
}

// columns returns the sizes of the columns, which depend on the stack's texts. The column Where has room for
// its title at least.
func (z *Stack) columns() string {
	return fmt.Sprintf("%s;--cp-number:%dch;--cp-source:%dch;--cp-where:%dch", stackTracks, NumberWidth(z), z.SourceWidth, z.WhereWidth+2)
}

// NumberWidth is the width of a stack's first column, in characters.
func NumberWidth(z *Stack) int { return max(4, len(fmt.Sprint(z.Frames-1))) }

// active is the id of the selected row, for aria-activedescendant; nil leaves the attribute out, as
// where the row is not among those that are there.
func (z *Stack) active() any {
	for _, r := range z.Rows {
		if z.isSelected(r) {
			return frameID(r)
		}
	}
	return nil
}
