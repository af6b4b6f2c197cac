package walker

import (
	"errors"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// enterStack switches the walk to the memory around a frame's sp, if the frame is on another stack
// than its callee.
func (s *walk) enterStack(sp uint64) {
	if !s.Policy.OtherStacks || s.Space == nil || s.mem == nil || len(s.frames) == 0 || s.onStack(s.mem, sp) {
		return
	}
	if m := s.Space.Stack(sp); m != nil {
		s.left, s.mem = append(s.left, s.mem), m
	}
}

// entered is what enterStacks found: the memory that the walk was in after so many of the frames
// that begin with first, and what it had left.
type entered struct {
	first  *Frame
	frames int
	mem    unwind.Memory
	left   []unwind.Memory
}

// enterStacks switches to the memory that the walk was in at its last frame. Frames are explained one
// after the other, so it goes on where it was before.
func (s *walk) enterStacks() {
	all, from := s.frames, 0
	if len(all) == 0 {
		return
	}
	if was := &s.reentered; was.first == &all[0] && was.frames <= len(all) {
		from, s.mem, s.left = was.frames, was.mem, was.left
	}
	for i := from; i < len(all); i++ {
		s.frames = all[:i]
		s.enterStack(all[i].Regs.SP())
	}
	s.frames = all
	s.reentered = entered{&all[0], len(all), s.mem, s.left}
}

// onStack: a stack pointer is in some memory or at its end.
func (s *walk) onStack(m unwind.Memory, sp uint64) bool {
	size := s.arch.WordSize
	if _, ok := m.Word(sp, size); ok {
		return true
	}
	_, ok := m.Word(sp-uint64(size), size)
	return ok
}

// interruptedElsewhere: the rules of a signal's frame lead down to a stack that the walk was not on
// before. A signal handler may have a stack of its own, above or below the one that was interrupted
// (sigaltstack(2)), and no gap need be between the two.
func (s *walk) interruptedElsewhere(sp uint64) bool {
	if !s.Policy.OtherStacks || sp == s.top().Regs.SP() {
		return false
	}
	// If the walk went up before, it would go round in a circle.
	first := s.frames[0].Regs.SP()
	for i := range s.frames {
		at := s.frames[i].Regs.SP()
		if i > 0 && at < s.frames[i-1].Regs.SP() {
			first = at
		}
		if first <= sp && sp <= at {
			return false
		}
	}
	return true
}

// stackAcrossGaps is the top frame's stack with all that the dump has of it, also beyond a part that
// the writer left out. It implements unwind.Memory.
type stackAcrossGaps walk

// Word implements unwind.Memory.
func (m *stackAcrossGaps) Word(addr uint64, size int) (uint64, bool) {
	if v, ok := m.mem.Word(addr, size); ok || addr < m.frames[len(m.frames)-1].Regs.SP() {
		return v, ok
	}
	if other := m.Space.Stack(addr); other != nil {
		return other.Word(addr, size)
	}
	return 0, false
}

// memoryFor returns where the words of rules are read from. Rules that find the caller at a distance
// from the stack pointer are of one stack, whatever the dump lacks in between; others may lead
// anywhere, if their record does not belong to the code.
func (s *walk) memoryFor(row *unwind.Row) unwind.Memory {
	if row.Origin.Part == goPart {
		return (*everywhere)(s)
	}
	if s.Policy.JoinRanges && s.Space != nil && row.CFA.Kind == unwind.FromReg && row.CFA.Reg == s.arch.SP {
		return (*stackAcrossGaps)(s)
	}
	return s.mem
}

// notRead says why a candidate's registers could not be computed.
func (s *walk) notRead(err error) string {
	var e *unwind.EvalError
	if errors.As(err, &e) && e.Cause == unwind.NoWord {
		return fmt.Sprintf("%s: the %d-byte word at 0x%x %s", e.For, e.Size, e.Addr, s.whereNot(e.Addr, e.Size))
	}
	return err.Error()
}

// whereNot says where a word is not that the walk could not read.
func (s *walk) whereNot(addr uint64, size int) string {
	if s.Space != nil {
		if m := s.Space.Stack(addr); m != nil {
			if _, ok := m.Word(addr, size); ok {
				return "is not in the stack's memory"
			}
		}
	}
	return "is not in the dump"
}

// restoresContext: the rules read the stack pointer from memory, and registers that no function
// preserves, or sp and pc where the kernel saves them: those of the frame that a signal handler
// returns to. DWARF marks them (augmentation 'S'), symbol files cannot.
func (s *walk) restoresContext(row *unwind.Row) bool {
	arch := s.arch
	if row.CFA.Kind != unwind.AtReg && row.CFA.Kind != unwind.Computed {
		return false
	}
	for i := range arch.Signals {
		if kernel := s.signalRow(&arch.Signals[i]); row.CFA.Equal(kernel.CFA) && row.RA.Equal(kernel.RA) {
			return true
		}
	}
	for _, r := range row.Saved {
		switch r.Rule.Kind {
		// Ordinary functions restore only what they must preserve. A register beyond those was
		// saved by the kernel.
		case unwind.AtReg, unwind.AtCFA, unwind.Computed:
			if r.Reg != arch.SP && r.Reg != arch.PC && r.Reg != arch.LR && !slices.Contains(arch.CalleeSaved, r.Reg) {
				return true
			}
		}
	}
	return false
}
