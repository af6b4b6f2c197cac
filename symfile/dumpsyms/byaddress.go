package dumpsyms

import (
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// maxByAddress bounds how many addresses of a file byAddress evaluates: all stubs of a program with
// 30,000 imports.
const maxByAddress = 512 << 10

// byAddress writes one rule for each address where an expression computes the CFA from the program
// counter and the stack pointer alone. The format cannot express that otherwise. Linkers describe
// the stubs of .plt so, one entry for all of them: within a stub of 16 bytes a word is pushed at
// byte 11.
func (w *cfiWriter) byAddress(start, end uint64, row unwind.Row, add func(start, end uint64, row *unwind.Row) string) bool {
	if size := end - start; row.CFA.Plain() || size > maxByAddress || w.byAddresses+size > maxByAddress {
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
	// Any address will do for the module and for the stack.
	const module, stack, other = 0x55550000, 0x7ff01000, 0x66670008
	distance := func(rva uint64) (int64, bool) {
		a, ok := cfa(rva, stack)
		b, ok2 := cfa(rva+module, other)
		return a, ok && ok2 && a == b
	}
	for at := start; at < end; {
		w.byAddresses++ // what is given up at its first byte costs no more than that
		d, ok := distance(at)
		if !ok {
			return false
		}
		from := at
		for at++; at < end; at++ {
			w.byAddresses++
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

// nothing is memory without any known bytes.
type nothing struct{}

func (nothing) Word(uint64, int) (uint64, bool) { return 0, false }
