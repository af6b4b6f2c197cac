package app

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// FrameZone shows the details of the selected row: registers, and why the frame is there.
type FrameZone struct {
	page   *Page
	Detail *rows.FrameDetail // nil until the first result
}

// Want implements Zone.
func (z *FrameZone) Want(q *protocol.Query) { q.Detail = true }

// Apply implements Zone.
func (z *FrameZone) Apply(r *protocol.QueryResult) {
	if r.Detail == nil {
		return
	}
	z.Detail = r.Detail
	if s := &z.page.State; z.page.Screen.top && r.Detail.Thread == s.Thread {
		s.Frame, s.Inline = max(0, r.Detail.Frame), r.Detail.Inline
		z.page.Address.place = s.place() // the default selection is not a new place of the history
	}
}

// show selects one of the zone's two tabs: "registers" or "why".
func (z *FrameZone) show(side string) {
	z.page.State.Side = side
	z.page.Address.write()
}

// toggleWhy selects the other tab.
func (z *FrameZone) toggleWhy() {
	if z.page.State.Side == "why" {
		z.show("registers")
	} else {
		z.show("why")
	}
}

// endTitle is the heading of the reason why the stack ends.
func (z *FrameZone) endTitle() string {
	switch w := z.Detail.Why; {
	case w.Last < 0:
		return "Why there are no frames"
	case w.Last == z.Detail.Frame:
		return "Why the stack ends here"
	default:
		return "The stack ends after frame " + strconv.Itoa(w.Last)
	}
}

// regClass marks registers with a role (pc, sp, fp, lr), unknown ones, and hits.
func (z *FrameZone) regClass(r rows.Register) string {
	class := z.page.Search.marks("reg", r.Value)
	if r.Role != "" {
		class += " role"
	}
	if r.Value == "" {
		class += " unknown"
	}
	return class
}
