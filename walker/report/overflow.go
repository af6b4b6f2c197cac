package report

import (
	"fmt"
	"strings"
)

// guardReach is how far below the stack pointer an access may go and still be the stack's: one function's frame, probed in
// pages as compilers do for large ones.
const guardReach = 64 << 10

// overflow tells a stack that ran out: the system says so, or the fault lies just below the stack pointer. Dumps of such
// crashes often lack the stack itself, because its lowest page is the one that could not be touched. It answers with the thread,
// or -1.
func (b *builder) overflow() int {
	r := b.r
	if r.Crash == nil || r.Crash.Thread < 0 {
		return -1
	}
	t := &r.Threads[r.Crash.Thread]
	if len(t.Frames) == 0 || t.Frames[0].Regs == nil {
		return -1
	}
	f0 := &t.Frames[0]
	sp, addr := f0.Regs.SP(), r.Crash.Address
	said := strings.Contains(r.Crash.Reason.Breakpad+r.Crash.Reason.Rust, "STACK_OVERFLOW")
	below := addr < sp+uint64(2*r.Dump.WordSize) && sp-addr < guardReach+uint64(2*r.Dump.WordSize) && addr != f0.PC && addr != 0 &&
		!strings.Contains(r.Crash.Reason.Breakpad, "BREAKPOINT")
	if !said && !(below && !b.hasWord(addr)) {
		return -1
	}
	out := Finding{Kind: FindingOverflow, Thread: t.Index, Module: -1}
	if said {
		out.Text = "the stack ran out, says the system"
	} else {
		out.Text = fmt.Sprintf("the stack ran out: the fault at 0x%x lies %s the stack pointer 0x%x, in memory that the dump does not hold",
			addr, distance(addr, sp), sp)
	}
	if name, n := b.commonest(t.Frames); n > 1 && 2*n > len(t.Frames) {
		out.Text += fmt.Sprintf("; %d of its %d frames are %s", n, len(t.Frames), name)
	}
	if !b.hasWord(sp) {
		out.Text += "; the dump does not hold the words at the stack pointer"
		if st := b.d.ThreadStack(t.Index); st != nil && st.Start > sp {
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

func distance(addr, sp uint64) string {
	switch {
	case addr == sp:
		return "at"
	case addr < sp:
		return fmt.Sprintf("%d bytes below", sp-addr)
	}
	return fmt.Sprintf("%d bytes above", addr-sp)
}

// commonest is the function that most frames are of.
func (b *builder) commonest(frames []Frame) (name string, n int) {
	count := map[string]int{}
	for i := range frames {
		f := frames[i].Function.Raw
		if m := frames[i].Module; f == "" && m >= 0 {
			f = fmt.Sprintf("at %s+0x%x", BaseName(b.r.Modules[m].Name), frames[i].RVA)
		}
		if f == "" {
			continue
		}
		if count[f]++; count[f] > n {
			name, n = f, count[f]
		}
	}
	return name, n
}
