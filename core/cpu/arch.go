package cpu

// All are the CPUs that have a table. Adding one: a file with its table, a line here, its context's layout in core, and the
// walker's scenarios run for it.
func All() []*Arch { return []*Arch{X86, AMD64, ARM, ARM64} }

// ByName finds a CPU by its stable name, or nil.
func ByName(name string) *Arch {
	for _, a := range All() {
		if a.Name == name {
			return a
		}
	}
	return nil
}

// roles names the registers with a role; "" where the CPU has none.
type roles struct{ pc, sp, fp, lr string }

// newArch turns the names in a table into register numbers. The tables are fixed at compile time, so a name that does not
// exist is a mistake in this package and panics when the program starts.
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
