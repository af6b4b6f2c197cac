package walker

import (
	"fmt"
	"math/bits"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// firstPage: no instruction has an address below it. Systems map nothing there, so that null
// pointers fault. A return address of 0 is how many systems mark the end of a stack.
const firstPage = 1 << 12

// ends decides whether the walk ends at a caller that a source proposes: its pc is below the first
// address of code, or its sp has not moved up.
func (s *walk) ends(src Source, cand candidate, regs *cpu.Regs) *Stop {
	pc, sp, callee := regs.PC(), regs.SP(), s.top().Regs.SP()
	if pc < firstPage && !s.calledNull(cand, regs) {
		return s.endsAtNull(src, &cand.row, regs)
	}
	// Stacks grow down: a caller's frame is above its callee's. Without this test a damaged stack
	// could lead round in a circle.
	if sp > callee || sp == callee && (s.mayKeepSP(src, pc) || (src == SourceCode || src == SourceCFI) && cand.row.RA.Kind == unwind.Const) {
		return nil
	}
	// A signal's handler may run on a stack of its own (sigaltstack), so the interrupted one may be
	// anywhere.
	if cand.row.Signal && s.interruptedElsewhere(sp) {
		return nil
	}
	return &Stop{Kind: StopNoProgress, Detail: fmt.Sprintf(
		"the caller found by %s (pc 0x%x) has sp 0x%x, not above this frame's 0x%x", src, pc, sp, callee)}
}

// calledNull: a signal's frame says that the thread called a null pointer, and the return address
// of that call is where it has to be.
func (s *walk) calledNull(cand candidate, regs *cpu.Regs) bool {
	if !s.Policy.NullLeaf || !cand.row.Signal || s.arch.LR != cpu.NoReg {
		return false
	}
	if s.Space != nil {
		if other := s.Space.Stack(regs.SP()); other != nil {
			own := s.mem
			s.mem = other
			defer func() { s.mem = own }()
		}
	}
	_, _, ok := s.scanFor(regs.SP(), 1)
	return ok
}

// mayKeepSP: functions that keep their return address in a register need not move sp.
func (s *walk) mayKeepSP(src Source, pc uint64) bool {
	if s.Policy.EqualSP == EqualSPAtContext {
		return s.atContext() || s.Policy.InterruptedAsContext && s.interrupted()
	}
	switch s.arch.EqualSP {
	case cpu.EqualSPInterrupted:
		return s.interrupted()
	case cpu.EqualSPMoved:
		return pc != s.top().PC && (s.atContext() || src == SourceCFI)
	}
	return false
}

// check runs the tests that belong to one source. It returns the reason for a rejection, or "".
func (s *walk) check(src Source, regs *cpu.Regs) string {
	switch src {
	case SourceCFI:
		return s.checkCFI(regs)
	case SourceFramePointer:
		if why := s.checkFramePointer(regs); why != "" {
			return why
		}
		return s.implausible(regs)
	case SourceCode:
		return s.checkCode(regs)
	}
	return ""
}

// checkCFI runs the tests of Breakpad's CFI on registers, as far as the policy and the CPU have
// them.
func (s *walk) checkCFI(regs *cpu.Regs) string {
	if s.Policy.CFINonZero && s.breakpad().CFINonZero && (regs.PC() == 0 || regs.SP() == 0) {
		return fmt.Sprintf("it gives pc 0x%x and sp 0x%x", regs.PC(), regs.SP())
	}
	if s.Policy.CFINeedsFP && s.breakpad().CFINeedsFP && !regs.Known(s.arch.FP) && (!s.Policy.CFILostFP || s.top().Regs.Known(s.arch.FP)) {
		return "it does not recover ebp"
	}
	return ""
}

// implausible returns why a frame that was guessed from a register is rejected, or "". It runs
// after the CPU's own check.
func (s *walk) implausible(regs *cpu.Regs) string {
	pc, sp := regs.PC(), regs.SP()
	switch {
	case s.Policy.ProveEnd && pc < firstPage && !s.endsChain(regs, s.fpWasRead()):
		return fmt.Sprintf("its return address 0x%x is neither an address of code nor the end of a chain of frame pointers", pc)
	case !s.Policy.FramePointer.Verify || pc < firstPage:
		return ""
	}
	// A frame pointer that is used as a general register leads anywhere; what it leads to rarely
	// follows a call.
	if call, known := s.callBefore(pc); known && !call && s.Modules.Covers(pc) && !s.returnsFromSignal(pc) {
		return fmt.Sprintf("the instruction before its return address 0x%x is not a call", pc)
	}
	if callee := s.top().Regs.SP(); sp < callee || sp == callee && !s.mayKeepSP(SourceFramePointer, pc) {
		return fmt.Sprintf("the caller's sp 0x%x is not above this frame's 0x%x", sp, callee)
	}
	return ""
}

// checkFramePointer rejects a register that holds something else than a frame pointer.
func (s *walk) checkFramePointer(regs *cpu.Regs) string {
	pc, sp := regs.PC(), regs.SP()
	fp, _ := regs.Get(s.arch.FP)
	switch s.arch.FPCheck {
	case cpu.FPInStack:
		if !s.arch.Canonical(pc) {
			return fmt.Sprintf("its return address 0x%x is not canonical", pc)
		}
		// The caller's frame is above this one, so its saved rbp is too.
		if last, _ := s.reg(s.arch.FP); sp <= last || fp < sp && !s.lastOfChain(pc) {
			return fmt.Sprintf("the saved rbp 0x%x is below the caller's sp 0x%x", fp, sp)
		}
		if _, ok := s.word(fp); !ok && !s.lastOfChain(pc) {
			return fmt.Sprintf("the saved rbp 0x%x is outside of the stack", fp)
		}
		if s.Policy.FramePointer.SPInStack {
			if callee := s.top().Regs.SP(); sp <= callee {
				return fmt.Sprintf("the caller's sp 0x%x is not above this frame's 0x%x", sp, callee)
			}
			if _, ok := s.word(sp); !ok {
				return fmt.Sprintf("the caller's sp 0x%x is outside of the stack", sp)
			}
		}
	case cpu.FPInRange:
		// Breakpad takes whatever lr says, and ends the walk if that is null-like.
		if s.fromLR() || s.Policy.FramePointer.LeafByLR && pc < firstPage && s.fpWasRead() {
			break
		}
		if pc < firstPage || pc >= s.arch.AddressEnd {
			return fmt.Sprintf("its return address 0x%x is not an address of a program", pc)
		}
	}
	return ""
}

// lastOfChain: the top frame was found by a frame pointer, and so has one itself. Its caller, which
// is known to have made a call, may not keep one and have any value in that register.
func (s *walk) lastOfChain(pc uint64) bool {
	if !s.Policy.FramePointer.LastOfChain || s.top().Source != SourceFramePointer {
		return false
	}
	call, known := s.callBefore(pc)
	return known && call
}

// plausibleReturn tests a word of a scan: the call before it is in a module, and if the module's
// symbols are there, in something that has a name. One is subtracted because a function that ends
// in a call that never returns leaves a return address past its end.
func (s *walk) plausibleReturn(addr uint64) (bool, string) {
	if addr == 0 || s.Policy.Scan.RejectNonCanonical && !s.canBe(addr) {
		return false, ""
	}
	// The last byte of the call: see above.
	m, rva := s.Modules.Find(addr - 1)
	if m < 0 {
		return false, ""
	}
	if s.Policy.Refute {
		if yes, known := s.executable(addr - 1); known && !yes {
			return false, "it points to memory that is not executable"
		}
	}
	if call, known := s.afterCall(addr); known && !call {
		return false, "the instruction before it is not a call"
	}
	sym, ans := s.lookup(m, rva)
	// Without symbols every address of the module may be code of a function.
	if ans == symbol.NoFile {
		return true, ""
	}
	if sym.Name == "" && !s.isListed(m, rva) {
		return false, "no symbol covers it"
	}
	return true, ""
}

// isListed: an address is in a function that the program lists without a name, as stripped ones of
// Apple's systems do.
func (s *walk) isListed(module int, rva uint64) bool {
	if !s.Policy.CodeAtFrame0 || !s.apple() {
		return false
	}
	code, ok := s.Symbols.Function(module, rva)
	return ok && rva >= code.Start && rva-code.Start < code.Size
}

// canBe: the CPU can have code at an address.
func (s *walk) canBe(addr uint64) bool {
	a := s.arch
	return (a.Canonical == nil || a.Canonical(addr)) && (a.AddressEnd == 0 || addr >= firstPage && addr < a.AddressEnd)
}

// addressMask returns a mask of the bits that an address may use: those of the highest module's
// end, and at least minBits.
func addressMask(top uint64, minBits int) uint64 {
	if n := bits.Len64(top); n > minBits {
		minBits = n
	}
	if minBits >= 64 {
		return ^uint64(0)
	}
	if minBits == 0 {
		return ^uint64(0)
	}
	return 1<<minBits - 1
}

// strip removes the pointer authentication code from an address.
func (s *walk) strip(v uint64) uint64 {
	if !s.arch.PointerAuth {
		return v
	}
	t := v & s.pacMask
	if s.Policy.Pointer.OnlyIntoModule && !s.Modules.Covers(t) {
		return v
	}
	return t
}

// stripRegister removes the code from a register, if its value is known.
func (s *walk) stripRegister(regs *cpu.Regs, r cpu.Reg) {
	if v, ok := regs.Get(r); ok && s.arch.PointerAuth {
		regs.Set(r, s.strip(v))
	}
}

// stripPointers removes authentication codes from recovered values. Those of scanned words cannot
// be recognized.
func (s *walk) stripPointers(regs *cpu.Regs, src Source, row *unwind.Row) {
	s.unmarkFP(regs)
	if !s.arch.PointerAuth || src != SourceCFI && src != SourceFramePointer && src != SourceLeaf && src != SourceCode {
		return
	}
	s.stripRegister(regs, s.arch.PC)
	// If no module tells how many bits an address has, the system does.
	if pc := regs.PC(); s.Policy.CodeAtFrame0 && row.Signed != unwind.NotSigned && !s.Modules.Covers(pc) {
		bits, ok := map[core.OS]int{core.MacOS: 47, core.IOS: 39}[s.OS]
		if ok {
			regs.Set(s.arch.PC, pc&(1<<bits-1))
		}
	}
	if s.Policy.Pointer.FP {
		s.stripRegister(regs, s.arch.LR)
		s.stripRegister(regs, s.arch.FP)
	} else if src == SourceFramePointer {
		s.stripRegister(regs, s.arch.LR)
	}
}

// asyncMark is the bit that Swift's compiler sets in the frame pointer that an async function saves.
const asyncMark = 1 << 60

// unmarkFP removes that bit from a recovered frame pointer.
func (s *walk) unmarkFP(regs *cpu.Regs) {
	if !s.Policy.AsyncFP || !s.apple() || s.arch.WordSize != 8 {
		return
	}
	if v, ok := regs.Get(s.arch.FP); ok && v>>56 == asyncMark>>56 {
		regs.Set(s.arch.FP, v&^asyncMark)
	}
}

// apple: the process ran on one of Apple's systems.
func (w *Walker) apple() bool { return w.OS == core.MacOS || w.OS == core.IOS }

// functionTables: functions are described by tables of their programs (cpu.Arch.WindowsTables).
func (s *walk) functionTables() bool { return s.arch.WindowsTables && s.OS == core.Windows }
