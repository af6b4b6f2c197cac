package walker

import (
	"fmt"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// maxScannedFrame is the largest size of a frame in bytes, for scans that require a frame pointer
// below the return address.
const maxScannedFrame = 1024

// callPC changes a caller's registers as Breakpad's walker does on mips: the link register has the
// return address, and pc is that of the call, so many bytes before it as the CPU's table says. That
// pc is the address that is looked up.
func (s *walk) callPC(f *Frame) {
	if !s.Policy.CallPC || s.arch.CallPC == 0 {
		return
	}
	f.Regs.Set(s.arch.LR, f.PC)
	f.Lookup = f.PC - s.arch.CallPC
	f.Regs.Set(s.arch.PC, f.Lookup)
}

// scanWithFP looks for a return address that has a frame pointer below it: one into the next 1024
// bytes. Return addresses alone are too frequent among what a frame holds.
//
// Source: Breakpad, src/processor/stackwalker_mips.cc (GetCallerByStackScan).
func (s *walk) scanWithFP(sp uint64) (candidate, string) {
	size := uint64(s.arch.WordSize)
	left := int(maxScannedFrame / size)
	from := sp
	if len(s.frames) > 1 {
		from, left = sp+uint64(s.arch.ScanSkip)*size, left-s.arch.ScanSkip
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
		if s.arch.Mask(fp-at) < maxScannedFrame && left > 0 {
			row := returnAt(s.arch, at)
			row.Origin.Part = "stack scan"
			row.Saved = []unwind.RegRule{{Reg: s.arch.FP, Rule: unwind.Rule{Kind: unwind.AtConst, Offset: int64(at - size)}}}
			return candidate{row: row, trust: TrustScan}, ""
		}
	}
	return candidate{}, fmt.Sprintf("the %d bytes above sp 0x%x have no return address with a frame pointer below it", maxScannedFrame, sp)
}
