package walker

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Steps is a walk that is made frame by frame, so that a caller with several threads can fetch
// together what all of them need of a symbol file. The result equals that of Walker.Walk.
type Steps struct {
	walk *walk
	stop *Stop
}

// Begin starts the walk of a thread with its first frame. The parameters are those of WalkShadowed.
func (w *Walker) Begin(regs cpu.Regs, mem unwind.Memory, shadow []uint64) *Steps {
	s := &walk{Walker: w, arch: regs.Arch, mem: mem, shadow: shadow, shadowed: len(shadow) > 0}
	if w.Policy.Pointer.ContextLR {
		s.stripRegister(&regs, s.arch.LR)
	}
	s.stale = regs
	w.reentered = entered{}
	s.push(Frame{PC: regs.PC(), Lookup: regs.PC(), Regs: regs, Trust: TrustContext, Source: SourceContext})
	t := &Steps{walk: s}
	if mem == nil {
		t.stop = &Stop{Kind: StopNoMemory,
			Detail: "the dump holds no stack memory for this thread, so nothing above the first frame can be found"}
	}
	return t
}

// Next looks for the next caller, and reports whether the walk may go on.
func (t *Steps) Next() bool {
	if t.stop != nil {
		return false
	}
	s := t.walk
	next, stop := s.caller()
	if stop != nil {
		t.stop = stop
		return false
	}
	if !t.add(next) {
		return false
	}
	s.skipRounds()
	if len(s.frames) > s.Policy.MaxFrames {
		t.stop = &Stop{Kind: StopLimit, Detail: fmt.Sprintf("the stack has more than %d frames", s.Policy.MaxFrames)}
	}
	return t.stop == nil
}

// add appends a frame, if the budget has what it costs.
func (t *Steps) add(f Frame) bool {
	if err := t.walk.draw(&f); err != nil {
		t.stop = &Stop{Kind: StopLimit, Detail: fmt.Sprintf("only these %d frames were walked: %v", len(t.walk.frames), err)}
		return false
	}
	t.walk.push(f)
	return true
}

// FrameCost is what a frame takes of memory in bytes: half of it here with its registers and rules,
// half in the report.
const FrameCost = 2560

// LeastFrames is how many frames of a stack come before what is kept for other stacks (Walker.Keep).
const LeastFrames = 1000

// draw takes from the budget what a frame costs.
func (s *walk) draw(f *Frame) error {
	keep := int64(0)
	if len(s.frames) >= LeastFrames {
		keep = s.Keep
	}
	if err := s.Budget.DrawKeeping(input.Memory, FrameCost, keep); err != nil {
		return err
	}
	return s.Budget.Draw(input.Work, 100+int64(len(f.Row.Saved)))
}

// leaveOut removes the frames from one on, which turned out not to be callers, and returns what they cost.
func (s *walk) leaveOut(from int) {
	s.Budget.Return(int64(len(s.frames)-from) * FrameCost)
	s.frames, s.params = s.frames[:from], s.params[:from]
}

// Arch returns the CPU of the thread.
func (t *Steps) Arch() *cpu.Arch { return t.walk.arch }

// Wants returns the address whose unwind rules the next step looks up, as a module and an address
// in it. The module is -1 if it looks up none.
func (t *Steps) Wants() (module int, rva uint64) {
	if t.stop != nil || t.walk.top().Module < 0 {
		return -1, 0
	}
	return t.walk.top().Module, t.walk.top().RVA
}

// Words returns the words of the stack from an address or the top frame's sp on, whichever is
// higher, that point into modules: return addresses among others, each as the address that would be
// looked up. It reads n words, and returns where it stopped.
func (t *Steps) Words(from uint64, n int, yield func(module int, rva uint64)) (next uint64) {
	s := t.walk
	if s.mem == nil {
		return from
	}
	for at := max(from, s.top().Regs.SP()); ; at += uint64(s.arch.WordSize) {
		v, ok := s.word(at)
		if !ok || n == 0 {
			return at
		}
		n--
		if module, rva := s.Modules.Find(s.strip(v) - s.arch.CallSize); module >= 0 {
			yield(module, rva)
		}
	}
}

// Unnamed returns the addresses whose symbols Stack will look up, in the form of Wants.
func (t *Steps) Unnamed(yield func(module int, rva uint64)) {
	for i := range t.walk.frames {
		if f := &t.walk.frames[i]; f.unnamed && f.Module >= 0 {
			yield(f.Module, f.RVA)
		}
	}
}

// Stack returns the result, every frame with its symbol.
func (t *Steps) Stack() Stack {
	s := t.walk
	for i := range s.frames {
		s.symbol(&s.frames[i])
	}
	t.acrossSwitches()
	if stop := s.endAtOutermost(); stop != nil {
		t.stop = stop
	}
	// The result gets a slice of its size, and the large one is used again for the next thread.
	if all := s.frames; cap(all) <= mostSpare && cap(all) > len(all) {
		s.frames, s.spare = slices.Clone(all), all[:0]
	}
	out := Stack{Frames: s.frames}
	if t.stop != nil {
		out.Stop = *t.stop
	}
	return out
}
