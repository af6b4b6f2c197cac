package session

import (
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// A dump is walked thread by thread, the one that crashed first, and can be described at any time:
// what is shown need not wait for five hundred threads, and the caller decides when to continue.

// walked is what a report's stacks were walked with, and how far; explaining a frame computes it
// again with the same.
type walked struct {
	walker *walker.Walker
	syms   *lookups
	stacks []walker.Stack
	policy walker.Policy
	done   []bool // thread → its stack is walked
	left   int    // threads to be walked
	next   int    // no thread before it is left
	ahead  int    // what threads before it may need was looked up
	built  int    // left when the report was made
}

// invalidate makes the next report walk the dump again.
func (d *dump) invalidate() { d.report, d.walked = nil, walked{} }

// present returns the last report if it is still valid. Otherwise it walks all stacks.
func (s *Session) present(i int) *report.Report {
	if i >= 0 && i < len(s.dumps) {
		if s.settle(s.dumps[i]); s.dumps[i].report != nil {
			return s.dumps[i].report
		}
	}
	return s.Report(i)
}

// PartialReport returns a report of the threads that are walked so far. It walks the given thread
// first; an index that no thread has means the thread that the report shows first. Threads that are
// not walked yet are Pending. PartialReport returns the same pointer while the last report has the
// thread and nothing but WalkOn has changed the session. Once every thread is walked, the next
// report has them all.
func (s *Session) PartialReport(i, thread int) *report.Report {
	if i < 0 || i >= len(s.dumps) {
		return nil
	}
	d := s.dumps[i]
	if thread < 0 || thread >= len(d.Threads) {
		thread = report.FirstThread(d.Dump)
	}
	s.begin(d)
	w := &d.walked
	if thread >= 0 && !w.done[thread] {
		s.walk(d, thread)
	}
	if d.report != nil && w.left > 0 && (thread < 0 || !d.report.Threads[thread].Pending) {
		return d.report
	}
	return s.build(d)
}

// WalkOn walks the next thread, the one that the report shows first before all others. It says how
// many are left.
func (s *Session) WalkOn(i int) (left int) {
	if i < 0 || i >= len(s.dumps) {
		return 0
	}
	d := s.dumps[i]
	s.begin(d)
	w := &d.walked
	if w.left == 0 {
		return 0
	}
	s.progress("walking", d.item.Name, int64(len(w.done)-w.left), int64(len(w.done)))
	next := report.FirstThread(d.Dump)
	if next < 0 || w.done[next] {
		next = w.next
	}
	// What the stacks of several threads need is looked up at once before this one is walked.
	s.ahead(d)
	s.walk(d, next)
	return w.left
}

// begin prepares a dump for walking, unless that is done.
func (s *Session) begin(d *dump) {
	s.settle(d)
	if d.walked.walker != nil {
		return
	}
	d.needs = nil
	// A new walk may need other modules than the last one, so what the last one recorded is
	// dropped.
	for m := range d.modules {
		d.modules[m].requested, d.modules[m].odd, d.modules[m].oddLines = false, nil, nil
	}
	d.revised() // all is looked up anew
	w, syms := s.newWalker(d, s.opt.Policy)
	n := len(d.Threads)
	d.walked = walked{walker: w, syms: syms, policy: s.opt.Policy, stacks: make([]walker.Stack, n), done: make([]bool, n), left: n, built: -1}
}

// walk recovers the stack of one thread.
func (s *Session) walk(d *dump, thread int) {
	w := &d.walked
	w.stacks[thread] = s.walkThread(d, w.walker, w.syms, thread, w.policy)
	w.finished(thread)
	s.rewalk(d)
}

// build describes what is walked.
func (s *Session) build(d *dump) *report.Report {
	if d.report == nil || d.walked.built != d.walked.left {
		in := report.Input{Dump: d.Dump, Stacks: d.walked.stacks, Symbols: func(m int) report.ModuleSymbols { return s.symbolsOf(d, m) }, Lookup: s.limited(d.walked.syms), Policy: s.opt.Policy.Name, Merged: s.opt.Policy.MergeEntries, Demangle: s.opt.Demangle}
		if d.walked.left > 0 {
			in.Pending = func(thread int) bool { return !d.walked.done[thread] }
		}
		d.report, d.walked.built = report.Build(in), d.walked.left
	}
	return d.report
}

// finished records that a thread is walked.
func (w *walked) finished(thread int) {
	w.done[thread] = true
	w.left--
	for w.next < len(w.done) && w.done[w.next] {
		w.next++
	}
}

// rewalk walks those threads again that were walked, if a file turned out not to be sorted: it may
// have answered wrong before. Each time more of the file is indexed, so that this ends.
func (s *Session) rewalk(d *dump) {
	w := &d.walked
	for d.revised() {
		for i := range w.done {
			if w.done[i] {
				w.stacks[i] = s.walkThread(d, w.walker, w.syms, i, w.policy)
			}
		}
		d.report = nil
	}
}

// limited returns the lookup of names outside of stacks, which follow the policy as well.
func (s *Session) limited(y *lookups) func(module int, rva uint64) (symbol.Symbol, symbol.Answer) {
	return func(module int, rva uint64) (symbol.Symbol, symbol.Answer) {
		sym, ans := y.Lookup(module, rva)
		s.opt.Policy.LimitName(&sym, rva)
		return sym, ans
	}
}
