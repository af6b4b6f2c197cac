package app

import "github.com/crashpane/crashpane/web/protocol"

// What a page around the viewer has a hand in: what the person in front of it may do, what is told to the page, and what it asks for.

// Limits are what a viewer inside of somebody's page may not do.
type Limits struct {
	NoFiles bool // no file may be added by hand
	// NoNetwork: no server may be asked for symbols.
	NoNetwork bool
	ReadOnly  bool // nor anything be changed in how the dump is read
	Redact    bool // what is private is neither shown nor exported: see Request.Redact
}

// Event is what a viewer tells the page around it.
type Event struct {
	Kind        string // one of the Event… names
	Text        string // progress: what is being done; error: what was wrong
	Level       string // error: "error" or "warning"
	Done, Total int    // progress: files
	Percent     int    // progress: of the file, or -1
	State       State  // select
	Mark, Dumps int    // idle: Page.Mark as it was when all that was added before was done, and how many dumps there are
}

// Kinds of an Event.
const (
	EventProgress = "progress" // a file is being read
	EventReport   = "report"   // the stacks are walked, with all symbols there are, and are others than those told of before
	EventIdle     = "idle"     // everything that was asked for is done
	EventSelect   = "select"   // another thread, frame or tab
	EventError    = "error"    // a notice was shown
)

// tell tells the page around.
func (p *Page) tell(e Event) {
	if p.Watch != nil {
		p.Watch(e)
	}
}

func (p *Page) tellProgress() {
	if p.Job.Active {
		p.tell(Event{Kind: EventProgress, Text: p.Job.Text, Done: p.Job.Done, Total: p.Job.Total, Percent: p.Job.Percent})
	}
}

// tellIdle tells, after an answer of the engine, that nothing is left to do, and whether there is another report.
func (p *Page) tellIdle(r *protocol.Looked) {
	if p.Watch == nil || p.dirty != 0 || p.asking || p.reading != nil || len(p.queue) > 0 || p.Readers.state == readersComing || r.Pending > 0 {
		return
	}
	if p.Summary != nil {
		// Thread and frame that nobody chose are known only now.
		p.tell(Event{Kind: EventSelect, State: p.State})
	}
	if p.Summary != nil && p.told != r.Edition {
		p.told = r.Edition
		p.tell(Event{Kind: EventReport})
	}
	p.tell(Event{Kind: EventIdle, Mark: p.Mark, Dumps: len(p.Dumps)})
}

// forbidden reports whether a person may not do what an element asks for.
func (p *Page) forbidden(act string) bool {
	switch act {
	case "sources":
		return p.Limits.ReadOnly || p.Limits.NoFiles && p.Limits.NoNetwork
	case "symbols", "ask", "base", "remember", "read-all":
		return p.Limits.ReadOnly || p.Limits.NoNetwork
	case "close-dump", "pick-files", "pick-folder", "pick-store", "store", "sample":
		return p.Limits.NoFiles || p.Limits.ReadOnly
	case "use", "assign", "unuse", "policy", "ignore", "keep", "clear-kept":
		return p.Limits.ReadOnly
	case "make": // the files of sources stand in it
		return p.Limits.ReadOnly || p.Limits.Redact
	}
	return false
}

// TakesFiles reports whether a person may add files.
func (p *Page) TakesFiles() bool { return !p.forbidden("pick-files") }

// Offer is Add by the hand of a person.
func (p *Page) Offer(files []File) {
	if p.TakesFiles() {
		p.Add(files)
	}
}

// SetLimits says from now on what is allowed, and shows what is here in that way.
func (p *Page) SetLimits(l Limits) {
	if l == p.Limits {
		return
	}
	p.Limits = l
	p.Raw.CommandLine, p.Raw.Environment, p.Raw.Private = false, false, false
	p.ask(partsAll)
}

// startTitle is what the page says before there is a dump.
func (p *Page) startTitle() string {
	if !p.TakesFiles() {
		return "No crash dump is open"
	}
	return "Drop a crash dump and its symbols here"
}

// Select shows a thread, a frame and a tab; -1 and "" leave them as they are.
func (p *Page) Select(thread, frame int, tab string) {
	if thread >= 0 {
		p.selectThread(thread)
	}
	if frame >= 0 {
		p.selectFrame(frame, -1)
	}
	if tab != "" && !p.Empty() {
		p.selectTab(tab, false)
	} else if tab != "" {
		p.State.Tab = ParseState("tab=" + tab).Tab
	}
}

// Export asks the engine for a text.
func (p *Page) Export(kind string, done func(text, problem string)) {
	if p.Empty() || p.dead {
		done("", "there is no dump")
		return
	}
	id := p.send(&protocol.Export{Kind: kind, Dump: p.Dump, Thread: p.State.Thread}, nil)
	p.exports[id] = export{kind: kind, done: done}
}

// forgetExports is for when the engine that was asked is gone.
func (p *Page) forgetExports() {
	was := p.exports
	p.exports = map[int]export{}
	for _, e := range was {
		if e.done != nil {
			e.done("", "the engine was started anew")
		}
	}
}

// Clear goes back to the start: a new engine that knows nothing.
func (p *Page) Clear() {
	p.stopReaders()
	p.stopMaking()
	p.queue, p.reading, p.Job, p.Notices = nil, nil, Job{}, nil
	p.accepted, p.decided, p.told = nil, nil, protocol.Edition{}
	theme, policy := p.State.Theme, p.State.Policy
	p.State = NewState()
	p.State.Theme, p.State.Policy = theme, policy
	if policy != "" {
		p.decided = []protocol.Request{&protocol.SetPolicy{Policy: policy}}
	}
	p.dead, p.fragile = false, false
	p.Engine.Restart()
	p.revive()
	p.forget()
	p.address()
}
