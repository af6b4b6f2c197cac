package app

import (
	"github.com/crashpane/crashpane/walker/report/view"
)

// freshFor is how long changed rows are highlighted, in milliseconds. The animation of the class "changed" in the style sheet takes as long.
const freshFor = 2400

// Fresh has the rows that changed a moment ago, because symbols or an index arrived. They are highlighted.
type Fresh struct {
	page  *Page
	ids   map[string]bool
	count int // calls of mark
}

// mark highlights rows, given by their ids, for freshFor milliseconds. A later call starts the time again for all of them.
func (z *Fresh) mark(ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, id := range ids {
		z.ids[id] = true
	}
	z.count++
	mine := z.count
	z.page.Host.After(freshFor, func() (draw bool) {
		if draw = z.count == mine; draw {
			clear(z.ids)
		}
		return draw
	})
}

// withFresh returns the class of a row, with the highlight if it has one.
func (z *Fresh) withFresh(class, id string) string {
	if z.ids[id] {
		return class + " fresh"
	}
	return class
}

// sameRow reports whether two rows look the same.
func sameRow(a, b view.StackRow) bool {
	return a.Function == b.Function && a.Source == b.Source && a.Word == b.Word && a.Module == b.Module && a.Forced == b.Forced
}
