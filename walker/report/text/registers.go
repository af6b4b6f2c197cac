package text

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
)

// maxWidth is the width in columns at which Breakpad breaks register lines.
const maxWidth = 80

// registerForm says how the registers of a CPU are printed (PrintStack in stackwalk_common.cc): which
// and in which order, nil for all; from whenComplete on only if a frame knows them all, as a thread's
// context does, 0 for nowhere; and digits of a value, 0 for the word size.
type registerForm struct {
	names        []string
	whenComplete int
	digits       int
}

var mipsRegisters = []string{"gp", "sp", "fp", "ra", "pc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"}

var registerForms = map[*cpu.Arch]registerForm{
	cpu.X86:    {whenComplete: 6},
	cpu.PPC:    {names: []string{"srr0", "r1"}},
	cpu.SPARC:  {names: []string{"sp", "fp", "pc"}},
	cpu.MIPS:   {names: mipsRegisters, digits: 16}, // in the 64-bit CPU's form
	cpu.MIPS64: {names: mipsRegisters},
}

// writeRegisters prints " name = 0x…" for each known register. The caller has printed a space,
// which does not count as a column.
func writeRegisters(b *printer, regs *cpu.Regs) {
	if regs == nil || regs.Arch == nil {
		return
	}
	arch := regs.Arch
	form := registerForms[arch]
	names := form.names
	if names == nil {
		names = arch.Names
	}
	if form.whenComplete > 0 && !regs.AllKnown() {
		names = names[:form.whenComplete]
	}
	digits := cmp.Or(form.digits, arch.WordSize*2)
	column := 0
	for _, name := range names {
		reg := cpu.Reg(slices.Index(arch.Names, name))
		v, known := regs.Get(reg)
		if !known {
			continue
		}
		s := fmt.Sprintf(" %5s = 0x%0*x", name, digits, v)
		if column+len(s) > maxWidth {
			column = 0
			b.printf("\n ")
		}
		b.printf("%s", s)
		column += len(s)
	}
}
