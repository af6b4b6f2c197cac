// Package engine answers the page's requests (web/protocol) from a session (walker/session). It
// runs in the worker, but knows nothing of the browser, so its tests also run natively; package
// worker connects it with the browser.
//
// Begin with Engine.answer, which has a case for each request. Engine.query answers the query for
// what is on the screen.
package engine

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
	"github.com/crashpane/crashpane/web/protocol"
)

// Engine is a session with the views of its reports, and caches for what the page scrolls through.
type Engine struct {
	files   *session.Files
	opt     Options
	views   map[int]*view.View     // dump → view of its latest report
	viewed  map[int]*report.Report // the reports of views, with what is private
	reports map[int]int            // dump → number of its reports so far
	kept
	table    dumpTable
	unlisted map[int]bool   // dumps that are not listed: closed, or the same as another
	copies   map[int]string // item → name of the dump that it is a copy of
	demangle func(string) string
	lines    []string // text of the stream linesOf
	linesOf  string
	post     func(protocol.Answer)
	added    []int     // items of the last Add
	id       int       // of the request being answered, for progress
	lastDump int       // the dump of the last query, -1 before the first
	walking  bool      // stacks of that dump are pending, for Idle to walk
	rest     time.Time // until when Idle does nothing
	rested   bool      // it was postponed, and has not run since
	waits    bool      // for the next query (protocol.UntilNext)
	redact   bool
}

// kept is what the last answers about a dump were made of, for the next ones.
type kept struct {
	found    found
	compared comparison
	listed   listing
	memories memories
	maps     []report.MemoryRange // the memory map of mapsOf
	mapsOf   *report.Report
	outline  outline
	symbols  symbolSearch
}

// maxIdleFetched bounds what background work may read from servers, in bytes. After that, a stack
// is walked only when the user selects its thread.
const maxIdleFetched = 3 << 20

// Options are what a program adds to the engine.
type Options struct {
	// Session has the readers of binaries (walker/readers).
	Session session.Options
	// Fetched returns how many bytes were read from servers; nil if there are no servers.
	Fetched func() int64
	// PostData sends a message together with bytes. Without it, no symbol files are written.
	PostData func(protocol.Answer, []byte)
	// Pause is input.Budget.Pause.
	Pause func()
	// WriteSym writes a Breakpad symbol file from a binary, with a debug id, or with the binary's
	// own if id is "".
	WriteSym func(w io.Writer, b symbols.Binary, id string) error
	// Demangle makes names readable. Nil is demangle.Name, which leaves Microsoft's names mangled.
	Demangle func(string) string
}

// New makes an engine. post sends a message to the page; it is called from within Handle.
func New(post func(protocol.Answer), opt Options) *Engine {
	e := &Engine{post: post, demangle: opt.Demangle, views: map[int]*view.View{}, viewed: map[int]*report.Report{}, reports: map[int]int{}, unlisted: map[int]bool{}, copies: map[int]string{}, lastDump: -1,
		table: dumpTable{names: map[string]int{}, wants: map[string]map[int]bool{}}}
	// The session does not demangle names. The views do, and only those in visible rows: in
	// WebAssembly a name takes a tenth of a millisecond.
	opt.Session.Progress, opt.Session.IndexOnDemand = e.progress, true
	e.opt = opt
	e.files = session.NewFiles(opt.Session)
	e.files.Budget().Pause = opt.Pause
	if e.demangle == nil {
		e.demangle = demangle.Name
	}
	return e
}

func (e *Engine) progress(p session.Progress) {
	id := e.id
	if p.Background {
		id = 0
	}
	e.reply(id, &protocol.Progress{Stage: p.Stage, Name: p.Name, Done: p.Done, Total: p.Total, Background: id == 0}, nil)
}

// Handle answers a call. files are those of an Add.
func (e *Engine) Handle(c protocol.Call, files ...*input.Source) {
	e.id = c.ID
	e.files.Budget().Begin()
	e.setRedact(c.Redact)
	reply, err := e.answer(c.Request, files)
	if reply != nil { // else it comes later
		e.reply(c.ID, reply, err)
	}
	e.releaseOthers()
}

