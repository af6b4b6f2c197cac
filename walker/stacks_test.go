package walker

import (
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// signalStacks is a signal handler on a stack of its own: the handler at 0x1000 returns to the
// trampoline at 0x2000, whose rules read pc and sp of the function at 0x3000 from the handler's
// stack; that has its frame at held.
func signalStacks(p Policy, trampoline unwind.Row, held uint64) (Stack, *Walker, unwind.Memory) {
	rows := map[uint64]unwind.Row{0x1000: *cfaRow(cpu.AMD64, 2), 0x2000: trampoline, 0x3000: *cfaRow(cpu.AMD64, 2)}
	words := []uint64{1, code(0x2020), 3, code(0x3000), held, 7}
	return walkBy(p, rows, map[uint64]string{0x1000: "handler", 0x2000: "f", 0x3000: "crash", 0x4000: "main"}, words,
		&fakeSpace{held: held, words: []uint64{9, code(0x4040)}}, nil)
}

// walkFrom walks as walkBy does, from a stack pointer that may be anywhere in the stack's memory.
func walkFrom(sp uint64, rows map[uint64]unwind.Row, words []uint64) (Stack, *Walker, unwind.Memory) {
	a := cpu.AMD64
	w := New(Best, core.OSLinux, oneModule(codeBase, codeSize), &rowsByFunction{fakeSymbols{loaded: true,
		funcs: map[uint64]string{0x1000: "handler", 0x2000: "f", 0x3000: "crash", 0x4000: "main"}}, rows})
	regs := cpu.Regs{Arch: a}
	regs.Set(a.PC, codeBase+0x1010)
	regs.Set(a.SP, sp)
	mem := &fakeMemory{base: stackBase, word: 8, words: words}
	return w.Walk(regs, mem), w, mem
}

// trampolineRow are the rules of a function that a signal handler returns to, as they are in the
// symbol file.
func trampolineRow(registers ...string) unwind.Row {
	a := cpu.AMD64
	row := unwind.Row{CFA: unwind.Rule{Kind: unwind.AtReg, Reg: a.SP, Offset: 16}, RA: unwind.Rule{Kind: unwind.AtReg, Reg: a.SP, Offset: 8}}
	for _, name := range registers {
		r, _ := a.Lookup(name)
		row.Saved = append(row.Saved, unwind.RegRule{Reg: r, Rule: unwind.Rule{Kind: unwind.AtReg, Reg: a.SP, Offset: 24}})
	}
	return row
}

// The interrupted frame is found wherever its stack is, its pc is that of the instruction, and the
// walk goes on in the memory that the dump has there. Without that memory the frame is the last.
func TestSignalOnAnotherStack(t *testing.T) {
	for _, held := range []uint64{stackBase - 0x100000, stackBase + 0x100000} {
		s, w, mem := signalStacks(Best, trampolineRow("rbx", "rax"), held)
		expect(t, s, "1010 context, 2020 cfi, 3000 cfi, 4040 cfi, nothing-found")
		if f := &s.Frames[2]; f.Lookup != f.PC || f.Symbol.Name != "crash" {
			t.Errorf("the interrupted frame is looked up at 0x%x: %s", f.Lookup, f.Symbol.Name)
		}
		x, err := w.Explain(&s, 2, mem)
		if err != nil {
			t.Fatal(err)
		}
		kinds := map[CheckKind]bool{}
		for _, c := range x.Checks {
			kinds[c.Kind] = true
		}
		if !kinds[CheckOtherStack] || !kinds[CheckInStack] || kinds[CheckMovedUp] {
			t.Errorf("%v", x.Checks)
		}
		if x, err = w.Explain(&s, 3, mem); err != nil || len(x.Words) == 0 || x.Words[0].Value != code(0x4040) {
			t.Errorf("%v %+v", err, x)
		}
	}
	// The two stacks may be one memory without a gap.
	rows := map[uint64]unwind.Row{0x1000: *cfaRow(cpu.AMD64, 2), 0x2000: trampolineRow("rbx", "rax"), 0x3000: *cfaRow(cpu.AMD64, 2)}
	const between = 256 // words that are not in use, more than a scan reads
	words := append(append([]uint64{9, code(0x4040)}, make([]uint64, between)...), 1, code(0x2020), 3, code(0x3000), stackBase, 7)
	s, w, mem := walkFrom(stackBase+8*(2+between), rows, words)
	expect(t, s, "1010 context, 2020 cfi, 3000 cfi, 4040 cfi, nothing-found")
	if x, err := w.Explain(&s, 2, mem); err != nil || !slices.ContainsFunc(x.Checks, func(c Check) bool { return c.Kind == CheckOtherStack }) {
		t.Errorf("%v %+v", err, x)
	}
	// Rules that restore only what calls preserve are not a signal's: the stack pointer has to move
	// up.
	s, _, _ = signalStacks(Best, trampolineRow("rbx", "rbp"), stackBase-0x100000)
	expect(t, s, "1010 context, 2020 cfi, no-progress")
	s, _, _ = signalStacks(Breakpad, trampolineRow("rbx", "rax"), stackBase-0x100000)
	expect(t, s, "1010 context, 2020 cfi, no-progress")
}

// Two signal's frames that lead to each other's stack end.
func TestSignalsInACircle(t *testing.T) {
	row := trampolineRow("rax")
	held := uint64(stackBase - 0x100000)
	words := []uint64{1, code(0x1010), held, 3}
	rows := map[uint64]unwind.Row{0x1000: row}
	back := []uint64{1, code(0x1010), stackBase, 3}
	s, _, _ := walkBy(Best, rows, map[uint64]string{0x1000: "f"}, words, &fakeSpace{held: held, words: back}, nil)
	if len(s.Frames) > 4 {
		t.Errorf("%d frames, %s", len(s.Frames), s.Stop.Kind)
	}
}
