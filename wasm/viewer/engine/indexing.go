package engine

import (
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// Large symbol files are searched at first. When the crashed thread's stack is shown, the page asks
// for their full indexes (IndexFile). The session's indexers make them, one file after the other,
// while the engine answers other requests.

// indexing has the state of indexing.
type indexing struct {
	passes  []*protocol.IndexFile  // the first is running
	running bool                   // a pass is, which may have been stopped
	before  map[int]*report.Report // dump → the report that was shown before a file was fully indexed
}

// IndexStore keeps indexes of symbol files for the next visit.
type IndexStore interface {
	// Load returns nil if there is none.
	Load(key string) []byte
	Store(key string, index []byte)
}

// waits reports whether the stacks of a dump should wait until a file is fully indexed, because
// walking them then takes far fewer reads.
func (e *Engine) waits(dump int) bool {
	for _, it := range e.session.Unindexed(dump) {
		for _, q := range e.indexing.passes {
			if q.Item == it.ID {
				return true
			}
		}
	}
	return false
}

// nextPass begins the next pass over a file, if none is running.
func (e *Engine) nextPass() {
	x := &e.indexing
	if x.running || len(x.passes) == 0 {
		return
	}
	q := x.passes[0]
	name := ""
	if items := e.session.Items(); q.Item >= 0 && q.Item < len(items) {
		name = view.Clean(view.BaseName(items[q.Item].Name))
	}
	var full *session.FullIndex
	var err error
	x.running = true
	e.opt.Beside(func() { full, err = e.index(q, name) }, func() {
		x.running = false
		if len(x.passes) > 0 && x.passes[0] == q { // it was not stopped
			x.passes = x.passes[1:]
			a := protocol.Answer{Reply: &protocol.FileIndexed{Item: q.Item}}
			if err == nil {
				e.remember()
				err = e.session.Adopt(q.Item, full)
			}
			if err != nil {
				a.Error = name + " was not fully indexed: " + view.Clean(err.Error())
			}
			e.post(a)
		}
		e.nextPass()
	})
}

// index opens a file with its full index, beside the engine's other work.
func (e *Engine) index(q *protocol.IndexFile, name string) (*session.FullIndex, error) {
	key := ""
	if q.Keep && e.opt.Indexes != nil {
		key, _ = e.session.Key(q.Item) // without a key the next visit indexes the file again
	}
	if key != "" {
		if index := e.opt.Indexes.Load(key); index != nil {
			if full, err := e.session.Indexed(q.Item, index, nil); err == nil {
				return full, nil
			}
		}
	}
	full, err := e.session.Indexed(q.Item, nil, func(done, total int64) {
		e.post(protocol.Answer{Reply: &protocol.Progress{Stage: "indexing", Name: name, Done: done, Total: total, Background: true}})
	})
	if err == nil && key != "" {
		if index, err := full.Index(); err == nil {
			e.opt.Indexes.Store(key, index)
		}
	}
	return full, err
}

// stopIndexing ends all passes. Their files stay searched.
func (e *Engine) stopIndexing() {
	e.indexing.passes = nil
	for _, x := range e.opt.Session.Indexers {
		x.Stop()
	}
}

// remember keeps the report of each dump, to be compared with the report after a file is fully
// indexed.
func (e *Engine) remember() {
	for dump, v := range e.views {
		if e.indexing.before[dump] == nil {
			e.indexing.before[dump] = v.Report()
		}
	}
}

// changed counts the frames of a dump's stacks, including inlined calls, that differ from the
// remembered report.
func (e *Engine) changed(dump int) int {
	was := e.indexing.before[dump]
	delete(e.indexing.before, dump)
	is := e.session.Report(dump)
	if was == nil || is == nil || was == is {
		return 0
	}
	n := 0
	for i := range is.Threads {
		if i < len(was.Threads) && !was.Threads[i].Pending {
			n += changedFrames(was.Threads[i].Frames, is.Threads[i].Frames)
		}
	}
	return n
}

// changedFrames counts the frames of a stack that differ.
func changedFrames(was, is []report.Frame) (n int) {
	for i := range is {
		switch {
		case i >= len(was), is[i].PC != was[i].PC:
			n += 1 + len(is[i].Inlines)
			continue
		case is[i].Function.Raw != was[i].Function.Raw, is[i].File != was[i].File, is[i].Line != was[i].Line, is[i].Trust != was[i].Trust:
			n++
		}
		for k := range is[i].Inlines {
			if a := is[i].Inlines[k]; k >= len(was[i].Inlines) || a.Function.Raw != was[i].Inlines[k].Function.Raw ||
				a.File != was[i].Inlines[k].File || a.Line != was[i].Inlines[k].Line {
				n++
			}
		}
	}
	return n + max(0, len(was)-len(is))
}
