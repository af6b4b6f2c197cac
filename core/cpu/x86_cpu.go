package cpu

// X86 is the 32-bit Intel architecture. The order of the names is the one in which Breakpad's
// stackwalk_common.cc prints them; DWARF numbers are those of the System V i386 psABI, table 2.14.
var X86 = newArch(&Arch{regs: registers{
	names:   "eip esp ebp ebx esi edi eax ecx edx efl",
	order:   "eax ebx ecx edx esi edi ebp esp eip efl",
	aliases: "eflags=efl", // rust-minidump's spelling
	pc:      "eip", sp: "esp", fp: "ebp",
	saved: "ebp ebx esi edi",
	dwarf: "eax ecx edx ebx esp ebp esi edi eip efl",
},
	Name:     "x86",
	WordSize: 4,
	CallSize: 1,
	// caller: esp = ebp + 8, eip = [ebp + 4], ebp = [ebp]
	Frame: FrameLayout{Style: FrameRecord, CFAOffset: 8, RAOffset: -4, FPOffset: -8},
	Conventions: Conventions{
		EqualSP: EqualSPNever, FPCheck: FPUnchecked, ScanFP: ScanFPAbove,
		NoFaultAddress: true, StackWIN: true, SwappedDWARF: true,
	},
	Formats: Formats{
		// Both peers have a word of their own, or none, for a program of 32 bits whose dump
		// Windows' 64-bit debugger wrote (10), and for one on Windows for ARM (14).
		Processors: []uint16{0, 10, 14},
		Words:      []string{"i386", "i686"}, Underscore: true,
		ELFMachines: [3]uint16{3}, PEMachines: [3]uint16{0x14c}, MachO: 7,
		CoreLines: "0 4 ebx ecx edx esi edi ebp eax\n28 2/4 ds es fs gs\n44 4 _ eip\n52 2 cs\n56 4 efl esp\n64 2 ss",
		// struct user_i387_ia32_struct, and an FXSAVE area (struct user_fxsr_struct)
		CoreSets: []CoreSet{{Type: noteFloat, Lines: "0 4 fctrl fstat ftag fioff fiseg fooff foseg\n28 10 st0-7"},
			{Type: noteX86FXSave, Lines: "24 4 mxcsr mxcsr_mask\n160 16 xmm0-7"}, {Type: NoteXState}},
	},
	Code: Code{IsCall: isX86Call, CallBytes: 8, Target: x86Target, Jump: x86Jump, JumpAlign: 1, Leaves: x86Leaves, Stubs: func(p *PLT, found func(Stub)) { x86Stubs(p, false, found) }, Instructions: DecodedX86, Signals: []SignalReturn{
		{Unit: 1, Code: []uint32{0xb8, 173, 0, 0, 0, 0xcd, 0x80}, At: 160, Info: 12, Trap: 208, Fault: 244, Lines: x86Signal},      // mov $173, %eax; int $0x80
		{Unit: 1, Code: []uint32{0x58, 0xb8, 119, 0, 0, 0, 0xcd, 0x80}, At: 4, Trap: 52, Fault: 88, Lines: x86Signal, Plain: true}, // pop %eax; mov $119, %eax; int $0x80
	}},
	// eax, ecx, edx and efl are printed for the thread's context only.
	Contexts: []*ContextLayout{
		// winnt.h CONTEXT; minidump_cpu_x86.h MDRawContextX86, MDFloatingSaveAreaX86; format.rs
		// 1384 and 1366. The last 512 bytes are an FXSAVE area (Intel SDM vol. 1, table 10-2),
		// which repeats the x87 registers.
		{Flag: 0x00010000, Size: 716, XState: true, Lines: `
			4	4	dr0-3 dr6-7
			28	4	fctrl fstat ftag fioff fiseg fooff foseg
			56	10	st0-7
			136	4	cr0_npx gs fs es ds edi esi ebx edx ecx eax ebp eip cs efl esp ss
			204	2	fx_fctrl fx_fstat
			208	1	fx_ftag _
			210	2	fx_fop
			212	4	fx_fioff
			216	2	fx_fiseg _
			220	4	fx_fooff
			224	2	fx_foseg _
			228	4	mxcsr mxcsr_mask
			236	10/16	fx_st0-7
			246	6/16	_ _ _ _ _ _ _ _
			364	16	xmm0-7
			492	224	_
			`},
	},
})

// x86Signal is the sigcontext of Linux (arch/x86/include/uapi/asm/sigcontext.h, struct
// sigcontext_32). At the code's first instruction the stack pointer is at the handler's arguments
// (arch/x86/include/asm/sigframe.h): the signal's number, followed by the sigcontext; or three
// arguments, the siginfo of 128 bytes, and the ucontext, whose sigcontext is 20 bytes behind.
const x86Signal = "16 4 edi esi ebp esp ebx edx ecx eax _ _ eip _ efl"

var x86ELF = ELF{
	CPU: "x86",
	Relocations: []Relocation{{1, Absolute, 4}, {2, Relative, 4}, {4, Relative, 4}, {20, Absolute, 2}, {21, Relative, 2}, {22, Absolute, 1}, {23, Relative, 1},
		{32, Absolute, 4}},
	Slots: []uint32{6, 7},
	Stubs: func(p *PLT, found func(Stub)) { x86Stubs(p, false, found) },
}
