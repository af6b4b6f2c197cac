package engine

import (
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// Large symbol files are searched at first, and fully indexed later. The page has workers index chunks of a file (IndexChunk). These workers also run
// this engine, but without a session. The page's engine joins their indexes (JoinChunk), which then replace the search.

// indexing has the state of indexing.
type indexing struct {
	chunks map[int][]func([]byte) []byte             // item → indexes of its chunks, as they arrive
	passes map[int]bool                              // items that are being indexed
	before map[int]*report.Report                    // dump → the report that was shown before a file was fully indexed
	send   func(protocol.Answer, []byte)             // Options.PostData
	hand   func(protocol.Answer, *input.Source) bool // Options.PostFile
	index  *session.Indexer                          // in a worker that indexes chunks
}

const (
	// minChunk and maxChunk bound a chunk, in bytes: a smaller one is not worth a message, a larger one needs too much memory in a worker.
	minChunk = 2 << 20
	maxChunk = 16 << 20
)

// waits reports whether the stacks of a dump should wait until a file is fully indexed, because walking them then takes far fewer reads.
func (e *Engine) waits(dump int) bool {
	for _, it := range e.session.Unindexed(dump) {
		if e.indexing.passes[it.ID] {
			return true
		}
	}
	return false
}

// indexWhole ends the pass over a file by workers. With q.On the engine indexes the file itself: it is in this program's memory, and therefore
// small.
func (e *Engine) indexWhole(q *protocol.IndexWhole) (*protocol.WholeIndexed, error) {
	delete(e.indexing.passes, q.Item)
	delete(e.indexing.chunks, q.Item)
	r := &protocol.WholeIndexed{Item: q.Item}
	if !q.On {
		return r, nil
	}
	e.remember()
	_, err := e.session.Complete(q.Item)
	r.Complete = err == nil
	return r, err
}

// plan cuts a file into chunks, small enough that all workers are busy until the end and none needs much memory. With q.Send it also sends the file.
func (e *Engine) plan(q *protocol.PlanIndex) (protocol.Reply, error) {
	r := &protocol.IndexPlanned{Item: q.Item}
	items := e.session.Items()
	if q.Item < 0 || q.Item >= len(items) {
		return r, fmt.Errorf("there is no file number %d", q.Item)
	}
	size := items[q.Item].Size / int64(4*max(q.Cores, 1)) // four chunks for each worker
	cuts, err := e.session.Cuts(q.Item, min(max(size, minChunk), maxChunk))
	if err == nil {
		r.Cuts = cuts
		if q.Keep {
			r.Key, err = e.session.Key(q.Item)
		}
	}
	if err == nil {
		e.indexing.passes[q.Item] = true
	}
	if err == nil && q.Send {
		if e.indexing.hand != nil && e.indexing.hand(protocol.Answer{ID: e.id, Reply: r}, e.session.File(q.Item)) {
			return nil, nil
		}
		err = session.ErrIndivisible
	}
	r.Whole = errors.Is(err, session.ErrIndivisible)
	return r, err
}

// indexChunk makes the index of a chunk.
func (e *Engine) indexChunk(q *protocol.IndexChunk, src *input.Source) (*protocol.ChunkIndexed, []byte, error) {
	if src == nil {
		return &protocol.ChunkIndexed{}, nil, fmt.Errorf("no file came with the request")
	}
	if e.indexing.index == nil {
		e.indexing.index = &session.Indexer{} // a worker that gets chunks gets nothing else
	}
	index, err := e.indexing.index.Chunk(src, q.From, q.To, func(done, total int64) {
		e.post(protocol.Answer{ID: e.id, Reply: &protocol.Progress{Done: done - q.From, Total: q.To - q.From, Background: true}})
	})
	return &protocol.ChunkIndexed{Whole: errors.Is(err, session.ErrIndivisible)}, index, err
}

// joinChunk stores the index of a chunk. With the last one it joins them to the full index, and returns that if the page wants to store it.
func (e *Engine) joinChunk(q *protocol.JoinChunk, data func(into []byte) []byte) (*protocol.ChunkJoined, []byte, error) {
	r := &protocol.ChunkJoined{Item: q.Item}
	if q.Parts < 1 || q.Parts > 1<<20 || q.Part < 0 || q.Part >= q.Parts || data == nil {
		return r, nil, fmt.Errorf("chunk %d of %d is none", q.Part, q.Parts)
	}
	have := e.indexing.chunks[q.Item]
	if len(have) != q.Parts { // the first chunk, or a new pass with other cuts
		have = make([]func([]byte) []byte, q.Parts)
		e.indexing.chunks[q.Item] = have
	}
	have[q.Part] = data
	for _, p := range have {
		if p == nil {
			return r, nil, nil
		}
	}
	delete(e.indexing.chunks, q.Item)
	e.remember()
	// WebAssembly memory never shrinks, so all chunks' indexes are copied into the same buffer, one after the other.
	var chunk []byte
	if _, err := e.session.Adopt(q.Item, len(have), func(i int) []byte {
		chunk = have[i](chunk)
		return chunk
	}); err != nil {
		r.Whole = errors.Is(err, session.ErrIndivisible)
		return r, nil, err
	}
	r.Complete = true
	delete(e.indexing.passes, q.Item)
	if !q.Keep || q.Parts == 1 && e.indexing.send == nil {
		return r, nil, nil
	}
	index, err := e.session.Index(q.Item)
	if err == nil {
		r.Key, err = e.session.Key(q.Item)
	}
	if err != nil {
		return r, nil, nil // the file is indexed, only not stored: the next visit indexes it again
	}
	return r, index, nil
}

// remember keeps the report of each dump, to be compared with the report after a file is fully indexed.
func (e *Engine) remember() {
	for dump, v := range e.views {
		if e.indexing.before[dump] == nil {
			e.indexing.before[dump] = v.Report()
		}
	}
}

// changed counts the frames of a dump's stacks, including inlined calls, that differ from the remembered report.
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
