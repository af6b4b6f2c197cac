package walker

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Space is what a dump knows about the process's address space.
type Space interface {
	// Executable reports whether there may be code at an address. known is false where the dump's
	// memory map does not have the address, as where a library was unloaded, or where there is no
	// map.
	Executable(addr uint64) (yes, known bool)
	// Mapping is the mapping of the process's memory that an address is in. ok is false where the
	// dump's memory map does not have the address, or where there is no map.
	Mapping(addr uint64) (m Mapping, ok bool)
	// Stack is the memory that the dump has around a stack pointer; nil if it has none there.
	Stack(sp uint64) unwind.Memory
}

// Mapping is an entry of a memory map. Name is what is mapped there, or "". End is exclusive; 0 means
// 2^64.
type Mapping struct {
	End  uint64
	Name string
}

// refuted returns why a candidate of any source cannot be a caller, or "". signal means that the
// caller was interrupted and made no call. Rules of symbol files may be wrong too: Breakpad's
// dump_syms drops DWARF's statement that outermost functions have no return address, and writes the
// rule of ordinary functions for them.
func (s *walk) refuted(signal bool, regs *cpu.Regs) string {
	pc := regs.PC()
	if !s.Policy.Refute || pc < firstPage {
		return ""
	}
	call := pc
	if !signal {
		call -= s.arch.CallSize // the call may be the last instruction of a mapping
	}
	yes, known := s.executable(call)
	why := ""
	switch {
	case signal: // the system knows where it interrupted a thread, even in a call to anywhere
	case s.returnsFromSignal(pc):
	case known && !yes:
		why = "is in memory that is not executable"
	case known || s.Modules.Covers(call):
	case s.onOwnStack(call):
		why = "is on the thread's own stack"
	case s.noCallBefore(pc):
		why = "is in no module, and the instruction before it is not a call"
	}
	if why != "" {
		return fmt.Sprintf("its return address 0x%x %s", pc, why)
	}
	// If neither stack pointer is in memory that the dump has, the rules read nothing of a stack
	// and lead nowhere.
	if sp, callee := regs.SP(), s.top().Regs.SP(); !s.atContext() && !s.holdsStack(callee) && !s.holdsStack(sp) {
		return fmt.Sprintf("the dump has no memory at its sp 0x%x, nor at this frame's 0x%x", sp, callee)
	}
	return ""
}

// unproven: rules gave a return address, and nothing shows that there is code. The rules may not hold,
// or the word may have been overwritten; but generated code looks the same in a dump that has neither
// a memory map nor the code, so the frame is kept, as a guess.
func (s *walk) unproven(src Source, cand *candidate, pc uint64) bool {
	call := pc - s.arch.CallSize
	if !s.Policy.ProveCode || cand.trust != TrustCFI && src != SourceCode || cand.row.Signal || s.Modules.Covers(call) {
		return false
	}
	if yes, _ := s.executable(call); yes {
		return false
	}
	if call, _ := s.callBefore(pc); call || s.returnsFromSignal(pc) {
		return false
	}
	return !slices.ContainsFunc(s.Unloaded, func(m core.UnloadedModule) bool { return call-m.Base < uint64(m.Size) })
}

// onOwnStack: an address is on the thread's stack, where no code is unless the memory map says so.
func (s *walk) onOwnStack(addr uint64) bool {
	_, ok := s.word(addr &^ uint64(s.arch.WordSize-1))
	return ok
}

// noCallBefore reports whether the instruction before an address is known not to be a call.
func (s *walk) noCallBefore(addr uint64) bool {
	call, known := s.callBefore(addr)
	return known && !call
}

// executable asks the memory map whether code can run at an address.
func (s *walk) executable(addr uint64) (yes, known bool) {
	if s.Space == nil {
		return false, false
	}
	return s.Space.Executable(addr)
}

// holdsStack: a stack pointer is in memory that the dump has, or at its end. It may be the memory
// of another stack than the thread's own: a signal's, a goroutine's.
func (s *walk) holdsStack(sp uint64) bool {
	return s.onStack(s.mem, sp) || s.Space != nil && (s.Space.Stack(sp) != nil || s.Space.Stack(sp-1) != nil)
}
