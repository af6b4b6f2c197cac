package app

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// A symbol file of some size was only searched when its stack is shown. It is then read as a whole by workers beside the engine, in pieces; the
// engine joins their indexes, and from then on the file's answers are exact. Nothing waits for it, and it can be stopped.

// Exact is that work.
type Exact struct {
	passes  []*pass      // under way, in the order in which they began
	known   map[int]bool // items that need nothing any more
	busy    [][]*piece   // worker → what it reads, and what it reads next
	sources map[int]File // item → the file that it is
	stopped bool         // by hand; the next drop lets it go on
	Keep    bool         // indexes are kept
	Kept    int64        // bytes of them
	keptN   int
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

func (p *Page) indexers() int { return min(max(p.Host.Cores(), 1), maxIndexers) }

// unread takes the files that are to be read as a whole.
func (p *Page) unread(items []int) {
	x := &p.Exact
	for _, it := range items {
		file := x.sources[it]
		if x.known[it] || x.stopped || file != nil && isRemote(file) {
			continue
		}
		x.known[it] = true
		ps := &pass{item: it, file: file}
		x.passes = append(x.passes, ps)
		p.send(&protocol.PlanIndex{Item: it, Cores: p.indexers(), Keep: x.Keep, Send: file == nil}, nil)
	}
}

// planned begins a pass: with the index that was kept, or by giving out its pieces. file is what was unpacked; what only the engine can
// unpack it reads itself.
func (p *Page) planned(r *protocol.IndexPlanned, problem string, file File) {
	ps := p.passOf(r.Item)
	if ps == nil {
		return
	}
	if ps.file == nil {
		ps.file = file
	}
	if r.Apart {
		p.readAtOnce(ps)
		return
	}
	if problem != "" || len(r.Cuts) < 2 {
		p.giveUp(ps)
		return
	}
	begin := func() {
		ps.cuts = r.Cuts
		p.giveOut()
	}
	if r.Key == "" {
		begin()
		return
	}
	p.Host.Kept(r.Key, func(index File) {
		switch {
		case p.passOf(r.Item) != ps: // it was stopped
		case index == nil:
			begin()
		default:
			ps.kept = true
			ps.cuts = r.Cuts
			ps.next = len(r.Cuts)
			p.send(&protocol.JoinChunk{Item: ps.item, Part: 0, Parts: 1}, index)
		}
	})
}

func (p *Page) passOf(item int) *pass {
	for _, ps := range p.Exact.passes {
		if ps.item == item {
			return ps
		}
	}
	return nil
}

// giveOut gives every worker that has too few pieces another, the emptiest first.
func (p *Page) giveOut() {
	x := &p.Exact
	if x.busy == nil {
		x.busy = make([][]*piece, p.indexers())
	}
	for n := range ahead {
		for w := range x.busy {
			if len(x.busy[w]) > n {
				continue
			}
			for _, ps := range x.passes {
				if ps.next+1 < len(ps.cuts) {
					x.busy[w] = append(x.busy[w], &piece{pass: ps, part: ps.next})
					p.Engine.Index(w, protocol.Call{Request: &protocol.IndexChunk{Name: ps.file.Name(), From: ps.cuts[ps.next], To: ps.cuts[ps.next+1]}}, ps.file)
					ps.next++
					break
				}
			}
		}
	}
	p.exactProgress()
}

// Indexed takes an answer of a worker that reads a piece; index is the piece's. It reports whether what is shown has changed.
func (p *Page) Indexed(worker int, a protocol.Answer, index File) (draw bool) {
	x := &p.Exact
	if r, ok := a.Reply.(*protocol.RemoteFailed); ok {
		p.remoteFailed(r, a.Error)
		return true
	}
	if worker >= len(x.busy) || len(x.busy[worker]) == 0 {
		return false
	}
	pc := x.busy[worker][0]
	if g, ok := a.Reply.(*protocol.Progress); ok {
		pc.done = g.Done
		p.exactProgress()
		return false
	}
	r, ok := a.Reply.(*protocol.ChunkIndexed)
	if !ok {
		return false
	}
	x.busy[worker] = x.busy[worker][1:]
	switch ps := pc.pass; {
	case p.passOf(ps.item) != ps: // it has ended, or is read in one piece by now
	case r.Apart:
		p.readAtOnce(ps)
	case a.Error != "" || index == nil:
		p.failed(ps, a.Error)
		draw = true
	default:
		ps.done += ps.cuts[pc.part+1] - ps.cuts[pc.part]
		p.send(&protocol.JoinChunk{Item: ps.item, Part: pc.part, Parts: len(ps.cuts) - 1, Keep: x.Keep}, index)
	}
	p.giveOut()
	for _, pieces := range x.busy {
		if len(pieces) > 0 {
			p.exactProgress()
			return draw
		}
	}
	// All pieces are read. The engine needs room to join them.
	p.Engine.StopIndexing()
	return true
}

// IndexerStopped is called when a worker died. The search's answers stand.
func (p *Page) IndexerStopped(worker int, why string) {
	x := &p.Exact
	if worker >= len(x.busy) {
		return
	}
	pieces := x.busy[worker]
	x.busy[worker] = nil
	for _, pc := range pieces {
		if p.passOf(pc.pass.item) == pc.pass {
			p.failed(pc.pass, view.Clean(why))
		}
	}
	p.giveOut()
}

// readAtOnce has a file whose pieces cannot be joined read in one; what lies in the engine's memory, by the engine.
func (p *Page) readAtOnce(ps *pass) {
	x := &p.Exact
	switch {
	case ps.file == nil:
		p.send(&protocol.IndexWhole{Item: ps.item, On: true}, nil)
	case len(ps.cuts) == 2:
		p.giveUp(ps)
	default: // its pieces that are still being read are of no pass any more
		x.passes[slices.Index(x.passes, ps)] = &pass{item: ps.item, file: ps.file, cuts: []int64{0, ps.file.Size()}}
		p.giveOut()
	}
}

// joined takes the engine's answer to the index of a piece. It reports whether what is shown has changed.
func (p *Page) joined(r *protocol.ChunkJoined, problem string, index File) (draw bool) {
	ps := p.passOf(r.Item)
	if ps == nil || !r.Exact && !r.Apart && problem == "" { // one of many
		return false
	}
	switch {
	case r.Exact:
		if index != nil && r.Key != "" {
			p.Host.Keep(r.Key, index)
			p.measureKept()
		}
		p.finished(ps)
	case r.Apart:
		p.readAtOnce(ps)
	case ps.kept:
		// An index that was kept, and is none of this file.
		ps.kept, ps.next = false, 0
		p.giveOut()
	default:
		p.failed(ps, problem)
	}
	return true
}

// wholeIndexed takes the engine's answer when it has read a file itself. It reports whether what is shown has changed.
func (p *Page) wholeIndexed(r *protocol.WholeIndexed, problem string) (draw bool) {
	ps := p.passOf(r.Item)
	if ps == nil {
		return false
	}
	if r.Exact {
		p.finished(ps)
	} else if problem != "" {
		p.failed(ps, problem)
	}
	return true
}

// finished ends a pass whose file has its full index.
func (p *Page) finished(ps *pass) {
	p.readWhole(ps.item)
	p.endPass(ps)
	p.ask(partsAll)
}

// failed ends a pass whose file has none.
func (p *Page) failed(ps *pass, problem string) {
	p.say("warning", ps.name()+" was not read as a whole: "+problem)
	p.giveUp(ps)
}

// giveUp ends a pass without an index, and says so to the engine, where stacks wait for it.
func (p *Page) giveUp(ps *pass) {
	p.send(&protocol.IndexWhole{Item: ps.item}, nil)
	p.endPass(ps)
}

// endPass forgets a pass. Without any, the workers and their memory go.
func (p *Page) endPass(ps *pass) {
	x := &p.Exact
	x.passes = slices.DeleteFunc(x.passes, func(o *pass) bool { return o == ps })
	if len(x.passes) == 0 {
		p.Engine.StopIndexing()
		x.busy = nil
		p.Later = Later{}
	}
}

// stopExact ends the passes at once. What they were for stays searched.
func (p *Page) stopExact() {
	x := &p.Exact
	for _, ps := range x.passes {
		delete(x.known, ps.item)
		p.send(&protocol.IndexWhole{Item: ps.item}, nil)
	}
	x.passes, x.busy, x.stopped = nil, nil, true
	p.Engine.StopIndexing()
	p.Later = Later{}
}

// forgetExact is for a new engine, which counts its files anew.
func (p *Page) forgetExact() {
	p.stopExact()
	x := &p.Exact
	x.known, x.sources, x.stopped = map[int]bool{}, map[int]File{}, false
}

// exactProgress says how far the passes are.
func (p *Page) exactProgress() {
	var done, total int64
	name := ""
	for _, ps := range p.Exact.passes {
		if ps.cuts == nil {
			continue
		}
		done += ps.done
		total += ps.file.Size()
		if name == "" {
			name = ps.file.Name()
		}
	}
	for _, pieces := range p.Exact.busy {
		if len(pieces) > 0 {
			done += pieces[0].done
		}
	}
	if n := len(p.Exact.passes); n > 1 {
		name = files(n)
	}
	if total > 0 {
		p.laterProgress(protocol.Progress{Stage: "reading as a whole:", Name: name, Done: done, Total: total})
	}
}

// corrected says what the exact pass has changed.
func (p *Page) corrected(n int) {
	if n > 0 {
		frames := "1 frame is another now, and is marked"
		if n > 1 {
			frames = view.Number(n) + " frames are others now, and are marked"
		}
		p.say("note", "Exact pass: "+frames+" for a moment. The symbol file is not sorted as its writer should have.")
	}
}

// keepIndexes switches whether indexes are kept. Those that are kept are left, until they are cleared.
func (p *Page) keepIndexes() {
	p.Exact.Keep = !p.Exact.Keep
	word := "no"
	if p.Exact.Keep {
		word = "yes"
	}
	p.Host.Store("keep", word)
	p.measureKept()
}

func (p *Page) measureKept() {
	p.Host.KeptSize(func(bytes int64, n int) { p.Exact.Kept, p.Exact.keptN = bytes, n })
}

func (p *Page) clearKept() {
	p.Host.ForgetKept(func() {
		p.Exact.Kept, p.Exact.keptN = 0, 0
		p.Host.Announce("Nothing is kept any more")
	})
}

// keptText is the button that clears what is kept.
func (p *Page) keptText() string {
	if p.Exact.keptN == 0 {
		return "Nothing is kept"
	}
	return fmt.Sprintf("Clear %s", view.Size(p.Exact.Kept))
}
