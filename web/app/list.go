package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// List is the window of a zone's rows that the page has. The engine makes rows only for windows, so
// lists of any length are equally fast.
type List struct {
	id      string                              // of its element
	visible protocol.Span                       // as measured by the host
	more    int                                 // rows queried above and below the visible ones, so that scrolling a little shows rows at once
	here    func() (window rows.Page, rows int) // the zone's window, and how many rows it has
	// reached says that the user sees the first, the last row, and reports whether the list grows. It
	// may be nil.
	reached func(first, last bool) bool
}

// overscan is List.more of most lists.
const overscan = 4

// span returns the window to query.
func (l *List) span() protocol.Span {
	from := max(0, l.visible.From-l.more)
	return protocol.Span{From: from, Count: l.visible.From - from + l.visible.Count + l.more}
}

// loaded returns the window that the page has: rows from up to to, of total.
func (l *List) loaded() (from, to, total int) {
	window, rows := l.here()
	return window.From, window.From + rows, window.Total
}

// around moves the window to be queried so that a row is in its middle.
func (l *List) around(row int) { l.visible.From = max(0, row-l.visible.Count/2) }

// scrolled notes which rows are visible, and reports whether the window lacks some of them.
func (l *List) scrolled(first, rows int) bool {
	l.visible = protocol.Span{From: max(0, first), Count: min(rows, 200)}
	from, to, total := l.loaded()
	grows := l.reached != nil && l.reached(first <= 0, first+rows >= total)
	return grows || first < from || min(first+rows, total) > to
}

// step returns the row to which a key moves from a row; from none (-1) to the first that is visible.
func (l *List) step(key string, from, total int) int {
	if from < 0 {
		return l.visible.From
	}
	by := map[string]int{"ArrowDown": 1, "ArrowUp": -1, "PageDown": l.visible.Count - 2, "PageUp": 2 - l.visible.Count, "Home": -total, "End": total}[key]
	return max(0, min(from+by, total-1))
}
