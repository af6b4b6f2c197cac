package text

import (
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
)

// exceptions has the CPUs for which Breakpad does not simply print all registers of the CPU's table, in its order, with two hexadecimal
// digits for each byte.
//
// Source: PrintStack in stackwalk_common.cc.
var exceptions = map[string]struct {
	// names are the printed registers. nil means all.
	names []string
	// whenComplete is the index in the CPU's table from which on registers are printed only if all are known, as in a thread's
	// context. 0 means that all known registers are printed.
	whenComplete int
	// digits is the number of hexadecimal digits of a value. 0 means two for each byte of the word size.
	digits int
}{
	"x86":    {whenComplete: 6},              // eax ecx edx efl
	"mips":   {names: mipsNames, digits: 16}, // a 32-bit CPU, in the 64-bit one's form
	"mips64": {names: mipsNames},
	"ppc":    {names: []string{"srr0", "r1"}},
	"sparc":  {names: []string{"sp", "fp", "pc"}},
}

var mipsNames = []string{"gp", "sp", "fp", "ra", "pc", "s0", "s1", "s2", "s3", "s4", "s5", "s6", "s7"}

// maxWidth is the width in columns at which Breakpad breaks register lines.
const maxWidth = 80

// writeRegisters prints " name = 0x…" for each known register. The caller has printed a space, which does not count as a column.
func writeRegisters(b *printer, regs *cpu.Regs) {
	if regs == nil || regs.Arch == nil {
		return
	}
	arch := regs.Arch
	except := exceptions[arch.Name]
	names := arch.Names
	if except.names != nil {
		names = except.names
	}
	if except.whenComplete > 0 && !regs.AllKnown() {
		names = names[:except.whenComplete]
	}
	digits := arch.WordSize * 2
	if except.digits > 0 {
		digits = except.digits
	}
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
