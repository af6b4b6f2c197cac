package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// Zone is a part of the screen with data of its own.
type Zone interface {
	// Want adds what the zone shows to a query.
	Want(q *protocol.Query)
	// Apply applies the zone's part of a result. A result has only the parts that were queried.
	Apply(r *protocol.QueryResult)
	// A zone may also have Hidden() bool, which reports whether it is invisible now: then it is not
	// queried.
}

func isHidden(zone Zone) bool {
	h, ok := zone.(interface{ Hidden() bool })
	return ok && h.Hidden()
}

// hidden reports whether a zone is invisible now. In place of a dump's zones there may be the table of
// dumps; the list of files has what is said of all.
func (z *Screen) hidden(zone Zone) bool {
	table := zone == Zone(&z.page.Dumps.Table)
	if z.page.Dumps.Table.Open() {
		return !table && zone != Zone(z.page.Panel.Files)
	}
	return table || isHidden(zone)
}

// Screen has the zones. Those that need data are dirty until the next query (Pace), which has all
// dirty zones. So holding a key down never makes a queue of queries.
type Screen struct {
	page        *Page
	ChangedRows ChangedRows
	Pace        Pace
	zones       []Zone // in the order in which they apply a result
	lists       []*List
	dirty       map[Zone]bool              // zones to query
	reports     map[Zone]protocol.ReportID // the report that each zone shows
	top         bool                       // select the thread's first row when it is known
	seek        bool                       // scroll to the selected rows when they are known
	nextID      int
}

func (z *Screen) init(p *Page) {
	z.page, z.ChangedRows.page = p, p
	z.ChangedRows.ids, z.dirty, z.reports = map[string]bool{}, map[Zone]bool{}, map[Zone]protocol.ReportID{}
}

// add registers a zone and its lists.
func (z *Screen) add(zone Zone, lists ...*List) {
	z.zones = append(z.zones, zone)
	for _, l := range lists {
		l.zone = zone
		z.lists = append(z.lists, l)
	}
}

// askAll queries all visible zones.
func (z *Screen) askAll() { z.ask(z.zones...) }

// ask queries zones, together with those that are already dirty, as soon as Pace says.
func (z *Screen) ask(zones ...Zone) {
	z.mark(zones...)
	z.page.Screen.Pace.query()
}

// mark makes zones dirty.
func (z *Screen) mark(zones ...Zone) {
	for _, zone := range zones {
		z.dirty[zone] = true
	}
}

// updated notes which report a zone's new rows are from, and reports whether it is a newer report
// of the same dump. Then rows that differ have changed before the user's eyes, and are highlighted.
// Scrolling and selecting do not make a new report. Symbols that were dropped together with the
// dump are not a change either (opening).
func (z *Screen) updated(zone Zone, now protocol.ReportID) bool {
	before, known := z.reports[zone]
	z.reports[zone] = now
	return !z.page.Screen.Pace.opening && known && before.Dump == now.Dump && before.Revision != now.Revision
}

// resetRevisions prepares for a new engine, which numbers its reports from the start.
func (z *Screen) resetRevisions() {
	for zone, e := range z.reports {
		e.Revision = -1
		z.reports[zone] = e
	}
}

// Scrolled is called with the visible rows of a list. If the window lacks some, it queries them and
// returns true. Scrolling within the window draws nothing.
func (z *Screen) Scrolled(list string, first, rows int) bool {
	l := z.list(list)
	if l == nil || rows <= 0 {
		return false
	}
	l.visible = protocol.Span{From: max(0, first), Count: min(rows, 200)}
	from, to, total := l.loaded()
	grows := l.reached != nil && l.reached(first <= 0, first+rows >= total)
	if !grows && first >= from && min(first+rows, total) <= to {
		return false
	}
	z.ask(l.zone)
	return true
}

// list returns the visible list with an element's id, or nil.
func (z *Screen) list(id string) *List {
	for _, l := range z.lists {
		if l.id == id && !z.hidden(l.zone) {
			return l
		}
	}
	return nil
}

// List is the window of a zone's rows that the page has. The engine makes rows only for windows, so
// lists of any length are equally fast.
type List struct {
	id      string                              // of its element
	visible protocol.Span                       // as measured by the host
	more    int                                 // rows queried above and below the visible ones, so that scrolling a little shows rows at once
	here    func() (window rows.Page, rows int) // the zone's window, and how many rows it has
	zone    Zone
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
