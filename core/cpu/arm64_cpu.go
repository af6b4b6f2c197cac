package cpu

import "encoding/binary"

// ARM64 is the 64-bit ARM architecture (AArch64); one register file serves Windows' context layout
// and Breakpad's old one. DWARF numbers are those of "DWARF for the Arm 64-bit Architecture",
// section 4.1: 31 is sp, 32 is pc.
var ARM64 = newArch(&Arch{regs: registers{
	names:   "x0-28 fp lr sp pc",
	aliases: "x29=fp x30=lr x31=sp",
	pc:      "pc", sp: "sp", fp: "fp", lr: "lr",
	saved: "x19-28 fp",
	dwarf: "x0-28 fp lr sp pc",
},
	Name:     "arm64",
	WordSize: 8,
	CallSize: 4,
	// caller: sp = fp + 16, pc = [fp + 8], fp = [fp]
	Frame: FrameLayout{Style: FrameRecord, CFAOffset: 16, RAOffset: -8, FPOffset: -16},
	Conventions: Conventions{
		EqualSP: EqualSPMoved, FPCheck: FPInRange, ScanFP: ScanFPUnknown, GoReserved: 2,
		LinkInRecord: true, LinkAlone: true, PointerAuth: true, TopByteIgnored: true,
		AddressEnd: 1 << 52,
	},
	Formats: Formats{
		Processors: []uint16{12, 0x8003},
		Words:      []string{"aarch64"}, PlainCFI: true,
		ELFMachines: [3]uint16{183}, PEMachines: [3]uint16{0xaa64, 0xa641, 0xa64e}, MachO: 0x100000c, // ARM64, ARM64EC and ARM64X
		CoreLines: "0 8 x0-28 fp lr sp pc\n264 4 cpsr",
		CoreSets:  []CoreSet{{Type: noteFloat, Lines: "0 16 v0-31\n512 4 fpsr fpcr"}}, // struct user_fpsimd_state
		SFrameBig: 1, SFrameLittle: 2,
	},
	Code: Code{SignalsInVDSO: true, IsCall: isARM64Call, CallBytes: 4, Target: arm64Target, Jump: arm64Jump, JumpAlign: 4, Leaves: arm64Leaves, Stubs: arm64Stubs, Instructions: DecodedA64, LittleCode: true, Signals: []SignalReturn{
		// mov x8, #139; svc #0. The rt_sigframe is a siginfo of 128 bytes and a ucontext, whose
		// sigcontext is 176 bytes behind: the fault's address, and the registers
		// (arch/arm64/kernel/signal.c, include/uapi/asm/ucontext.h, sigcontext.h). That has 288 bytes
		// and 4096 for what is extended.
		{Unit: 4, Code: []uint32{0xd2801168, 0xd4000001}, At: 128 + 176, Lines: "8 8 x0-28 fp lr sp pc", Record: 128 + 176 + 288 + 4096},
	}},
	Contexts: []*ContextLayout{
		// winnt.h ARM64_NT_CONTEXT; minidump_cpu_arm64.h MDRawContextARM64,
		// MDFloatingSaveAreaARM64; format.rs 1150
		{Flag: 0x00400000, Size: 912, Lines: `
			4	4	cpsr
			8	8	x0-28 fp lr sp pc
			272	16	v0-31
			784	4	fpcr fpsr bcr0-7
			824	8	bvr0-7
			888	4	wcr0-1
			896	8	wvr0-1
			`},
		// minidump_cpu_arm64.h MDRawContextARM64_Old, packed to 4 bytes,
		// MDFloatingSaveAreaARM64_Old; format.rs 1103
		{What: "old arm64", Usual: 0x8003, Flag: 0x80000000, WideFlags: true, Size: 796, Lines: `
			8	8	x0-28 fp lr sp pc
			272	4	cpsr fpsr fpcr
			284	16	v0-31
			`},
	},
})

// isARM64Call: BL imm26, BLR, and BLR with pointer authentication (Arm ARM, C4.1.66 "Branches").
// Instructions are little-endian whatever the data is.
func isARM64Call(b []byte, _ uint64, _ binary.ByteOrder) bool {
	w := le32(b)
	return w>>26 == 0b100101 || w&0xfffffc1f == 0xd63f0000 || w&0xfefff800 == 0xd63f0800
}

// arm64Target is where BL goes, arm64Jump where B goes, whose offset has 26 bits. Conditional jumps
// reach only 1 MB, and no compiler leaves a function by them.
func arm64Target(b []byte, next uint64, _ binary.ByteOrder) (uint64, bool) {
	w := le32(b)
	return next - 4 + uint64(signed(w, 26)*4), w>>26 == 0b100101
}

func arm64Jump(b []byte, at uint64, _ binary.ByteOrder) (uint64, bool) {
	if len(b) < 4 {
		return 0, false
	}
	w := le32(b)
	return at + uint64(signed(w, 26)*4), w>>26 == 0b000101
}

// arm64Leaves: BR, and BR with pointer authentication.
func arm64Leaves(b []byte) bool {
	if len(b) < 4 {
		return false
	}
	w := le32(b[len(b)-4:])
	return w&0xfffffc1f == 0xd61f0000 || w&0xfefff800 == 0xd61f0800
}

// signed returns the lowest bits of a word as a number with a sign.
func signed(w uint32, bits int) int64 { return int64(w) << (64 - bits) >> (64 - bits) }

var arm64ELF = ELF{
	CPU: "arm64",
	Relocations: []Relocation{{257, Absolute, 8}, {258, Absolute, 4}, {259, Absolute, 2}, {260, Relative, 8}, {261, Relative, 4}, {262, Relative, 2},
		{1029, Absolute, 8}},
	Slots:          []uint32{1025, 1026},
	Stubs:          arm64Stubs,
	MappingSymbols: true,
}

// arm64Stubs: adrp x16, page; ldr x17, [x16, #offset]; …; br x17; perhaps after bti c. x17 may be
// any register.
func arm64Stubs(p *PLT, found func(Stub)) {
	code := p.Code
	for i := 0; i+8 <= len(code); i += 4 {
		adrp, ldr := le32(code[i:]), le32(code[i+4:])
		if adrp&0x9f000000 != 0x90000000 || ldr&0xffc00000 != 0xf9400000 || ldr>>5&31 != adrp&31 {
			continue
		}
		page := int64(adrp>>29&3|adrp>>5&0x7ffff<<2) << 43 >> 43 << 12
		slot := (p.Address+uint64(i))&^0xfff + uint64(page) + uint64(ldr>>10&0xfff)*8
		start := i
		if i >= 4 && le32(code[i-4:]) == 0xd503245f { // bti c
			start -= 4
		}
		found(Stub{At: p.Address + uint64(start), Slot: slot})
	}
}
