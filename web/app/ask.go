package app

import (
	"time"

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

// Screen queries the engine for what the zones show. At most one query is pending. Zones that need
// data meanwhile become dirty, and the next query has all dirty zones. So holding a key down never
// makes a queue of queries.
type Screen struct {
	page        *Page
	ChangedRows ChangedRows
	zones       []Zone // in the order in which they apply a result
	lists       []*List
	dirty       map[Zone]bool              // zones to query
	reports     map[Zone]protocol.ReportID // the report that each zone shows
	asking      bool                       // a query is pending
	held        *protocol.QueryResult      // a first screen that is held back (holdBack)
	top         bool                       // select the thread's first row when it is known
	seek        bool                       // scroll to the selected rows when they are known
	opening     bool                       // not everything that was dropped with the dump is shown yet
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

// ask queries zones, as far as they are visible, together with those that are already dirty. If a
// query is pending, they wait for its result.
func (z *Screen) ask(zones ...Zone) {
	for _, zone := range zones {
		z.dirty[zone] = true
	}
	for zone := range z.dirty {
		if isHidden(zone) {
			delete(z.dirty, zone)
		}
	}
	p := z.page
	// Without a dump only the list of files can be queried.
	if z.asking || p.Reading.stopped || len(z.dirty) == 0 || len(p.Dumps.List) == 0 && !z.dirty[p.Panel.Files] || z.waitsForFile() {
		return
	}
	q := &protocol.Query{Selection: protocol.Selection{Dump: p.Dumps.Open, Thread: p.State.Thread, Frame: p.State.Frame, Inline: p.State.Inline, Top: z.top,
		HideInlines: p.State.HideInlines}, Search: p.State.Search}
	for _, zone := range z.next() {
		zone.Want(q)
		delete(z.dirty, zone)
	}
	q.Wanted = isMany(p.Reading.queue)
	q.More, z.asking = len(z.dirty) > 0, true
	p.send(q, nil)
}

// stack returns the zones that make up the first screen.
func (z *Screen) stack() []Zone { return []Zone{&z.page.Verdict, &z.page.Threads, &z.page.Stack} }

// next returns the dirty zones to query now. A dump's first screen takes three queries: headline,
// threads and stack; then the frame; then the rest. Each is drawn in a short task of its own.
// Drawing everything at once would block the page's thread for too long.
func (z *Screen) next() (now []Zone) {
	among := func(zones ...Zone) bool {
		now = nil
		for _, zone := range zones {
			if z.dirty[zone] {
				now = append(now, zone)
			}
		}
		return len(now) > 0
	}
	p := z.page
	if len(p.Dumps.List) > 0 && (p.Summary == nil && among(z.stack()...) || p.Frame.Detail == nil && among(append(z.stack(), &p.Frame)...)) {
		return now
	}
	among(z.zones...)
	return now
}

const (
	// smallFile and smallPacked are sizes in bytes: the engine reads a file up to this size in less
	// time than drawing the first screen takes.
	smallFile   = 512 << 10
	smallPacked = 64 << 10
	// The same is true of up to indexedFiles symbol files of this size, which the engine indexes.
	indexedFile, indexedFiles = 5 << 20, 2
	// firstFiles and firstLook bound the wait of the first screen for small files, so that it need
	// not be drawn twice: the number of files, including the dump, and the time.
	firstFiles = 8
	firstLook  = 250 * time.Millisecond
	// firstNames is how long a first screen waits for the names of a large symbol file. They mostly
	// arrive in half of that. Drawing the screen twice would take a fifth of it, and would show a
	// stack of bare addresses for a moment.
	firstNames = 800 * time.Millisecond
)

// waitsForFile reports whether a query should wait, because the next file will be read in a moment:
// that of the first screen for small files.
func (z *Screen) waitsForFile() bool {
	f := z.page.Reading.reading
	if f == nil && len(z.page.Reading.queue) > 0 {
		f = z.page.Reading.queue[0]
	}
	if z.page.Summary != nil || f == nil || isRemote(f) || z.page.Reading.Job.Done >= firstFiles || time.Since(z.page.Reading.Job.began) > firstLook {
		return false
	}
	if isPacked(f) {
		return f.Size() <= smallPacked
	}
	return f.Size() <= smallFile || f.Size() <= indexedFile && z.page.Reading.Job.Done <= indexedFiles
}

// holdBack holds back the result for the first screen while the engine opens a large symbol file,
// and queries again, for a result with names. If that does not arrive in time, release shows the
// first result. It reports whether it did so.
func (z *Screen) holdBack(r *protocol.QueryResult) bool {
	again := z.held != nil // this is the second result, so show it in any case
	z.held = nil
	f := z.page.Reading.reading
	if again || z.page.Summary != nil || r.Summary == nil || f == nil || f.Size() <= smallFile || isPacked(f) || isRemote(f) || looksLikeDump(f.Name()) || z.page.Reading.replay {
		return false
	}
	left := firstNames - time.Since(z.page.Reading.Job.began)
	if left <= 0 {
		return false
	}
	z.asking, z.held = false, r
	z.ask(z.stack()...)
	z.page.Host.After(int(left.Milliseconds()), func() (draw bool) { return z.release(r) })
	return true
}

// release shows a result that is held back, and reports whether it was.
func (z *Screen) release(r *protocol.QueryResult) (was bool) {
	if r == nil || z.held != r {
		return false
	}
	z.held = nil
	z.apply(r, "")
	return true
}

// answered handles the result of the pending query.
func (z *Screen) answered(r *protocol.QueryResult, problem string) {
	z.asking = false
	z.apply(r, problem)
}

// apply has the zones apply a result, and sends the next query or file.
func (z *Screen) apply(r *protocol.QueryResult, problem string) {
	p := z.page
	first := p.Frame.Detail == nil && r.Detail != nil // the second part of a first screen
	if !p.Reading.Job.Active || !p.Reading.waits() {
		p.Reading.Job = Job{}
	}
	if problem != "" {
		p.Notices.show("error", problem)
	}
	if p.Empty() && (r.Summary != nil || problem != "") { // the first dump: its address has waited for this
		p.Address.set()
	}
	z.top = z.top || p.State.Thread < 0
	p.Reading.unwalked = p.Reading.unwalked && z.dirty[&p.Stack] && problem == "" // a dirty stack is not queried yet
	for _, zone := range z.zones {
		zone.Apply(r)
	}
	p.Reading.wantFirst(r.Wanted)
	p.Work.Indexing.start(r.Unindexed)
	if p.Work.Background.Text == "" {
		p.Work.Background.began = time.Time{} // further work counts its time from its own start
	}
	if len(z.dirty) == 0 && !p.Reading.waits() && (r.Pending == 0 || len(p.Work.Indexing.running) > 0) {
		z.opening = false
	}
	switch {
	case p.Summary != nil && p.Frame.Detail == nil && z.dirty[&p.Frame]:
		// Let the browser paint the stack before the next result is drawn. If a symbol file is
		// being read, query the stack again, with its names.
		p.Host.NextFrame(func() {
			if p.Reading.reading != nil {
				z.ask(z.stack()...)
				return
			}
			z.ask()
		})
	case first && len(z.dirty) > 0:
		// Let the browser paint the names, too. The engine waits for another query (Query.More), so
		// send one even if nothing is dirty by then.
		p.Host.NextFrame(func() { z.ask(&p.Verdict) })
	default:
		z.ask()
	}
	if len(p.Reading.queue) > 0 {
		p.Reading.next()
	}
	p.HostPage.notifyIdle(r)
}

// updated notes which report a zone's new rows are from, and reports whether it is a newer report
// of the same dump. Then rows that differ have changed before the user's eyes, and are highlighted.
// Scrolling and selecting do not make a new report. Symbols that were dropped together with the
// dump are not a change either (opening).
func (z *Screen) updated(zone Zone, now protocol.ReportID) bool {
	before, known := z.reports[zone]
	z.reports[zone] = now
	return !z.opening && known && before.Dump == now.Dump && before.Revision != now.Revision
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
	if first >= from && min(first+rows, total) <= to {
		return false
	}
	z.ask(l.zone)
	return true
}

// list returns the visible list with an element's id, or nil.
func (z *Screen) list(id string) *List {
	for _, l := range z.lists {
		if l.id == id && !isHidden(l.zone) {
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
