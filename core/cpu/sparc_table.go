package cpu

import "slices"

// SPARC is the SPARC architecture as Breakpad's dumps have it: registers of 64 bits in the context, words of 32 bits on the
// stack. g are the global registers, o those for calls, l the local ones, i the parameters; o6 is sp and i6 is fp. DWARF
// numbers are those of the SPARC processor supplement: g0 to i7 are 0 to 31.
//
// A call's register window is saved where the caller's stack pointer, the callee's fp, points (stackwalker_sparc.cc). i7 there is
// the address of the call itself; the return address lies behind it and its delay slot.
//
//	caller: sp = fp, pc = [fp + 60] + 8, fp = [fp + 56]
var SPARC = newArch(Arch{
	Name:     "sparc",
	Names:    append(slices.Clone(sparcGeneral), "pc", "npc"),
	Aliases:  map[string]Reg{"o6": 14, "i6": 30},
	WordSize: 4,
	CallSize: 8,
	Frame:    FrameLayout{Style: FrameRecord, RAOffset: 60, FPOffset: 56, RABias: 8},
}, roles{pc: "pc", sp: "sp", fp: "fp"}, sparcGeneral[16:], sparcGeneral)

var sparcGeneral = func() []string {
	all := slices.Concat(numbered("g", 8), numbered("o", 8), numbered("l", 8), numbered("i", 8))
	all[14], all[30] = "sp", "fp"
	return all
}()
