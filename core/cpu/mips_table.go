package cpu

import "slices"

// MIPS and MIPS64 are the 32-bit (o32) and 64-bit (n64) MIPS architectures. Both have the same registers; their names are
// those of o32, which Breakpad's symbol files use for both ("$to" is its spelling of t0). DWARF numbers are those of the MIPS
// processor supplement: 0 to 31 are the general registers.
//
// A call is followed by its delay slot, so the return address lies two instructions behind it. There is no chain of
// frame pointers: the return address is where the compiler saw fit.
var (
	MIPS   = newMIPS("mips", 4)
	MIPS64 = newMIPS("mips64", 8)
)

var mipsNames = []string{"zero", "at", "v0", "v1", "a0", "a1", "a2", "a3", "t0", "t1", "t2", "t3", "t4", "t5", "t6", "t7",
	"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "t8", "t9", "k0", "k1", "gp", "sp", "fp", "ra", "pc"}

func newMIPS(name string, word int) *Arch {
	saved := []string{"s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7", "fp"}
	if word == 8 {
		saved = append(saved, "gp") // n64 lets the callee keep its caller's; o32 does not
	}
	return newArch(Arch{
		Name:     name,
		Names:    slices.Clone(mipsNames),
		Aliases:  map[string]Reg{"to": 8, "s8": 30},
		WordSize: word,
		CallSize: 8,
	}, roles{pc: "pc", sp: "sp", fp: "fp", lr: "ra"}, saved, mipsNames[:32])
}
