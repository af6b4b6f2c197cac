package walker

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// mipsFrame is the most bytes that a frame is thought to have where the stack is scanned on mips.
const mipsFrame = 1024

func (s *walk) onMIPS() bool { return s.arch == cpu.MIPS || s.arch == cpu.MIPS64 }

// mipsCaller gives a caller's registers as Breakpad's walker does: ra is the return address, and pc lies two words before it, where
// the call is. On mips64 those are words of 8 bytes, though instructions have 4: pc is one call too far then. The address that is
// looked up is that pc.
func (s *walk) mipsCaller(f *Frame) {
	if !s.Policy.MIPSCallPC || !s.onMIPS() {
		return
	}
	f.Regs.Set(s.arch.LR, f.PC)
	f.Lookup = f.PC - uint64(2*s.arch.WordSize)
	f.Regs.Set(s.arch.PC, f.Lookup)
}

// scanMIPS looks for a return address that has a frame pointer below it: one into the next 1024 bytes. Return addresses alone are
// too frequent among what a frame holds.
//
// Source: Breakpad, src/processor/stackwalker_mips.cc (GetCallerByStackScan).
func (s *walk) scanMIPS(sp uint64) (candidate, string) {
	size := uint64(s.arch.WordSize)
	left := int(mipsFrame / size)
	from := sp
	if s.arch == cpu.MIPS && len(s.frames) > 1 {
		// Functions that call others keep room for four arguments.
		from, left = sp+4*size, left-4
	}
	for left > 0 {
		at, _, ok := s.scanFor(from, left+1)
		if !ok {
			break
		}
		fp, ok := s.word(at - size)
		if !ok {
			break
		}
		left -= int((at - from) / size)
		from = at + size
		if s.arch.Mask(fp-at) < mipsFrame && left > 0 {
			row := returnAt(s.arch, at)
			row.Origin.Part = "stack scan"
			row.Saved = []unwind.RegRule{{Reg: s.arch.FP, Rule: unwind.Rule{Kind: unwind.AtConst, Offset: int64(at - size)}}}
			return candidate{row: row, trust: TrustScan}, ""
		}
	}
	return candidate{}, fmt.Sprintf("the %d bytes above sp 0x%x have no return address with a frame pointer below it", mipsFrame, sp)
}
