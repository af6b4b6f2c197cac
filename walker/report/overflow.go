package report

import (
	"fmt"
	"slices"

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
	if at := r.Crash.Ended; len(t.Frames) > at && t.Frames[at].Regs != nil && !b.hasWord(t.Frames[at].Regs.SP()) {
		sp := t.Frames[at].Regs.SP()
		out.Text += "; the dump does not hold the words at the stack pointer"
		if st := b.d.StackAround(t.Index, sp); st != nil && st.Start > sp {
			out.Text += fmt.Sprintf(", its stack memory begins %d bytes above", st.Start-sp)
		}
		if len(t.Frames) == at+1 {
			out.Text += ", so that only the first frame is known"
			out.Suggestion = "a writer that skips the guard page and keeps the part of the stack above it would show the callers"
		}
	}
	r.Findings = append(r.Findings, out)
	return t.Index
}

// recursion returns the functions to which more than half of a stack's frames belong: the one with
// most frames, and those that are between two of its calls. Without such functions it is nil.
//
//	mutual_a < mutual_b < mutual_a < mutual_b < main    mutual_a, mutual_b
//
// Frames that were not kept are those of the round that they repeat.
func recursion(t *Thread) *Recursion {
	frames, counts, total := t.Frames, map[string]int{}, len(t.Frames)
	most := ""
	add := func(f *Frame, n int) {
		if f.Named() {
			if counts[f.Function.Raw] += n; counts[f.Function.Raw] > counts[most] {
				most = f.Function.Raw
			}
		}
	}
	for i := range frames {
		add(&frames[i], 1)
	}
	for _, x := range t.Repeats {
		total += x.Skipped
		for i := x.First; i < x.First+x.Period && x.Skipped > 0; i++ {
			add(&frames[i], x.Skipped/x.Period)
		}
	}
	if counts[most] < 2 {
		return nil
	}
	out := &Recursion{Frames: total}
	for _, f := range frames[slices.IndexFunc(frames, func(f Frame) bool { return f.Named() && f.Function.Raw == most }):] {
		if len(out.Functions) > 0 && f.Function.Raw == most {
			break
		}
		// A function between two calls that has far fewer frames is not in each round.
		if n := counts[f.Function.Raw]; f.Named() && 2*n > counts[most] && !slices.ContainsFunc(out.Functions, func(have Name) bool { return have.Raw == f.Function.Raw }) {
			out.Functions, out.Calls = append(out.Functions, f.Function), out.Calls+n
			out.Nearest = out.Nearest || f.Nearest
		}
	}
	if 2*out.Calls <= total {
		return nil
	}
	return out
}
