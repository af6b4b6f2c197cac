package engine

import (
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// Symbol files are searched first and read as a whole afterwards. The reading is shared out by the page among workers that run this same
// engine and know nothing else (IndexChunk); their indexes come here (JoinChunk) and take the place of the search.

// exact is the state of that.
type exact struct {
	pieces map[int][]func([]byte) []byte // item → indexes of its pieces, as they come
	passes map[int]bool                  // items of which a pass is under way
	before map[int]*report.Report        // dump → what was shown before a file turned out to answer otherwise
	send   func(protocol.Answer, []byte)
	hand   func(protocol.Answer, *input.Source) bool
	index  *session.Indexer // of a worker that reads pieces
}

const (
	// leastPiece and mostPiece bound a piece, in bytes: fewer are not worth a message, more would take a worker's memory.
	leastPiece = 2 << 20
	mostPiece  = 16 << 20
)

// waits reports whether the stacks of a dump wait for the pass over a file: with an index they need a part of the reads.
func (e *Engine) waits(dump int) bool {
	for _, it := range e.session.Unread(dump) {
		if e.exact.passes[it.ID] {
			return true
		}
	}
	return false
}

// indexWhole gives up the pass over a file, or makes it here: the file lies in this program's memory then, and so is small.
func (e *Engine) indexWhole(q *protocol.IndexWhole) (*protocol.WholeIndexed, error) {
	r := &protocol.WholeIndexed{Item: q.Item}
	delete(e.exact.passes, q.Item)
	delete(e.exact.pieces, q.Item)
	if !q.On {
		return r, nil
	}
	e.remember()
	_, err := e.session.Complete(q.Item)
	r.Exact = err == nil
	return r, err
}

// plan divides a file so that all workers have something to do until the end, and none has much in memory. With q.Send it sends the file, too.
func (e *Engine) plan(q *protocol.PlanIndex) (protocol.Reply, error) {
	r := &protocol.IndexPlanned{Item: q.Item}
	items := e.session.Items()
	if q.Item < 0 || q.Item >= len(items) {
		return r, fmt.Errorf("there is no file number %d", q.Item)
	}
	size := items[q.Item].Size / int64(4*max(q.Cores, 1))
	cuts, err := e.session.Cuts(q.Item, min(max(size, leastPiece), mostPiece))
	if err == nil {
		r.Cuts = cuts
		e.exact.passes[q.Item] = true
		if q.Keep {
			r.Key, err = e.session.Key(q.Item)
		}
	}
	if err == nil && q.Send {
		if e.exact.hand != nil && e.exact.hand(protocol.Answer{ID: e.id, Reply: r}, e.session.File(q.Item)) {
			return nil, nil
		}
		err = session.ErrApart
	}
	r.Apart = errors.Is(err, session.ErrApart)
	return r, err
}

// indexChunk is the index of a part of a file.
func (e *Engine) indexChunk(q *protocol.IndexChunk, src *input.Source) (*protocol.ChunkIndexed, []byte, error) {
	if src == nil {
		return &protocol.ChunkIndexed{}, nil, fmt.Errorf("no file came with the request")
	}
	if e.exact.index == nil {
		e.exact.index = &session.Indexer{} // this worker does nothing else
	}
	index, err := e.exact.index.Piece(src, q.From, q.To, func(done, total int64) {
		e.post(protocol.Answer{ID: e.id, Reply: &protocol.Progress{Done: done - q.From, Total: q.To - q.From, Later: true}})
	})
	return &protocol.ChunkIndexed{Apart: errors.Is(err, session.ErrApart)}, index, err
}

// joinChunk takes an index. With the last one the file has its full index, which goes back if it is to be kept.
func (e *Engine) joinChunk(q *protocol.JoinChunk, data func(into []byte) []byte) (*protocol.ChunkJoined, []byte, error) {
	r := &protocol.ChunkJoined{Item: q.Item}
	if q.Parts < 1 || q.Parts > 1<<20 || q.Part < 0 || q.Part >= q.Parts || data == nil {
		return r, nil, fmt.Errorf("piece %d of %d is none", q.Part, q.Parts)
	}
	have := e.exact.pieces[q.Item]
	if len(have) != q.Parts {
		have = make([]func([]byte) []byte, q.Parts)
		e.exact.pieces[q.Item] = have
	}
	have[q.Part] = data
	for _, p := range have {
		if p == nil {
			return r, nil, nil
		}
	}
	delete(e.exact.pieces, q.Item)
	e.remember()
	// In a browser the memory that is taken once is never given back, so one piece takes the place of the one before.
	var piece []byte
	if _, err := e.session.AdoptEach(q.Item, len(have), func(i int) []byte {
		piece = have[i](piece)
		return piece
	}); err != nil {
		r.Apart = errors.Is(err, session.ErrApart)
		return r, nil, err
	}
	r.Exact = true
	delete(e.exact.passes, q.Item)
	if !q.Keep || q.Parts == 1 && e.exact.send == nil {
		return r, nil, nil
	}
	index, err := e.session.Index(q.Item)
	if err == nil {
		r.Key, err = e.session.Key(q.Item)
	}
	if err != nil {
		return r, nil, nil // the page is right all the same; the next visit makes the pass again
	}
	return r, index, nil
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
