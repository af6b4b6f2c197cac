package app

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Indexing tracks the background pass over large symbol files. To show a stack at once, the engine only searches a large file (symfile/lazy). Then
// workers index the file in chunks, the engine joins the chunks' indexes to a full index, and the search is not needed any more. The user need not
// wait for it, and can stop it. The messages are in web/protocol/index.go, in their order: PlanIndex, IndexChunk, JoinChunk.
type Indexing struct {
	page    *Page
	passes  []*pass      // running, in the order in which they began
	begun   map[int]bool // items whose pass has begun or ended
	busy    [][]*chunk   // worker → the chunk that it indexes, and the one after that
	sources map[int]File // item → its file
	stopped bool         // by the user; the next drop allows passes again
}

// pass is the pass over one file.
type pass struct {
	item   int
	file   File
	cuts   []int64 // offsets at which chunks begin and end
	next   int     // the next chunk to give to a worker
	done   int64   // bytes in finished chunks
	stored bool    // a stored index is being tried
}

// name returns the file's name for messages.
func (ps *pass) name() string {
	if ps.file == nil {
		return "A symbol file in an archive"
	}
	return view.Clean(ps.file.Name())
}

// chunk is a chunk of a file that a worker indexes.
type chunk struct {
	pass *pass
	part int
	done int64
}

// maxIndexers bounds the workers: each needs memory of its own, and more of them do not read a disk faster.
const maxIndexers = 4

// chunksAhead is how many chunks a worker has at a time, so that it continues with the next one while the page handles its answer.
const chunksAhead = 2

func (z *Indexing) indexers() int { return min(max(z.page.Host.Cores(), 1), maxIndexers) }

// start begins the passes over files that have no full index yet.
func (z *Indexing) start(items []int) {
	for _, it := range items {
		file := z.sources[it]
		if z.begun[it] || z.stopped || file != nil && isRemote(file) {
			continue
		}
		z.begun[it] = true
		ps := &pass{item: it, file: file}
		z.passes = append(z.passes, ps)
		z.page.send(&protocol.PlanIndex{Item: it, Cores: z.indexers(), Keep: z.page.Work.Kept.On, Send: file == nil}, nil)
	}
}

// planned begins a pass: with a stored index, or by giving chunks to workers. file is the unpacked file, if the page has only the archive. A
// file that only the engine has is indexed by the engine.
func (z *Indexing) planned(r *protocol.IndexPlanned, problem string, file File) {
	ps := z.passOf(r.Item)
	if ps == nil {
		return
	}
	if ps.file == nil {
		ps.file = file
	}
	if r.Whole {
		z.indexAtOnce(ps)
		return
	}
	if problem != "" || len(r.Cuts) < 2 {
		z.giveUp(ps)
		return
	}
	begin := func() {
		ps.cuts = r.Cuts
		z.assignChunks()
	}
	if r.Key == "" {
		begin()
		return
	}
	z.page.Host.Kept(r.Key, func(index File) {
		switch {
		case z.passOf(r.Item) != ps: // it was stopped
		case index == nil:
			begin()
		default:
			ps.stored = true
			ps.cuts = r.Cuts
			ps.next = len(r.Cuts)
			z.page.send(&protocol.JoinChunk{Item: ps.item, Part: 0, Parts: 1}, index)
		}
	})
}

// passOf returns the running pass over the file of an item, or nil.
func (z *Indexing) passOf(item int) *pass {
	for _, ps := range z.passes {
		if ps.item == item {
			return ps
		}
	}
	return nil
}

// assignChunks gives chunks to workers until each has chunksAhead of them, first to those that have fewest.
func (z *Indexing) assignChunks() {
	if z.busy == nil {
		z.busy = make([][]*chunk, z.indexers())
	}
	for n := range chunksAhead {
		for w := range z.busy {
			if len(z.busy[w]) > n {
				continue
			}
			for _, ps := range z.passes {
				if ps.next+1 < len(ps.cuts) {
					z.busy[w] = append(z.busy[w], &chunk{pass: ps, part: ps.next})
					z.page.Engine.Index(w, protocol.Call{Request: &protocol.IndexChunk{Name: ps.file.Name(), From: ps.cuts[ps.next], To: ps.cuts[ps.next+1]}}, ps.file)
					ps.next++
					break
				}
			}
		}
	}
	z.progress()
}

// Indexed handles an answer of a worker; index is that of its chunk. It reports whether the page must be drawn.
func (z *Indexing) Indexed(worker int, a protocol.Answer, index File) (draw bool) {
	if r, ok := a.Reply.(*protocol.RemoteFailed); ok {
		z.page.Work.Downloads.remoteFailed(r, a.Error)
		return true
	}
	if worker >= len(z.busy) || len(z.busy[worker]) == 0 {
		return false
	}
	c := z.busy[worker][0]
	if g, ok := a.Reply.(*protocol.Progress); ok {
		c.done = g.Done
		z.progress()
		return false
	}
	r, ok := a.Reply.(*protocol.ChunkIndexed)
	if !ok {
		return false
	}
	z.busy[worker] = z.busy[worker][1:]
	switch ps := c.pass; {
	case z.passOf(ps.item) != ps: // the pass has ended, or indexes the file as one chunk by now
	case r.Whole:
		z.indexAtOnce(ps)
	case a.Error != "" || index == nil:
		z.failed(ps, a.Error)
		draw = true
	default:
		ps.done += ps.cuts[c.part+1] - ps.cuts[c.part]
		z.page.send(&protocol.JoinChunk{Item: ps.item, Part: c.part, Parts: len(ps.cuts) - 1, Keep: z.page.Work.Kept.On}, index)
	}
	z.assignChunks()
	for _, chunks := range z.busy {
		if len(chunks) > 0 {
			z.progress()
			return draw
		}
	}
	// All chunks are indexed. End the workers: the engine needs the memory to join the indexes.
	z.page.Engine.StopIndexing()
	return true
}

