package cpu

import "encoding/binary"

// AMD64 is the 64-bit Intel and AMD architecture. DWARF numbers are those of the System V x86-64
// psABI, figure 3.36; number 16 is the return address column.
var AMD64 = newArch(&Arch{regs: registers{
	names: "rax rdx rcx rbx rsi rdi rbp rsp r8-15 rip",
	order: "rax rbx rcx rdx rsi rdi rbp rsp r8-15 rip",
	pc:    "rip", sp: "rsp", fp: "rbp",
	saved: "rbx rbp r12-15",
	dwarf: "rax rdx rcx rbx rsi rdi rbp rsp r8-15 rip",
},
	Name:     "amd64",
	WordSize: 8,
	CallSize: 1,
	// caller: rsp = rbp + 16, rip = [rbp + 8], rbp = [rbp]
	Frame:     FrameLayout{Style: FrameRecord, CFAOffset: 16, RAOffset: -8, FPOffset: -16},
	Canonical: canonical48,
	Conventions: Conventions{
		EqualSP: EqualSPNever, FPCheck: FPInStack, ScanFP: ScanFPPointed,
		WindowsTables: true, NoFaultAddress: true,
	},
	Formats: Formats{
		Processors:  []uint16{9},
		Module:      "x86_64",
		ELFMachines: [3]uint16{62}, PEMachines: [3]uint16{0x8664}, MachO: 0x1000007, SFrameLittle: 3,
		CoreLines: "0 8 r15 r14 r13 r12 rbp rbx r11 r10 r9 r8 rax rcx rdx rsi rdi _ rip\n136 2 cs\n144 4 eflags\n152 8 rsp\n160 2 ss\n168 8 fs_base gs_base\n184 2/8 ds es fs gs",
		// an FXSAVE area (struct user_i387_struct)
		CoreSets: []CoreSet{{Type: noteFloat, Lines: `
			0	2	fctrl fstat
			4	1	ftag _
			6	2	fop
			8	4	fioff
			12	2	fiseg _
			16	4	fooff
			20	2	foseg _
			24	4	mxcsr mxcsr_mask
			32	10/16	st0-7
			160	16	xmm0-15
			`}, {Type: NoteXState}},
	},
	Code: Code{IsCall: isX86Call, CallBytes: 8, Target: x86Target, Jump: x86Jump, JumpAlign: 1, Leaves: x86Leaves, Stubs: func(p *PLT, found func(Stub)) { x86Stubs(p, true, found) }, Instructions: DecodedX86, Signals: []SignalReturn{
		{Unit: 1, Code: []uint32{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}, At: 40, Info: 304, Trap: 200, Fault: 216, Lines: amd64Signal}, // mov $15, %rax; syscall
		{Unit: 1, Code: []uint32{0xb8, 15, 0, 0, 0, 0x0f, 0x05}, At: 40, Info: 304, Trap: 200, Fault: 216, Lines: amd64Signal},             // mov $15, %eax; syscall
	}},
	Contexts: []*ContextLayout{
		// LLDB's record; LLDB sets no more (lldb's RegisterContextMinidump_x86_64.h,
		// MinidumpContext_x86_64). That of LLDB 16 has 16 bytes less at its end.
		{Flag: 0x00100000, FlagsAt: 48, Size: 736, Short: true, Lines: amd64Integers + "256	480	_"},
		{Flag: 0x00100000, FlagsAt: 48, Size: 720, Short: true, Lines: amd64Integers + "256	464	_"},
		// winnt.h CONTEXT, XMM_SAVE_AREA32; minidump_cpu_amd64.h MDRawContextAMD64,
		// MDXmmSaveArea32AMD64; format.rs 976 and 923. From 256 on it is the FXSAVE area (Intel SDM
		// vol. 1, table 10-2).
		{Flag: 0x00100000, FlagsAt: 48, Size: 1232, XState: true, Lines: amd64Integers + `
			256	2	fctrl fstat
			260	1	ftag _
			262	2	fop
			264	4	fioff
			268	2	fiseg _
			272	4	fooff
			276	2	foseg _
			280	4	mxcsr mxcsr_mask
			288	10/16	st0-7
			298	6/16	_ _ _ _ _ _ _ _
			416	16	xmm0-15
			672	96	_
			768	16	v0-25
			1184	8	vector_control debug_control last_branch_to_rip last_branch_from_rip last_exception_to_rip last_exception_from_rip
			`},
	},
})

// amd64Integers is the beginning of all forms of the record.
const amd64Integers = `
			0	8	p1-6_home
			52	4	mx_csr
			56	2	cs ds es fs gs ss
			68	4	eflags
			72	8	dr0-3 dr6-7
			120	8	rax rcx rdx rbx rsp rbp rsi rdi r8-15 rip
`

// amd64Signal is the sigcontext of Linux (arch/x86/include/uapi/asm/sigcontext.h, struct
// sigcontext_64). The handler's return has popped the first word of the rt_sigframe
// (arch/x86/include/asm/sigframe.h), which is followed by its ucontext.
const amd64Signal = "0 8 r8-15 rdi rsi rbp rbx rdx rax rcx rsp rip"

