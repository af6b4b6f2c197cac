package app

import (
	"strings"

	"github.com/crashpane/crashpane/web/protocol"
)

// This file is about the host page: the page in which the viewer is embedded as an element or a frame.

// Limits are what a host page forbids.
type Limits struct {
	NoFiles   bool // the user may not add files
	NoNetwork bool // the user may not request symbols from servers
	ReadOnly  bool // the user may not add files, request symbols or change how the dump is read
	Redact    bool // private data is neither shown nor exported: see protocol.Call
}

// Event is a notification for the host page.
type Event struct {
	Kind        string // one of the Event… names
	Text        string // progress: what is being done; error: the message
	Level       string // error: "error" or "warning"
	Done, Total int    // progress: files
	Percent     int    // progress: of the file, or -1
	State       State  // select
	Mark, Dumps int    // idle: Around.Mark when everything added before it was done, and the number of dumps
}

// Kinds of an Event.
const (
	EventProgress = "progress" // a file is being read
	EventReport   = "report"   // there is a new report: the stacks are walked with all symbols so far
	EventIdle     = "idle"     // everything that was requested is done
	EventSelect   = "select"   // another thread, frame or tab is selected
	EventError    = "error"    // a notice was shown
)

// Around is the connection to the host page. Where the viewer is the whole page, Watch notifies web/static/app.js, which installs the service
// worker when the viewer is idle.
type Around struct {
	page   *Page
	Limits Limits
	Watch  func(Event)
	Inside bool             // there is a host page
	Mark   int              // number of its last addition, which EventIdle returns
	told   protocol.Edition // the report of the last EventReport
}

// tell notifies the host page.
func (z *Around) tell(e Event) {
	if z.Watch != nil {
		z.Watch(e)
	}
}

// tellIdle notifies the host page, after a result, if nothing is left to do, and if there is a new report.
func (z *Around) tellIdle(r *protocol.Looked) {
	if z.Watch == nil || len(z.page.Screen.dirty) > 0 || z.page.Screen.asking || z.page.Reading.waits() || z.page.Work.Readers.state == readersComing || r.Pending > 0 {
		return
	}
	if z.page.Summary != nil {
		// The default thread and frame are known only now.
		z.tell(Event{Kind: EventSelect, State: z.page.State})
	}
	if z.page.Summary != nil && z.told != r.Edition {
		z.told = r.Edition
		z.tell(Event{Kind: EventReport})
	}
	z.tell(Event{Kind: EventIdle, Mark: z.Mark, Dumps: len(z.page.Dumps.List)})
}

// TakesFiles reports whether the user may add files.
func (z *Around) TakesFiles() bool { return z.allows(addsFiles) }

// SetLimits changes the limits, hides private data, and queries everything again.
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

// startTitle is the heading of the start screen.
func (z *Around) startTitle() string {
	if !z.TakesFiles() {
		return "No crash dump is open"
	}
	return "Drop a crash dump and its symbols here"
}

// Clear goes back to the start screen, with a new engine.
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

// promise says on the start screen what the page can reach over the network.
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
