package analysis

import "golang.org/x/arch/x86/x86asm"

// Source: Intel SDM volume 2, "Protected Mode Exceptions" and "64-Bit Mode Exceptions" of each
// instruction: those that raise #GP(0) or #GP(selector) for another cause than an address.

// privileged reports whether user code may not execute an instruction, or may not as systems
// configure processors.
func (x *x86Insn) privileged() bool {
	switch x.Op {
	case x86asm.CLI, x86asm.STI, x86asm.CLTS, x86asm.HLT, x86asm.IN, x86asm.OUT, x86asm.INSB, x86asm.INSW, x86asm.INSD,
		x86asm.OUTSB, x86asm.OUTSW, x86asm.OUTSD, x86asm.INVD, x86asm.INVLPG, x86asm.INVPCID, x86asm.LGDT, x86asm.LIDT, x86asm.LLDT,
		x86asm.LMSW, x86asm.LTR, x86asm.RDMSR, x86asm.WRMSR, x86asm.WBINVD, x86asm.SWAPGS, x86asm.SYSRET, x86asm.SYSEXIT,
		x86asm.MONITOR, x86asm.MWAIT, x86asm.XSETBV, x86asm.RSM:
		return true
	case x86asm.MOV:
		return x.operand(x86asm.CR0, x86asm.TR7)
	}
	return false
}

// refused returns why the processor may refuse an instruction that is not privileged, to follow the
// instruction's text, or "".
func (x *x86Insn) refused() string {
	switch x.Op {
	case x86asm.INT, x86asm.INTO:
		return "raises an interrupt that programs may not"
	case x86asm.LDS, x86asm.LES, x86asm.LFS, x86asm.LGS, x86asm.LSS:
		return "loads a segment selector that is not valid"
	case x86asm.MOV, x86asm.POP:
		if r, ok := x.Args[0].(x86asm.Reg); ok && x86asm.ES <= r && r <= x86asm.GS {
			return "loads a segment selector that is not valid"
		}
	case x86asm.IRET, x86asm.IRETD, x86asm.IRETQ, x86asm.LRET, x86asm.LCALL, x86asm.LJMP:
		return "goes to a code segment that is not valid"
	case x86asm.XGETBV, x86asm.RDPMC:
		return "reads a register that the processor does not have or the system keeps"
	case x86asm.RDTSC, x86asm.RDTSCP:
		return "reads the time stamp counter, which the system keeps"
	case x86asm.SGDT, x86asm.SIDT, x86asm.SLDT, x86asm.STR, x86asm.SMSW:
		return "reads a register that the system keeps"
	case x86asm.LDMXCSR, x86asm.FXRSTOR, x86asm.FXRSTOR64, x86asm.XRSTOR, x86asm.XRSTOR64:
		return "sets bits that the processor does not have"
	}
	return ""
}

// operand reports whether one of the operands is a register of a range.
func (x *x86Insn) operand(first, last x86asm.Reg) bool {
	for _, a := range x.Args {
		if r, ok := a.(x86asm.Reg); ok && first <= r && r <= last {
			return true
		}
	}
	return false
}