func (e *Engine) reply(id int, r protocol.Reply, err error) {
	a := protocol.Answer{ID: id, Reply: r}
	if err != nil {
		a.Error = rows.Clean(err.Error())
	}
	e.post(a)
}

// answer makes the reply to a request.
func (e *Engine) answer(req protocol.Request, files []*input.Source) (reply protocol.Reply, err error) {
	switch q := req.(type) {
	case *protocol.Add:
		reply, err = e.add(q, files)
	case *protocol.CloseDump:
		e.closeDump(q.Dump)
		reply = &protocol.Closed{Dumps: e.dumps()}
	case *protocol.LeaveOut:
		e.leaveOut(q)
		reply = &protocol.Closed{Dumps: e.dumps()}
	case *protocol.Query:
		reply = e.query(*q)
		if q.Rest > 0 && !e.rested { // else background work would never go on while the user scrolls
			e.rest, e.rested = time.Now().Add(time.Duration(q.Rest)*time.Millisecond), true
		}
	case *protocol.Assign:
		reply, err = &protocol.Changed{}, e.files.Assign(q.Item, q.Dump, q.Module)
		e.outdate(map[int]bool{q.Dump: true}, false)
	case *protocol.Unassign:
		if s := e.files.Session(q.Dump); s != nil {
			s.Unassign(q.Module)
			e.outdate(map[int]bool{q.Dump: true}, false)
		}
		reply = &protocol.Changed{}
	case *protocol.SetPolicy:
		reply, err = &protocol.Changed{}, e.setPolicy(q.Policy)
	case *protocol.IgnoreCFI:
		if s := e.files.Session(q.Dump); s != nil {
			s.IgnoreCFI(q.Module, q.On)
			e.outdate(map[int]bool{q.Dump: true}, false)
		}
		reply = &protocol.Changed{}
	case *protocol.ListMissing:
		reply = &protocol.Missing{Rows: e.missing(q.Dump)}
	case *protocol.Export:
		reply, err = e.export(q)
	case *protocol.ExportDumps:
		reply, err = e.exportDumps(q)
	case *protocol.FindMemory:
		reply, err = e.findMemory(q)
	case *protocol.WriteSym:
		reply, err = e.sym(q.Name)
	case *protocol.IndexFile:
		e.files.IndexFile(q.Item, q.Keep, func(err error) { e.reply(0, &protocol.FileIndexed{Item: q.Item}, err) })
	case *protocol.StopIndexing:
		e.files.StopIndexing()
		reply = &protocol.IndexingStopped{}
	default:
		panic(fmt.Sprintf("the engine has no case for %T", req))
	}
	return reply, err
}

func (e *Engine) setPolicy(name string) error {
	p, ok := walker.PolicyByName(name)
	if !ok {
		return fmt.Errorf("there is no unwind policy called %q", rows.Clean(name))
	}
	e.files.SetPolicy(p)
	e.outdate(nil, true)
	return nil
}

// unlimited is more bytes than a browser stores.
const unlimited = 1 << 40

// unpackTurn is how long an archive is unpacked before other requests are answered.
const unpackTurn = 100 * time.Millisecond

// add adds files, or goes on with an archive, and describes their items and all dumps.
func (e *Engine) add(q *protocol.Add, files []*input.Source) (*protocol.Added, error) {
	r := &protocol.Added{}
	defer func() { r.All, _ = e.count() }() // also where nothing was added
	began := time.Now()
	turn := intake.Turn{Over: func() bool { return time.Since(began) > unpackTurn }, Others: q.Others}
	e.added = nil
	if q.Continue > 0 {
		items, state := e.files.Continue(q.Continue-1, turn)
		e.describe(r, items)
		if state != intake.Done {
			r.Rest, r.PutOff = q.Continue, state == intake.PutOff
		}
		return r, nil
	}
	if len(files) == 0 {
		return r, fmt.Errorf("no file came with the request")
	}
	if q.Symbols {
		var err error
		if files, err = e.fromServer(files[0], q.DebugID); err != nil {
			return r, err
		}
	}
	if len(files) > 1 {
		turn = intake.Turn{} // they are small
	}
	for _, f := range files {
		if slices.Contains(q.Anyway, f.Name) {
			f.MaxUnpacked = unlimited
		}
		items, state := e.files.AddPart(f, turn)
		e.describe(r, items)
		if state != intake.Done {
			r.Rest, r.PutOff = items[0].ID+1, state == intake.PutOff
		}
	}
	return r, nil
}

