package walker

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// maxScannedFrame is the largest size of a frame in bytes, for scans that require a frame pointer
// below the return address.
const maxScannedFrame = 1024

// breakpadRules are what Breakpad's walker does on one CPU and on no other. Each counts if the
// policy has the field of that name.
type breakpadRules struct {
	CFINonZero     bool // Policy.CFINonZero
	CFINeedsFP     bool // Policy.CFINeedsFP
	CFINotOnIOSArm bool // Policy.CFINotOnIOSArm
	FPAligned      bool // FramePointerRules.Aligned: a frame pointer must be a multiple of the word size
	// CallPC is how far before the return address a caller's pc is taken to be.
	CallPC uint64
	// ScanWithFP: a scan wants a frame pointer below the return address (ScanRules.WithFP);
	// ScanSkip is how many words it leaves out at sp, above frame 0.
	ScanWithFP bool
	ScanSkip   int
}

// breakpadCPUs has the rules of the CPUs that have any.
var breakpadCPUs = map[*cpu.Arch]breakpadRules{
	cpu.X86:   {CFINeedsFP: true},
	cpu.AMD64: {CFINonZero: true, FPAligned: true},
	cpu.ARM:   {CFINotOnIOSArm: true},
	// Functions that call others keep room for four arguments.
	cpu.MIPS: {CallPC: 8, ScanWithFP: true, ScanSkip: 4},
	// Breakpad takes two words for two instructions: pc is one call too far.
	cpu.MIPS64: {CallPC: 16, ScanWithFP: true},
}

// breakpad returns the rules of the walked CPU.
func (s *walk) breakpad() breakpadRules { return breakpadCPUs[s.arch] }

// callPC changes a caller's registers as Breakpad's walker does on mips: the link register has the
// return address, and pc is that of the call, so many bytes before it as breakpadCPUs says. That
// pc is the address that is looked up.
func (s *walk) callPC(f *Frame) {
	before := s.breakpad().CallPC
	if !s.Policy.CallPC || before == 0 {
		return
	}
	f.Regs.Set(s.arch.LR, f.PC)
	f.Lookup = f.PC - before
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
		skip := s.breakpad().ScanSkip
		from, left = sp+uint64(skip)*size, left-skip
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
