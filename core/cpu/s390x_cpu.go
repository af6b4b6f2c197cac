package cpu

import "encoding/binary"

// S390X is the 64-bit z/Architecture. No writer of minidumps is known for it; the table serves
// unwind data (SFrame has it). The program counter is the address half of the PSW. DWARF numbers
// are those of the s390x ELF ABI supplement, section 1.6.1: 0 to 15 are the general registers, 16
// to 31 the floating-point registers in the order of their pairs, 65 is the PSW's address.
//
// The floating-point registers are here because functions that call nothing keep their return
// address and their caller's registers in them.
//
// Calls have 2, 4 or 6 bytes; 2 bytes before the return address is inside each of them. A frame
// pointer, where there is one, is r11, and points at no record.
var S390X = newArch(&Arch{regs: registers{
	names:   "r0-15 pc f0-15",
	aliases: "pswa=pc sp=r15",
	pc:      "pc", sp: "r15", fp: "r11", lr: "r14",
	saved: "r6-13 f8-15",
	dwarf: "r0-15 f0 f2 f4 f6 f1 f3 f5 f7 f8 f10 f12 f14 f9 f11 f13 f15 65=pc",
},
	Name:        "s390x",
	WordSize:    8,
	CallSize:    2,
	CFABias:     160,
	Conventions: Conventions{EqualSP: EqualSPInterrupted, FPCheck: FPUnchecked, ScanFP: ScanFPUnknown, GoReserved: 1},
	Formats: Formats{Family: "s390", Words: []string{"s390"}, ELFMachines: [3]uint16{22}, SFrameBig: 4, CoreLines: "8 8 pc r0-15",
		// s390_fp_regs; the halves of v0 to v15 that f0 to f15 are not; v16 to v31
		CoreSets: []CoreSet{{Type: noteFloat, Lines: "0 4 fpc\n8 8 f0-15"}, {Type: noteS390Low, Lines: "0 8 v0-15l"}, {Type: noteS390High, Lines: "0 16 v16-31"}}},
	Code: Code{SignalsInVDSO: true, IsCall: isZCall, CallBytes: 6, Target: s390xTarget, Jump: s390xJump, JumpAlign: 2, Stubs: s390xStubs, Instructions: NotDecoded, Signals: []SignalReturn{
		// svc 173, and svc 119 for handlers without SA_SIGINFO. Frames begin with 160 bytes for a
		// callee. An rt_sigframe goes on with the code, a siginfo of 128 bytes and a ucontext, whose
		// registers are at 40; a sigframe with a mask, a pointer to the registers, and those
		// (arch/s390/kernel/signal.c, include/uapi/asm/sigcontext.h).
		{Unit: 2, Code: []uint32{0x0aad}, At: 160 + 8 + 128 + 40, Info: 160 + 8, Lines: zSignal},
		{Unit: 2, Code: []uint32{0x0a77}, At: 160 + 16, Lines: zSignal, Self: 160 + 8, Plain: true},
	}},
})

// zSignal is Linux' _sigregs: the PSW's mask and address, general registers, access registers,
// floating-point control and registers.
const zSignal = "8 8 pc r0-15\n216 8 f0-15"

// isZCall: BRASL of six bytes, BRAS, BAS and BAL of four, BASR, BALR and BASSM of two
// (z/Architecture Principles of Operation, chapter 7).
func isZCall(b []byte, _ uint64, _ binary.ByteOrder) bool {
	n := len(b)
	switch b[n-2] {
	case 0x0d, 0x05, 0x0c:
		return true
	}
	switch b[n-4] {
	case 0x4d, 0x45:
		return true
	case 0xa7:
		return b[n-3]&0xf == 5
	}
	return b[n-6] == 0xc0 && b[n-5]&0xf == 5
}

// s390xTarget is where BRASL goes, s390xJump where BRCL and BRC go always (z/Architecture
// Principles of Operation, chapter 7): offsets count halfwords. A shorter call may end with the
// same bytes; the last two are then BASR's.
func s390xTarget(b []byte, next uint64, _ binary.ByteOrder) (uint64, bool) {
	n := len(b)
	if n < 6 || b[n-6] != 0xc0 || b[n-5]&0xf != 5 || b[n-2] == 0x0d {
		return 0, false
	}
	return next - 6 + uint64(int64(int32(binary.BigEndian.Uint32(b[n-4:])))*2), true
}

func s390xJump(b []byte, at uint64, _ binary.ByteOrder) (uint64, bool) {
	switch {
	case len(b) < 6:
	case b[0] == 0xc0 && b[1] == 0xf4:
		return at + uint64(int64(int32(binary.BigEndian.Uint32(b[2:])))*2), true
	case b[0] == 0xa7 && b[1] == 0xf4:
		return at + uint64(int64(int16(binary.BigEndian.Uint16(b[2:])))*2), true
	}
	return 0, false
}

var s390xELF = ELF{
	CPU: "s390x",
	Relocations: []Relocation{{1, Absolute, 1}, {3, Absolute, 2}, {4, Absolute, 4}, {5, Relative, 4}, {16, Relative, 2}, {22, Absolute, 8},
		{23, Relative, 8}},
	Slots:    []uint32{10, 11},
	Stubs:    s390xStubs,
	WideHash: true,
}

// s390xStubs: larl %r1, slot; lg %r1, 0(%r1); br %r1; … in 32 bytes. larl counts in halfwords from
// itself.
func s390xStubs(p *PLT, found func(Stub)) {
	code := p.Code
	for i := 0; i+14 <= len(code); i += 2 {
		if code[i] == 0xc0 && code[i+1] == 0x10 && code[i+6] == 0xe3 && code[i+7] == 0x10 && code[i+8] == 0x10 {
			disp := int64(int32(p.Order.Uint32(code[i+2:]))) * 2
			found(Stub{At: p.Address + uint64(i), Slot: p.Address + uint64(i) + uint64(disp)})
		}
	}
}
