package cpu

import "slices"

// PPC and PPC64 are the 32-bit and 64-bit PowerPC architectures. The program counter is the one that the machine saves at an
// exception, srr0. DWARF numbers are those of the Power Architecture ABI supplement, table 3.37 (and GCC's): 0 to 31 are the
// general registers, 65 is lr, 66 ctr, 76 xer; the supplement's own numbers of those, which compilers use in .debug_frame, are
// 100 and the number of the special purpose register: 108, 109, 101. The condition register has no number of its own, only its eight fields have.
//
// Frames form a chain through r1 (Breakpad's stackwalker_ppc.cc and stackwalker_ppc64.cc): the word at r1 is the caller's r1,
// and the callee has put its return address into its caller's frame.
//
//	ppc:   caller: r1 = [r1], srr0 = [caller's r1 + 8]
//	ppc64: caller: r1 = [r1], srr0 = [caller's r1 + 16]
var (
	PPC   = newPPC("ppc", 4, 8)
	PPC64 = newPPC("ppc64", 8, 16)
)

func newPPC(name string, word int, ra int64) *Arch {
	general := numbered("r", 32)
	dwarf := append(slices.Clone(general), make([]string, 78)...) // "" has no register
	dwarf[65], dwarf[66], dwarf[76] = "lr", "ctr", "xer"
	dwarf[108], dwarf[109], dwarf[101] = "lr", "ctr", "xer"
	return newArch(Arch{
		Name:     name,
		Names:    append(append([]string{"srr0"}, general...), "lr", "ctr", "cr", "xer"),
		Aliases:  map[string]Reg{"pc": 0, "sp": 2},
		WordSize: word,
		CallSize: 4,
		Frame:    FrameLayout{Style: BackChain, RAOffset: ra},
	}, roles{pc: "srr0", sp: "r1", fp: "r31", lr: "lr"}, general[14:], dwarf)
}
