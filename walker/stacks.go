package walker

import (
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
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

// enterStacks switches to the memory that the walk was in at its last frame.
func (s *walk) enterStacks() {
	all := s.frames
	for i := range all {
		s.frames = all[:i]
		s.enterStack(all[i].Regs.SP())
	}
	s.frames = all
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

// interruptedElsewhere: the rules of a signal's frame lead to a stack that the walk was not on
// before. A signal handler may have a stack of its own, above or below the one that was interrupted
// (sigaltstack(2)).
func (s *walk) interruptedElsewhere(sp uint64) bool {
	if !s.Policy.OtherStacks || s.onStack(s.mem, sp) {
		return false
	}
	for _, m := range s.left {
		if s.onStack(m, sp) {
			return false // round in a circle
		}
	}
	return true
}

// restoresContext: the rules read the stack pointer from memory, and registers that no function
// preserves: those of the frame that a signal handler returns to. DWARF marks them (augmentation
// 'S'), symbol files cannot.
func restoresContext(arch *cpu.Arch, row *unwind.Row) bool {
	if row.CFA.Kind != unwind.AtReg && row.CFA.Kind != unwind.Expr {
		return false
	}
	for _, r := range row.Saved {
		switch r.Rule.Kind {
		// Ordinary functions restore only what they must preserve. A register beyond those was
		// saved by the kernel.
		case unwind.AtReg, unwind.AtCFA, unwind.Expr:
			if r.Reg != arch.SP && r.Reg != arch.PC && r.Reg != arch.LR && !slices.Contains(arch.CalleeSaved, r.Reg) {
				return true
			}
		}
	}
	return false
}
