package table

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// List is the window of a zone's rows that the page has. The engine makes rows only for windows, so
// lists of any length are equally fast.
type List struct {
	ID      string                              // of its element
	Visible protocol.Span                       // as measured by the host
	More    int                                 // rows queried above and below the visible ones, so that scrolling a little shows rows at once
	Here    func() (window rows.Page, rows int) // the zone's window, and how many rows it has
	// Reached says that the user sees the first, the last row, and reports whether the list grows. It
	// may be nil.
	Reached func(first, last bool) bool
}

// Overscan is List.more of most lists.
const Overscan = 4

// Span returns the window to query.
func (l *List) Span() protocol.Span {
	from := max(0, l.Visible.From-l.More)
	return protocol.Span{From: from, Count: l.Visible.From - from + l.Visible.Count + l.More}
}

// Loaded returns the window that the page has: rows from up to to, of total.
func (l *List) Loaded() (from, to, total int) {
	window, rows := l.Here()
	return window.From, window.From + rows, window.Total
}

// Around moves the window to be queried so that a row is in its middle.
func (l *List) Around(row int) { l.Visible.From = max(0, row-l.Visible.Count/2) }

// Scrolled notes which rows are visible, and reports whether the window lacks some of them.
func (l *List) Scrolled(first, rows int) bool {
	l.Visible = protocol.Span{From: max(0, first), Count: min(rows, 200)}
	from, to, total := l.Loaded()
	grows := l.Reached != nil && l.Reached(first <= 0, first+rows >= total)
	return grows || first < from || min(first+rows, total) > to
}

// Step returns the row to which a key moves from a row; from none (-1) to the first that is visible.
func (l *List) Step(key string, from, total int) int {
	if from < 0 {
		return l.Visible.From
	}
	by := map[string]int{"ArrowDown": 1, "ArrowUp": -1, "PageDown": l.Visible.Count - 2, "PageUp": 2 - l.Visible.Count, "Home": -total, "End": total}[key]
	return max(0, min(from+by, total-1))
}

// Heights of the lists' rows in pixels. The style sheet and the templates have the same numbers.
const (
	RowHeight    = 26
	ThreadHeight = 44
	LineHeight   = 20 // of a stream's content
)
