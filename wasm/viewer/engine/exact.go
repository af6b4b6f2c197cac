package engine

import (
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/app"
)

// Symbol files are searched first and read as a whole afterwards. The reading is shared out by the page among workers that run this same
// engine and know nothing else (OpIndex); their indexes come here (OpPiece) and take the place of the search.

// exact is the state of that.
type exact struct {
	pieces map[int][]func([]byte) []byte // item → indexes of its pieces, as they come
	passes map[int]bool                  // items of which a pass is under way
	before map[int]*report.Report        // dump → what was shown before a file turned out to answer otherwise
	send   func(app.Reply, []byte)
	hand   func(app.Reply, *input.Source) bool
	index  *session.Indexer // of a worker that reads pieces
}

const (
	// leastPiece and mostPiece bound a piece, in bytes: fewer are not worth a message, more would take a worker's memory.
	leastPiece = 2 << 20
	mostPiece  = 16 << 20
)

// handleExact answers the requests of the pass, and reports whether it was one.
func (e *Engine) handleExact(req app.Request, src *input.Source, data func(into []byte) []byte) bool {
	r := app.Reply{ID: req.ID, Op: req.Op, Item: req.Item}
	var out []byte
	var err error
	switch req.Op {
	case app.OpPlan:
		if err = e.plan(&r, req); err == nil {
			e.exact.passes[req.Item] = true
		}
		if err == nil && req.On {
			if e.exact.hand != nil && e.exact.hand(r, e.session.File(req.Item)) {
				return true
			}
			err = session.ErrApart
		}
	case app.OpIndex:
		if src == nil {
			err = fmt.Errorf("no file came with the request")
			break
		}
		if e.exact.index == nil {
			e.exact.index = &session.Indexer{} // this worker does nothing else
		}
		out, err = e.exact.index.Piece(src, req.From, req.To, func(done, total int64) {
			e.post(app.Reply{ID: req.ID, Progress: &app.Progress{Done: done - req.From, Total: req.To - req.From, Later: true}})
		})
	case app.OpPiece:
		out, err = e.piece(&r, req, data)
	case app.OpComplete:
		delete(e.exact.passes, req.Item)
		delete(e.exact.pieces, req.Item)
		if req.On { // it lies in this program's memory, and so is small
			e.remember()
			_, err = e.session.Complete(req.Item)
			r.Exact = err == nil
		}
	default:
		return false
	}
	r.Apart = errors.Is(err, session.ErrApart)
	if err != nil {
		r.Error = view.Clean(err.Error())
	}
	if out != nil && e.exact.send != nil {
		e.exact.send(r, out)
	} else {
		e.post(r)
	}
	return true
}

// waits reports whether the stacks of a dump wait for the pass over a file: with an index they need a part of the reads.
func (e *Engine) waits(dump int) bool {
	for _, it := range e.session.Unread(dump) {
		if e.exact.passes[it.ID] {
			return true
		}
	}
	return false
}

// plan divides a file so that all workers have something to do until the end, and none has much in memory.
func (e *Engine) plan(r *app.Reply, req app.Request) error {
	items := e.session.Items()
	if req.Item < 0 || req.Item >= len(items) {
		return fmt.Errorf("there is no file number %d", req.Item)
	}
	size := items[req.Item].Size / int64(4*max(req.Cores, 1))
	cuts, err := e.session.Cuts(req.Item, min(max(size, leastPiece), mostPiece))
	if err != nil {
		return err
	}
	r.Cuts = cuts
	if req.Keep {
		r.Key, err = e.session.Key(req.Item)
	}
	return err
}

// piece takes an index. With the last one the file is exact, and its own index is what it gives if that is to be kept.
func (e *Engine) piece(r *app.Reply, req app.Request, data func(into []byte) []byte) ([]byte, error) {
	if req.Parts < 1 || req.Parts > 1<<20 || req.Part < 0 || req.Part >= req.Parts || data == nil {
		return nil, fmt.Errorf("piece %d of %d is none", req.Part, req.Parts)
	}
	have := e.exact.pieces[req.Item]
	if len(have) != req.Parts {
		have = make([]func([]byte) []byte, req.Parts)
		e.exact.pieces[req.Item] = have
	}
	have[req.Part] = data
	for _, p := range have {
		if p == nil {
			return nil, nil
		}
	}
	delete(e.exact.pieces, req.Item)
	e.remember()
	// In a browser the memory that is taken once is never given back, so one piece takes the place of the one before.
	var piece []byte
	if _, err := e.session.AdoptEach(req.Item, len(have), func(i int) []byte {
		piece = have[i](piece)
		return piece
	}); err != nil {
		return nil, err
	}
	r.Exact = true
	delete(e.exact.passes, req.Item)
	if !req.Keep || req.Parts == 1 && e.exact.send == nil {
		return nil, nil
	}
	index, err := e.session.Index(req.Item)
	if err == nil {
		r.Key, err = e.session.Key(req.Item)
	}
	if err != nil {
		return nil, nil // the page is right all the same; the next visit makes the pass again
	}
	return index, nil
}

// remember keeps what is shown of each dump, to be compared with what is shown when a file is exact.
func (e *Engine) remember() {
	for dump, v := range e.views {
		if e.exact.before[dump] == nil {
			e.exact.before[dump] = v.Report()
		}
	}
}

// changed counts the frames of a dump's stacks, inlined calls among them, that are others than before.
func (e *Engine) changed(dump int) int {
	was := e.exact.before[dump]
	delete(e.exact.before, dump)
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
