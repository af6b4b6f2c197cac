package session

import (
	"fmt"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// compared returns the policies of a comparison in the order of its columns: what each source finds
// alone, both peers, and ours.
func compared() []walker.Policy {
	return []walker.Policy{walker.CFIOnly, walker.FPOnly, walker.ScanOnly, walker.Breakpad, walker.RustMinidump, walker.Best}
}

// Compare walks one thread with each of the policies and lays the stacks side by side. The
// session's own policy plays no part. An error says that there is no such thread.
func (s *Session) Compare(thread int) (*report.Comparison, error) {
	if thread < 0 || thread >= len(s.Threads) {
		return nil, fmt.Errorf("there is no thread %d; the dump has %d", thread, len(s.Threads))
	}
	var walks []report.Walk
	for i, p := range compared() {
		s.readAs(p)
		stack := walker.Stack{Stop: walker.Stop{Kind: walker.StopNoContext, Detail: "for " + p.Name + " the dump has no such thread"}}
		if thread < len(s.Threads) {
			w, syms := s.newWalker(p)
			left := s.Src.Budget.Left(input.Memory)
			w.Keep = left - left/int64(len(compared())-i)
			stack = s.walkThread(w, syms, thread, p)
		}
		walks = append(walks, report.Walk{Policy: p.Name, Merged: p.MergeEntries, Stack: stack})
	}
	s.readAs(s.opt.Policy)
	defer func() {
		for i := range walks {
			s.giveBack(&walks[i].Stack)
		}
	}()
	c := report.Compare(report.Input{Dump: s.Dump, Symbols: s.symbolsOf}, thread, walks)
	if s.opt.Demangle != nil {
		c.Demangle(s.opt.Demangle)
	}
	return c, nil
}
