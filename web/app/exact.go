package app

import (
	"slices"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// A symbol file of some size was only searched when its stack is shown. It is then read as a whole by workers beside the engine, in pieces; the
// engine joins their indexes, and from then on the file's answers are exact. Nothing waits for it, and it can be stopped.

// Exact is that work.
type Exact struct {
	page    *Page
	passes  []*pass      // under way, in the order in which they began
	known   map[int]bool // items that need nothing any more
	busy    [][]*piece   // worker → what it reads, and what it reads next
	sources map[int]File // item → the file that it is
	stopped bool         // by hand; the next drop lets it go on
}

// pass is one file's.
type pass struct {
	item int
	file File
	cuts []int64
	next int   // piece to be given out
	done int64 // bytes in pieces that are ready
	kept bool  // the index that was kept is being tried
}

// name of the file, as messages have it.
func (ps *pass) name() string {
	if ps.file == nil {
		return "A symbol file in an archive"
	}
	return view.Clean(ps.file.Name())
}

// piece is a part of a file in a worker.
type piece struct {
	pass *pass
	part int
	done int64
}

// maxIndexers bounds the workers: each has a memory of its own, and disks are not read faster by more.
const maxIndexers = 4

// ahead is how many pieces a worker has: when it answers, it goes on with the next, and waits for nobody.
const ahead = 2

func (z *Exact) indexers() int { return min(max(z.page.Host.Cores(), 1), maxIndexers) }

// unread takes the files that are to be read as a whole.
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

// planned begins a pass: with the index that was kept, or by giving out its pieces. file is what was unpacked; what only the engine can
// unpack it reads itself.
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

// giveOut gives every worker that has too few pieces another, the emptiest first.
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

// Indexed takes an answer of a worker that reads a piece; index is the piece's. It reports whether what is shown has changed.
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
	case z.passOf(ps.item) != ps: // it has ended, or is read in one piece by now
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
	// All pieces are read. The engine needs room to join them.
	z.page.Engine.StopIndexing()
	return true
}

// IndexerStopped is called when a worker died. The search's answers stand.
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

// readAtOnce has a file whose pieces cannot be joined read in one; what lies in the engine's memory, by the engine.
func (z *Exact) readAtOnce(ps *pass) {
	x := z
	switch {
	case ps.file == nil:
		z.page.send(&protocol.IndexWhole{Item: ps.item, On: true}, nil)
	case len(ps.cuts) == 2:
		z.giveUp(ps)
	default: // its pieces that are still being read are of no pass any more
		x.passes[slices.Index(x.passes, ps)] = &pass{item: ps.item, file: ps.file, cuts: []int64{0, ps.file.Size()}}
		z.giveOut()
	}
}

// joined takes the engine's answer to the index of a piece. It reports whether what is shown has changed.
func (z *Exact) joined(r *protocol.ChunkJoined, problem string, index File) (draw bool) {
	ps := z.passOf(r.Item)
	if ps == nil || !r.Exact && !r.Apart && problem == "" { // one of many
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
		// An index that was kept, and is none of this file.
		ps.kept, ps.next = false, 0
		z.giveOut()
	default:
		z.failed(ps, problem)
	}
	return true
}

// wholeIndexed takes the engine's answer when it has read a file itself, or knows that nobody does. It reports whether what is shown has changed.
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

// failed ends a pass whose file has none.
func (z *Exact) failed(ps *pass, problem string) {
	z.page.Notices.say("warning", ps.name()+" was not fully indexed: "+problem)
	z.giveUp(ps)
}

// giveUp ends a pass without an index, and says so to the engine, where stacks wait for it.
func (z *Exact) giveUp(ps *pass) {
	z.page.send(&protocol.IndexWhole{Item: ps.item}, nil)
	z.endPass(ps)
}

// endPass forgets a pass. Without any, the workers and their memory go.
func (z *Exact) endPass(ps *pass) {
	x := z
	x.passes = slices.DeleteFunc(x.passes, func(o *pass) bool { return o == ps })
	if len(x.passes) == 0 {
		z.page.Engine.StopIndexing()
		x.busy = nil
		z.page.Work.Later.end()
	}
}

// stop ends the passes at once. What they were for stays searched.
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

// stopByHand ends the passes until the next drop, and says so.
func (z *Exact) stopByHand() {
	z.stop()
	z.page.Notices.say("note", "Stopped. The symbol files were not fully indexed.")
}

// forget is for a new engine, which counts its files anew.
func (z *Exact) forget() {
	z.stop()
	x := z
	x.known, x.sources, x.stopped = map[int]bool{}, map[int]File{}, false
}

// progress says how far the passes are.
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

// corrected says what the exact pass has changed.
func (z *Exact) corrected(n int) {
	if n > 0 {
		frames := "1 frame changed and is highlighted"
		if n > 1 {
			frames = view.Number(n) + " frames changed and are highlighted"
		}
		z.page.Notices.say("note", frames+" for a moment. The symbol file is not sorted, so searching it gave wrong answers.")
	}
}