// describe adds rows for items to a reply.
func (e *Engine) describe(r *protocol.Added, items []session.Item) {
	for _, it := range items {
		e.added, r.Items = append(e.added, it.ID), append(r.Items, fileRow(it))
		if it.Dump >= 0 {
			e.addDump(r, it)
		}
		e.symbolsCame(it)
	}
}

// addDump adds a new dump to a reply. One that is a copy of another is not listed twice.
func (e *Engine) addDump(r *protocol.Added, it session.Item) {
	same := e.files.SameAs(it.Dump)
	if same == it.Dump {
		r.Dumps = append(r.Dumps, e.list(it))
		return
	}
	e.closeDump(it.Dump)
	if e.unlisted[same] { // it was closed; adding it again opens it
		delete(e.unlisted, same)
		r.Dumps = append(r.Dumps, e.table.all[same].name)
		e.table.next = min(e.table.next, same)
	}
	e.copies[it.ID] = rows.BaseName(e.table.all[same].record.Name)
	row := &r.Items[len(r.Items)-1]
	*row = e.sameAs(*row)
	r.Same = same + 1
}

// session returns the session of a dump that is listed, or nil.
func (e *Engine) session(dump int) *session.Session {
	if e.unlisted[dump] {
		return nil
	}
	s := e.files.Session(dump)
	if s != nil {
		e.touch(dump)
	}
	return s
}

// closeDump takes a dump off the list, and gives its memory back. Adding the file again lists it.
func (e *Engine) closeDump(dump int) {
	if dump < 0 || dump >= e.files.DumpCount() {
		return
	}
	e.unlisted[dump] = true
	e.table.changes++
	e.release(dump)
	e.closeOutline()
	e.symbols.close()
	e.walking = e.walking && e.lastDump != dump
	e.kept = kept{}
}

// Cancel ends what the engine is doing, until it handles a LeaveOut. It may be called while the engine
// pauses (Options.Pause).
func (e *Engine) Cancel() {
	e.files.Budget().Cancel(errors.New("it was cancelled"))
	e.files.StopIndexing()
}

// leaveOut removes what was cancelled.
func (e *Engine) leaveOut(q *protocol.LeaveOut) {
	e.files.Budget().Resume()
	gone := q.Items
	if q.Last {
		gone = append(gone, e.added...)
	}
	e.outdate(nil, true)
	for dump, d := range e.files.Dumps() {
		if slices.Contains(gone, d.ID) {
			e.closeDump(dump)
		}
	}
	e.closeOutline()
	e.symbols.close()
	e.files.StopUnpacking()
	e.files.Remove(gone)
	e.added, e.kept = nil, kept{}
}

// dumps returns the dumps that are listed.
func (e *Engine) dumps() (out []protocol.DumpName) {
	e.table.listed(e.unlisted, func(_ int, d *described) { out = append(out, d.name) })
	return out
}

// sameAs sets the message of a file that is a copy of another dump.
func (e *Engine) sameAs(row protocol.FileRow) protocol.FileRow {
	if same, ok := e.copies[row.Item]; ok {
		row.Message = row.Name + ": the same dump as " + rows.Clean(same)
	}
	return row
}

// view returns the view of a dump's report as far as its stacks are walked, but always with the
// given thread's; nil if there is no such dump.
func (e *Engine) view(dump, thread int) *view.View {
	if s := e.session(dump); s != nil {
		return e.viewOf(dump, s.PartialReport(thread))
	}
	return nil
}

