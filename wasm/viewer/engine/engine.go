// Package engine answers the page's requests from a session. It runs in the worker; everything in it but the worker's own
// edge is plain Go, so that tests run natively.
package engine

import (
	"fmt"
	"io"
	"time"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// Engine is a session and the views of its reports.
type Engine struct {
	session  *session.Session
	opt      session.Options    // of the session
	views    map[int]*view.View // dump → view of its latest report
	reports  map[int]int        // dump → how many reports there were
	found    found
	left     map[int]bool       // dumps that are not shown: closed, or the same as another
	same     map[int]string     // item → name of the dump that it is the same as
	maps     []protocol.GridRow // the memory map of mapsOf
	mapsOf   *report.Report
	compared comparison
	writeSym func(io.Writer, session.Binary, string) error
	demangle func(string) string
	lines    []string // of the stream linesOf
	linesOf  string
	post     func(protocol.Answer)
	id       int // of the request being answered, for progress
	looked   int // the dump that was looked at last, -1 before that
	walking  bool
	more     bool // another question follows at once
	// answeredAt is when a screen was answered last; restUntil how long Idle is better not called, and rested that it was not since.
	answeredAt, restUntil time.Duration // since began; 0 is never
	rested                bool
	exact                 exact
	redact                bool
	fetched               func() int64
}

// maxIdleFetched is how much of files on servers is read, in bytes, before what nobody has looked at waits until somebody does.
const maxIdleFetched = 3 << 20

// Options say what an engine is linked with.
type Options struct {
	// Session has the readers (OpenBinary, Limits.Unpackers). An engine without them says of such files that another one may read them.
	Session session.Options
	// Fetched is how many bytes were read of servers; nil if there are none.
	Fetched func() int64
	// PostData sends a message with bytes beside it; without it, indexes are made for nobody.
	PostData func(protocol.Answer, []byte)
	// PostFile sends a message with the file beside it that a Source is read from, if there is one that others can read: what was
	// unpacked for the engine can be. It reports whether it did.
	PostFile func(protocol.Answer, *input.Source) bool
	// WriteSym writes what one of them knows as a Breakpad symbol file with a debug id, the usual one if that is "".
	WriteSym func(w io.Writer, b session.Binary, id string) error
	// Demangle makes names readable. Nil is demangle.Name, which leaves Microsoft's names as they are.
	Demangle func(string) string
}

// New makes an engine. post sends a message to the page; it is called from within Handle.
func New(post func(protocol.Answer), opt Options) *Engine {
	e := &Engine{post: post, writeSym: opt.WriteSym, demangle: opt.Demangle, fetched: opt.Fetched, views: map[int]*view.View{}, reports: map[int]int{}, left: map[int]bool{}, same: map[int]string{}, looked: -1}
	e.exact = exact{pieces: map[int][]func([]byte) []byte{}, passes: map[int]bool{}, before: map[int]*report.Report{}, send: opt.PostData, hand: opt.PostFile}
	// Names are not made readable here but in the views, and only those of the rows that are shown: in wasm a name costs
	// a tenth of a millisecond.
	o := opt.Session
	o.Progress, o.IndexOnDemand = e.progress, true
	e.opt = o
	e.session = session.New(o)
	if e.demangle == nil {
		e.demangle = demangle.Name
	}
	return e
}

func (e *Engine) progress(p session.Progress) {
	e.post(protocol.Answer{ID: e.id, Reply: &protocol.Progress{Stage: p.Stage, Name: p.Name, Done: p.Done, Total: p.Total, Later: e.id == 0}})
}

// Handle answers one call. src is the file of an Add or of an IndexChunk.
func (e *Engine) Handle(c protocol.Call, src *input.Source) { e.HandleWith(c, src, nil) }

// HandleWith is Handle for a call that comes with bytes, which data copies from where they are each time it is called: into what it is given, if
// that is long enough.
func (e *Engine) HandleWith(c protocol.Call, src *input.Source, data func(into []byte) []byte) {
	e.id = c.ID
	e.setRedact(c.Redact)
	reply, with, err := e.answer(c.Request, src, data)
	if reply == nil { // it was sent, or will be
		return
	}
	a := protocol.Answer{ID: c.ID, Reply: reply}
	if err != nil {
		a.Error = view.Clean(err.Error())
	}
	if with != nil && e.exact.send != nil {
		e.exact.send(a, with)
		return
	}
	e.post(a)
}

// answer makes the reply to a request, and bytes to go beside it.
func (e *Engine) answer(req protocol.Request, src *input.Source, data func(into []byte) []byte) (reply protocol.Reply, with []byte, err error) {
	switch q := req.(type) {
	case *protocol.Add:
		reply, err = e.add(q, src)
	case *protocol.CloseDump:
		e.left[q.Dump] = true
		delete(e.views, q.Dump)
		reply = &protocol.Closed{Dumps: e.dumps()}
	case *protocol.Look:
		parts := e.more
		reply = e.look(*q)
		if !q.More { // not between the parts of a first screen
			e.answered(time.Since(began), parts)
		}
	case *protocol.Assign:
		reply, err = &protocol.Changed{}, e.session.Assign(q.Item, q.Dump, q.Module)
	case *protocol.Unassign:
		e.session.Unassign(q.Dump, q.Module)
		reply = &protocol.Changed{}
	case *protocol.SetPolicy:
		reply, err = &protocol.Changed{}, e.setPolicy(q.Policy)
	case *protocol.IgnoreCFI:
		e.session.IgnoreCFI(q.Dump, q.Module, q.On)
		reply = &protocol.Changed{}
	case *protocol.ListMissing:
		reply = &protocol.Missing{Rows: e.missing(q.Dump)}
	case *protocol.Export:
		reply, err = e.export(q)
	case *protocol.WriteSym:
		reply, err = e.sym(q.Name)
	case *protocol.PlanIndex:
		reply, err = e.plan(q)
	case *protocol.IndexChunk:
		reply, with, err = e.indexChunk(q, src)
	case *protocol.JoinChunk:
		reply, with, err = e.joinChunk(q, data)
	case *protocol.IndexWhole:
		reply, err = e.indexWhole(q)
	default:
		panic(fmt.Sprintf("the engine has no case for %T", req))
	}
	return reply, with, err
}

func (e *Engine) setPolicy(name string) error {
	p, ok := walker.PolicyByName(name)
	if !ok {
		return fmt.Errorf("there is no way of walking called %q", view.Clean(name))
	}
	e.session.SetPolicy(p)
	return nil
}

func (e *Engine) add(q *protocol.Add, src *input.Source) (*protocol.Added, error) {
	r := &protocol.Added{}
	if src == nil {
		return r, fmt.Errorf("no file came with the request")
	}
	files := []*input.Source{src}
	if q.Symbols {
		var err error
		if files, err = e.fromServer(src, q.DebugID); err != nil {
			return r, err
		}
	}
	for _, f := range files {
		for _, it := range e.session.Add(f) {
			r.Items = append(r.Items, fileRow(it))
			r.NeedsReader = r.NeedsReader || it.NeedsDecoder
			r.HoldsPrograms = r.HoldsPrograms || e.opt.OpenImage == nil && e.session.HoldsPrograms(it.Dump)
		}
	}
	for i, it := range r.Items {
		if it.Dump < 0 {
			continue
		}
		if same := e.session.SameAs(it.Dump); same != it.Dump {
			e.left[it.Dump] = true
			delete(e.left, same) // it is given again after it was closed
			e.same[it.Item] = view.BaseName(e.session.Dumps()[same].Name)
			r.Items[i] = e.sameAs(it)
			r.Same = same + 1
		}
	}
	r.Dumps = e.dumps()
	return r, nil
}

// dumps are those that are shown.
func (e *Engine) dumps() (out []protocol.DumpName) {
	names := map[string]int{}
	for _, d := range e.session.Dumps() {
		if e.left[d.Dump] {
			continue
		}
		name := view.Clean(d.Name)
		if names[name]++; names[name] > 1 {
			name = fmt.Sprintf("%s (%d)", name, names[name]) // an address names one of them
		}
		out = append(out, protocol.DumpName{Dump: d.Dump, Name: name, Says: e.brief(d.Dump)})
	}
	return out
}

func (e *Engine) brief(dump int) string {
	b := e.session.Brief(dump)
	return view.Brief(b.Reason, b.Time, b.Process, b.PID)
}

// sameAs says of a file that it is a dump which is there already.
func (e *Engine) sameAs(row protocol.FileRow) protocol.FileRow {
	if same, ok := e.same[row.Item]; ok {
		row.Message = row.Name + ": the same dump as " + view.Clean(same)
	}
	return row
}

// view is the view of a dump's report as far as its stacks are walked, that of the given thread in any case; nil if there is no
// such dump.
func (e *Engine) view(dump, thread int) *view.View {
	return e.viewOf(dump, e.session.PartialReport(dump, thread))
}

// whole is the view of a dump's report when all stacks are walked.
func (e *Engine) whole(dump int) *view.View { return e.viewOf(dump, e.session.Report(dump)) }

func (e *Engine) viewOf(dump int, rep *report.Report) *view.View {
	if rep == nil {
		return nil
	}
	v := e.views[dump]
	if v == nil || v.Report() != rep {
		v = view.New(rep, e.demangle)
		if e.redact {
			v.SetMessages(hideMessages(rep.Messages))
		} else {
			v.ExplainBy(e.session.Explainer(dump, true))
		}
		e.views[dump] = v
		e.reports[dump]++
	}
	return v
}

// Idle does a piece of the work that nobody waits for, and reports whether there may be more: the stacks that nobody has looked at.
// When all are walked, it tells the page. A piece is a thread; the caller answers requests in between.
func (e *Engine) Idle() (more bool) {
	e.id, e.rested = 0, false
	if e.more {
		return false
	}
	if !e.walking || e.waits(e.looked) {
		return false
	}
	if e.fetched != nil && e.fetched() > maxIdleFetched {
		e.walking = false // the stacks that are left are walked when they are looked at
		return false
	}
	if left := e.session.WalkOn(e.looked); left > 0 {
		return true
	}
	e.walking = false
	e.post(protocol.Answer{Reply: &protocol.Walked{Dump: e.looked, Changed: e.changed(e.looked)}})
	return false
}

const (
	// often is how close questions follow each other while somebody scrolls; restFor is how long nothing else is done then.
	often, restFor = 400 * time.Millisecond, 150 * time.Millisecond
	// lastPart is for how long the last part of a first screen has the machine for itself, too. Without that the page's task was longer than
	// 50 ms in one of 25 runs with 1 GB of symbols.
	lastPart = 40 * time.Millisecond
)

// began is when the program began. An Engine keeps times as the time since then: it is a value of an interface, and the linker keeps all
// methods of the types in such a value. A time.Time adds the formatting of times to the page's program, 48 KB.
var began = time.Now()

// Rest is how long Idle had better wait. While somebody scrolls, each answer is drawn at once, on a machine of two cores beside all that reads and
// walks: a task that needs 15 ms of CPU then holds the page's thread for 60. After a rest there is always a piece of work, lest nothing came
// forward.
func (e *Engine) Rest() time.Duration { return max(0, e.restUntil-time.Since(began)) }

// answered notes that a screen was answered, or the last part of a first one.
func (e *Engine) answered(now time.Duration, first bool) {
	switch {
	case first:
		e.restUntil = now + lastPart
	case e.answeredAt != 0 && now-e.answeredAt < often && !e.rested:
		e.restUntil, e.rested = now+restFor, true
	}
	e.answeredAt = now
}

// look makes the parts of the screen that are asked for.
func (e *Engine) look(q protocol.Look) *protocol.Looked {
	r := &protocol.Looked{}
	e.more = q.More
	if q.Search != "" {
		// What is searched for may stand anywhere.
		e.session.Report(q.Dump)
	}
	if v := e.view(q.Dump, q.Thread); v != nil {
		e.lookAt(r, q, v)
		r.Edition = protocol.Edition{Dump: q.Dump, Revision: e.reports[q.Dump]}
		r.Pending = v.Pending()
		e.looked = q.Dump
		// The first screen comes before the stacks that are not on it.
		e.walking = (r.Pending > 0 || e.exact.before[q.Dump] != nil) && (e.walking || q.Stack != nil)
		if !q.More { // the first screen comes before the pass, too
			for _, it := range e.session.Unread(q.Dump) {
				r.Unread = append(r.Unread, it.ID)
			}
		}
	}
	// The files come last: reading a dump's symbols can have found something wrong with them.
	if q.Files != nil {
		r.Files = e.files(q)
	}
	return r
}

func (e *Engine) lookAt(r *protocol.Looked, q protocol.Look, v *view.View) {
	rep := v.Report()
	search := view.Query(q.Search)
	if q.Thread < 0 || q.Thread >= len(rep.Threads) {
		q.Thread, q.Top = max(rep.FirstThread, 0), true
	}
	if q.Top {
		q.Frame, q.Inline = 0, -1
		if t := q.Thread; t < len(rep.Threads) && !q.HideInlines && len(rep.Threads[t].Frames) > 0 &&
			len(rep.Threads[t].Frames[0].Inlines) > 0 {
			q.Inline = 0
		}
	}
	if q.Summary {
		s := v.Summary(q.Dump)
		r.Summary = &s
		if d := e.session.Dump(q.Dump); d != nil {
			r.Have = have(d)
		}
	}
	if w := q.Threads; w != nil {
		t := v.Threads(w.Span.From, w.Span.Count, q.Thread, w.Filter, search)
		r.Threads = &t
	}
	if q.Stack != nil {
		s := v.Stack(view.StackQuery{Thread: q.Thread, From: q.Stack.From, Count: q.Stack.Count, Frame: q.Frame,
			Inline: q.Inline, HideInlines: q.HideInlines, Search: search})
		r.Stack = &s
	}
	if q.Detail {
		r.Detail = v.Frame(q.Thread, q.Frame, q.Inline)
	}
	if w := q.Modules; w != nil {
		m := v.Modules(w.Span.From, w.Span.Count, w.Selected, search)
		r.Modules = &m
	}
	if d := e.session.Dump(q.Dump); d != nil {
		e.lookInto(r, q, d, rep)
	}
	if q.Find != nil && search != "" {
		r.Found = e.find(v, e.session.Dump(q.Dump), rep, search, q.Find.Hit)
	}
	if q.Compare != nil {
		c := e.compare(v, q)
		r.Compare = &c
	}
	if q.Wanted != nil {
		w := v.Missing(q.Wanted.From, q.Wanted.Count)
		r.Wanted = &w
	}
}

// lookInto makes the parts that show the dump itself.
func (e *Engine) lookInto(r *protocol.Looked, q protocol.Look, d *core.Dump, rep *report.Report) {
	if q.Grid != nil {
		r.Grid = e.grid(d, rep, q.Grid.Name, q.Grid.Span)
	}
	if q.Content != nil {
		r.Content = e.content(d, q.Dump, *q.Content)
	}
	if q.System != nil {
		r.System = &protocol.SystemPage{Groups: system(d)}
		if !e.redact {
			private := secrets(d, *q.System)
			r.System.Groups, r.System.Secrets = append(r.System.Groups, private...), len(private)
		}
	}
}

// maxRejected and maxChoices bound lists that are not windows.
const (
	maxRejected = 8
	maxChoices  = 100
)

func (e *Engine) files(q protocol.Look) *protocol.FilePage {
	items := e.session.Items()
	span, waits := *q.Files, false
	page := &protocol.FilePage{Rows: []protocol.FileRow{}}
	page.Total = len(items)
	page.From = max(0, min(span.From, len(items)))
	for i, it := range items {
		row := e.sameAs(fileRow(it))
		if !row.Usable || row.Assign {
			page.Problems++
		}
		waits = waits || row.Assign
		switch {
		case !row.Usable:
			if page.Rejections++; len(page.Rejected) < maxRejected {
				page.Rejected = append(page.Rejected, row)
			}
		case (row.Kind == string(session.KindSym) || row.Kind == string(session.KindBinary)) && len(page.Symbols) < maxChoices && e.session.Fits(it.ID, q.Dump):
			page.Symbols = append(page.Symbols, protocol.Choice{Item: it.ID, Name: view.BaseName(row.Name)})
		}
		if i >= page.From && i < page.From+span.Count {
			page.Rows = append(page.Rows, row)
		}
	}
	if !waits {
		return page
	}
	if v := e.view(q.Dump, q.Thread); v != nil {
		for _, i := range v.Assignable(maxChoices) {
			page.Modules = append(page.Modules, protocol.Choice{Item: i, Name: view.Clean(view.BaseName(v.Report().Modules[i].Name))})
		}
	}
	return page
}

func fileRow(it session.Item) protocol.FileRow {
	row := protocol.FileRow{Item: it.ID, Name: view.Clean(it.Name), Size: view.Size(it.Size), Kind: string(it.Kind), Taken: string(it.Detected),
		Usable: it.Usable, Message: view.Clean(it.Message), Dump: it.Dump, SymName: view.Clean(it.SymName),
		SymID: view.Clean(it.SymID), Assign: it.NeedsAssignment, WarningCount: it.WarningCount}
	for _, w := range it.Warnings {
		row.Warnings = append(row.Warnings, view.Clean(w))
	}
	return row
}
