package cpu

import "encoding/binary"

// SPARC is the SPARC architecture as Breakpad's dumps have it: registers of 64 bits in the context,
// words of 32 bits on the stack. g are the global registers, o those for calls, l the local ones, i
// the parameters; o6 is sp and i6 is fp. DWARF numbers are those of the SPARC processor supplement:
// g0 to i7 are 0 to 31.
//
// A call's register window is saved where the caller's stack pointer, the callee's fp, points
// (stackwalker_sparc.cc). i7 there is the address of the call itself; the return address follows it
// and its delay slot.
//
//	caller: sp = fp, pc = [fp + 60] + 8, fp = [fp + 56]
var SPARC = newArch(&Arch{regs: registers{
	names:   sparcGeneral + " pc npc",
	aliases: "o6=sp i6=fp",
	pc:      "pc", sp: "sp", fp: "fp",
	saved: "l0-7 i0-5 fp i7",
	dwarf: sparcGeneral,
},
	Name:        "sparc",
	WordSize:    4,
	CallSize:    8,
	Frame:       FrameLayout{Style: FrameRecord, RAOffset: 60, FPOffset: 56, RABias: 8},
	Conventions: Conventions{EqualSP: EqualSPNever, FPCheck: FPUnchecked, ScanFP: ScanFPUnknown, RegisterWindow: true},
	Formats: Formats{
		Processors:  []uint16{0x8001},
		ELFMachines: [3]uint16{2, 18, 43}, // SPARC, SPARC32PLUS and V9, whose 64-bit words have no table
		CoreLines:   "4 4 pc npc _ " + sparcGeneral,
		CoreSets:    []CoreSet{{Type: noteFloat, Lines: "0 8 d0 d2 d4 d6 d8 d10 d12 d14 d16 d18 d20 d22 d24 d26 d28 d30\n132 4 fsr"}}, // elf_fpregset_t
	},
	Code: Code{IsCall: isSPARCCall, CallBytes: 8, Target: sparcTarget, Instructions: NotDecoded},
	Contexts: []*ContextLayout{
		// minidump_cpu_sparc.h MDRawContextSPARC, MDFloatingSaveAreaSPARC; format.rs 1341 and 1330.
		// The registers have 64 bits in the record also where the CPU has 32; on a 64-bit one, the
		// lower halves are what Breakpad reads. ccr, asi and fprs are psr, wim and tbr on SPARC V7
		// and V8. The double registers have even numbers.
		{Flag: 0x10000000, Size: 584, Lines: `
			4	4	_
			8	8	` + sparcGeneral + `
			264	8	ccr pc npc y asi fprs
			312	8	d0 d2 d4 d6 d8 d10 d12 d14 d16 d18 d20 d22 d24 d26 d28 d30 d32 d34 d36 d38 d40 d42 d44 d46 d48 d50 d52 d54 d56 d58 d60 d62
			568	8	_ fsr
			`},
	},
})

const sparcGeneral = "g0-7 o0-5 sp o7 l0-7 i0-5 fp i7"

// isSPARCCall: CALL, and JMPL that keeps its address in o7; both are followed by a delay slot
// (SPARC V9, A.8, A.24).
func isSPARCCall(b []byte, _ uint64, order binary.ByteOrder) bool {
	w := order.Uint32(b)
	return w>>30 == 1 || w>>30 == 2 && w>>19&0x3f == 0x38 && w>>25&31 == 15
}

// sparcTarget is where call goes (SPARC V8, B.24), 8 bytes before its return address. A call whose
// delay slot restores the window is a jump: the walker sees no difference, so jumps are not followed.
func sparcTarget(b []byte, next uint64, order binary.ByteOrder) (uint64, bool) {
	w := order.Uint32(b)
	return next - 8 + uint64(signed(w, 30)*4), w>>30 == 1
}

var sparcELF = ELF{
	CPU: "sparc",
	Relocations: []Relocation{{1, Absolute, 1}, {2, Absolute, 2}, {3, Absolute, 4}, {4, Relative, 1}, {5, Relative, 2}, {6, Relative, 4}, {23, Absolute, 4},
		{32, Absolute, 8}, {46, Relative, 8}, {54, Absolute, 8}, {55, Absolute, 2}, {78, Absolute, 4}, {79, Absolute, 8}},
	Slots:         []uint32{20, 21},
	SlotsAreStubs: true,
	TypeMask:      0xff,
}