// whole is view with all stacks walked.
func (e *Engine) whole(dump int) *view.View {
	if s := e.session(dump); s != nil {
		return e.viewOf(dump, s.Report())
	}
	return nil
}

// viewOf returns the view of a report. Each report gets one view and the next revision.
func (e *Engine) viewOf(dump int, rep *report.Report) *view.View {
	v := e.views[dump]
	if v == nil || e.viewed[dump] != rep {
		e.viewed[dump] = rep
		// Explanations quote words of the stack, so there are none with Redact.
		if e.redact {
			v = view.New(rep.Redacted(), e.demangle)
		} else {
			v = view.New(rep, e.demangle)
			v.ExplainBy(e.files.Session(dump).Explainer(true))
		}
		v.PointBy(func(address uint64) report.Pointee { return e.pointee(dump)(address) })
		e.views[dump] = v
		e.reports[dump]++
	}
	return v
}

// Idle does a step of background work: it walks the next thread's stack. It reports whether there
// may be more; the caller handles requests in between. When all stacks are walked, it posts Walked.
func (e *Engine) Idle() (more bool) {
	e.id, e.rested = 0, false
	e.files.Budget().Begin()
	if e.waits {
		return false
	}
	if !e.walking || e.files.AwaitsIndex(e.lastDump) {
		return e.describeNext()
	}
	if e.opt.Fetched != nil && e.opt.Fetched() > maxIdleFetched {
		e.walking = false // the other stacks are walked when the user selects their threads
		return false
	}
	if left := e.files.Session(e.lastDump).WalkOn(); left > 0 {
		return true
	}
	e.walking = false
	e.post(protocol.Answer{Reply: &protocol.Walked{Dump: e.lastDump, Changed: e.files.Session(e.lastDump).Corrected()}})
	return e.table.wanted
}

// Rest returns how long the caller should wait before Idle.
func (e *Engine) Rest() time.Duration { return max(0, time.Until(e.rest)) }

// query answers a query.
func (e *Engine) query(q protocol.Query) *protocol.QueryResult {
	r := &protocol.QueryResult{}
	e.waits = q.Rest == protocol.UntilNext
	if q.Overview.Dumps != nil { // nothing of a dump is shown
		r.Overview.Dumps = e.dumpPage(q.Overview.Dumps)
		if q.Files != nil {
			r.Files = e.filePage(q)
		}
		return r
	}
	s := e.session(q.Dump)
	if q.Search != "" && s != nil {
		// The searched text may be in any stack, so all must be walked.
		s.Report()
	}
	if v := e.view(q.Dump, q.Thread); v != nil {
		e.addReportParts(r, q, v)
		r.ReportID = protocol.ReportID{Dump: q.Dump, Revision: e.reports[q.Dump]}
		r.Pending = v.Pending()
		if q.Wanted {
			for _, w := range v.Missing(0, maxWanted).Rows {
				r.Wanted = append(r.Wanted, w.DebugFile)
			}
		}
		e.lastDump = q.Dump
		// Background work begins only when the first screen has its stack.
		e.walking = (r.Pending > 0 || s.Corrects()) && (e.walking || q.Stack != nil)
		if !e.waits { // indexing begins only when the first screen is complete, of sorted files when all stacks are walked
			for _, it := range e.files.Unindexed(q.Dump, e.walking) {
				r.Unindexed = append(r.Unindexed, it.ID)
			}
		}
	} else if q.Code != nil && e.openOutline(q.Dump, q.Code.Item, -1) != nil {
		r.Code = e.code(e.outline.view, q)
	}
	if q.Memory.Symbols != nil {
		r.Memory.Symbols = e.symbolsPage(q)
	}
	if q.Overview.Outline != nil {
		r.Overview.Outline = e.outlinePage(q)
		if of := e.outline.of; of != nil && r.Overview.Outline.Listed && r.Overview.Outline.Ended && of.Unindexed() && len(r.Unindexed) == 0 {
			r.Unindexed = []int{of.Item()}
		}
	}
	// The files are last: the other parts read symbols, which can add warnings to the files.
	if q.Files != nil {
		r.Files = e.filePage(q)
	}
	return r
}

