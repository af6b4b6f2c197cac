package cpu

import "encoding/binary"

// ARM is the 32-bit ARM architecture. The order is Breakpad's: r12 precedes the registers that have
// a role. Symbol files call those by number or by role; both are understood. FP is r11, and r7 on
// iOS. DWARF numbers are those of "DWARF for the Arm Architecture", section 4.1.
var ARM = newArch(&Arch{regs: registers{
	names:   "r0-10 r12 fp sp lr pc",
	order:   "r0-10 fp r12 sp lr pc",
	aliases: "ip=r12 r11=fp r13=sp r14=lr r15=pc",
	pc:      "pc", sp: "sp", fp: "fp", lr: "lr", iosFP: "r7",
	saved: "r4-10 fp",
	dwarf: "r0-10 fp r12 sp lr pc",
},
	Name:     "arm",
	WordSize: 4,
	CallSize: 2,
	// caller (frames that push {fp, lr} and point fp at the pair): sp = fp + 8, pc = [fp + 4], fp =
	// [fp]
	Frame: FrameLayout{Style: FrameRecord, CFAOffset: 8, RAOffset: -4, FPOffset: -8},
	Conventions: Conventions{
		EqualSP: EqualSPInterrupted, FPCheck: FPUnchecked, ScanFP: ScanFPUnknown, GoReserved: 1,
		FPOnlyOnIOS: true, LinkStale: true,
	},
	Formats: Formats{
		Processors:  []uint16{5, 13}, // 13: on 64-bit Windows
		PlainCFI:    true,
		ELFMachines: [3]uint16{40}, PEMachines: [3]uint16{0x1c0, 0x1c2, 0x1c4}, MachO: 12, // ARM, Thumb and ARMNT
		CoreLines: "0 4 r0-10 fp r12 sp lr pc cpsr",
		CoreSets:  []CoreSet{{Type: noteARMVFP, Lines: "0 8 d0-31\n256 4 fpscr"}}, // struct user_vfp
	},
	Code: Code{IsCall: isARMCall, CallBytes: 8, Target: armTarget, Jump: armJump, JumpAlign: 2, Stubs: armStubs, ThumbBit: true, Instructions: NotDecoded, LittleCode: true, Signals: []SignalReturn{
		// mov r7, #173; svc #0. The kernel's own has the number in the svc too, as it was before
		// EABI. Thumb has mov and svc of two bytes, and in glibc mov.w of four. 119 instead of 173 is
		// for handlers without SA_SIGINFO.
		{Unit: 4, Code: []uint32{0xe3a070ad, 0xef000000}, At: 128 + 20, Lines: armSignal},
		{Unit: 4, Code: []uint32{0xe3a070ad, 0xef9000ad}, At: 128 + 20, Lines: armSignal},
		{Unit: 2, Code: []uint32{0x27ad, 0xdf00}, At: 128 + 20, Lines: armSignal},
		{Unit: 2, Code: []uint32{0xf04f, 0x07ad, 0xdf00}, At: 128 + 20, Lines: armSignal},
		{Unit: 4, Code: []uint32{0xe3a07077, 0xef000000}, At: 20, Lines: armSignal, Plain: true},
		{Unit: 4, Code: []uint32{0xe3a07077, 0xef900077}, At: 20, Lines: armSignal, Plain: true},
		{Unit: 2, Code: []uint32{0x2777, 0xdf00}, At: 20, Lines: armSignal, Plain: true},
		{Unit: 2, Code: []uint32{0xf04f, 0x0777, 0xdf00}, At: 20, Lines: armSignal, Plain: true},
	}},
	Contexts: []*ContextLayout{
		// winnt.h CONTEXT of 32-bit ARM, which both peers refuse. The general registers are where
		// Breakpad has them.
		{Flag: 0x00200000, CEFlag: 0x40, Size: 416, Lines: `
			4	4	r0-10 fp r12 sp lr pc cpsr fpscr _
			80	8	d0-31
			336	4	bvr0-7 bcr0-7 wvr0 wcr0 _ _
			`},
		// minidump_cpu_arm.h MDRawContextARM, MDFloatingSaveAreaARM; format.rs 1049 and 1037
		{Flag: 0x40000000, CEFlag: 0x40, Size: 368, Lines: `
			4	4	r0-10 fp r12 sp lr pc cpsr
			72	8	fpscr d0-31
			336	4	fpextra0-7
			`},
	},
})

// armSignal is the sigcontext of Linux (arch/arm/include/uapi/asm/sigcontext.h), which is 20 bytes
// behind the ucontext's beginning. A sigframe begins with the ucontext, an rt_sigframe with a siginfo
// of 128 bytes (arch/arm/kernel/signal.h).
const armSignal = "12 4 r0-10 fp r12 sp lr pc"

// isARMCall: BL and BLX with an immediate, BLX with a register, and, from before ARMv5, any branch
// after MOV lr, pc (Arm ARM, A8.8.25, A8.8.26).
func isARMCall(b []byte, next uint64, _ binary.ByteOrder) bool {
	if next&1 != 0 {
		return isThumbCall(b)
	}
	before, w := le32(b), le32(b[4:])
	switch {
	case w>>28 == 0xf:
		return w>>25 == 0x7d
	case w>>24&0xf == 0xb, w&0x0ffffff0 == 0x012fff30:
		return true
	}
	return before&0x0fffffff == 0x01a0e00f
}

