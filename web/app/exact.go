package app

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Exact tracks the background pass over large symbol files. To show a stack at once, the engine only searches a large file (symfile/lazy). Then
// workers index the file in chunks, the engine joins the chunks' indexes to a full index, and the search is not needed any more. The user need not
// wait for it, and can stop it. The messages are in web/protocol/index.go, in their order: PlanIndex, IndexChunk, JoinChunk.
type Exact struct {
	page    *Page
	passes  []*pass      // running, in the order in which they began
	known   map[int]bool // items whose pass has begun or ended
	busy    [][]*piece   // worker → the chunk that it indexes, and the one after that
	sources map[int]File // item → its file
	stopped bool         // by the user; the next drop allows passes again
}

// pass is the pass over one file.
type pass struct {
	item int
	file File
	cuts []int64 // offsets at which chunks begin and end
	next int     // the next chunk to give to a worker
	done int64   // bytes in finished chunks
	kept bool    // a stored index is being tried
}

// name returns the file's name for messages.
func (ps *pass) name() string {
	if ps.file == nil {
		return "A symbol file in an archive"
	}
	return view.Clean(ps.file.Name())
}

// piece is a chunk of a file that a worker indexes.
type piece struct {
	pass *pass
	part int
	done int64
}

// maxIndexers bounds the workers: each needs memory of its own, and more of them do not read a disk faster.
const maxIndexers = 4

// ahead is how many chunks a worker has at a time, so that it continues with the next one while the page handles its answer.
const ahead = 2

func (z *Exact) indexers() int { return min(max(z.page.Host.Cores(), 1), maxIndexers) }

// unread begins the passes over files that have no full index yet.
func (z *Exact) unread(items []int) {
	x := z
	for _, it := range items {
		file := x.sources[it]
		if x.known[it] || x.stopped || file != nil && isRemote(file) {
			continue
		}
		x.known[it] = true
		ps := &pass{item: it, file: file}
		x.passes = append(x.passes, ps)
		z.page.send(&protocol.PlanIndex{Item: it, Cores: z.indexers(), Keep: z.page.Work.Kept.On, Send: file == nil}, nil)
	}
}

// planned begins a pass: with a stored index, or by giving chunks to workers. file is the unpacked file, if the page has only the archive. A
// file that only the engine has is indexed by the engine.
func (z *Exact) planned(r *protocol.IndexPlanned, problem string, file File) {
	ps := z.passOf(r.Item)
	if ps == nil {
		return
	}
	if ps.file == nil {
		ps.file = file
	}
	if r.Apart {
		z.readAtOnce(ps)
		return
	}
	if problem != "" || len(r.Cuts) < 2 {
		z.giveUp(ps)
		return
	}
	begin := func() {
		ps.cuts = r.Cuts
		z.giveOut()
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
			ps.kept = true
			ps.cuts = r.Cuts
			ps.next = len(r.Cuts)
			z.page.send(&protocol.JoinChunk{Item: ps.item, Part: 0, Parts: 1}, index)
		}
	})
}

func (z *Exact) passOf(item int) *pass {
	for _, ps := range z.passes {
		if ps.item == item {
			return ps
		}
	}
	return nil
}

