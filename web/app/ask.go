package app

import (
	"time"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Zone is a part of the screen with data of its own.
type Zone interface {
	// Want adds what the zone shows to a question to the engine.
	Want(q *protocol.Look)
	// Apply takes what is the zone's of an answer.
	Apply(r *protocol.Looked)
	// It may have Hidden() bool, which reports whether nobody sees the zone now: what it shows is asked for when it is opened.
}

func isHidden(zone Zone) bool {
	h, ok := zone.(interface{ Hidden() bool })
	return ok && h.Hidden()
}

// Screen asks the engine for what the zones show. Only one question is on its way at a time: what is asked meanwhile goes together into the next
// one, so that holding a key down never makes a queue.
type Screen struct {
	page     *Page
	Fresh    Fresh
	zones    []Zone // in the order in which they take an answer
	lists    []*List
	dirty    map[Zone]bool // to be asked for
	editions map[Zone]protocol.Edition
	asking   bool             // a question is on its way
	held     *protocol.Looked // a first screen that is kept back (keepBack)
	top      bool             // the thread's first row is to be selected when it is known
	seek     bool             // the selected rows are to be scrolled to
	opening  bool             // until all that came with a dump was shown
	nextID   int
}

func (z *Screen) init(p *Page) {
	z.page, z.Fresh.page = p, p
	z.Fresh.ids, z.dirty, z.editions = map[string]bool{}, map[Zone]bool{}, map[Zone]protocol.Edition{}
}

// add takes a zone and its lists.
func (z *Screen) add(zone Zone, lists ...*List) {
	z.zones = append(z.zones, zone)
	for _, l := range lists {
		l.zone = zone
		z.lists = append(z.lists, l)
	}
}

// askAll asks for all zones that are seen.
func (z *Screen) askAll() { z.ask(z.zones...) }

// ask asks for zones, as far as they are seen, and for what was to be asked before.
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
	if z.asking || p.Reading.dead || len(z.dirty) == 0 || len(p.Dumps.List) == 0 && !z.dirty[p.Panel.Files] || z.awaitsSmall() {
		return
	}
	q := &protocol.Look{Selection: protocol.Selection{Dump: p.Dumps.Open, Thread: p.State.Thread, Frame: p.State.Frame, Inline: p.State.Inline, Top: z.top,
		HideInlines: p.State.HideInlines}, Search: p.State.Search}
	for _, zone := range z.first() {
		zone.Want(q)
		delete(z.dirty, zone)
	}
	q.More, z.asking = len(z.dirty) > 0, true
	p.send(q, nil)
}

// stack are the zones of which the stack is made.
func (z *Screen) stack() []Zone { return []Zone{&z.page.Verdict, &z.page.Threads, &z.page.Stack} }

// first are the zones to be asked for now. The first screen of a page is divided into three questions, the most important first: each is drawn as
// a short task of its own, where drawing all of it at once would hold the page's thread for too long.
func (z *Screen) first() (now []Zone) {
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
	// smallFile and smallPacked are sizes, in bytes, of files that the engine reads in less time than the first screen takes to be drawn.
	smallFile   = 512 << 10
	smallPacked = 64 << 10
	// So it is with a symbol file or two of this size, of which the engine makes an index.
	indexedFile, indexedFiles = 5 << 20, 2
	// firstFiles and firstLook are for how many files, the dump among them, and how long a first screen waits, that it need not be drawn twice.
	firstFiles = 8
	firstLook  = 250 * time.Millisecond
	// firstNames is for how long a first screen without the names of a large symbol file is kept back. They mostly come in half of that: drawing
	// the screen twice would take a fifth of it, and show a stack of bare addresses for a moment.
	firstNames = 800 * time.Millisecond
)

// awaitsSmall: there is nothing on the screen yet, and the next of what was dropped will be read in a moment.
func (z *Screen) awaitsSmall() bool {
	f := z.page.Reading.reading
	if f == nil && len(z.page.Reading.queue) > 0 {
		f = z.page.Reading.queue[0]
	}
	if z.page.Summary != nil || f == nil || isRemote(f) || z.page.Reading.Job.Done >= firstFiles || z.page.Reading.Job.began.ago() > firstLook {
		return false
	}
	if isPacked(f) {
		return f.Size() <= smallPacked
	}
	return f.Size() <= smallFile || f.Size() <= indexedFile && z.page.Reading.Job.Done <= indexedFiles
}

