package zone

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

// IsHidden reports whether a zone says that it is invisible now.
func IsHidden(zone Zone) bool {
	h, ok := zone.(interface{ Hidden() bool })
	return ok && h.Hidden()
}

// Screen has the zones. Those that need data are dirty until the next query (Pace), which has all
// dirty zones. So holding a key down never makes a queue of queries.
type Screen struct {
	ChangedRows ChangedRows
	query       func()               // queries the dirty zones as soon as that can be (Pace)
	Hidden      func(zone Zone) bool // reports whether a zone is invisible now
	Zones       []Zone               // in the order in which they apply a result
	Lists       []zoneList
	Dirty       map[Zone]bool              // zones to query
	Reports     map[Zone]protocol.ReportID // the report that each zone shows
	Top         bool                       // select the thread's first row when it is known
	Seek        bool                       // scroll to the selected rows when they are known
	Opening     bool                       // not everything that was dropped with the dump is shown yet
}

// zoneList is a list of a zone.
type zoneList struct {
	List *table.List
	Zone Zone
}

// Init makes an empty screen.
func (z *Screen) Init(after func(milliseconds int, do func() (draw bool)), query func(), hidden func(zone Zone) bool) {
	z.ChangedRows.after, z.query, z.Hidden = after, query, hidden
	z.ChangedRows.IDs, z.Dirty, z.Reports = map[string]bool{}, map[Zone]bool{}, map[Zone]protocol.ReportID{}
}

// Add registers a zone and its lists.
func (z *Screen) Add(zone Zone, lists ...*table.List) {
	z.Zones = append(z.Zones, zone)
	for _, l := range lists {
		z.Lists = append(z.Lists, zoneList{l, zone})
	}
}

// AskAll queries all visible zones.
func (z *Screen) AskAll() { z.Ask(z.Zones...) }

// Ask queries zones, together with those that are already dirty, as soon as Pace says.
func (z *Screen) Ask(zones ...Zone) {
	z.Mark(zones...)
	z.query()
}

// Mark makes zones dirty.
func (z *Screen) Mark(zones ...Zone) {
	for _, zone := range zones {
		z.Dirty[zone] = true
	}
}

// Updated notes which report a zone's new rows are from, and reports whether it is a newer report
// of the same dump. Then rows that differ have changed before the user's eyes, and are highlighted.
// Scrolling and selecting do not make a new report. Symbols that were dropped together with the
// dump are not a change either (opening).
func (z *Screen) Updated(zone Zone, now protocol.ReportID) bool {
	before, known := z.Reports[zone]
	z.Reports[zone] = now
	return !z.Opening && known && before.Dump == now.Dump && before.Revision != now.Revision
}

// ResetRevisions prepares for a new engine, which numbers its reports from the start.
func (z *Screen) ResetRevisions() {
	for zone, e := range z.Reports {
		e.Revision = -1
		z.Reports[zone] = e
	}
}

// Scrolled is called with the visible rows of a list. If the window lacks some, it queries them and
// returns true. Scrolling within the window draws nothing.
func (z *Screen) Scrolled(list string, first, rows int) bool {
	l, zone := z.List(list)
	if l == nil || rows <= 0 {
		return false
	}
	if !l.Scrolled(first, rows) {
		return false
	}
	z.Ask(zone)
	return true
}

// List returns the visible list with an element's id and its zone, or nil.
func (z *Screen) List(id string) (*table.List, Zone) {
	for _, l := range z.Lists {
		if l.List.ID == id && !z.Hidden(l.Zone) {
			return l.List, l.Zone
		}
	}
	return nil, nil
}

// highlightTime is how long changed rows are highlighted, in milliseconds. The animation of the
// class "changed" in the style sheet takes as long.
const highlightTime = 2400

// ChangedRows has the rows that changed a moment ago, because symbols or an index arrived. They are
// highlighted.
type ChangedRows struct {
	after func(milliseconds int, do func() (draw bool))
	IDs   map[string]bool
	count int // calls of mark
}

// Mark highlights rows, given by their ids, for highlightTime milliseconds. A later call starts the
// time again for all of them.
func (z *ChangedRows) Mark(ids []string) {
	if len(ids) == 0 {
		return
	}
	for _, id := range ids {
		z.IDs[id] = true
	}
	z.count++
	mine := z.count
	z.after(highlightTime, func() (draw bool) {
		if draw = z.count == mine; draw {
			clear(z.IDs)
		}
		return draw
	})
}

// Class returns the class of a row, with the highlight if it has one.
func (z *ChangedRows) Class(class, id string) string {
	if z.IDs[id] {
		return class + " changed"
	}
	return class
}
