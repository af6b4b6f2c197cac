package walker

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Space answers what a dump knows of the process's address space.
type Space interface {
	// Executable says whether code may lie at an address. known is false where the dump's memory map does not have the address, as
	// where a library was unloaded, or where there is no map.
	Executable(addr uint64) (yes, known bool)
	// Stack is the memory that the dump has around a stack pointer; nil if it has none there.
	Stack(sp uint64) unwind.Memory
	// Holds says whether the dump has the byte at an address.
	Holds(addr uint64) bool
}

// refuted says why a caller cannot be one, whatever source it comes from; "" if nothing speaks against it. Rules may be wrong: Breakpad's
// dump_syms drops what DWARF says of the outermost functions, that they have no return address, and writes the rule of all others.
func (s *walk) refuted(cand candidate, regs *cpu.Regs) string {
	pc := regs.PC()
	if !s.Policy.Refute || pc < firstPage {
		return ""
	}
	call := pc
	if !cand.row.Signal {
		call -= s.arch.CallSize // the call may be the last instruction of a mapping
	}
	if why := s.noCode(call); why != "" {
		return fmt.Sprintf("its return address 0x%x %s", pc, why)
	}
	if s.Modules.Find(call) < 0 && !cand.row.Signal && !s.mapped(call) {
		if call, known := s.callBefore(pc); known && !call {
			return fmt.Sprintf("its return address 0x%x is in no module, and the instruction before it is not a call", pc)
		}
	}
	if sp, callee := regs.SP(), s.top().Regs.SP(); !s.atContext() && !s.holdsStack(callee) && !s.holdsStack(sp) {
		return fmt.Sprintf("the dump has no memory at its sp 0x%x, nor at this frame's 0x%x", sp, callee)
	}
	return ""
}

// noCode says why an address cannot be that of an instruction; "" if it may be. The memory map decides; a thread's own stack holds no code
// unless the map says so.
func (s *walk) noCode(addr uint64) string {
	yes, known := s.executable(addr)
	switch {
	case known && !yes:
		return "is in memory that is not executable"
	case known || s.Modules.Find(addr) >= 0:
		return ""
	}
	if _, ok := s.word(addr &^ uint64(s.arch.WordSize-1)); ok {
		return "is on the thread's own stack"
	}
	return ""
}

func (s *walk) executable(addr uint64) (yes, known bool) {
	if s.Space == nil {
		return false, false
	}
	return s.Space.Executable(addr)
}

// scannedExecutable is executable for a word that a scan met.
func (s *walk) scannedExecutable(addr uint64) (yes, known bool) {
	if !s.Policy.Refute {
		return false, false
	}
	return s.executable(addr)
}

// mapped: the memory map has the address.
func (s *walk) mapped(addr uint64) bool {
	_, known := s.executable(addr)
	return known
}

// holdsStack: a stack pointer lies in memory that the dump has, or at its end. It may be the memory of another stack than the thread's own:
// a signal's, a goroutine's.
func (s *walk) holdsStack(sp uint64) bool {
	for _, addr := range [...]uint64{sp, sp - uint64(s.arch.WordSize)} {
		if _, ok := s.word(addr); ok || s.Space != nil && s.Space.Holds(addr) {
			return true
		}
	}
	return false
}