// keepBack keeps the answer for the first screen back while a large symbol file is looked into, and asks again, for one with its names. If
// that does not come soon, the first one is shown. It reports whether it did so.
func (z *Screen) keepBack(r *protocol.Looked) bool {
	again := z.held != nil
	z.held = nil
	f := z.page.Reading.reading
	if again || z.page.Summary != nil || r.Summary == nil || f == nil || f.Size() <= smallFile || isPacked(f) || isRemote(f) || looksLikeDump(f.Name()) || z.page.Reading.replay {
		return false
	}
	left := firstNames - z.page.Reading.Job.began.ago()
	if left <= 0 {
		return false
	}
	z.asking, z.held = false, r
	z.ask(z.stack()...)
	z.page.Host.After(int(left.Milliseconds()), func() (draw bool) { return z.letOut(r) })
	return true
}

// letOut shows an answer that is kept back, and reports whether it still was.
func (z *Screen) letOut(r *protocol.Looked) (was bool) {
	if r == nil || z.held != r {
		return false
	}
	z.held = nil
	z.took(r, "")
	return true
}

// looked takes the answer to the question that was on its way.
func (z *Screen) looked(r *protocol.Looked, problem string) {
	z.asking = false
	z.took(r, problem)
}

// took has the zones take the parts that came, and goes on.
func (z *Screen) took(r *protocol.Looked, problem string) {
	p := z.page
	first := p.Frame.Detail == nil && r.Detail != nil
	if !p.Reading.Job.Active || !p.Reading.waits() {
		p.Reading.Job = Job{}
	}
	if problem != "" {
		p.Notices.say("error", problem)
	}
	if p.Empty() && (r.Summary != nil || problem != "") {
		p.Address.set()
	}
	z.top = z.top || p.State.Thread < 0
	for _, zone := range z.zones {
		zone.Apply(r)
	}
	p.Work.Exact.unread(r.Unread)
	if p.Work.Later.Text == "" {
		p.Work.Later.began = 0 // it begins anew
	}
	if len(z.dirty) == 0 && !p.Reading.waits() && (r.Pending == 0 || len(p.Work.Exact.passes) > 0) && p.Work.Readers.state != readersComing {
		z.opening = false
	}
	switch {
	case p.Summary != nil && p.Frame.Detail == nil && z.dirty[&p.Frame]:
		// The stack is painted before the answer to what comes next is drawn; that knows the symbols that are being read.
		p.Host.NextFrame(func() {
			if p.Reading.reading != nil {
				z.ask(z.stack()...)
				return
			}
			z.ask()
		})
	case first && len(z.dirty) > 0:
		// And so are its names. The engine waits for another question (Look.More), also where nothing is left to be asked by then.
		p.Host.NextFrame(func() { z.ask(&p.Verdict) })
	default:
		z.ask()
	}
	if len(p.Reading.queue) > 0 {
		p.Reading.next()
	}
	p.Around.tellIdle(r)
}

// renewed notes of which edition the rows of a zone are that came, and reports whether that is a later one of the same dump: then what differs has
// changed under the reader's eyes. Scrolling and selecting do not make editions, and what comes with a dump in one drop is its first state and
// not a change.
func (z *Screen) renewed(zone Zone, now protocol.Edition) bool {
	before, known := z.editions[zone]
	z.editions[zone] = now
	return !z.opening && known && before.Dump == now.Dump && before.Revision != now.Revision
}

// countAnew is for a new engine, whose reports have other numbers.
func (z *Screen) countAnew() {
	for zone, e := range z.editions {
		e.Revision = -1
		z.editions[zone] = e
	}
}

// Scrolled says which rows of a list can be seen. It reports whether rows are missing, so that nothing is rendered for a
// scroll within what is here.
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

// list is the list of an element that is seen, or nil.
func (z *Screen) list(id string) *List {
	for _, l := range z.lists {
		if l.id == id && !isHidden(l.zone) {
			return l
		}
	}
	return nil
}

// List is a window of the rows of a zone.
type List struct {
	id      string        // of its element
	visible protocol.Span // as the host measured it
	more    int           // rows that are asked for above and below those that can be seen, so that scrolling by a little shows rows at once
	here    func() (window view.Page, rows int)
	zone    Zone
}

// overscan is List.more of most lists.
const overscan = 4

// span is the window to ask for.
func (l *List) span() protocol.Span {
	from := max(0, l.visible.From-l.more)
	return protocol.Span{From: from, Count: l.visible.From - from + l.visible.Count + l.more}
}

// loaded is the window of rows that is here.
func (l *List) loaded() (from, to, total int) {
	window, rows := l.here()
	return window.From, window.From + rows, window.Total
}

// around moves the window so that a row is in its middle.
func (l *List) around(row int) { l.visible.From = max(0, row-l.visible.Count/2) }
