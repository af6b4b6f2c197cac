package session

import (
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
)

// Threads are walked by two goroutines where there are cores for them: the session's own, and a twin of it, which has Sources of its
// own of the same files. Two and no more, since each keeps some MB of every large symbol file. They share nothing that changes; what
// the twin found is taken over if the symbol files gave both the same answers to the same questions, else it is walked again.

// sharedFrom is how many threads there have to be left for that.
const sharedFrom = 4

// share walks the threads that are left, if that can be shared; one that is left then is to be walked alone.
func (s *Session) share(d *dump) {
	// wasm has one thread; the page's program so has none of this.
	if runtime.GOARCH == "wasm" || s.opt.Workers < 2 || d.walked.left < sharedFrom {
		return
	}
	t, td := s.twin(d)
	if t == nil {
		return
	}
	w := &d.walked
	var left []int
	for i, done := range w.done {
		if !done {
			left = append(left, i)
		}
	}
	var next atomic.Int64
	walk := func(s *Session, d *dump, w *walker.Walker, syms *symbols, got func(thread int, st walker.Stack, odd []oddRow)) {
		for {
			n := int(next.Add(1)) - 1
			if n >= len(left) {
				return
			}
			syms.odd = &[]oddRow{}
			st := s.walkThread(d, w, syms, left[n], s.opt.Policy)
			got(left[n], st, *syms.odd)
			syms.odd = nil
		}
	}
	type result struct {
		thread int
		stack  walker.Stack
	}
	var theirs []result
	odd := make([][]oddRow, len(w.done)) // each goroutine writes those of its own threads
	var wg sync.WaitGroup
	wg.Go(func() {
		tw, tsyms := t.newWalker(td, s.opt.Policy)
		walk(t, td, tw, tsyms, func(thread int, st walker.Stack, o []oddRow) {
			theirs, odd[thread] = append(theirs, result{thread, st}), o
		})
	})
	walk(s, d, w.walker, w.syms, func(thread int, st walker.Stack, o []oddRow) {
		w.stacks[thread], odd[thread] = st, o
		w.finished(thread)
	})
	wg.Wait()
	if s.reunite(t, d, td) {
		for _, r := range theirs {
			w.stacks[r.thread] = r.stack
			w.finished(r.thread)
		}
	}
	for i, o := range odd {
		if w.done[i] {
			for _, r := range o {
				d.modules[r.module].note(r.at, r.notes)
			}
		}
	}
	s.rewalk(d)
}

// oddRow is what was passed over in the unwind record of a frame.
type oddRow struct {
	module int
	at     unwind.Origin
	notes  []string
}

// twin is a session with the same files for another goroutine, and its dump; nil if there cannot be one: binaries have no twins, and
// neither have microdumps and what is unpacked.
func (s *Session) twin(d *dump) (*Session, *dump) {
	if d.Micro != nil {
		return nil, nil
	}
	for i := range d.modules {
		if s.lookForImage(d, i); d.modules[i].program() != nil {
			return nil, nil
		}
	}
	src := d.Src.Twin()
	if src == nil {
		return nil, nil
	}
	opened, err := core.Open(src)
	if err != nil {
		return nil, nil
	}
	t := &Session{opt: s.opt}
	t.opt.Progress = nil
	twins := map[*item]*item{}
	td := &dump{item: d.item, Dump: opened, modules: slices.Clone(d.modules), ignored: d.ignored}
	for i := range td.modules {
		ms := &td.modules[i]
		it := ms.item
		ms.looked = false
		if it == nil {
			continue
		}
		if twins[it] == nil {
			c := *it
			c.Warnings, c.failures = slices.Clone(it.Warnings), slices.Clone(it.failures)
			if c.src = it.src.Twin(); c.src == nil {
				return nil, nil
			}
			if it.sym != nil {
				c.sym = it.sym.Twin()
			}
			twins[it] = &c
		}
		ms.item = twins[it]
	}
	t.dumps = []*dump{td}
	return t, td
}

// reunite takes over what a twin learned of symbol files, and says whether its stacks hold.
func (s *Session) reunite(t *Session, d, td *dump) bool {
	same := len(td.needs) == 0 && td.Src.Failed() == nil // walked again by s, the error is one of its own dump
	joined := map[*item]bool{}
	for i := range td.modules {
		ms, tms := &d.modules[i], &td.modules[i]
		ms.looked = ms.looked || tms.looked
		it, tit := ms.item, tms.item
		if it == nil || joined[it] || !tit.opened {
			continue
		}
		joined[it] = true
		switch {
		case !it.opened: // the twin alone needed it
			it.opened, it.sym, it.openErr = true, tit.sym, tit.openErr
			it.Message, it.Warnings, it.WarningCount, it.failures = tit.Message, tit.Warnings, tit.WarningCount, tit.failures
		case it.sym != nil && tit.sym != nil:
			same = it.sym.Join(tit.sym) && same
			for _, text := range tit.failures {
				it.fail(text)
			}
		case (it.openErr == nil) != (tit.openErr == nil):
			same = false
		}
	}
	return same
}
