package session

import (
	"encoding/binary"
	"fmt"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
)

// Report walks the dump's threads, as far as they are not walked, and describes the crash. The same
// pointer comes back until symbols, assignments or the policy change.
func (s *Session) Report() *report.Report {
	for s.WalkOn() > 0 {
	}
	return s.build()
}

// walkThread recovers the stack of one thread.
func (s *Session) walkThread(w *walker.Walker, syms *lookups, i int, policy walker.Policy) walker.Stack {
	steps, why := s.beginThread(w, syms, i, policy)
	if why != nil {
		return walker.Stack{Stop: *why}
	}
	// Before each step, what it looks up is asked for together with what later steps probably need.
	p := prefetch{y: syms, steps: steps}
	for p.rules(); steps.Next(); {
		p.rules()
	}
	p.names()
	syms.arch = steps.Arch()
	return steps.Stack()
}

// beginThread starts the walk of a thread, or says why it has none.
func (s *Session) beginThread(w *walker.Walker, syms *lookups, i int, policy walker.Policy) (*walker.Steps, *walker.Stop) {
	if report.WroteDump(s.Dump, i) {
		return nil, &walker.Stop{Kind: walker.StopDumpThread,
			Detail: "this thread wrote the dump: its registers are from then, not from the crash"}
	}
	if s := s.System; s != nil && (s.Processor == core.ProcARM32Win64 || s.Processor == core.ProcX86ARM64) {
		return nil, &walker.Stop{Kind: walker.StopNoCPU, Detail: fmt.Sprintf("%s does not know processor number %d", policy.Name, s.Processor)}
	}
	ctx, err := threadContext(s.Dump, i)
	if err != nil {
		return nil, &walker.Stop{Kind: walker.StopNoContext, Detail: err.Error()}
	}
	if ctx.Short && !policy.ShortContexts {
		return nil, &walker.Stop{Kind: walker.StopNoContext,
			Detail: fmt.Sprintf("thread %d: its context record of %d bytes is too short for this unwind method", s.Threads[i].ID, ctx.Loc.Size)}
	}
	regs := ctx.Regs
	if regs.Arch == nil {
		return nil, &walker.Stop{Kind: walker.StopNoCPU, Detail: "no stack walker exists for this processor"}
	}
	if err := s.Src.Draw(input.Memory, walker.FrameCost); err != nil {
		return nil, &walker.Stop{Kind: walker.StopLimit, Detail: "the thread was not walked: " + err.Error()}
	}
	shadow := shadowStack(s.Dump, ctx)
	if err := s.Src.Draw(input.Work, int64(len(shadow))); err != nil { // threads of a damaged dump may all have the same
		s.Src.Return(walker.FrameCost)
		return nil, &walker.Stop{Kind: walker.StopLimit, Detail: "the thread was not walked: " + err.Error()}
	}
	syms.arch = regs.Arch
	mem := stackMemory(s.Dump, i, regs.SP(), policy)
	return w.Begin(regs, mem, shadow), nil
}

// threadContext returns a thread's state: that of the exception for the thread that had it, since
// its own context is of the moment when the dump was written, inside the handler.
func threadContext(d *core.Dump, i int) (*core.Context, error) {
	if e := d.ExceptionOf(i); e != nil {
		if c, err := d.ContextOf(e); err == nil {
			return c, nil
		}
	}
	c, err := d.ThreadContext(i)
	if err != nil {
		return nil, fmt.Errorf("thread %d: %w", d.Threads[i].ID, err)
	}
	return c, nil
}

// shadowStack reads the return addresses that the CPU itself kept (Intel CET), from the context's
// ssp upwards; nil if the context has no ssp or the dump not that memory.
func shadowStack(d *core.Dump, c *core.Context) []uint64 {
	// A damaged ssp may point into any memory; no real stack is so deep.
	const most = 1 << 16
	for _, r := range c.Extra {
		if r.Name != "ssp" || len(r.Bytes) < 8 {
			continue
		}
		var out []uint64
		for at := binary.LittleEndian.Uint64(r.Bytes); len(out) < most; at += 8 {
			v, ok := d.Memory.Word(at, 8)
			if !ok {
				break
			}
			out = append(out, v)
		}
		return out
	}
	return nil
}

// stackMemory returns where a thread's words are read from; nil if the dump has nothing of its
// stack.
func stackMemory(d *core.Dump, thread int, sp uint64, p walker.Policy) unwind.Memory {
	var m *core.StackMemory
	switch {
	case p.JoinRanges:
		m = d.StackAround(thread, sp)
	case p.StackAtSP:
		m = d.StackAt(thread, sp)
	default:
		m = d.ThreadStack(thread)
	}
	if m == nil {
		return nil // an untyped nil: the walker asks
	}
	return m
}
