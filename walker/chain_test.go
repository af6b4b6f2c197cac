package walker

import (
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
)

// PowerPC frames hang on r1; the callee's return address is in its caller's frame: two words up,
// or one by the System V convention of 32 bits, which Breakpad does not know.
func TestBackChain(t *testing.T) {
	for _, tc := range []struct {
		arch   *cpu.Arch
		os     core.OS
		up     int
		policy Policy
	}{
		{cpu.PPC, core.MacOS, 2, Best}, {cpu.PPC, core.OSLinux, 1, Best}, {cpu.PPC, core.OSLinux, 2, Breakpad}, {cpu.PPC64, core.OSLinux, 2, Best},
	} {
		sc := &scene{arch: tc.arch, os: tc.os, pc: code(0x1010), policy: tc.policy}
		sc.words = []uint64{sc.at(3), 0, 7, sc.at(7), 0, 0, 0, 0, 0, 0}
		sc.words[3+tc.up], sc.words[7+tc.up] = code(0x2020), code(0x3030)
		expect(t, sc.walk(t), "1010 context, 2020 frame_pointer, 3030 frame_pointer, end")
	}
}

// A sparc caller's stack pointer is the callee's fp, where the register window is saved: i6 is the
// next fp, i7 the address of the call, whose return address is after it and its delay slot.
func TestRegisterWindow(t *testing.T) {
	sc := &scene{arch: cpu.SPARC, os: core.Solaris, pc: code(0x1010)}
	sc.regs = map[string]uint64{"fp": sc.at(4)}
	sc.words = make([]uint64, 48)
	sc.words[4+14], sc.words[4+15] = sc.at(24), code(0x2020)
	sc.words[24+14], sc.words[24+15] = sc.at(40), code(0x3030)
	s := sc.walk(t)
	if len(s.Frames) < 3 || s.Frames[1].PC != code(0x2028) || s.Frames[1].Lookup != code(0x2020) || s.Frames[2].Lookup != code(0x3030) {
		t.Errorf("%s", shape(s))
	}
}

// A frame pointer of RISC-V and LoongArch is the CFA, and the pair of return address and saved
// frame pointer is below it.
func TestFramePointerIsCFA(t *testing.T) {
	for _, a := range []*cpu.Arch{cpu.RISCV, cpu.RISCV64, cpu.LoongArch64} {
		sc := &scene{arch: a, os: core.OSLinux, pc: code(0x1010), policy: RustMinidump}
		sc.regs = map[string]uint64{a.RegName(a.FP): sc.at(4)}
		sc.words = []uint64{0, 0, sc.at(7), code(0x2020), 0, 0, code(0x3030), 0, 0}
		sc.words[5] = sc.at(8)
		expect(t, sc.walk(t), "1010 context, 2020 frame_pointer, 3030 frame_pointer, end")
	}
}
