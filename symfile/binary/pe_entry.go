package binary

import (
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// atEntry is a .debug_frame section that answers only where nothing but the return address is on
// the stack: at a function's first instructions and in code without a frame.
//
// It comes before the function table, which describes prologues and epilogues and takes every other
// instruction for the body. Go's functions begin with a check of the stack, and the call of the
// function that makes the stack larger is after the function's end, where there is no frame either.
// For these instructions the function table leads to the caller's caller. For all others the table
// is right, and better than Go's .debug_frame, which does not say where rbp is saved. Of 192
// instructions of a program of Go 1.26 for Windows, which an emulator ran, the function table is
// right at 162, both with this rule at 192.
type atEntry struct {
	unwind.Table
	arch *cpu.Arch
}

// Row implements unwind.Table for the instructions before the frame.
func (t atEntry) Row(rva uint64) (unwind.Row, bool, error) {
	row, ok, err := t.Table.Row(rva)
	if !ok || !t.entry(&row) {
		return unwind.Row{}, false, err
	}
	return row, true, err
}

// Each implements unwind.Table for the same instructions.
func (t atEntry) Each(f func(start, end uint64, row unwind.Row) error) error {
	return t.Table.Each(func(start, end uint64, row unwind.Row) error {
		if !t.entry(&row) {
			return nil
		}
		return f(start, end, row)
	})
}

// entry reports whether the rules are those of a function's first instruction: the CFA is sp + 8
// and the return address is at [CFA - 8]. It adds rules for rsi and rdi, which calls on Windows
// preserve and calls elsewhere do not, so that core/cpu treats them as lost.
func (t atEntry) entry(row *unwind.Row) bool {
	word := int64(t.arch.WordSize)
	if !row.CFA.Equal(unwind.Rule{Kind: unwind.FromReg, Reg: t.arch.SP, Offset: word}) || !row.RA.Equal(unwind.Rule{Kind: unwind.AtCFA, Offset: -word}) {
		return false
	}
	for _, name := range []string{"rsi", "rdi"} {
		r, _ := t.arch.Lookup(name)
		row.Saved = append(row.Saved[:len(row.Saved):len(row.Saved)], unwind.RegRule{Reg: r, Rule: unwind.Rule{Kind: unwind.Same}})
	}
	return true
}
