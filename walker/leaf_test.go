package walker

import (
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// On arm lr may be left from an earlier call. In a function without rules, without the program's
// code, it is the caller where the rules at lr lead on from sp; left from a function that was
// called since, they do not.
func TestStaleLinkRegister(t *testing.T) {
	a := cpu.ARM
	cantUnwind := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP}, RA: unwind.Rule{Kind: unwind.Undefined}, Outermost: true, CannotUnwind: true}
	rows := map[uint64]unwind.Row{0x2000: *cfaRow(a, 2), 0x3000: *cfaRow(a, 2), 0x4000: *cfaRow(a, 3)}
	walk := func(lr uint64) Stack {
		w := New(Best, core.OSLinux, oneModule(codeBase, codeSize),
			&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "memset", 0x2000: "f", 0x3000: "main", 0x4000: "other"}}, rows})
		regs := cpu.Regs{Arch: a}
		regs.Set(a.PC, code(0x1010))
		regs.Set(a.SP, stackBase)
		regs.Set(a.LR, lr)
		return w.Walk(regs, &fakeMemory{base: stackBase, word: 4, words: []uint64{1, code(0x3030), 2, 0, 4, 5}})
	}
	for _, own := range []*unwind.Row{nil, &cantUnwind} {
		if delete(rows, 0x1000); own != nil {
			rows[0x1000] = *own
		}
		expect(t, walk(code(0x2020)), "1010 context, 2020 leaf, 3030 cfi, end")
		if s := walk(code(0x4040)); len(s.Frames) > 1 && s.Frames[1].PC == code(0x4040) {
			t.Errorf("lr is stale: %s", shape(s))
		}
	}
}
