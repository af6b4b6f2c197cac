package session

import (
	"fmt"

	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// compared returns the policies of a comparison in the order of its columns: what each source finds
// alone, both peers, and ours.
func compared() []walker.Policy {
	return []walker.Policy{walker.CFIOnly, walker.FPOnly, walker.ScanOnly, walker.Breakpad, walker.RustMinidump, walker.Best}
}

// Compare walks one thread with each of the policies and lays the stacks side by side. The
// session's own policy plays no part. An error says that there is no such dump or thread.
func (s *Session) Compare(dumpIndex, thread int) (*report.Comparison, error) {
	if dumpIndex < 0 || dumpIndex >= len(s.dumps) {
		return nil, fmt.Errorf("there is no dump %d", dumpIndex)
	}
	d := s.dumps[dumpIndex]
	if thread < 0 || thread >= len(d.Threads) {
		return nil, fmt.Errorf("there is no thread %d; the dump has %d", thread, len(d.Threads))
	}
	var walks []report.Walk
	for _, p := range compared() {
		d.readAs(p)
		stack := walker.Stack{Stop: walker.Stop{Kind: walker.StopNoContext, Detail: "for " + p.Name + " the dump has no such thread"}}
		if thread < len(d.Threads) {
			w, syms := s.newWalker(d, p)
			stack = s.walkThread(d, w, syms, thread, p)
		}
		walks = append(walks, report.Walk{Policy: p.Name, Merged: p.MergeEntries, Stack: stack})
	}
	d.readAs(s.opt.Policy)
	c := report.Compare(report.Input{Dump: d.Dump, Symbols: func(m int) report.ModuleSymbols { return s.symbolsOf(d, m) }}, thread, walks)
	if s.opt.Demangle != nil {
		c.Demangle(s.opt.Demangle)
	}
	return c, nil
}