// addReportParts adds the parts that show the report.
func (e *Engine) addReportParts(r *protocol.QueryResult, q protocol.Query, v *view.View) {
	rep, d := v.Report(), e.files.Session(q.Dump).Dump
	search := rows.Query(q.Search)
	if q.Thread < 0 || q.Thread >= len(rep.Threads) {
		q.Thread, q.Top = max(rep.FirstThread, 0), true
	}
	if q.Top { // the first row is an inlined call, if there is one and they are shown
		q.Frame, q.Inline = 0, -1
		if t := q.Thread; t < len(rep.Threads) && !q.HideInlines && len(rep.Threads[t].Frames) > 0 &&
			len(rep.Threads[t].Frames[0].Inlines) > 0 {
			q.Inline = 0
		}
	} else if q.Thread < len(rep.Threads) { // the page has the frame's number in the whole stack
		q.Frame = rep.Threads[q.Thread].FrameAt(q.Frame)
	}
	if q.Summary {
		s := v.Summary()
		r.Summary = &s
		r.Have = have(d, rep)
	}
	if w := q.Threads; w != nil {
		t := v.Threads(w.Span.From, w.Span.Count, q.Thread, w.Filter, search)
		r.Threads = &t
	}
	if q.Stack != nil {
		s := v.Stack(view.StackQuery{Thread: q.Thread, From: q.Stack.From, Count: q.Stack.Count, Frame: q.Frame,
			Inline: q.Inline, HideInlines: q.HideInlines, ShowFolds: q.ShowGuesses, Search: search})
		r.Stack = &s
	}
	if q.Detail {
		r.Detail = v.Frame(q.Thread, q.Frame, q.Inline)
	}
	if q.Code != nil {
		r.Code = e.code(v, q)
	}
	if w := q.Modules; w != nil {
		m := v.Modules(w.Span.From, w.Span.Count, w.Selected, w.Sort, rows.Query(w.Filter))
		r.Modules = &m
	}
	e.addDumpParts(r, q, d, rep, v)
	if w := q.Overview.Difference; w != nil {
		var other *view.View // nil for a dump that was closed
		if w.Other >= 0 {
			other = e.view(w.Other, -1)
		}
		page := v.Difference(other, w.Span.From, w.Span.Count)
		r.Overview.Difference = &page
	}
	if w := q.Overview.Merged; w != nil {
		m := v.Merged(func(r *report.Report) *report.Merged { return report.Merge(d, r) }, view.MergedQuery{From: w.Span.From, Count: w.Span.Count, Toggled: w.Toggled, Thread: q.Thread, Frame: q.Frame, Search: search})
		r.Overview.Merged = &m
	}
	if q.Find != nil && search != "" {
		r.Found = e.find(v, d, rep, search, q.Find.Hit)
	}
	e.addMemoryParts(&r.Memory, q, v)
	if q.Compare != nil {
		c := e.compare(v, q)
		r.Compare = &c
	}
	if q.Missing != nil {
		w := v.Missing(q.Missing.From, q.Missing.Count)
		r.Missing = &w
	}
}

// addDumpParts adds the parts that show the dump itself.
func (e *Engine) addDumpParts(r *protocol.QueryResult, q protocol.Query, d *core.Dump, rep *report.Report, v *view.View) {
	if q.Grid != nil {
		r.Grid = e.grid(d, rep, q.Grid.Name, q.Grid.Span)
		addPoints(r.Grid, v)
	}
	if q.Content != nil {
		r.Content = e.content(d, q.Dump, *q.Content)
	}
	if q.System != nil {
		r.System = &protocol.SystemPage{Groups: system(d)}
		if !e.redact {
			r.System.Groups = append(r.System.Groups, privateGroups(d, *q.System)...)
		}
	}
}

// maxRejected, maxChoices and maxWanted bound lists that are sent completely.
const (
	maxRejected = 8
	maxChoices  = 100
	maxWanted   = 200
)

