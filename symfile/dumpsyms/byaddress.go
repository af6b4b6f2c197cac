package dumpsyms

import (
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// maxByAddress bounds the code of which byAddress asks every byte.
const maxByAddress = 1 << 20

// byAddress says a cfa that an expression finds from the program counter and the stack pointer alone, which the format has no words
// for, as one rule for each address. Linkers describe the stubs of .plt so, one entry for all of them: within a stub of 16 bytes a
// word is pushed at byte 11.
func (w *cfiWriter) byAddress(start, end uint64, row unwind.Row, add func(start, end uint64, row *unwind.Row) string) bool {
	if row.CFA.Kind != unwind.Program || end-start > maxByAddress {
		return false
	}
	cfa := func(pc, sp uint64) (int64, bool) {
		regs := cpu.Regs{Arch: w.arch}
		regs.Set(w.arch.PC, pc)
		regs.Set(w.arch.SP, sp)
		r := unwind.Row{CFA: row.CFA, RA: unwind.Rule{Kind: unwind.Const}}
		caller, _, err := r.Apply(&regs, nothing{}, nil)
		return int64(caller.SP() - sp), err == nil
	}
	// The module lies anywhere, and so does the stack.
	const module, stack, other = 0x55550000, 0x7ff01000, 0x66670008
	distance := func(rva uint64) (int64, bool) {
		a, ok := cfa(rva, stack)
		b, ok2 := cfa(rva+module, other)
		return a, ok && ok2 && a == b
	}
	for at := start; at < end; {
		d, ok := distance(at)
		if !ok {
			return false // at the first address, where there is any doubt
		}
		from := at
		for at++; at < end; at++ {
			if next, ok := distance(at); !ok || next != d {
				break
			}
		}
		plain := row
		plain.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: w.arch.SP, Offset: d}
		if add(from, at, &plain) != "" {
			return false
		}
	}
	return true
}

// nothing is memory of which nothing is known.
type nothing struct{}

func (nothing) Word(uint64, int) (uint64, bool) { return 0, false }
