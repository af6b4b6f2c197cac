package cpu

import "encoding/binary"

// PPC and PPC64 are the 32-bit and 64-bit PowerPC architectures. The program counter is the one
// that the machine saves at an exception, srr0. DWARF numbers are those of the Power Architecture
// ABI supplement, table 3.37 (and GCC's): 0 to 31 are the general registers, 65 is lr, 66 ctr, 76
// xer. Compilers use the supplement's own numbers of the last three in .debug_frame: 100 and the
// number of the special purpose register, so 108, 109, 101. The condition register has no number of
// its own, only its eight fields have.
//
// Frames form a chain through r1 (Breakpad's stackwalker_ppc.cc and stackwalker_ppc64.cc): the word
// at r1 is the caller's r1, and the callee has put its return address into its caller's frame.
//
//	ppc:   caller: r1 = [r1], srr0 = [caller's r1 + 8]
//	ppc64: caller: r1 = [r1], srr0 = [caller's r1 + 16]
//
// System V's convention for 32 bits (PowerPC processor supplement, 3-18) has the return address
// right after the back chain.
var (
	PPC = newPPC("ppc", 4, FrameLayout{Style: BackChain, RAOffset: 8, SysVRAOffset: 4},
		Formats{Processors: []uint16{3}, ELFMachines: [3]uint16{20}, MachO: 18, CoreLines: "0 4 " + ppcSignal, CoreSets: ppcSets},
		// minidump_cpu_ppc.h MDRawContextPPC, packed to 4 bytes, MDFloatingSaveAreaPPC,
		// MDVectorSaveAreaPPC; format.rs 1279, 1257, 1266
		&ContextLayout{Flag: 0x20000000, Size: 1004, Lines: `
			4	4	srr0 srr1 r0-31 cr xer lr ctr mq vrsave
			164	8	f0-31
			420	4	_ fpscr
			428	16	v0-31 vscr _
			972	4	vrvalid
			976	28	_
			`},
		// li r0, 172; sc, and 119 for handlers without SA_SIGINFO (arch/powerpc/kernel/signal_32.c).
		// Frames begin with 64 bytes for a callee, and 16 more before an rt_sigframe: a siginfo of
		// 128 bytes and a ucontext, whose mcontext is at 192 and the pointer to it at 48. A sigframe
		// has a sigcontext of 32 bytes, whose last word points to the mcontext behind it.
		SignalReturn{Unit: 4, Code: []uint32{0x380000ac, 0x44000002}, At: 64 + 16 + 128 + 192, Info: 64 + 16, Lines: "0 4 " + ppcSignal, Self: 64 + 16 + 128 + 48},
		SignalReturn{Unit: 4, Code: []uint32{0x38000077, 0x44000002}, At: 64 + 32, Lines: "0 4 " + ppcSignal, Self: 64 + 28, Plain: true})
	PPC64 = newPPC("ppc64", 8, FrameLayout{Style: BackChain, RAOffset: 16},
		Formats{Processors: []uint16{0x8002}, Family: "ppc", ELFMachines: [3]uint16{21}, MachO: 0x1000012, CoreLines: "0 8 " + ppcSignal, CoreSets: ppcSets},
		// minidump_cpu_ppc64.h MDRawContextPPC64; format.rs 1306
		&ContextLayout{Flag: 0x01000000, WideFlags: true, Size: 1160, Lines: `
			8	8	srr0 srr1 r0-31 cr xer lr ctr vrsave
			320	8	f0-31
			576	4	_ fpscr
			584	16	v0-31 vscr _
			1128	4	vrvalid
			1132	28	_
			`},
		// addi r1, r1, 128; li r0, 172; sc (arch/powerpc/kernel/signal_64.c). The frame begins with
		// 128 bytes for a callee and the ucontext, whose sigcontext is at 168, with the registers at
		// 64 in it and a pointer to them before. qemu's has no addi, and up to its version 8.1 the
		// frame was 16 bytes higher (linux-user/ppc/signal.c).
		SignalReturn{Unit: 4, Code: []uint32{0x38210080, 0x380000ac, 0x44000002}, At: 128 + 168 + 64, Info: -1, Pointers: ppc64Pointers, Context: 128, Lines: "0 8 " + ppcSignal, Self: 128 + 168 + 56},
		SignalReturn{Unit: 4, Code: []uint32{0x380000ac, 0x44000002}, At: 128 + 168 + 64, Info: -1, Pointers: ppc64Pointers, Context: 128, Lines: "0 8 " + ppcSignal, Self: 128 + 168 + 56},
		SignalReturn{Unit: 4, Code: []uint32{0x380000ac, 0x44000002}, At: 144 + 168 + 64, Info: -1, Lines: "0 8 " + ppcSignal, Self: 144 + 168 + 56})
)

