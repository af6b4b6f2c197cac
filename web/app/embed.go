package app

import (
	"strings"

	"github.com/crashpane/crashpane/web/protocol"
)

// What a page around the viewer has a hand in: what the person in front of it may do, what is told to the page, and what it asks for.

// Limits are what a viewer inside of somebody's page may not do.
type Limits struct {
	NoFiles bool // no file may be added by hand
	// NoNetwork: no server may be asked for symbols.
	NoNetwork bool
	ReadOnly  bool // nor anything be changed in how the dump is read
	Redact    bool // what is private is neither shown nor exported: see protocol.Call
}

// Event is what a viewer tells the page around it.
type Event struct {
	Kind        string // one of the Event… names
	Text        string // progress: what is being done; error: what was wrong
	Level       string // error: "error" or "warning"
	Done, Total int    // progress: files
	Percent     int    // progress: of the file, or -1
	State       State  // select
	Mark, Dumps int    // idle: Around.Mark as it was when all that was added before was done, and how many dumps there are
}

// Kinds of an Event.
const (
	EventProgress = "progress" // a file is being read
	EventReport   = "report"   // the stacks are walked, with all symbols there are, and are others than those told of before
	EventIdle     = "idle"     // everything that was asked for is done
	EventSelect   = "select"   // another thread, frame or tab
	EventError    = "error"    // a notice was shown
)

// Around is the page around the viewer, if there is one. What belongs to a whole window is watched, too: by what keeps the page for when there is no
// network.
type Around struct {
	page   *Page
	Limits Limits
	Watch  func(Event)
	Inside bool             // there is a page around
	Mark   int              // counts what it has added; told with EventIdle
	told   protocol.Edition // the report that Watch was told of last
}

// tell tells the page around.
func (z *Around) tell(e Event) {
	if z.Watch != nil {
		z.Watch(e)
	}
}

// tellIdle tells, after an answer of the engine, that nothing is left to do, and whether there is another report.
func (z *Around) tellIdle(r *protocol.Looked) {
	if z.Watch == nil || len(z.page.Screen.dirty) > 0 || z.page.Screen.asking || z.page.Reading.waits() || z.page.Work.Readers.state == readersComing || r.Pending > 0 {
		return
	}
	if z.page.Summary != nil {
		// Thread and frame that nobody chose are known only now.
		z.tell(Event{Kind: EventSelect, State: z.page.State})
	}
	if z.page.Summary != nil && z.told != r.Edition {
		z.told = r.Edition
		z.tell(Event{Kind: EventReport})
	}
	z.tell(Event{Kind: EventIdle, Mark: z.Mark, Dumps: len(z.page.Dumps.List)})
}

// TakesFiles reports whether a person may add files.
func (z *Around) TakesFiles() bool { return z.allows(addsFiles) }

// SetLimits says from now on what is allowed, and shows what is here in that way.
func (z *Around) SetLimits(l Limits) {
	if l == z.Limits {
		return
	}
	z.Limits = l
	for _, t := range z.page.Panel.tabs {
		if t, ok := t.(interface{ hidePrivate() }); ok {
			t.hidePrivate()
		}
	}
	z.page.Screen.askAll()
}

// startTitle is what the page says before there is a dump.
func (z *Around) startTitle() string {
	if !z.TakesFiles() {
		return "No crash dump is open"
	}
	return "Drop a crash dump and its symbols here"
}

// Clear goes back to the start: a new engine that knows nothing.
func (p *Page) Clear() {
	p.Work.Readers.stop()
	p.Work.Making.stop()
	p.Reading.queue, p.Reading.reading, p.Reading.Job, p.Notices.List = nil, nil, Job{}, nil
	p.Reading.accepted, p.Reading.decided, p.Around.told = nil, nil, protocol.Edition{}
	theme, policy := p.State.Theme, p.State.Policy
	p.State = NewState()
	p.State.Theme, p.State.Policy = theme, policy
	if policy != "" {
		p.Reading.decided = []protocol.Request{&protocol.SetPolicy{Policy: policy}}
	}
	p.Reading.dead, p.Reading.fragile = false, false
	p.Engine.Restart()
	p.Reading.revive()
	p.Reading.forget()
	p.Address.write()
}

// promise says on the start page what the page can reach.
func (z *Around) promise() string {
	bases, ok := z.page.Host.SymbolBases()
	var others []string
	for _, b := range bases {
		if _, address := layoutOf(b); address != "" {
			others = append(others, address)
		}
	}
	switch {
	case z.Inside && len(others) == 0:
		return "This viewer reads files in your browser and sends nothing." + hostPage
	case z.Inside:
		return "This viewer reads files in your browser and sends nothing, unless you ask for symbols: it shows you the addresses, and then asks " + strings.Join(others, ", ") + "." + hostPage
	case !ok:
		return offline + " The page’s own policy (Content-Security-Policy) forbids every request."
	case len(others) == 0:
		return offline + " The page’s own policy (Content-Security-Policy) forbids every other server. From its own it loads only its own files."
	}
	return offline + " The page’s own policy (Content-Security-Policy) forbids every server but its own and " + strings.Join(others, ", ") + ", which the page asks only for symbols, after you have seen the addresses."
}

const (
	hostPage = " What the host page around it does is up to that page."
	offline  = "Turn the network off: everything still works. Only the reader of binaries, .zst and .xz must have been loaded before, when you first needed it."
)
