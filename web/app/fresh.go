package app

import (
	"github.com/crashpane/crashpane/walker/report/view"
)

// freshFor is how long rows that changed are marked, in milliseconds; the style sheet fades them in the same time.
const freshFor = 2400

// Fresh are the rows that have just changed.
type Fresh struct {
	page  *Page
	ids   map[string]bool
	count int // of marks that were made
}

// mark takes the rows that changed, by their ids, and has the marks fade.
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

// withFresh adds the mark to a row's class.
func (z *Fresh) withFresh(class, id string) string {
	if z.ids[id] {
		return class + " fresh"
	}
	return class
}

// sameRow compares what a person sees of two rows.
func sameRow(a, b view.StackRow) bool {
	return a.Function == b.Function && a.Source == b.Source && a.Word == b.Word && a.Module == b.Module && a.AssignedSymbols == b.AssignedSymbols
}
