package text

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
)

// maxWidth is the width in columns at which Breakpad breaks register lines.
const maxWidth = 80

// writeRegisters prints " name = 0x…" for each known register. The caller has printed a space,
// which does not count as a column.
//
// A CPU's table says what Breakpad prints: which registers and in which order (Printed), how many
// of them only if all are known (WhenComplete), and how many digits a value has.
func writeRegisters(b *printer, regs *cpu.Regs) {
	if regs == nil || regs.Arch == nil {
		return
	}
	arch := regs.Arch
	names := arch.Names
	if arch.Printed != nil {
		names = arch.Printed
	}
	if arch.WhenComplete > 0 && !regs.AllKnown() {
		names = names[:arch.WhenComplete]
	}
	digits := cmp.Or(arch.Digits, arch.WordSize*2)
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