// ppc64Pointers are where an rt_sigframe has pinfo and puc: after the ucontext, which has 69 or, with VSX,
// 101 words of vector registers at its end, 16 bytes, and 6 or 7 instructions.
var ppc64Pointers = []int{128 + 1440 + 16 + 24, 128 + 1440 + 16 + 32, 128 + 1696 + 16 + 24, 128 + 1696 + 16 + 32}

// ppcSignal is the order of elf_gregset_t (arch/powerpc/include/uapi/asm/ptrace.h, PT_R0 to
// PT_CCR).
const ppcSignal = "r0-31 srr0 _ _ ctr lr xer cr"

// ppcSets are elf_fpregset_t, elf_vrregset_t, and the halves of vs0 to vs31 that f0 to f31 are not.
var ppcSets = []CoreSet{{Type: noteFloat, Lines: "0 8 f0-31 fpscr"}, {Type: notePPCVMX, Lines: "0 16 v0-31 vscr\n528 4 vrsave"}, {Type: notePPCVSX, Lines: "0 8 vs0-31h"}}

func newPPC(name string, word int, frame FrameLayout, f Formats, context *ContextLayout, signals ...SignalReturn) *Arch {
	return newArch(&Arch{regs: registers{
		names:   "srr0 r0-31 lr ctr cr xer",
		aliases: "pc=srr0 sp=r1",
		pc:      "srr0", sp: "r1", fp: "r31", lr: "lr",
		saved: "r14-31",
		dwarf: "r0-31 65=lr 66=ctr 76=xer 101=xer 108=lr 109=ctr",
	},
		Name:        name,
		WordSize:    word,
		CallSize:    4,
		Frame:       frame,
		Conventions: Conventions{EqualSP: EqualSPNever, FPCheck: FPUnchecked, ScanFP: ScanFPUnknown, GoReserved: 4},
		Formats:     f,
		Code:        Code{SignalsInVDSO: true, IsCall: isPPCCall, CallBytes: 4, Target: ppcTarget, Jump: ppcJump, JumpAlign: 4, Instructions: NotDecoded, Signals: signals},
		Contexts:    []*ContextLayout{context},
	})
}

// isPPCCall: a branch whose LK bit is set, with an immediate (18, 16) or to LR, CTR or TAR (19)
// (Power ISA, book I, 2.4).
func isPPCCall(b []byte, _ uint64, order binary.ByteOrder) bool {
	w := order.Uint32(b)
	if w&1 == 0 {
		return false
	}
	switch w >> 26 {
	case 16, 18:
		return true
	case 19:
		xo := w >> 1 & 0x3ff
		return xo == 16 || xo == 528 || xo == 560
	}
	return false
}

// ppcTarget is where bl goes, ppcJump where b goes (Power ISA, I-form): the word has the distance, or
// with AA the address, and the two lowest bits.
func ppcTarget(b []byte, next uint64, order binary.ByteOrder) (uint64, bool) {
	w := order.Uint32(b)
	return ppcBranch(w, next-4), w>>26 == 18 && w&1 == 1
}

func ppcJump(b []byte, at uint64, order binary.ByteOrder) (uint64, bool) {
	if len(b) < 4 {
		return 0, false
	}
	w := order.Uint32(b)
	return ppcBranch(w, at), w>>26 == 18 && w&1 == 0
}

func ppcBranch(w uint32, at uint64) uint64 {
	if w&2 != 0 {
		at = 0
	}
	return at + uint64(signed(w&^3, 26))
}

var ppcELF = ELF{
	CPU:         "ppc",
	Relocations: []Relocation{{1, Absolute, 4}, {3, Absolute, 2}, {24, Absolute, 4}, {26, Relative, 4}, {78, Absolute, 4}},
	Slots:       []uint32{20, 21},
	Stubs:       ppcStubs,
	StubsInText: true,
}

var ppc64ELF = ELF{
	CPU: "ppc64",
	Relocations: []Relocation{{1, Absolute, 4}, {3, Absolute, 2}, {24, Absolute, 4}, {26, Relative, 4}, {38, Absolute, 8}, {43, Absolute, 8}, {44, Relative, 8},
		{78, Absolute, 8}},
	Slots: []uint32{20, 21},
	Glink: true,
}

// ppcStubs are those of programs at fixed addresses: lis r11, high; lwz r11, low(r11); mtctr r11;
// bctr. Those of libraries are relative to a register that each object file sets in its own way;
// linkers name these themselves. Both are in .text.
func ppcStubs(p *PLT, found func(Stub)) {
	code := p.Code
	for i := 0; i+16 <= len(code); i += 4 {
		lis, lwz := p.Order.Uint32(code[i:]), p.Order.Uint32(code[i+4:])
		if lis>>16 != 0x3d60 || lwz>>16 != 0x816b || p.Order.Uint32(code[i+8:]) != 0x7d6903a6 {
			continue
		}
		found(Stub{At: p.Address + uint64(i), Size: 16, Slot: uint64(lis<<16 + uint32(int32(int16(lwz))))})
	}
}
