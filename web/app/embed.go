package app

import (
	"strings"

	"github.com/crashpane/crashpane/web/app/servers"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// This file is about the host page: the page in which the viewer is embedded as an element or a
// frame.

// Event is a notification for the host page.
type Event struct {
	Kind        string      // one of the Event… names
	Text        string      // progress: what is being done; error: the message
	Level       string      // error: "error" or "warning"
	Done, Total int         // progress: files
	Percent     int         // progress: of the file, or -1
	State       state.State // select
	Mark, Dumps int         // idle: HostPage.Mark when everything added before it was done, and the number of dumps
}

// Kinds of an Event.
const (
	EventProgress = "progress" // a file is being read
	EventReport   = "report"   // there is a new report: the stacks are walked with all symbols so far
	EventIdle     = "idle"     // everything that was requested is done
	EventSelect   = "select"   // another thread, frame or tab is selected
	EventError    = "error"    // a notice was shown
)

// HostPage is the connection to the host page. Where the viewer is the whole page, Watch notifies
// web/static/app.js, which installs the service worker when the viewer is idle.
type HostPage struct {
	page     *Page
	Watch    func(Event)
	Mark     int               // number of its last addition, which EventIdle returns
	reported protocol.ReportID // the report of the last EventReport
}

// notify notifies the host page.
func (z *HostPage) notify(e Event) {
	if z.Watch != nil {
		z.Watch(e)
	}
}

// notifyIdle notifies the host page, after a result, if nothing is left to do, and if there is a
// new report.
func (z *HostPage) notifyIdle(r *protocol.QueryResult) {
	if z.Watch == nil || !z.page.Pace.isDone(r) {
		return
	}
	if z.page.Summary != nil {
		// The default thread and frame are known only now.
		z.notify(Event{Kind: EventSelect, State: z.page.State})
	}
	if z.page.Summary != nil && z.reported != r.ReportID {
		z.reported = r.ReportID
		z.notify(Event{Kind: EventReport})
	}
	z.notify(Event{Kind: EventIdle, Mark: z.Mark, Dumps: len(z.page.Dumps.List)})
}

// TakesFiles reports whether the user may add files.
func (z *HostPage) TakesFiles() bool { return z.page.Limits.Allows(zone.AddsFiles) }

// SetLimits changes the limits, hides private data, and queries everything again.
func (z *HostPage) SetLimits(l zone.Limits) {
	if l == z.page.Limits {
		return
	}
	z.page.Limits = l
	for _, t := range z.page.Panel.tabs {
		if t, ok := t.(interface{ HidePrivate() }); ok {
			t.HidePrivate()
		}
	}
	z.page.Screen.AskAll()
}

// startTitle is the heading of the start screen.
func (z *HostPage) startTitle() string {
	if !z.TakesFiles() {
		return "No crash dump is open"
	}
	return "Drop a crash dump and its symbols here"
}

// Clear goes back to the start screen, with a new engine.
func (p *Page) Clear() {
	p.Work.Making.stop()
	p.Reading.queue, p.Reading.reading, p.Reading.Job, p.Notices.List = nil, nil, Job{}, nil
	p.Reading.accepted, p.Decisions, p.HostPage.reported = nil, nil, protocol.ReportID{}
	theme, policy := p.State.Theme, p.State.Policy
	p.State = state.New()
	p.State.Theme, p.State.Policy = theme, policy
	if policy != "" {
		p.Decisions = []protocol.Request{&protocol.SetPolicy{Policy: policy}}
	}
	p.Reading.stopped, p.Reading.fragile = false, false
	p.Engine.Restart()
	p.Reading.restore()
	p.Reading.forget()
	p.Address.write()
}

// networkText says on the start screen what the page can reach over the network.
func (z *HostPage) networkText() string {
	bases, ok := z.page.Host.SymbolBases()
	var others []string
	for _, b := range bases {
		if _, address := servers.Layout(b); address != "" {
			others = append(others, address)
		}
	}
	switch {
	case z.page.Inside && len(others) == 0:
		return "This viewer reads files in your browser and sends nothing." + hostPage
	case z.page.Inside:
		return "This viewer reads files in your browser and sends nothing, unless you ask for symbols: it shows you the addresses, and then asks " + strings.Join(others, ", ") + "." + hostPage
	case !ok:
		return offline + " The page’s own policy (Content-Security-Policy) forbids every request."
	case len(others) == 0:
		return z.offline() + " The page’s own policy (Content-Security-Policy) forbids every other server. From its own it loads only its own files."
	}
	return z.offline() + " The page’s own policy (Content-Security-Policy) forbids every server but its own and " + strings.Join(others, ", ") + ", which the page asks only for symbols, after you have seen the addresses."
}

// offline says that the page needs no network, once it has all of its programs.
func (z *HostPage) offline() string {
	if z.page.Work.Program.loading {
		return "The engine is still loading. After that you can turn the network off: everything works without it."
	}
	return offline
}

// Parts of networkText.
const (
	hostPage = " What the host page around it does is up to that page."
	offline  = "Turn the network off: everything still works."
)