// isThumbCall: BL and BLX with an immediate are two halves, BLX and BLXNS with a register are the
// second alone (Arm ARM, A6.7.18, A6.7.19).
func isThumbCall(b []byte) bool {
	first, second := binary.LittleEndian.Uint16(b[4:]), binary.LittleEndian.Uint16(b[6:])
	return first&0xf800 == 0xf000 && second&0xc000 == 0xc000 || second&0xff83 == 0x4780
}

// armTarget returns where BL and BLX with an immediate go (Arm ARM, A8.8.25).
func armTarget(b []byte, next uint64, _ binary.ByteOrder) (uint64, bool) {
	b = b[len(b)-4:]
	if next&1 != 0 {
		return thumbTarget(next&^1, binary.LittleEndian.Uint16(b), binary.LittleEndian.Uint16(b[2:]))
	}
	w := le32(b)
	far := int64(int32(w<<8)>>6) + int64(next) + 4 // pc is two instructions ahead
	switch {
	case w>>25 == 0x7d:
		return uint64(far + int64(w>>23&2)), true
	case w>>28 != 0xf && w>>24&0xf == 0xb:
		return uint64(far), true
	}
	return 0, false
}

// armJump returns where B goes (Arm ARM, A8.8.18), in Thumb's encodings T2, T3 and T4.
func armJump(b []byte, at uint64, _ binary.ByteOrder) (uint64, bool) {
	if len(b) < 4 {
		return 0, false
	}
	if at&1 == 0 {
		w := le32(b)
		return at + 8 + uint64(signed(w, 24)*4), w>>28 != 0xf && w>>24&0xf == 0xa && at&3 == 0
	}
	first, second := uint32(binary.LittleEndian.Uint16(b)), uint32(binary.LittleEndian.Uint16(b[2:]))
	switch {
	case first&0xf800 == 0xe000:
		return at + 4 + uint64(signed(first, 11)*2), true
	case first&0xf800 == 0xf000 && second&0xd000 == 0x9000: // the offset is that of BL
		to, _ := thumbTarget(at&^1+4, uint16(first), uint16(second|0xd000))
		return to | 1, true
	case first&0xf800 == 0xf000 && second&0xd000 == 0x8000 && first>>7&7 != 7:
		w := first>>10&1<<19 | second>>11&1<<18 | second>>13&1<<17 | first&0x3f<<11 | second&0x7ff
		return at + 4 + uint64(signed(w, 20)*2), true
	}
	return 0, false
}

// thumbTarget is armTarget of Thumb's two halves, encodings T1 and T2.
func thumbTarget(next uint64, first, second uint16) (uint64, bool) {
	if first&0xf800 != 0xf000 || second&0xc000 != 0xc000 {
		return 0, false
	}
	sign := int64(first>>10) & 1
	i1, i2 := ^(int64(second>>13)^sign)&1, ^(int64(second>>11)^sign)&1
	far := -sign<<24 | i1<<23 | i2<<22 | int64(first&0x3ff)<<12 | int64(second&0x7ff)<<1
	at := int64(next)
	if second&0x1000 == 0 { // BLX: to ARM code, from an aligned pc
		at &^= 3
	}
	return uint64(at + far), true
}

var armELF = ELF{
	CPU:            "arm",
	Relocations:    []Relocation{{2, Absolute, 4}, {3, Relative, 4}, {5, Absolute, 2}, {8, Absolute, 1}, {38, Absolute, 4}, {42, Relative31, 4}, {106, Absolute, 4}},
	Slots:          []uint32{21, 22},
	Stubs:          armStubs,
	MappingSymbols: true,
	ThumbSymbols:   true,
}

// armStubs: one to three "add ip, pc|ip, #immediate", then "ldr pc, [ip, #offset]!"; lld's long
// form has "ldr ip, [pc, #4]; add ip, ip, pc; ldr pc, [ip]". Thumb callers enter 4 bytes earlier,
// at "bx pc; nop".
func armStubs(p *PLT, found func(Stub)) {
	code, at, word := p.Code, p.Address, p.Order.Uint32
	if p.Flags&0x00800000 != 0 { // EF_ARM_BE8: data is big-endian, instructions are not
		word = le32
	}
	for i := 0; i+8 <= len(code); i += 4 {
		ip := uint32(0)
		n := i
		switch w := word(code[i:]); {
		case w&0xfffff000 == 0xe28fc000: // add ip, pc, #
			ip = uint32(at) + uint32(i) + 8 + armImmediate(w)
			n += 4
		case w == 0xe59fc004 && i+16 <= len(code) && word(code[i+4:]) == 0xe08cc00f:
			ip = p.Order.Uint32(code[i+12:]) + uint32(at) + uint32(i) + 12
			n += 8
		default:
			continue
		}
		for n+4 <= len(code) && word(code[n:])&0xfffff000 == 0xe28cc000 { // add ip, ip, #
			ip += armImmediate(word(code[n:]))
			n += 4
		}
		if n+4 > len(code) {
			return
		}
		ldr := word(code[n:])
		if ldr&0xfffff000 != 0xe5bcf000 && ldr&0xfffff000 != 0xe59cf000 { // ldr pc, [ip, #]! and without "!"
			continue
		}
		start := i
		if i >= 4 && word(code[i-4:]) == 0x46c04778 { // bx pc; nop
			start -= 4
		}
		found(Stub{At: at + uint64(start), Slot: uint64(ip + ldr&0xfff)})
		i = n
	}
}

// armImmediate returns an operand of 8 bits, rotated right by twice the 4 bits above.
func armImmediate(w uint32) uint32 {
	v, by := w&0xff, w>>8&15*2
	return v>>by | v<<(32-by)
}
