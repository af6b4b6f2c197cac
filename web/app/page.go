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
//	page.go, root.go              the root, and its component
//	actions.go, keys.go, help.go  the table of actions and of fields; keys; the help
//	history.go, selection.go      the page's address and its history; what is selected
//	pace.go                       what happens when
//	verdict, threads, stack,      the zones of the screen
//	stack-words, frame-zone,
//	code, panel, outline
//	files.go, file-names.go       reading files
//	dumps.go, dump-table.go       the menu of dumps; their table
//	work.go, program.go,          work in the background
//	indexing.go, making.go,
//	background.go, export.go
//	context.go, preview.go,       menus and dialogs
//	go-to.go, find.go
//	embed.go                      the host page
//	warm-up.go                    what the start screen does before the first dump arrives
//
// The packages in its folder know nothing of the page as a whole:
//
//	tabs         the parts of the lower panel (their table is in panel.go)
//	zone         what zones share: selection, dump, windows to query, limits
//	servers      symbol files from servers and folders
//	table        lists and tables, and how their rows are sorted
//	state        what a link restores
//	host         what the page needs of the browser and of the engine
//	notices      messages
//	split        the splitters between zones
//	sourcelinks  links to source lines
//	words        small texts and attributes of the templates
package app

import (
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/notices"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Page is the root: the selection, and the zones, each with its own state, words and component. It
// passes actions, typed text and the engine's answers to the zone that they are for. It is not safe
// for concurrent use: the host calls its methods under the renderer's lock.
type Page struct {
	zone.Shared
	Engine host.Engine
	nextID int

	HostPage HostPage
	Address  Address
	Pace     Pace
	Menu     DumpMenu
	Table    DumpTable
	Reading  Reading
	Work     Work
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
	p := &Page{Engine: e}
	p.Shared.Host, p.State = h, parseState(hash)
	p.Address.linked, p.State.Table = p.State, false
	p.HostPage.page, p.Address.page, p.Menu.page, p.Reading.page, p.Menus.page, p.Layout.page = p, p, p, p, p, p
	p.Notices = notices.New(h, func(level, text string) { p.HostPage.notify(Event{Kind: EventError, Level: level, Text: text}) })
	p.Search.page, p.Verdict.page, p.Frame.page, p.Menus.Preview.page, p.Menus.GoTo.page = p, p, p, p, p
	p.Reading.leaving = Leaving{page: p, items: map[host.File][]int{}}
	p.Work.init(p)
	p.Screen.Init(h.After, p.Pace.query, p.hides)
	p.Pace.page = p
	p.Acts = zone.Acts{Send: p.ask, AddFiles: p.Reading.Add, Decide: p.Reading.decide, SelectThread: p.selectThread, SelectFrame: p.selectFrame,
		ShowPart: func(id string) { p.Panel.show(id, false) }}
	p.Screen.Add(&p.Verdict)
	p.Threads.init(p)
	p.Stack.init(p)
	p.Screen.Add(&p.Frame)
	p.Frame.Code.init(p)
	p.Panel.init(p)
	p.Table.init(p)
	p.Screen.Add(&p.Search)
	p.Screen.Add(&p.Menus.GoTo)
	p.Screen.Add(&p.Panel)
	// The order of the zones above is the order in which they apply a result: the selection comes
	// with the stack, and the search acts on it.
	p.actions = append(actionTable, p.Panel.actions()...)
	if p.State.Theme == "" {
		p.State.Theme = h.Load("theme")
	}
	h.SetTheme(p.State.Theme)
	p.Split.Load(h.Load("split"))
	if p.State.Policy != "" {
		p.Reading.decide(&protocol.SetPolicy{Policy: p.State.Policy})
	}
	return p
}

// hides reports whether a zone is invisible now. In place of a dump's zones there may be the table of
// dumps; the list of files has the messages about all.
func (p *Page) hides(one zone.Zone) bool {
	table := one == zone.Zone(&p.Table)
	if p.Table.Open() {
		return !table && one != zone.Zone(p.Panel.Files)
	}
	return table || zone.IsHidden(one)
}

// Shows reports whether the page shows the open dump.
func (p *Page) Shows() bool { return !p.Empty() && !p.Table.Open() }

// Starts reports whether the page shows the start screen.
func (p *Page) Starts() bool { return p.Empty() && !p.Table.Open() }

// send posts a request and returns its number, which the answer carries.
func (p *Page) send(req protocol.Request, file host.File) (id int) {
	p.nextID++
	p.Engine.Send(protocol.Call{ID: p.nextID, Redact: p.Limits.Redact, Request: req}, file)
	return p.nextID
}

// ask sends a request without a file, unless the engine has ended.
func (p *Page) ask(req protocol.Request) (id int) {
	if p.Reading.stopped {
		return 0
	}
	return p.send(req, nil)
}

// repeatDecisions repeats the user's decisions, when the engine has the files that they are about.
func (p *Page) repeatDecisions() {
	p.Reading.replay = false
	for _, d := range p.Decisions {
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
		return p.Pace.drawsFile()
	case *protocol.QueryResult:
		return p.Pace.answered(r, a.Error)
	case *protocol.Exported:
		p.Work.Exports.done(a.ID, r, a.Error)
	case *protocol.Walked:
		return p.Work.Background.walked(r)
	case *protocol.Described:
		return p.Table.described(r)
	case *protocol.MemoryFound:
		p.Panel.Finder.Found(a.ID, r, a.Error)
	case *protocol.Missing:
		p.Panel.Sources.Has(r.Rows)
	case *protocol.RemoteFailed:
		p.Work.Downloads.RemoteFailed(r, a.Error)
	case *protocol.Closed:
		if p.Menu.closed(r); a.ID == p.Reading.leaving.id {
			p.Reading.leaving.left()
		}
	case *protocol.FileIndexed:
		return p.Work.Indexing.indexed(r, a.Error)
	case *protocol.Changed:
		if a.Error != "" {
			p.Notices.Show("error", a.Error)
		}
		p.Screen.AskAll()
	}
	return true
}

// forget clears the tabs' state when another dump is opened. In particular, private data revealed
// for one dump stays hidden for the next.
func (p *Page) forget() {
	p.Have = nil
	p.Frame.Code.forget()
	for _, t := range p.Panel.tabs {
		if t, ok := t.(interface{ Forget() }); ok {
			t.Forget()
		}
	}
}
