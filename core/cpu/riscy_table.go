package cpu

import "fmt"

// RISCV and RISCV64 are the 32-bit and 64-bit RISC-V architectures. The order is that of Breakpad's context record: pc, then
// x1 to x31 by their names in the calling convention. x0 is always 0 and no register of anybody's. DWARF numbers are those
// of the RISC-V ELF psABI, section 8.1: 1 to 31 are x1 to x31.
//
// A call has 4 bytes, or 2 where it is compressed; 2 bytes before the return address lies inside of either. (Breakpad
// takes 4, which is the instruction before a compressed call.)
//
// The frame pointer holds the CFA itself (psABI, section "Frame Pointer Convention"). Breakpad's walker reads the
// pair above it, at arm64's place, where no compiler puts it.
//
//	caller: sp = s0, pc = [s0 - word], s0 = [s0 - 2 words]
var (
	RISCV   = newRISCV("riscv", 4)
	RISCV64 = newRISCV("riscv64", 8)
)

var riscvNames = []string{"pc", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "s0", "s1",
	"a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"}

func newRISCV(name string, word int) *Arch {
	aliases := map[string]Reg{"fp": 8}
	for i := 1; i < 32; i++ {
		aliases[fmt.Sprintf("x%d", i)] = Reg(i)
	}
	w := int64(word)
	return newArch(Arch{
		Name:     name,
		Names:    append([]string(nil), riscvNames...),
		Aliases:  aliases,
		WordSize: word,
		CallSize: 2,
		Frame:    FrameLayout{Style: FrameRecord, RAOffset: -w, FPOffset: -2 * w},
	}, roles{pc: "pc", sp: "sp", fp: "s0", lr: "ra"},
		[]string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11"},
		append([]string{""}, riscvNames[1:]...))
}