// files makes the part for the Files tab, which other zones also use.
func (e *Engine) filePage(q protocol.Query) *protocol.FilePage {
	items := e.files.Items()
	span, waits := *q.Files, false
	page := &protocol.FilePage{Rows: []protocol.FileRow{}}
	page.Total = len(items)
	page.From = max(0, min(span.From, len(items)))
	for i, it := range items {
		// There may be tens of thousands of files: only those that are shown get a row.
		if !it.Usable || it.NeedsAssignment {
			page.Problems++
		}
		waits = waits || it.NeedsAssignment
		switch {
		case !it.Usable:
			if page.Rejections++; len(page.Rejected) < maxRejected {
				page.Rejected = append(page.Rejected, e.sameAs(fileRow(it)))
			}
		case (it.Kind == session.KindSym || it.Kind == session.KindBinary) && len(page.Symbols) < maxChoices && e.files.Fits(it.ID, q.Dump):
			page.Symbols = append(page.Symbols, protocol.Choice{Item: it.ID, Name: rows.Clean(it.Name)})
		}
		if i >= page.From && i < page.From+span.Count {
			row := e.sameAs(fileRow(it))
			row.Unused = rows.Clean(e.unused(it, q.Dump).Why)
			page.Rows = append(page.Rows, row)
		}
	}
	shorten(page.Symbols)
	all, known := e.count()
	for i := len(items) - 1; i >= 0 && len(page.Unused) < maxRejected && (!e.table.wanted || all == known); i-- { // a dump that is described later may use it
		if unused := e.unused(items[i], q.Dump); unused.Reason != session.NotUnused && !unused.Needless {
			row := fileRow(items[i])
			row.Unused = rows.Clean(unused.Why)
			page.Unused = append(page.Unused, row)
		}
	}
	if !waits {
		return page
	}
	if v := e.view(q.Dump, q.Thread); v != nil {
		for _, i := range v.Assignable(maxChoices) {
			page.Modules = append(page.Modules, protocol.Choice{Item: i, Name: rows.Clean(rows.BaseName(v.Report().Modules[i].Name))})
		}
	}
	return page
}

// shorten leaves the last part of each name, which is a path, or the last two of those that have the same last part: the files
// of a Mach-O file for several processors are "app/x86_64/app" and "app/arm64/app".
func shorten(files []protocol.Choice) {
	same := map[string]int{}
	for _, f := range files {
		same[rows.BaseName(f.Name)]++
	}
	for i, f := range files {
		base := rows.BaseName(f.Name)
		files[i].Name = base
		if folder := rows.BaseName(strings.TrimSuffix(f.Name, base)); same[base] > 1 && folder != "" {
			files[i].Name = folder + "/" + base
		}
	}
}

// unused says why a file is used for no dump, in the words for one of them.
func (e *Engine) unused(it session.Item, dump int) session.Unused {
	if it.Message != "" {
		return session.Unused{}
	}
	if it.Kind != session.KindSym && it.Kind != session.KindBinary {
		return session.Unused{}
	}
	for _, d := range e.table.live {
		if unused := e.files.Unused(it.ID, d); unused.Reason == session.NotUnused {
			return unused
		}
	}
	return e.files.Unused(it.ID, dump)
}

// fileRow describes an item. It cleans the texts, because names and messages quote untrusted files.
func fileRow(it session.Item) protocol.FileRow {
	row := protocol.FileRow{Item: it.ID, Name: rows.Clean(it.Name), Size: rows.Size(it.Size), Kind: string(it.Kind), Detected: string(it.Detected),
		Usable: it.Usable, Message: rows.Clean(it.Message), Refused: it.Refused, Dump: it.Dump, SymName: rows.Clean(it.SymName),
		SymID: rows.Clean(it.SymID), Assign: it.NeedsAssignment, WarningCount: it.WarningCount, Count: it.Count}
	for _, w := range it.Warnings {
		row.Warnings = append(row.Warnings, rows.Clean(w))
	}
	return row
}
