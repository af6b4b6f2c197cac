package app

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// FrameZone is everything about the selected row.
type FrameZone struct {
	page   *Page
	Detail *view.FrameDetail // nil before the first one has come
}

// Want implements Zone.
func (z *FrameZone) Want(q *protocol.Look) { q.Detail = true }

// Apply implements Zone.
func (z *FrameZone) Apply(r *protocol.Looked) {
	if r.Detail == nil {
		return
	}
	z.Detail = r.Detail
	if s := &z.page.State; z.page.Screen.top && r.Detail.Thread == s.Thread {
		s.Frame, s.Inline = max(0, r.Detail.Frame), r.Detail.Inline
		z.page.Address.place = s.place() // what nobody chose is no other place
	}
}

// show shows one of the zone's sides: "registers" or "why".
func (z *FrameZone) show(side string) {
	z.page.State.Side = side
	z.page.Address.write()
}

// toggleWhy shows the other side.
func (z *FrameZone) toggleWhy() {
	if z.page.State.Side == "why" {
		z.show("registers")
	} else {
		z.show("why")
	}
}

// endTitle stands over why the stack ends.
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

func (z *FrameZone) regClass(r view.Register) string {
	class := z.page.Search.marks("reg", r.Value)
	if r.Role != "" {
		class += " role"
	}
	if r.Value == "" {
		class += " unknown"
	}
	return class
}