// canonical48: bits 47 to 63 of a 48-bit virtual address are all equal. Both peers use these
// limits, also on machines with five-level paging, where user space asks for the larger addresses
// explicitly.
func canonical48(a uint64) bool {
	return a <= 0x00007fffffffffff || a >= 0xffff800000000000
}

var amd64ELF = ELF{
	CPU: "amd64",
	Relocations: []Relocation{{1, Absolute, 8}, {2, Relative, 4}, {4, Relative, 4}, {10, Absolute, 4}, {11, Absolute, 4}, {12, Absolute, 2},
		{13, Relative, 2}, {14, Absolute, 1}, {15, Relative, 1}, {17, Absolute, 8}, {21, Absolute, 4}, {24, Relative, 8}},
	Slots: []uint32{6, 7},
	Stubs: func(p *PLT, found func(Stub)) { x86Stubs(p, true, found) },
}

// x86Stubs looks for the indirect jump: ff 25 with a 32-bit displacement, which is relative to the
// next instruction on amd64 and an address on x86; ff a3 on x86 is relative to ebx, the table of
// slots. It may be preceded by a bnd prefix (f2) and endbr (f3 0f 1e fa or fb).
func x86Stubs(p *PLT, amd64 bool, found func(Stub)) {
	code := p.Code
	for i := 0; i+6 <= len(code); i++ {
		if code[i] != 0xff || code[i+1] != 0x25 && code[i+1] != 0xa3 {
			continue
		}
		disp := uint64(int64(int32(p.Order.Uint32(code[i+2:]))))
		slot := disp
		switch {
		case code[i+1] == 0xa3:
			slot = p.Table + disp
		case amd64:
			slot = p.Address + uint64(i) + 6 + disp
		}
		start := i
		if start > 0 && code[start-1] == 0xf2 {
			start--
		}
		if start >= 4 && code[start-4] == 0xf3 && code[start-3] == 0x0f && code[start-2] == 0x1e && code[start-1]&^1 == 0xfa {
			start -= 4
		}
		found(Stub{At: p.Address + uint64(start), Slot: slot})
	}
}

// isX86Call reports whether some call instruction ends with the last byte. Instructions have no
// fixed size, so every length that a call can have is tried (Intel SDM volume 2A, CALL):
//
//	E8 rel32          5 bytes
//	FF /2 ModRM …     2 to 7 bytes, and a REX or segment prefix before it
func isX86Call(b []byte, _ uint64, _ binary.ByteOrder) bool {
	n := len(b)
	return n >= 5 && b[n-5] == 0xe8 || isX86Indirect(b)
}

// isX86Indirect: the second of the two.
func isX86Indirect(b []byte) bool {
	return endsInFF(b, 2)
}

// x86Leaves: FF /4 is JMP.
func x86Leaves(b []byte) bool { return endsInFF(b, 4) }

// endsInFF: the last instruction is FF with a number in the middle of its ModRM byte.
func endsInFF(b []byte, number byte) bool {
	n := len(b)
	for size := 2; size <= 7 && size <= n; size++ {
		if b[n-size] == 0xff && b[n-size+1]>>3&7 == number && modRMSize(b[n-size+1:]) == size-1 {
			return true
		}
	}
	return false
}

// x86Target is where E8 goes. Bytes that may be either call are taken for the other one, which may go
// anywhere.
func x86Target(b []byte, next uint64, _ binary.ByteOrder) (uint64, bool) {
	n := len(b)
	if n < 5 || b[n-5] != 0xe8 || isX86Indirect(b) {
		return 0, false
	}
	return next + uint64(int64(int32(le32(b[n-4:])))), true
}

// x86Jump (Intel SDM volume 2A, JMP and Jcc):
//
//	EB, 70 to 7F rel8       2 bytes
//	E9 rel32                5 bytes
//	0F, 80 to 8F rel32      6 bytes
func x86Jump(b []byte, at uint64, _ binary.ByteOrder) (uint64, bool) {
	switch {
	case len(b) < 6:
	case b[0] == 0xeb, b[0]&0xf0 == 0x70:
		return at + 2 + uint64(int64(int8(b[1]))), true
	case b[0] == 0xe9:
		return at + 5 + uint64(int64(int32(le32(b[1:])))), true
	case b[0] == 0x0f && b[1]&0xf0 == 0x80:
		return at + 6 + uint64(int64(int32(le32(b[2:])))), true
	}
	return 0, false
}

// modRMSize returns the length of the ModRM byte with SIB and displacement; 0 if it is cut off.
func modRMSize(b []byte) int {
	mod, rm := b[0]>>6, b[0]&7
	size := 1
	if mod == 3 {
		return size
	}
	base := rm
	if rm == 4 {
		if len(b) < 2 {
			return 0
		}
		base = b[1] & 7
		size++
	}
	switch {
	case mod == 1:
		size++
	case mod == 2, mod == 0 && base == 5:
		size += 4
	}
	return size
}
