// Package app is the page: Vugu components over one Page value. It has no parser and does not touch
// the browser itself: Host stands between it and the document, focus, storage and clipboard, Engine
// between it and the worker. So it builds and is tested natively, and one window may have several
// pages.
//
// Input arrives as an action (Page.Act), a key (Page.Key) or typed text (Page.Input); the engine's
// messages arrive at Page.Answer. Each of these changes the Page and queries the engine for what is
// now visible (Screen.ask). The components then draw the Page.
//
// Begin with page.go, then pace.go, which decides what happens when, and one zone, for
// example stack.go with stack.vugu. The files NAME_gen.go are generated from NAME.vugu by `make
// gen`.
//
//	page.go, root.go             the root, and its component
//	actions.go, keys.go, help.go the table of actions and of fields; keys; the help
//	history.go                   the page's address and its history
//	pace.go, screen.go           what happens when; zones
//	verdict, threads, stack,     the zones of the screen
//	frame-zone, code, panel
//	merged, modules, missing,     the tabs of the panel
//	findings,
//	compare, files-tab, system,
//	grid, log
//	files.go, dumps.go           reading files, and the menu of dumps
//	dump-table.go                the table of dumps, and their groups
//	program.go, indexing.go,    work in the background
//	making.go, downloads.go
//	embed.go                     the host page
//	outline.go                   what symbols say, with or without a dump
//	go-to.go                     the dialog that goes to an address or a name
//	warm-up.go                   what the start screen does before the first dump arrives
//
// The packages below it know nothing of the page as a whole: host is what it needs of the browser and
// of the engine, state what a link restores, table its lists and tables, notices its messages, split
// the splitters, sourcelinks the links to sources, words the small texts of the templates.
package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/notices"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/protocol"
)

// Page is the root: the selection, and the zones, each with its own state, words and component. It
// passes actions, typed text and the engine's answers to the zone that they are for. It is not safe
// for concurrent use: the host calls its methods under the renderer's lock.
type Page struct {
	Host    host.Host
	Engine  host.Engine
	State   state.State
	Summary *rows.Summary // of the selected dump; nil if none is shown

	HostPage HostPage
	Address  Address
	Screen   Screen
	Dumps    Dumps
	Reading  Reading
	Work     Work
	Notices  notices.Notices
	Menus    Menus
	Layout   Layout

	Search  Search
	Verdict Verdict
	Threads Threads
	Stack   Stack
	Frame   FrameZone
	Panel   Panel
	actions []action
}

// NewPage makes a page that shows the start screen. hash is the state in the page's address.
func NewPage(h host.Host, e host.Engine, hash string) *Page {
	p := &Page{Host: h, Engine: e, State: parseState(hash)}
	p.Address.linked, p.State.Table = p.State, false
	p.HostPage.page, p.Address.page, p.Dumps.page, p.Reading.page, p.Menus.page, p.Layout.page = p, p, p, p, p, p
	p.Notices = notices.New(h, func(level, text string) { p.HostPage.notify(Event{Kind: EventError, Level: level, Text: text}) })
	p.Search.page, p.Verdict.page, p.Frame.page, p.Menus.Preview.page, p.Menus.GoTo.page = p, p, p, p, p
	p.Reading.leaving = Leaving{page: p, items: map[host.File][]int{}}
	p.Work.init(p)
	p.Screen.init(p)
	p.Screen.Pace.page = p
	p.Screen.add(&p.Verdict)
	p.Threads.init(p)
	p.Stack.init(p)
	p.Screen.add(&p.Frame)
	p.Frame.Code.init(p)
	p.Panel.init(p)
	p.Dumps.Table.init(p)
	p.Screen.add(&p.Search)
	p.Screen.add(&p.Menus.GoTo)
	p.Screen.add(&p.Panel)
	// The order of the zones above is the order in which they apply a result: the selection comes
	// with the stack, and the search acts on it.
	p.actions = append(actionTable, p.Panel.actions()...)
	if p.State.Theme == "" {
		p.State.Theme = h.Load("theme")
	}
	h.SetTheme(p.State.Theme)
	p.Layout.Split.Load(h.Load("split"))
	p.Work.Kept.load()
	p.Panel.Sources.load()
	if p.State.Policy != "" {
		p.Reading.decide(&protocol.SetPolicy{Policy: p.State.Policy})
	}
	return p
}

// Empty reports whether no dump is open: the page shows the start screen or the table of dumps.
func (p *Page) Empty() bool { return p.Summary == nil }

// Shows reports whether the page shows the open dump.
func (p *Page) Shows() bool { return !p.Empty() && !p.Dumps.Table.Open() }

// Starts reports whether the page shows the start screen.
func (p *Page) Starts() bool { return p.Empty() && !p.Dumps.Table.Open() }

// send posts a request and returns its number, which the answer carries.
func (p *Page) send(req protocol.Request, file host.File) (id int) {
	p.Screen.nextID++
	p.Engine.Send(protocol.Call{ID: p.Screen.nextID, Redact: p.HostPage.Limits.Redact, Request: req}, file)
	return p.Screen.nextID
}

// repeatDecisions repeats the user's decisions, when the engine has the files that they are about.
func (p *Page) repeatDecisions() {
	p.Reading.replay = false
	for _, d := range p.Reading.decisions {
		p.send(d, nil)
	}
}

// Answer applies a message of the engine; data is the bytes or the file that came with it, or nil.
// It reports whether the page must be drawn. A job of hundreds of files is drawn a few times a
// second, not after each file.
func (p *Page) Answer(a protocol.Answer) (draw bool) {
	if a.ID > 0 && a.ID < p.Reading.leaving.id {
		return false // it was cancelled
	}
	switch r := a.Reply.(type) {
	case *protocol.Progress:
		if r.Background {
			p.Work.Background.progress(*r)
			return false
		}
		return p.Reading.progress(*r)
	case *protocol.Added:
		p.Reading.added(r, a.Error)
		return p.Screen.Pace.drawsFile()
	case *protocol.QueryResult:
		return p.Screen.Pace.answered(r, a.Error)
	case *protocol.Exported:
		p.Work.Exports.done(a.ID, r, a.Error)
	case *protocol.Walked:
		return p.Work.Background.walked(r)
	case *protocol.Described:
		return p.Dumps.Table.described(r)
	case *protocol.MemoryFound:
		p.Panel.Finder.found(a.ID, r, a.Error)
	case *protocol.Missing:
		p.Panel.Sources.Missing, p.Panel.Sources.known = r.Rows, true
	case *protocol.RemoteFailed:
		p.Work.Downloads.remoteFailed(r, a.Error)
	case *protocol.Closed:
		if p.Dumps.closed(r); a.ID == p.Reading.leaving.id {
			p.Reading.leaving.left()
		}
	case *protocol.FileIndexed:
		return p.Work.Indexing.indexed(r, a.Error)
	case *protocol.Changed:
		if a.Error != "" {
			p.Notices.Show("error", a.Error)
		}
		p.Screen.askAll()
	}
	return true
}

// forget clears the tabs' state when another dump is opened. In particular, private data revealed
// for one dump stays hidden for the next.
func (p *Page) forget() {
	p.Panel.have = nil
	p.Frame.Code.forget()
	for _, t := range p.Panel.tabs {
		if t, ok := t.(interface{ forget() }); ok {
			t.forget()
		}
	}
}
