package session

import (
	"github.com/crashpane/crashpane/core/input"
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
func (s *Session) invalidate() {
	for i := range s.walked.stacks {
		s.giveBack(&s.walked.stacks[i])
	}
	s.report, s.walked = nil, walked{}
}

// giveBack returns to the budget what a stack's frames took.
func (s *Session) giveBack(stack *walker.Stack) {
	s.Src.Budget.Return(walker.FrameCost * int64(len(stack.Frames)))
}

// present returns the last report if it is still valid. Otherwise it walks all stacks.
func (s *Session) present() *report.Report {
	if s.settle(); s.report != nil {
		return s.report
	}
	return s.Report()
}

// PartialReport returns a report of the threads that are walked so far. It walks the given thread
// first; an index that no thread has means the thread that the report shows first. Threads that are
// not walked yet are Pending. PartialReport returns the same pointer while the last report has the
// thread and nothing but WalkOn has changed the session. Once every thread is walked, the next
// report has them all.
func (s *Session) PartialReport(thread int) *report.Report {
	if thread < 0 || thread >= len(s.Threads) {
		thread = report.FirstThread(s.Dump)
	}
	s.begin()
	w := &s.walked
	if thread >= 0 && !w.done[thread] {
		s.walk(thread)
	}
	if s.report != nil && w.left > 0 && (thread < 0 || !s.report.Threads[thread].Pending) {
		return s.report
	}
	return s.build()
}

// WalkOn walks the next thread, the one that the report shows first before all others. It says how
// many are left.
func (s *Session) WalkOn() (left int) {
	s.begin()
	w := &s.walked
	if w.left == 0 {
		return 0
	}
	s.opt.progress("walking", s.Src.Name, int64(len(w.done)-w.left), int64(len(w.done)))
	next := report.FirstThread(s.Dump)
	if next < 0 || w.done[next] {
		next = w.next
	}
	// What the stacks of several threads need is looked up at once before this one is walked.
	s.ahead()
	s.walk(next)
	return w.left
}

// begin prepares a dump for walking, unless that is done.
func (s *Session) begin() {
	s.settle()
	if s.walked.walker != nil {
		return
	}
	// A new walk may need other modules than the last one, so what the last one recorded is
	// dropped.
	for m := range s.modules {
		s.modules[m].requested, s.modules[m].odd, s.modules[m].oddLines = false, nil, nil
	}
	s.revised() // everything is looked up again
	w, syms := s.newWalker(s.opt.Policy)
	n := len(s.Threads)
	s.walked = walked{walker: w, syms: syms, policy: s.opt.Policy, stacks: make([]walker.Stack, n), done: make([]bool, n), left: n, built: -1}
}

// walk recovers the stack of one thread.
func (s *Session) walk(thread int) {
	w := &s.walked
	// A quarter of the memory is for what may follow, such as a comparison, and up to another for the
	// stacks that are left.
	quarter := s.Src.Budget.Limit(input.Memory) / 4
	w.walker.Keep = quarter + min(quarter, int64(w.left-1)*walker.LeastFrames*walker.FrameCost)
	w.stacks[thread] = s.walkThread(w.walker, w.syms, thread, w.policy)
	w.finished(thread)
	s.rewalk()
}

// build describes what is walked.
func (s *Session) build() *report.Report {
	if s.report == nil || s.walked.built != s.walked.left {
		in := report.Input{Dump: s.Dump, Stacks: s.walked.stacks, Symbols: s.symbolsOf, Lookup: s.limited(s.walked.syms), Program: programs{s}, Policy: s.opt.Policy.Name, Merged: s.opt.Policy.MergeEntries, Demangle: s.opt.Demangle}
		if s.walked.left > 0 {
			in.Pending = func(thread int) bool { return !s.walked.done[thread] }
		}
		s.report, s.walked.built = report.Build(in), s.walked.left
	}
	return s.report
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
func (s *Session) rewalk() {
	w := &s.walked
	for s.revised() {
		for i := range w.done {
			if w.done[i] {
				s.giveBack(&w.stacks[i])
				w.stacks[i] = s.walkThread(w.walker, w.syms, i, w.policy)
			}
		}
		s.report = nil
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

// nameAt returns what symbols say about an address of a module, outside of stacks. The nearest name below
// an address is left out where it is another function's, as a frame leaves it out. false: nothing is
// known.
func (s *Session) nameAt(module int, rva uint64) (symbol.Symbol, bool) {
	sym, answer := s.limited(s.walked.syms)(module, rva)
	if sym.Extent == symbol.Passed {
		sym.Name, sym.Linked = "", false
	}
	return sym, answer == symbol.Yes && (sym.Name != "" || sym.HasLine)
}