// giveOut gives chunks to workers until each has ahead of them, first to those that have fewest.
func (z *Exact) giveOut() {
	x := z
	if x.busy == nil {
		x.busy = make([][]*piece, z.indexers())
	}
	for n := range ahead {
		for w := range x.busy {
			if len(x.busy[w]) > n {
				continue
			}
			for _, ps := range x.passes {
				if ps.next+1 < len(ps.cuts) {
					x.busy[w] = append(x.busy[w], &piece{pass: ps, part: ps.next})
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
func (z *Exact) Indexed(worker int, a protocol.Answer, index File) (draw bool) {
	x := z
	if r, ok := a.Reply.(*protocol.RemoteFailed); ok {
		z.page.Work.Downloads.remoteFailed(r, a.Error)
		return true
	}
	if worker >= len(x.busy) || len(x.busy[worker]) == 0 {
		return false
	}
	pc := x.busy[worker][0]
	if g, ok := a.Reply.(*protocol.Progress); ok {
		pc.done = g.Done
		z.progress()
		return false
	}
	r, ok := a.Reply.(*protocol.ChunkIndexed)
	if !ok {
		return false
	}
	x.busy[worker] = x.busy[worker][1:]
	switch ps := pc.pass; {
	case z.passOf(ps.item) != ps: // the pass has ended, or indexes the file as one chunk by now
	case r.Apart:
		z.readAtOnce(ps)
	case a.Error != "" || index == nil:
		z.failed(ps, a.Error)
		draw = true
	default:
		ps.done += ps.cuts[pc.part+1] - ps.cuts[pc.part]
		z.page.send(&protocol.JoinChunk{Item: ps.item, Part: pc.part, Parts: len(ps.cuts) - 1, Keep: z.page.Work.Kept.On}, index)
	}
	z.giveOut()
	for _, pieces := range x.busy {
		if len(pieces) > 0 {
			z.progress()
			return draw
		}
	}
	// All chunks are indexed. End the workers: the engine needs the memory to join the indexes.
	z.page.Engine.StopIndexing()
	return true
}

// IndexerStopped is called when a worker has died. Its files stay searched.
func (z *Exact) IndexerStopped(worker int, why string) {
	x := z
	if worker >= len(x.busy) {
		return
	}
	pieces := x.busy[worker]
	x.busy[worker] = nil
	for _, pc := range pieces {
		if z.passOf(pc.pass.item) == pc.pass {
			z.failed(pc.pass, view.Clean(why))
		}
	}
	z.giveOut()
}

// readAtOnce has a file indexed as one chunk, because its chunks cannot be joined. A file that only the engine has is indexed by the engine.
func (z *Exact) readAtOnce(ps *pass) {
	x := z
	switch {
	case ps.file == nil:
		z.page.send(&protocol.IndexWhole{Item: ps.item, On: true}, nil)
	case len(ps.cuts) == 2:
		z.giveUp(ps)
	default: // a new pass takes its place, so that answers for its chunks are ignored
		x.passes[slices.Index(x.passes, ps)] = &pass{item: ps.item, file: ps.file, cuts: []int64{0, ps.file.Size()}}
		z.giveOut()
	}
}

// joined handles the engine's answer to the index of a chunk. It reports whether the page must be drawn.
func (z *Exact) joined(r *protocol.ChunkJoined, problem string, index File) (draw bool) {
	ps := z.passOf(r.Item)
	if ps == nil || !r.Exact && !r.Apart && problem == "" { // not the last chunk
		return false
	}
	switch {
	case r.Exact:
		if index != nil && r.Key != "" {
			z.page.Host.Keep(r.Key, index)
			z.page.Work.Kept.measure()
		}
		z.finished(ps)
	case r.Apart:
		z.readAtOnce(ps)
	case problem != "" && ps.kept:
		// The stored index does not match the file.
		ps.kept, ps.next = false, 0
		z.giveOut()
	default:
		z.failed(ps, problem)
	}
	return true
}

// wholeIndexed handles the engine's answer when it has indexed a file itself, or has noted that nobody does. It reports whether the page must be
// drawn.
func (z *Exact) wholeIndexed(r *protocol.WholeIndexed, problem string) (draw bool) {
	ps := z.passOf(r.Item)
	if ps == nil {
		return false
	}
	if r.Exact {
		z.finished(ps)
	} else if problem != "" {
		z.failed(ps, problem)
	}
	return true
}

// finished ends a pass whose file has its full index.
func (z *Exact) finished(ps *pass) {
	z.page.Work.Downloads.readWhole(ps.item)
	z.endPass(ps)
	z.page.Screen.askAll()
}

// failed ends a pass with a problem.
func (z *Exact) failed(ps *pass, problem string) {
	z.page.Notices.say("warning", ps.name()+" was not fully indexed: "+problem)
	z.giveUp(ps)
}

// giveUp ends a pass without an index, and notifies the engine, where stacks wait for the index.
func (z *Exact) giveUp(ps *pass) {
	z.page.send(&protocol.IndexWhole{Item: ps.item}, nil)
	z.endPass(ps)
}

// endPass removes a pass. After the last one it ends the workers, which frees their memory.
func (z *Exact) endPass(ps *pass) {
	x := z
	x.passes = slices.DeleteFunc(x.passes, func(o *pass) bool { return o == ps })
	if len(x.passes) == 0 {
		z.page.Engine.StopIndexing()
		x.busy = nil
		z.page.Work.Later.end()
	}
}

// stop ends the passes at once. Their files stay searched.
func (z *Exact) stop() {
	x := z
	for _, ps := range x.passes {
		delete(x.known, ps.item)
		z.page.send(&protocol.IndexWhole{Item: ps.item}, nil)
	}
	x.passes, x.busy, x.stopped = nil, nil, true
	z.page.Engine.StopIndexing()
	z.page.Work.Later.end()
}

// stopByHand ends the passes at the user's request, until the next drop.
func (z *Exact) stopByHand() {
	z.stop()
	z.page.Notices.say("note", "Stopped. The symbol files were not fully indexed.")
}

// forget prepares for a new engine, which numbers its files from the start.
func (z *Exact) forget() {
	z.stop()
	x := z
	x.known, x.sources, x.stopped = map[int]bool{}, map[int]File{}, false
}

// progress shows the progress of all passes together.
func (z *Exact) progress() {
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
	for _, pieces := range z.busy {
		if len(pieces) > 0 {
			done += pieces[0].done
		}
	}
	if n := len(z.passes); n > 1 {
		name = files(n)
	}
	if total > 0 {
		z.page.Work.Later.progress(protocol.Progress{Stage: "indexing", Name: name, Done: done, Total: total})
	}
}

// corrected says how many frames are different with the full index.
func (z *Exact) corrected(n int) {
	if n > 0 {
		frames := "1 frame changed and is highlighted"
		if n > 1 {
			frames = view.Number(n) + " frames changed and are highlighted"
		}
		z.page.Notices.say("note", frames+" for a moment. The symbol file is not sorted, so searching it gave wrong answers.")
	}
}