// IndexerStopped is called when a worker has died. Its files stay searched.
func (z *Indexing) IndexerStopped(worker int, why string) {
	if worker >= len(z.busy) {
		return
	}
	chunks := z.busy[worker]
	z.busy[worker] = nil
	for _, c := range chunks {
		if z.passOf(c.pass.item) == c.pass {
			z.failed(c.pass, view.Clean(why))
		}
	}
	z.assignChunks()
}

// indexAtOnce has a file indexed as one chunk, because its chunks cannot be joined. A file that only the engine has is indexed by the engine.
func (z *Indexing) indexAtOnce(ps *pass) {
	switch {
	case ps.file == nil:
		z.page.send(&protocol.IndexWhole{Item: ps.item, On: true}, nil)
	case len(ps.cuts) == 2:
		z.giveUp(ps)
	default: // a new pass takes its place, so that answers for its chunks are ignored
		z.passes[slices.Index(z.passes, ps)] = &pass{item: ps.item, file: ps.file, cuts: []int64{0, ps.file.Size()}}
		z.assignChunks()
	}
}

// joined handles the engine's answer to the index of a chunk. It reports whether the page must be drawn.
func (z *Indexing) joined(r *protocol.ChunkJoined, problem string, index File) (draw bool) {
	ps := z.passOf(r.Item)
	if ps == nil || !r.Complete && !r.Whole && problem == "" { // not the last chunk
		return false
	}
	switch {
	case r.Complete:
		if index != nil && r.Key != "" {
			z.page.Host.Keep(r.Key, index)
			z.page.Work.Kept.measure()
		}
		z.finished(ps)
	case r.Whole:
		z.indexAtOnce(ps)
	case problem != "" && ps.stored:
		// The stored index does not match the file.
		ps.stored, ps.next = false, 0
		z.assignChunks()
	default:
		z.failed(ps, problem)
	}
	return true
}

// wholeIndexed handles the engine's answer when it has indexed a file itself, or has noted that nobody does. It reports whether the page must be
// drawn.
func (z *Indexing) wholeIndexed(r *protocol.WholeIndexed, problem string) (draw bool) {
	ps := z.passOf(r.Item)
	if ps == nil {
		return false
	}
	if r.Complete {
		z.finished(ps)
	} else if problem != "" {
		z.failed(ps, problem)
	}
	return true
}

// finished ends a pass whose file has its full index.
func (z *Indexing) finished(ps *pass) {
	z.page.Work.Downloads.indexed(ps.item)
	z.endPass(ps)
	z.page.Screen.askAll()
}

// failed ends a pass with a problem.
func (z *Indexing) failed(ps *pass, problem string) {
	z.page.Notices.show("warning", ps.name()+" was not fully indexed: "+problem)
	z.giveUp(ps)
}

// giveUp ends a pass without an index, and notifies the engine, where stacks wait for the index.
func (z *Indexing) giveUp(ps *pass) {
	z.page.send(&protocol.IndexWhole{Item: ps.item}, nil)
	z.endPass(ps)
}

// endPass removes a pass. After the last one it ends the workers, which frees their memory.
func (z *Indexing) endPass(ps *pass) {
	z.passes = slices.DeleteFunc(z.passes, func(o *pass) bool { return o == ps })
	if len(z.passes) == 0 {
		z.page.Engine.StopIndexing()
		z.busy = nil
		z.page.Work.Background.end()
	}
}

// stop ends the passes at once. Their files stay searched.
func (z *Indexing) stop() {
	for _, ps := range z.passes {
		delete(z.begun, ps.item)
		z.page.send(&protocol.IndexWhole{Item: ps.item}, nil)
	}
	z.passes, z.busy, z.stopped = nil, nil, true
	z.page.Engine.StopIndexing()
	z.page.Work.Background.end()
}

// stopByUser ends the passes at the user's request, until the next drop.
func (z *Indexing) stopByUser() {
	z.stop()
	z.page.Notices.show("note", "Stopped. The symbol files were not fully indexed.")
}

// forget prepares for a new engine, which numbers its files from the start.
func (z *Indexing) forget() {
	z.stop()
	z.begun, z.sources, z.stopped = map[int]bool{}, map[int]File{}, false
}

// progress shows the progress of all passes together.
func (z *Indexing) progress() {
	var done, total int64
	name := ""
	for _, ps := range z.passes {
		if ps.cuts == nil {
			continue
		}
		done += ps.done
		total += ps.file.Size()
		if name == "" {
			name = ps.file.Name()
		}
	}
	for _, chunks := range z.busy {
		if len(chunks) > 0 {
			done += chunks[0].done
		}
	}
	if n := len(z.passes); n > 1 {
		name = files(n)
	}
	if total > 0 {
		z.page.Work.Background.progress(protocol.Progress{Stage: "indexing", Name: name, Done: done, Total: total})
	}
}

// reportChanged says how many frames are different with the full index.
func (z *Indexing) reportChanged(n int) {
	if n > 0 {
		frames := "1 frame changed and is highlighted"
		if n > 1 {
			frames = view.Number(n) + " frames changed and are highlighted"
		}
		z.page.Notices.show("note", frames+" for a moment. The symbol file is not sorted, so searching it gave wrong answers.")
	}
}
