package cpu

import "encoding/binary"

// LoongArch64 is the 64-bit LoongArch architecture (lp64). Registers have the names that the port
// of Breakpad writes into symbol files; "x" is r21, which is reserved. DWARF numbers are those of
// the LoongArch ABI's DWARF document: 0 to 31 are r0 to r31, 32 to 63 the floating-point registers.
// The program counter is the exception return address, csr_era.
//
// The frame pointer holds the CFA itself, as on riscv.
//
//	caller: sp = fp, pc = [fp - 8], fp = [fp - 16]
//
// Breakpad itself does not know it. The port's patches to Breakpad and Crashpad gave it the
// processor number and the context flag that Breakpad later gave 32-bit riscv: the size of a
// context record tells which of them a dump is of.
var LoongArch64 = newArch(&Arch{regs: registers{
	names:   loongArchGeneral + " pc",
	aliases: "r0=zero r1=ra r2=tp r3=sp r4-11=a0-7 r12-20=t0-8 r21=x r22=fp r23-31=s0-8 s9=fp",
	pc:      "pc", sp: "sp", fp: "fp", lr: "ra",
	saved: "fp s0-8",
	dwarf: loongArchGeneral,
},
	Name:        "loongarch64",
	WordSize:    8,
	CallSize:    4,
	Frame:       FrameLayout{Style: FrameRecord, RAOffset: -8, FPOffset: -16},
	Conventions: Conventions{EqualSP: EqualSPInterrupted, FPCheck: FPUnchecked, ScanFP: ScanFPUnknown, GoReserved: 1},
	Formats: Formats{
		Processors:  []uint16{0x8005},
		ELFMachines: [3]uint16{258}, PEMachines: [3]uint16{0x6264},
		CoreLines: "0 8 " + loongArchGeneral + " _ pc",
		// struct user_fp_state, user_lsx_state, user_lasx_state
		CoreSets: []CoreSet{{Type: noteFloat, Lines: "0 8 f0-31 fcc\n264 4 fcsr"}, {Type: noteLoongLSX, Lines: "0 16 vr0-31"}, {Type: noteLoongLASX, Lines: "0 32 xr0-31"}},
	},
	Code: Code{SignalsInVDSO: true, IsCall: isLoongArchCall, CallBytes: 4, Target: loongArchTarget, Jump: loongArchJump, JumpAlign: 4, Stubs: loongArchStubs, Instructions: NotDecoded, Signals: []SignalReturn{
		// li a7, 139 as ori or as addi.w; syscall 0. The rt_sigframe is a siginfo of 128 bytes and a
		// ucontext, whose sigcontext is 176 bytes behind (arch/loongarch/kernel/signal.c,
		// include/uapi/asm/sigcontext.h).
		{Unit: 4, Code: []uint32{0x03822c0b, 0x002b0000}, At: 128 + 176, Lines: "0 8 pc " + loongArchGeneral},
		{Unit: 4, Code: []uint32{0x02822c0b, 0x002b0000}, At: 128 + 176, Lines: "0 8 pc " + loongArchGeneral},
	}},
	Contexts: []*ContextLayout{
		// minidump_cpu_loongarch64.h MDRawContextLOONGARCH64 with MDFloatingSaveAreaLoongarch64 of
		// the port's patches; Crashpad's has the same layout
		{Flag: 0x00800000, Size: 540, Lines: `
			4	4	_
			8	8	` + loongArchGeneral + ` pc f0-31 fcc
			536	4	fcsr
			`},
		// the first form of it, without the registers of floating-point conditions and control
		{Flag: 0x00800000, Size: 528, Lines: `
			4	4	_
			8	8	` + loongArchGeneral + ` pc f0-31
			`},
	},
})

const loongArchGeneral = "zero ra tp sp a0-7 t0-8 x fp s0-8"

// isLoongArchCall: BL, and JIRL that keeps its address in ra (LoongArch Reference Manual, volume 1,
// 2.2.7).
func isLoongArchCall(b []byte, _ uint64, _ binary.ByteOrder) bool {
	w := le32(b)
	return w>>26 == 0x15 || w>>26 == 0x13 && w&31 == 1
}

// loongArchTarget is where bl goes, loongArchJump where b goes (LoongArch reference manual, 2.2.5.2):
// the upper 10 bits of the offset come last.
func loongArchTarget(b []byte, next uint64, _ binary.ByteOrder) (uint64, bool) {
	w := le32(b)
	return next - 4 + uint64(loongArchOffset(w)), w>>26 == 0x15
}

func loongArchJump(b []byte, at uint64, _ binary.ByteOrder) (uint64, bool) {
	if len(b) < 4 {
		return 0, false
	}
	w := le32(b)
	return at + uint64(loongArchOffset(w)), w>>26 == 0x14
}

func loongArchOffset(w uint32) int64 { return signed(w&0x3ff<<16|w>>10&0xffff, 26) * 4 }

var loongArch64ELF = ELF{
	CPU: "loongarch64",
	Relocations: []Relocation{{1, Absolute, 4}, {2, Absolute, 8}, {8, Absolute, 4}, {9, Absolute, 8},
		{47, AddTo, 1}, {48, AddTo, 2}, {50, AddTo, 4}, {51, AddTo, 8}, {52, SubFrom, 1}, {53, SubFrom, 2}, {55, SubFrom, 4}, {56, SubFrom, 8},
		{99, Relative, 4}, {105, AddTo6, 1}, {106, SubFrom6, 1}, {107, AddULEB, 0}, {108, SubULEB, 0}, {109, Relative, 8}},
	Slots: []uint32{2, 5}, // a plain word in the place of GLOB_DAT
	Stubs: loongArchStubs,
}

// loongArchStubs: pcaddu12i t3, high; ld.d t3, t3, low; jirl t1, t3, 0; nop.
func loongArchStubs(p *PLT, found func(Stub)) {
	code := p.Code
	for i := 0; i+12 <= len(code); i += 4 {
		high, load, jump := le32(code[i:]), le32(code[i+4:]), le32(code[i+8:])
		if high&0xfe00001f != 0x1c00000f || load&0xffc003ff != 0x28c001ef || jump != 0x4c0001ed {
			continue
		}
		slot := p.Address + uint64(i) + uint64(int64(int32(high<<7&0xfffff000))) + uint64(int64(int32(load<<10)>>20))
		found(Stub{At: p.Address + uint64(i), Size: 16, Slot: slot})
	}
}
