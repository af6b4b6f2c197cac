package report

import (
	"fmt"

	"github.com/crashpane/crashpane/core/analysis"
)

// overflow adds the finding of a stack overflow that the analysis of the crash detected, and
// returns the thread or -1. Dumps of such crashes often lack the stack's memory: the writer starts
// at the page that could not be accessed.
func (b *builder) overflow() int {
	r := b.r
	if r.Crash == nil || r.Crash.Thread < 0 || r.Crash.Analysis.Overflow == analysis.No {
		return -1
	}
	t := &r.Threads[r.Crash.Thread]
	out := Finding{Kind: FindingOverflow, Thread: t.Index, Module: -1, Text: r.Crash.Event.String()}
	if len(t.Frames) > 0 && t.Frames[0].Regs != nil && !b.hasWord(t.Frames[0].Regs.SP()) {
		sp := t.Frames[0].Regs.SP()
		out.Text += "; the dump does not hold the words at the stack pointer"
		if st := b.d.StackAround(t.Index, sp); st != nil && st.Start > sp {
			out.Text += fmt.Sprintf(", its stack memory begins %d bytes above", st.Start-sp)
		}
		if len(t.Frames) == 1 {
			out.Text += ", so that only the first frame is known"
			out.Suggestion = "a writer that skips the guard page and keeps the part of the stack above it would show the callers"
		}
	}
	r.Findings = append(r.Findings, out)
	return t.Index
}

// recursion returns the function to which more than half of a stack's frames belong, or nil.
func recursion(frames []Frame) *Recursion {
	counts := map[string]int{}
	var most *Frame
	n := 0
	for i := range frames {
		f := &frames[i]
		if !f.Named() {
			continue
		}
		if counts[f.Function.Raw]++; counts[f.Function.Raw] > n {
			most, n = f, counts[f.Function.Raw]
		}
	}
	if n < 2 || 2*n <= len(frames) {
		return nil
	}
	return &Recursion{Function: most.Function, Nearest: most.Nearest, Calls: n, Frames: len(frames)}
}
