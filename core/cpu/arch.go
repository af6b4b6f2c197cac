package cpu

import "strconv"

// All are the CPUs that have a table. Adding one: a file with its table, a line here, its context's layout in core, and the
// walker's scenarios run for it.
func All() []*Arch {
	return []*Arch{X86, AMD64, ARM, ARM64, MIPS, MIPS64, PPC, PPC64, SPARC, RISCV, RISCV64, S390X}
}

// ByName finds a CPU by its stable name, or nil.
func ByName(name string) *Arch {
	for _, a := range All() {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// numbered are the names prefix0 to prefix(n-1).
func numbered(prefix string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = prefix + strconv.Itoa(i)
	}
	return out
}

// roles names the registers with a role; "" where the CPU has none.
type roles struct{ pc, sp, fp, lr string }

// newArch turns the names in a table into register numbers. The tables are fixed at compile time, so a name that does not
// exist is a mistake in this package and panics when the program starts.
// An empty DWARF name stands for a number that has no general register.
func newArch(a Arch, r roles, calleeSaved, dwarf []string) *Arch {
	num := func(name string) Reg {
		if name == "" {
			return NoReg
		}
		reg, ok := a.Lookup(name)
		if !ok {
			panic("cpu " + a.Name + ": no register " + name)
		}
		return reg
	}
	if len(a.Names) > MaxRegs {
		panic("cpu " + a.Name + ": too many registers")
	}
	a.PC, a.SP, a.FP, a.LR = num(r.pc), num(r.sp), num(r.fp), num(r.lr)
	for _, n := range calleeSaved {
		a.CalleeSaved = append(a.CalleeSaved, num(n))
	}
	for _, n := range dwarf {
		a.DWARF = append(a.DWARF, num(n))
	}
	return &a
}
