package dumpsyms

import "github.com/crashpane/crashpane/core/cpu"

// archWords are the words of MODULE records for processors. Source: Breakpad, src/common/linux/dump_symbols.cc (ElfArchitecture),
// and the words that its minidump_processor has for what that function does not know; symbolic's Arch::name, which Mozilla's
// dump_syms prints, has the same.
var archWords = map[*cpu.Arch]string{
	cpu.X86: "x86", cpu.AMD64: "x86_64", cpu.ARM: "arm", cpu.ARM64: "arm64", cpu.MIPS: "mips", cpu.MIPS64: "mips64",
	cpu.PPC: "ppc", cpu.PPC64: "ppc64", cpu.SPARC: "sparc", cpu.RISCV: "riscv", cpu.RISCV64: "riscv64", cpu.S390X: "s390x",
}

// Arch is a MODULE record's word for a processor: "x86_64"; "unknown" for nil.
func Arch(a *cpu.Arch) string {
	if w, ok := archWords[a]; ok {
		return w
	}
	return "unknown"
}

// plainNames are the processors whose registers are written without "$" in STACK CFI records. Breakpad's readers look up exactly
// the names that its dump_syms writes.
//
// Source: Breakpad, src/common/dwarf_cfi_to_module.cc (RegisterNames).
var plainNames = map[*cpu.Arch]bool{cpu.ARM: true, cpu.ARM64: true, cpu.RISCV: true, cpu.RISCV64: true}
