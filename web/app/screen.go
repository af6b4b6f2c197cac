package app

import (
	"github.com/crashpane/crashpane/web/app/table"
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
	lists       []zoneList
	dirty       map[Zone]bool              // zones to query
	reports     map[Zone]protocol.ReportID // the report that each zone shows
	top         bool                       // select the thread's first row when it is known
	seek        bool                       // scroll to the selected rows when they are known
	nextID      int
}

// zoneList is a list of a zone.
type zoneList struct {
	list *table.List
	zone Zone
}

func (z *Screen) init(p *Page) {
	z.page, z.ChangedRows.page = p, p
	z.ChangedRows.ids, z.dirty, z.reports = map[string]bool{}, map[Zone]bool{}, map[Zone]protocol.ReportID{}
}

// add registers a zone and its lists.
func (z *Screen) add(zone Zone, lists ...*table.List) {
	z.zones = append(z.zones, zone)
	for _, l := range lists {
		z.lists = append(z.lists, zoneList{l, zone})
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
	l, zone := z.list(list)
	if l == nil || rows <= 0 {
		return false
	}
	if !l.Scrolled(first, rows) {
		return false
	}
	z.ask(zone)
	return true
}

// list returns the visible list with an element's id and its zone, or nil.
func (z *Screen) list(id string) (*table.List, Zone) {
	for _, l := range z.lists {
		if l.list.ID == id && !z.hidden(l.zone) {
			return l.list, l.zone
		}
	}
	return nil, nil
}
