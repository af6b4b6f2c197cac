package app

import (
	"fmt"
	"time"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Page is all that the components show. It lives on one goroutine at a time: the host calls its methods under the
// renderer's lock.
type Page struct {
	Host   Host
	Engine Engine
	State  State
	// Limits and Watch are of the page around the viewer, if there is one; Inside says that there is. What belongs to a whole window
	// is watched, too: by what keeps the page for when there is no network.
	Limits Limits
	Watch  func(Event)
	Inside bool
	Mark   int // counts what the page around has added; told with EventIdle

	// What the engine said, a window of each list.
	Dumps   []protocol.DumpName
	Summary *view.Summary
	Threads view.ThreadPage
	Stack   view.StackPage
	Frame   *view.FrameDetail
	Modules view.ModulePage
	Wanted  view.WantedPage
	Files   protocol.FilePage
	Dump    int  // the number of the selected dump
	Listed  bool // the lists of the lower panel have come

	// What is going on.
	Job      Job
	Readers  Readers
	Making   Making
	listing  listing
	Later    Later
	Exact    Exact
	Sources  Sources
	Notices  []Notice
	Dragging bool
	Menu     string // the open menu: "dumps", "copy", "download", "assign:ITEM", or ""
	Help     bool
	Choosing bool   // the thread chooser of narrow windows is open
	Toast    string // what was just done
	Split    Split
	Raw      Raw // of the dump itself
	Compare  view.ComparePage
	Found    protocol.FoundPage
	Compared int // selected row of the comparison, or -1
	Findings int // how many are shown
	Module   int // shown among the modules, or -1

	menuRow    view.StackRow // of the context menu
	menuAt     Point
	fresh      map[string]bool             // ids of rows that have just changed
	editions   map[string]protocol.Edition // of each list
	freshes    int
	seekModule bool
	opening    bool                     // until all that came with a dump was shown
	visible    map[string]protocol.Span // what each list shows, as the host measured it
	dirty      int                      // parts to ask for
	asking     bool                     // a look is on its way
	held       *protocol.Looked         // a first screen that is kept back (keepBack)
	top        bool                     // the thread's first row is to be selected when it is known
	seek       bool                     // the selected rows are to be scrolled to
	hit        int                      // that is to be gone to, counted from 1; 0 for none
	searching  bool                     // the answer to what is searched for is on its way
	place      State                    // that the address was last given
	goTo       int                      // row of the stack to select when it is there, or -1
	goThread   int                      // the same of the threads
	room       int                      // for a frame's name in the stack, in characters; 0 if not known
	nextID     int
	dead       bool
	fragile    bool // the engine died and has not shown since that it can do without
	replay     bool // the files of the queue are known and read again
	queue      []File
	reading    File
	accepted   []File
	unsaid     []protocol.FileRow // whose problems are still to be said
	binaries   []File             // of which symbol files can be made
	jobStart   int                // how many were accepted when the present job began
	decided    []protocol.Request // assignments and policy, to be said again to a new worker
	exports    map[int]export
	noticeID   int
	told       protocol.Edition // the report that Watch was told of last
	toasts     int
	drawn      time.Time // the progress of a job, last
}

// Job is the long work that the page waits for.
type Job struct {
	Active      bool
	Text        string
	Done, Total int    // files
	Percent     int    // of the file, or -1
	shown       bool   // a dump of the job was opened
	told        string // of Text, what was drawn
	began       time.Time
	known       int // how many of the files were read before, by a worker that is gone
}

// Notice is a message above the zones that stays until it is closed.
type Notice struct {
	ID    int
	Level string // "error", "warning", "note"
	Text  string
	// Act and Arg are what the button beside the text does, and Do is what is on it; "" for no button.
	Act, Arg, Do string
}

// NewPage makes a page that shows the start.
func NewPage(h Host, e Engine, hash string) *Page {
	p := &Page{Host: h, Engine: e, State: ParseState(hash), visible: map[string]protocol.Span{}, goTo: -1, goThread: -1, exports: map[int]export{},
		fresh: map[string]bool{}, editions: map[string]protocol.Edition{}, Module: -1, Compared: -1, Findings: findingsShown}
	p.visible["threads"], p.visible["stack"] = protocol.Span{Count: 9}, protocol.Span{Count: 16}
	p.visible["modules"], p.visible["wanted"], p.visible["files"] = protocol.Span{Count: 8}, protocol.Span{Count: 8}, protocol.Span{Count: 8}
	p.forgetRaw()
	if p.State.Theme == "" {
		p.State.Theme = h.Load("theme")
	}
	h.SetTheme(p.State.Theme)
	p.loadSplit(h.Load("split"))
	p.Exact = Exact{Keep: h.Load("keep") == "yes", known: map[int]bool{}, sources: map[int]File{}}
	if h.Load("keep") != "" { // else nothing can have been kept, and the storage is not touched
		p.measureKept()
	}
	p.loadSources()
	if p.State.Policy != "" {
		p.decide(&protocol.SetPolicy{Policy: p.State.Policy})
	}
	return p
}

// Empty reports whether there is nothing to show but the start.
func (p *Page) Empty() bool { return p.Summary == nil }

// send posts a request with a number of its own.
func (p *Page) send(req protocol.Request, file File) (id int) {
	p.nextID++
	p.Engine.Send(protocol.Call{ID: p.nextID, Redact: p.Limits.Redact, Request: req}, file)
	return p.nextID
}

// decide posts a request that a new worker must hear again.
func (p *Page) decide(req protocol.Request) {
	p.decided = append(p.decided, req)
	p.send(req, nil)
}

// say adds a notice; the oldest goes when there are many.
func (p *Page) say(level, text string) {
	for _, n := range p.Notices {
		if n.Text == text {
			return
		}
	}
	p.noticeID++
	p.Notices = append(p.Notices, Notice{ID: p.noticeID, Level: level, Text: text})
	if len(p.Notices) > maxNotices {
		p.Notices = p.Notices[1:]
	}
	p.Host.Announce(text)
	if level != "note" {
		p.tell(Event{Kind: EventError, Level: level, Text: text})
	}
}

// maxNotices is how many messages stand above the zones; the Files tab has all that is to say of files.
const maxNotices = 4

// Problem is for the host: something could not be done.
func (p *Page) Problem(text string) { p.say("error", view.Clean(text)) }

// HasFiles reports whether files would be lost with the page.
func (p *Page) HasFiles() bool { return p.reading != nil || len(p.accepted)+len(p.queue) > 0 }

// ProposeFolder puts the button that opens the folder chooser beside the last message: the browser may list there what it does not list
// when it is dropped.
func (p *Page) ProposeFolder() { p.offer("pick-folder", "", "Choose the folder") }

// offer puts a button beside the last message: what it does (Act), and what is on it.
func (p *Page) offer(act, arg, do string) {
	if n := len(p.Notices); n > 0 {
		p.Notices[n-1].Act, p.Notices[n-1].Arg, p.Notices[n-1].Do = act, arg, do
	}
}

// Drag says whether files hang over the window.
func (p *Page) Drag(on bool) { p.Dragging = on }

// title is the document's.
func (p *Page) title() string {
	if p.Summary == nil {
		return "Crashpane"
	}
	return p.Summary.Name + " – Crashpane"
}

// label is the thread chooser's text.
func (p *Page) threadLabel() string {
	if p.Stack.Thread == p.State.Thread && p.Stack.Name != "" {
		return fmt.Sprintf("Thread %d, %s", p.Stack.Thread, p.Stack.Name)
	}
	return fmt.Sprintf("Thread %d", max(p.State.Thread, 0))
}
