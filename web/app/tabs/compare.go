package tabs

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Compare shows the selected thread's stack as several unwind policies find it, side by side.
type Compare struct {
	pane
	Shown rows.ComparePage
	Row   int // that is selected, or -1
	list  table.List
}

// NewCompare makes the part with an id.
func NewCompare(s *zone.Shared, id string) zone.Tab {
	z := &Compare{pane: pane{s, id}, Row: -1}
	// A row has nine elements, so fewer rows than elsewhere are drawn beyond the visible ones.
	z.list = table.List{ID: "compare", Visible: protocol.Span{Count: 8}, More: 1, Here: func() (rows.Page, int) { return z.Shown.Page, len(z.Shown.Rows) }}
	return z
}

// Want implements Zone.
func (z *Compare) Want(q *protocol.Query) {
	q.Compare = &protocol.CompareQuery{Span: z.list.Span(), Row: z.Row}
}

// Hidden implements Zone.
func (z *Compare) Hidden() bool { return !z.open() }

// Apply implements Zone.
func (z *Compare) Apply(r *protocol.QueryResult) {
	if r.Compare != nil {
		z.Shown = *r.Compare
	}
}

// Empty is the text in place of rows, or "".
func (z *Compare) Empty() string {
	if z.Shown.Total > 0 {
		return ""
	}
	return z.Shown.Problem
}

// List is for Tab.
func (z *Compare) List() *table.List { return &z.list }

func (z *Compare) Actions() []zone.Action {
	return []zone.Action{{ID: "compared", DoN: func(row int) { z.choose(row) }}}
}

// ThreadSelected is for Tab.
func (z *Compare) ThreadSelected() { z.Forget() }

// MoveSelection moves the selection.
func (z *Compare) MoveSelection(by int) {
	row := max(0, min(z.Row+by, z.Shown.Total-1))
	if row != z.Row && z.Shown.Total > 0 {
		z.page.Host.Reveal("compare", row)
		z.choose(row)
	}
}

// choose shows how each policy continues from a row.
func (z *Compare) choose(row int) {
	if z.Row == row {
		row = -1
	}
	z.Row = row
	z.page.Screen.Ask(z)
}

// Forget clears what belongs to another thread.
func (z *Compare) Forget() {
	z.Row = -1
	z.list.Visible = protocol.Span{Count: max(8, z.list.Visible.Count)}
	z.page.Host.Reveal("compare", 0)
}

// rowClass marks frames that only some policies find (differs), and those at which the policies
// begin to differ (parts).
func (z *Compare) rowClass(r rows.CompareRow) string {
	class := "row choice-row"
	if !r.Same {
		class += " differs"
	}
	if r.Diverges {
		class += " parts"
	}
	if r.NoSymbol {
		class += " nosym"
	}
	if r.Index == z.Row {
		class += " selected"
	}
	return class
}

// title says how far the policies that use all sources agree.
func (z *Compare) title() string {
	switch c := &z.Shown; {
	case z.Shown.Problem != "":
		return z.Shown.Problem
	case z.Shown.Total == 0:
		return ""
	case c.Agreed == c.Found:
		return "Breakpad, rust-minidump and best find the same " + words.Count(c.Found, "frame")
	default:
		return "Breakpad, rust-minidump and best agree on " + rows.Number(c.Agreed) + " of " + words.Count(c.Found, "frame")
	}
}

func (z *Compare) rowTitle() string { return "How each policy continues from " + z.Shown.Title }

// stopsText says where the stack ends under each policy, a line each.
func (z *Compare) stopsText() string {
	lines := make([]string, 0, len(z.Shown.Walks))
	for _, w := range z.Shown.Walks {
		stop := strings.TrimPrefix(strings.TrimPrefix(w.Stop, "The stack ends early: "), "End of the stack: ")
		lines = append(lines, w.Policy+", "+words.Count(w.Frames, "frame")+": "+stop)
	}
	return words.Lines(lines)
}

// compareCell is the class of a cell, which gives it the shape of its trust.
func compareCell(c rows.CompareCell) string {
	if c.Word == "" {
		return "cell trust absent"
	}
	return "cell trust " + c.Trust
}

// compareWord is the text of a cell: the trust, or a dot if the policy does not find the frame.
func compareWord(c rows.CompareCell) string {
	if c.Word == "" {
		return "·"
	}
	return c.Word
}
