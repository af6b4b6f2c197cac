package app

import (
	"time"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// overscan is how many rows are asked for above and below those that can be seen, so that scrolling by a little shows
// rows at once.
const overscan = 4

// ask asks the engine for parts of the screen. Only one question is on its way at a time: what is asked meanwhile goes
// together into the next one, so that holding a key down never makes a queue.
func (p *Page) ask(parts int) {
	p.dirty = (p.dirty | parts) &^ p.hiddenParts()
	if p.asking || p.dead || p.dirty == 0 || len(p.Dumps) == 0 && p.dirty&partFiles == 0 || p.awaitsSmall() {
		return
	}
	parts = p.dirty
	if len(p.Dumps) > 0 {
		parts = p.firstParts(parts)
	}
	p.dirty, p.asking = p.dirty&^parts, true
	look := p.look(parts)
	look.More = p.dirty != 0
	p.send(look, nil)
}

// look asks for parts of the screen.
func (p *Page) look(parts int) *protocol.Look {
	s := p.State
	q := &protocol.Look{Selection: protocol.Selection{Dump: p.Dump, Thread: s.Thread, Frame: s.Frame, Inline: s.Inline, Top: p.top, HideInlines: s.HideInlines},
		Search: s.Search, Summary: parts&partSummary != 0, Detail: parts&partFrame != 0}
	span := func(part int, list string) *protocol.Span {
		if parts&part == 0 {
			return nil
		}
		w := p.span(list)
		return &w
	}
	q.Stack, q.Wanted, q.Files = span(partStack, "stack"), span(partWanted, "wanted"), span(partFiles, "files")
	if w := span(partThreads, "threads"); w != nil {
		q.Threads = &protocol.ThreadsQuery{Span: *w, Filter: s.ThreadFilter}
	}
	if w := span(partModules, "modules"); w != nil {
		q.Modules = &protocol.ModulesQuery{Span: *w, Selected: p.Module}
	}
	if w := span(partGrid, "grid"); w != nil {
		q.Grid = &protocol.GridQuery{Name: p.gridName(), Span: *w}
	}
	if w := span(partContent, "content"); w != nil {
		q.Content = &protocol.ContentQuery{Stream: p.Raw.Stream, Bytes: p.Raw.Bytes, Private: p.Raw.Private, Span: *w}
	}
	if parts&partSystem != 0 {
		q.System = &protocol.SystemQuery{CommandLine: p.Raw.CommandLine, Environment: p.Raw.Environment}
	}
	if w := span(partCompare, "compare"); w != nil {
		q.Compare = &protocol.CompareQuery{Span: *w, Row: p.Compared}
	}
	if parts&partFound != 0 {
		q.Find = &protocol.FindQuery{Hit: p.hit}
	}
	return q
}

// firstParts divides the first screen of a page into three questions, the most important first: each is drawn as a short
// task of its own, where drawing all of it at once would hold the page's thread for too long.
func (p *Page) firstParts(parts int) int {
	const stack, frame = partSummary | partThreads | partStack, partSummary | partThreads | partStack | partFrame
	switch {
	case p.Summary == nil && parts&stack != 0:
		return parts & stack
	case p.Frame == nil && parts&frame != 0:
		return parts & frame
	}
	return parts
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
func (p *Page) awaitsSmall() bool {
	f := p.reading
	if f == nil && len(p.queue) > 0 {
		f = p.queue[0]
	}
	if p.Summary != nil || f == nil || isRemote(f) || p.Job.Done >= firstFiles || time.Since(p.Job.began) > firstLook {
		return false
	}
	if isPacked(f) {
		return f.Size() <= smallPacked
	}
	return f.Size() <= smallFile || f.Size() <= indexedFile && p.Job.Done <= indexedFiles
}

// keepBack keeps the answer for the first screen back while a large symbol file is looked into, and asks again, for one with its names. If
// that does not come soon, the first one is shown. It reports whether it did so.
func (p *Page) keepBack(r *protocol.Looked) bool {
	again := p.held != nil
	p.held = nil
	f := p.reading
	if again || p.Summary != nil || r.Summary == nil || f == nil || f.Size() <= smallFile || isPacked(f) || isRemote(f) || looksLikeDump(f.Name()) || p.replay {
		return false
	}
	left := firstNames - time.Since(p.Job.began)
	if left <= 0 {
		return false
	}
	p.asking, p.held = false, r
	p.ask(partSummary | partThreads | partStack)
	p.Host.After(int(left.Milliseconds()), func() (draw bool) { return p.letOut(r) })
	return true
}

// letOut shows an answer that is kept back, and reports whether it still was.
func (p *Page) letOut(r *protocol.Looked) (was bool) {
	if r == nil || p.held != r {
		return false
	}
	p.held = nil
	p.took(r, "")
	return true
}

// span is the window to ask for.
func (p *Page) span(list string) protocol.Span {
	v := p.visible[list]
	more := overscan
	if list == "compare" {
		more = 1 // its rows have nine elements each
	}
	from := max(0, v.From-more)
	return protocol.Span{From: from, Count: v.From - from + v.Count + more}
}

var partOf = map[string]int{"threads": partThreads, "stack": partStack, "modules": partModules, "wanted": partWanted,
	"files": partFiles, "grid": partGrid, "compare": partCompare, "content": partContent}

// loaded is the window of a list that is here.
func (p *Page) loaded(list string) (from, to, total int) {
	switch list {
	case "threads":
		return p.Threads.From, p.Threads.From + len(p.Threads.Rows), p.Threads.Total
	case "stack":
		return p.Stack.From, p.Stack.From + len(p.Stack.Rows), p.Stack.Total
	case "modules":
		return p.Modules.From, p.Modules.From + len(p.Modules.Rows), p.Modules.Total
	case "wanted":
		return p.Wanted.From, p.Wanted.From + len(p.Wanted.Rows), p.Wanted.Total
	}
	if list == "grid" {
		return p.grid().From, p.grid().From + len(p.grid().Rows), p.grid().Total
	}
	if list == "compare" {
		return p.Compare.From, p.Compare.From + len(p.Compare.Rows), p.Compare.Total
	}
	if list == "content" {
		return p.content().From, p.content().From + len(p.content().Lines), p.content().Total
	}
	return p.Files.From, p.Files.From + len(p.Files.Rows), p.Files.Total
}

// Scrolled says which rows of a list can be seen. It reports whether rows are missing, so that nothing is rendered for a
// scroll within what is here.
func (p *Page) Scrolled(list string, first, rows int) bool {
	if partOf[list] == 0 || rows <= 0 {
		return false
	}
	p.visible[list] = protocol.Span{From: max(0, first), Count: min(rows, 200)}
	from, to, total := p.loaded(list)
	if first >= from && min(first+rows, total) <= to {
		return false
	}
	p.ask(partOf[list])
	return true
}

// Answer takes a message of the engine; data is the bytes or the file that came with it, or nil. It reports whether what is shown has changed: a
// job of hundreds of files is drawn some times a second, not at each file.
func (p *Page) Answer(a protocol.Answer, data File) (draw bool) {
	switch r := a.Reply.(type) {
	case *protocol.Progress:
		if r.Later {
			p.laterProgress(*r)
			return false
		}
		return p.progress(*r)
	case *protocol.Added:
		p.added(r, a.Error)
		if p.Job.Active && (time.Since(p.drawn) < 150*time.Millisecond || time.Since(p.Job.began) < 150*time.Millisecond) || p.asking && time.Since(p.Job.began) < 200*time.Millisecond {
			return false
		}
		p.drawn = time.Now()
	case *protocol.Looked:
		if p.keepBack(r) {
			return false
		}
		p.looked(r, a.Error)
	case *protocol.Exported:
		p.exported(a.ID, r, a.Error)
	case *protocol.Walked:
		return p.walked(r)
	case *protocol.IndexPlanned:
		p.planned(r, a.Error, data)
	case *protocol.Missing:
		p.Sources.Missing, p.Sources.known = r.Rows, true
	case *protocol.RemoteFailed:
		p.remoteFailed(r, a.Error)
	case *protocol.Closed:
		p.closed(r)
	case *protocol.ChunkJoined:
		return p.joined(r, a.Error, data)
	case *protocol.WholeIndexed:
		return p.wholeIndexed(r, a.Error)
	case *protocol.Changed:
		if a.Error != "" {
			p.say("error", a.Error)
		}
		p.ask(partsAll)
	}
	return true
}

// looked takes the answer to the question that was on its way.
func (p *Page) looked(r *protocol.Looked, problem string) {
	p.asking = false
	p.took(r, problem)
}

// took takes the parts that came.
func (p *Page) took(r *protocol.Looked, problem string) {
	top := p.top || p.State.Thread < 0
	first := p.Frame == nil && r.Detail != nil
	if !p.Job.Active || p.reading == nil && len(p.queue) == 0 {
		p.Job = Job{}
	}
	if problem != "" {
		p.say("error", problem)
	}
	if p.Empty() && (r.Summary != nil || problem != "") {
		p.setAddress()
	}
	if r.Summary != nil {
		if p.Summary == nil {
			p.Host.Focus("stack")
		}
		p.Summary = r.Summary
		p.Host.SetTitle(p.title())
		p.fragile = p.fragile && p.replay
	}
	if r.Threads != nil {
		p.keepPending(r.Threads)
		if p.renewed("threads", r.Edition) {
			p.mark(p.freshThreads(r.Threads))
		}
		p.Threads = *r.Threads
		if p.seek && p.Threads.Selected >= 0 {
			p.Host.Reveal("threads", p.Threads.Selected)
		}
		if row := p.goThread; row >= 0 {
			p.goThread = -1
			if from, to, _ := p.loaded("threads"); row >= from && row < to {
				p.toThread(row)
			}
		}
	}
	if r.Stack != nil && (p.State.Thread < 0 || r.Stack.Thread == p.State.Thread) {
		if p.renewed("stack", r.Edition) && r.Stack.Thread == p.Stack.Thread {
			p.mark(p.freshFrames(r.Stack))
			p.keepPlace(r.Stack)
		}
		p.tookStack(r.Stack)
	}
	if r.Detail != nil {
		p.Frame = r.Detail
		if top && r.Detail.Thread == p.State.Thread {
			p.State.Frame, p.State.Inline = max(0, r.Detail.Frame), r.Detail.Inline
			p.place = p.State.place() // what nobody chose is no other place
		}
	}
	if r.Modules != nil {
		if p.renewed("modules", r.Edition) {
			p.mark(p.freshModules(r.Modules))
		}
		p.tookModules(r.Modules)
	}
	if r.Wanted != nil {
		if r.Edition != p.Sources.of {
			p.Sources.of = r.Edition
			p.askMissing()
		}
		p.Wanted = *r.Wanted
	}
	if r.Files != nil {
		p.Files = *r.Files
	}
	if r.Compare != nil {
		p.Compare = *r.Compare
	}
	if r.Found != nil {
		p.searching = false
		p.tookFound(r.Found)
	}
	p.tookRaw(r)
	p.unread(r.Unread)
	if p.Later.Text == "" {
		p.Later.began = time.Time{} // it begins anew
	}
	if p.dirty == 0 && p.reading == nil && len(p.queue) == 0 && (r.Pending == 0 || len(p.Exact.passes) > 0) && p.Readers.state != readersComing {
		p.opening = false
	}
	switch {
	case p.Summary != nil && p.Frame == nil && p.dirty&partFrame != 0:
		// The stack is painted before the answer to what comes next is drawn; that knows the symbols that are being read.
		p.Host.NextFrame(func() {
			if p.reading != nil {
				p.dirty |= partSummary | partThreads | partStack
			}
			p.ask(0)
		})
	case first && p.dirty != 0:
		// And so are its names. The engine waits for another question (Look.More), also where nothing is left to be asked by then.
		p.Host.NextFrame(func() { p.ask(partSummary) })
	default:
		p.ask(0)
	}
	if len(p.queue) > 0 {
		p.next()
	}
	p.tellIdle(r)
}

// hideHints takes what would lead the stack further out of its last row while files are read: what is missing is known when all are.
func (p *Page) hideHints() {
	if p.symbolsText() == "" {
		return
	}
	for i := range p.Stack.Rows {
		if r := &p.Stack.Rows[i]; r.Hint {
			r.Hint, r.Function, r.Full = false, "Symbols are being read.", ""
		}
	}
}

// tookStack takes a window of the stack and moves the selection onto it where that was asked for.
func (p *Page) tookStack(s *view.StackPage) {
	p.Stack = *s
	p.hideHints()
	if p.seek && s.Selected >= 0 {
		p.seek = false
		p.Host.Reveal("stack", s.Selected)
	}
	p.State.Thread = s.Thread
	if at := s.Selected - s.From; p.top && p.goTo < 0 && at >= 0 && at < len(s.Rows) {
		p.State.Frame, p.State.Inline = max(0, s.Rows[at].Frame), s.Rows[at].Inline
	}
	if p.goTo >= 0 {
		row := p.goTo
		p.goTo = -1
		p.selectRow(row)
		return
	}
	if p.State.Frame > 0 && p.State.Frame >= s.Frames {
		p.State.Frame, p.State.Inline = 0, -1
		p.ask(partFrame | partStack)
	}
}

// open shows a dump. keep leaves thread and frame as the address had them.
func (p *Page) open(dump int, keep bool) {
	p.Dump, p.opening = dump, true
	p.forgetRaw()
	for _, d := range p.Dumps {
		if d.Dump == dump {
			p.State.DumpName = d.Name
		}
	}
	if !keep {
		p.State.Thread, p.State.Frame, p.State.Inline, p.top = -1, 0, -1, true
		p.State.Search, p.State.ThreadFilter = "", ""
	}
	for list, v := range p.visible {
		p.visible[list] = protocol.Span{Count: v.Count}
	}
	p.Host.Reveal("threads", 0)
	p.Host.Reveal("stack", 0)
	p.address()
	p.ask(partsAll)
}

// address writes the state where a link can be copied from; for the first dump when its stack is there (took): to the browser an address is a
// visit, of which several processes hear, some 40 ms of what both cores do.
func (p *Page) address() {
	if !p.Empty() || len(p.Dumps) == 0 {
		p.setAddress()
	}
	p.tell(Event{Kind: EventSelect, State: p.State})
}

// setAddress writes the state. Another place is an entry of the history, unless nothing was shown before.
func (p *Page) setAddress() {
	place := p.State.place()
	p.Host.SetAddress(p.State.Address(), !p.Empty() && place != p.place)
	p.place = place
}

// HashChanged takes an address that a person typed or went back to.
func (p *Page) HashChanged(hash string) {
	s := ParseState(hash)
	if s.Address() == p.State.Address() {
		return
	}
	theme, policy := p.State.Theme, p.State.Policy
	p.State, p.place = s, s.place()
	if p.State.Theme == "" {
		p.State.Theme = theme
	}
	p.Host.SetTheme(p.State.Theme)
	if s.Policy != policy {
		p.setPolicy(s.Policy)
	}
	if len(p.Dumps) > 0 {
		if dump := p.dumpNamed(s.DumpName); dump != p.Dump {
			p.Dump = dump
			p.forgetRaw()
		}
	}
	p.Found, p.hit, p.searching = protocol.FoundPage{}, 0, s.Search != ""
	p.top, p.seek = s.Thread < 0, true
	p.openTab()
	p.ask(partsAll)
}
