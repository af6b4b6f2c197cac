package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
)

// highlightTime is how long changed rows are highlighted, in milliseconds. The animation of the
// class "changed" in the style sheet takes as long.
const highlightTime = 2400

// ChangedRows has the rows that changed a moment ago, because symbols or an index arrived. They are
// highlighted.
type ChangedRows struct {
	page  *Page
	ids   map[string]bool
	count int // calls of mark
}

// mark highlights rows, given by their ids, for highlightTime milliseconds. A later call starts the
// time again for all of them.
func (z *ChangedRows) mark(ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, id := range ids {
		z.ids[id] = true
	}
	z.count++
	mine := z.count
	z.page.Host.After(highlightTime, func() (draw bool) {
		if draw = z.count == mine; draw {
			clear(z.ids)
		}
		return draw
	})
}

// class returns the class of a row, with the highlight if it has one.
func (z *ChangedRows) class(class, id string) string {
	if z.ids[id] {
		return class + " changed"
	}
	return class
}

// sameRow reports whether two rows look the same.
func sameRow(a, b rows.StackRow) bool {
	return a.Function == b.Function && a.Source == b.Source && a.Word == b.Word && a.Module == b.Module && a.AssignedSymbols == b.AssignedSymbols
}
