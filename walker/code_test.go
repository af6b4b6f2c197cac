package walker

import (
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// codeAt is the program's code from an address on, and nothing elsewhere.
type codeAt map[uint64][]byte

func (c codeAt) Read(addr uint64, p []byte) int {
	for at, b := range c {
		if addr >= at && addr < at+uint64(len(b)) {
			return copy(p, b[addr-at:])
		}
	}
	return 0
}

// The rules of .ARM.exidx are of a function's body. In its prologue, push {r4, lr}; movs r4, #0;
// sub sp, #8, the code says what was pushed, and at the first instruction nothing was.
func TestRulesOfABodyInThePrologue(t *testing.T) {
	a := cpu.ARM
	body := unwind.Row{WholeFunction: true, Start: 0x1000, CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: 16}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -4}}
	rows := map[uint64]unwind.Row{0x1000: body, 0x2000: *cfaRow(a, 2), 0x3000: *cfaRow(a, 2)}
	program := codeAt{code(0x1000): {0x10, 0xb5, 0, 0x24, 0x82, 0xb0, 0, 0x94}, code(0x2020) - 4: {0xfe, 0xf7, 0xee, 0xff}, code(0x3030) - 4: {0xfe, 0xf7, 0xe6, 0xff},
		code(0x4040) - 4: {0xfe, 0xf7, 0xe6, 0xff}}
	for _, c := range []struct {
		pc    uint64
		words []uint64
		code  Code
		want  string
	}{
		{0x1000, []uint64{7, 8, 7, code(0x4041), 0, 0}, program, "1000 context, 2021 leaf, "},
		{0x1000, []uint64{7, 8, 7, code(0x4041), 0, 0}, codeAt{}, "1000 context, 2021 leaf, "},
		{0x1002, []uint64{4, code(0x2021), 8, code(0x3031), 0, 0}, program, "1002 context, 2021 frame_pointer, 3031 cfi, "},
		{0x1006, []uint64{7, 8, 4, code(0x2021), 9, code(0x3031), 0, 0}, program, "1006 context, 2021 frame_pointer, 3031 cfi, "},
		{0x1006, []uint64{7, 8, 4, code(0x2021), 9, code(0x3031), 0, 0}, codeAt{}, "1006 context, 2021 cfi, 3031 cfi, "},
	} {
		w := New(Best, core.OSLinux, oneModule(codeBase, codeSize),
			&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "qsort", 0x2000: "q", 0x3000: "main", 0x4000: "other"}}, rows})
		w.Code = c.code
		regs := cpu.Regs{Arch: a}
		regs.Set(a.PC, code(c.pc))
		regs.Set(a.SP, stackBase)
		regs.Set(a.LR, code(0x2021))
		s := w.Walk(regs, &fakeMemory{base: stackBase, word: 4, words: c.words})
		if got := shape(s); len(got) < len(c.want) || got[:len(c.want)] != c.want {
			t.Errorf("at 0x%x: %s, want %s… %v", c.pc, got, c.want, s.Stop.Attempts)
		}
	}
}

// Thumb code of floating-point instructions looks like ARM code: push {r7, lr}; vpush {d8}; vmov;
// ldr; add; then more of vcvt. The context's mode says what it is.
func TestModeOfTheContext(t *testing.T) {
	a := cpu.ARM
	program := codeAt{code(0x1000): {0x80, 0xb5, 0x2d, 0xed, 2, 0x8b, 0xb0, 0xee, 0x40, 0x8b, 9, 0x48, 0x78, 0x44, 0xbd, 0xee, 0xc0, 0x0b, 0xbd, 0xee, 0xc0, 0x0b, 0xbd, 0xee, 0xc0, 0x0b}}
	for mode, want := range map[cpu.Mode]string{cpu.ThumbMode: "100c context, 2021 frame_pointer, ", cpu.AnyMode: "100c context, 4041 "} {
		w := New(Best, core.OSLinux, oneModule(codeBase, codeSize),
			&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "fl", 0x2000: "work", 0x4000: "other"}}, map[uint64]unwind.Row{}})
		w.Code = program
		regs := cpu.Regs{Arch: a, Mode: mode}
		regs.Set(a.PC, code(0x100c))
		regs.Set(a.SP, stackBase)
		regs.Set(a.LR, code(0x4041)) // what a call before has left
		s := w.Walk(regs, &fakeMemory{base: stackBase, word: 4, words: []uint64{7, 8, 9, code(0x2021), 0, 0}})
		if got := shape(s); len(got) < len(want) || got[:len(want)] != want {
			t.Errorf("mode %d: %s, want %s… %v", mode, got, want, s.Stop.Attempts)
		}
	}
	for cpsr, want := range map[uint64]cpu.Mode{0x600f0030: cpu.ThumbMode, 0x60070010: cpu.ARMMode, 0: cpu.AnyMode, 0x20: cpu.AnyMode} {
		if got := cpu.ModeOf(cpsr); got != want {
			t.Errorf("cpsr 0x%x: %d, want %d", cpsr, got, want)
		}
	}
}

// A caller without rules: after the call are add $40, %rsp; ret. What an earlier call left on the
// stack is passed by, and a word that is not a return address is refused.
func TestEpilogueAfterTheCall(t *testing.T) {
	program := codeAt{code(0x1010): {0x90}, code(0x2020) - 5: {0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 40, 0xc3}, code(0x3030) - 5: {0xe8, 0, 0, 0, 0}, code(0x4040) - 5: {0xe8, 0, 0, 0, 0}}
	rows := map[uint64]unwind.Row{0x1000: *cfaRow(cpu.AMD64, 2), 0x3000: *cfaRow(cpu.AMD64, 2)}
	words := []uint64{1, code(0x2020), code(0x4040), 3, 4, 5, 6, code(0x3030), 8, 0}
	names := map[uint64]string{0x1000: "f", 0x2000: "main", 0x3000: "start", 0x4000: "stale"}
	s, _, _ := walkBy(Best, rows, names, words, nil, program)
	expect(t, s, "1010 context, 2020 cfi, 3030 frame_pointer, end")
	if s.Frames[2].Source != SourceCode {
		t.Errorf("%s", s.Frames[2].Source)
	}
	words[7] = 0x1234567
	s, _, _ = walkBy(Best, rows, names, words, nil, program)
	expect(t, s, "1010 context, 2020 cfi, 4040 scan, nothing-found")
}

// A program that the user assigned to a module of another build leads to callers by its code, as it does
// by its rules. It refutes none: what is before their return addresses there is another build's.
func TestAssignedCode(t *testing.T) {
	program := codeAt{code(0x1010): {0x90}, code(0x2020) - 5: {0xe8, 0, 0, 0, 0, 0x48, 0x83, 0xc4, 40, 0xc3}, code(0x3030) - 8: make([]byte, 8), code(0x4040) - 5: {0xe8, 0, 0, 0, 0}}
	rows := map[uint64]unwind.Row{0x1000: *cfaRow(cpu.AMD64, 2), 0x3000: *cfaRow(cpu.AMD64, 2)}
	words := []uint64{1, code(0x2020), code(0x4040), 3, 4, 5, 6, code(0x3030), 8, 0}
	names := map[uint64]string{0x1000: "f", 0x2000: "main", 0x3000: "start", 0x4000: "stale"}
	w, regs, mem := walkerBy(Best, rows, names, words, nil, nil)
	w.Assigned = program
	expect(t, w.Walk(regs, mem), "1010 context, 2020 cfi, 3030 frame_pointer, end")
	w.Assigned, w.Code = nil, program
	expect(t, w.Walk(regs, mem), "1010 context, 2020 cfi, 4040 scan, nothing-found")
}

// A call that never returns is its function's last instruction. The code after it is not the
// caller's.
func TestNoEpilogueAfterTheLastCall(t *testing.T) {
	program := codeAt{code(0x20fb): {0xe8, 0, 0, 0, 0, 0xc3}, code(0x3030) - 5: {0xe8, 0, 0, 0, 0}, code(0x4040) - 5: {0xe8, 0, 0, 0, 0}}
	rows := map[uint64]unwind.Row{0x1000: *cfaRow(cpu.AMD64, 2)}
	words := []uint64{1, code(0x2100), code(0x3030), 3, 0}
	s, _, _ := walkBy(Best, rows, map[uint64]string{0x1000: "f", 0x2000: "fatal", 0x2100: "next", 0x3000: "main"}, words, nil, program)
	if len(s.Frames) > 2 && s.Frames[2].Source == SourceCode {
		t.Errorf("the next function's code was followed: %s", shape(s))
	}
}

// GCC's function that aligns its stack has its caller's stack pointer in ecx alone when it calls the
// function that tells where it is: lea 4(%esp), %ecx; and $-64, %esp; push -4(%ecx); push %ebp;
// mov %esp, %ebp; call. That one is mov (%esp), %ebx; ret. Other functions may change ecx.
func TestThunkInAnAlignedStack(t *testing.T) {
	a := cpu.X86
	const sp, caller = stackBase, stackBase + 0x20
	ecx := cpu.Reg(slices.Index(a.Names, "ecx"))
	program := codeAt{code(0x1000): {0x8b, 0x1c, 0x24, 0xc3}, code(0x1100): {0x8b, 0x1c, 0x24, 0x40, 0xc3},
		code(0x2000):     {0x8d, 0x4c, 0x24, 4, 0x83, 0xe4, 0xc0, 0xff, 0x71, 0xfc, 0x55, 0x89, 0xe5, 0xe8, 0xee, 0xef, 0xff, 0xff, 0x51, 0x90},
		code(0x3030) - 5: {0xe8, 0xcb, 0xef, 0xff, 0xff}, code(0x4040) - 5: {0xe8, 0, 0, 0, 0}}
	byCode := map[uint64]unwind.Row{0x3000: *cfaRow(a, 2), 0x4000: *cfaRow(a, 1)}
	byRules := map[uint64]unwind.Row{0x1000: *cfaRow(a, 1), 0x2000: {CFA: unwind.Rule{Kind: unwind.FromReg, Reg: ecx}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -4}}, 0x3000: *cfaRow(a, 2), 0x4000: *cfaRow(a, 1)}
	for _, c := range []struct {
		pc   uint64
		rows map[uint64]unwind.Row
		want string
	}{
		{0x1000, byCode, "1000 context, 2012 frame_pointer, 3030 frame_pointer, 4040 cfi, "},
		{0x1003, byCode, "1003 context, 2012 frame_pointer, 3030 frame_pointer, 4040 cfi, "},
		{0x1000, byRules, "1000 context, 2012 cfi, 3030 cfi, 4040 cfi, "},
		{0x1103, byRules, "1103 context, 2012 frame_pointer, 3030 frame_pointer, lost"},
	} {
		w := New(Best, core.OSLinux, oneModule(codeBase, codeSize),
			&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "thunk", 0x1100: "other", 0x2000: "aligned", 0x3000: "large", 0x4000: "main"}}, c.rows})
		w.Code = program
		regs := cpu.Regs{Arch: a}
		regs.Set(a.PC, code(c.pc))
		regs.Set(a.SP, sp)
		regs.Set(a.FP, sp+4)
		regs.Set(ecx, caller)
		// the thunk's return address, ebp, the copy of the return address, what aligning left free, the
		// return address, and the caller's frame
		words := []uint64{code(0x2012), 0x1234, code(0x3030), 1, 2, 3, 4, code(0x3030), 5, code(0x4040), 0, 0}
		st := w.Walk(regs, &fakeMemory{base: stackBase, word: 4, words: words})
		if got := shape(st); len(got) < len(c.want) || got[:len(c.want)] != c.want {
			t.Errorf("at 0x%x: %s, want %s %v", c.pc, got, c.want, st.Stop)
		}
	}
}

// A stack that a program made (makecontext) has its first function return to another one's first
// instruction: no call is before it, and it is looked up where it is. Nothing has pushed a return
// address for it, so that the word at sp is not a return address, although it is an address of code.
func TestReturnToEntry(t *testing.T) {
	row := *cfaRow(cpu.AMD64, 1)
	row.Start = 0x2000
	program := codeAt{code(0x1000): {0x55, 0x48, 0x89, 0xe5, 0xe8, 0x90, 0, 0, 0, 0x90}, code(0x2000) - 8: make([]byte, 8), code(0x3030) - 8: {0, 0, 0, 0xe8, 0x90, 0, 0, 0},
		code(0x4040) - 8: {0, 0, 0, 0, 0, 0, 0xff, 0xd0}}
	for _, tc := range []struct {
		name, shape string
		names       map[uint64]string
		rows        map[uint64]unwind.Row
		policy      Policy
	}{
		{"by its name", "1009 context, 2000 frame_pointer, nothing-found", map[uint64]string{0x1000: "f", 0x2000: "after"}, nil, Best},
		{"where the rules begin", "1009 context, 2000 frame_pointer, nothing-found", map[uint64]string{0x1000: "f"}, map[uint64]unwind.Row{0x2000: row}, Best},
		{"by a name that says it", "1009 context, 2000 frame_pointer, end", map[uint64]string{0x1000: "f", 0x2000: "__start_context"}, nil, Best},
		{"inside of a function", "1009 context, nothing-found", map[uint64]string{0x1000: "f", 0x1f00: "g"}, nil, Best},
	} {
		w, regs, mem := walkerBy(tc.policy, tc.rows, tc.names, []uint64{stackBase + 64, code(0x2000), code(0x3030), 3, code(0x4040), 0, 0, 0, stackBase + 80, code(0x4040), 0}, nil, program)
		regs.Set(cpu.AMD64.PC, code(0x1009))
		regs.Set(cpu.AMD64.FP, stackBase)
		s := w.Walk(regs, mem)
		if got := shape(s); got != tc.shape {
			t.Errorf("%s: %s, want %s %v", tc.name, got, tc.shape, s.Stop)
		}
		if len(s.Frames) > 1 && s.Frames[1].Lookup != code(0x2000) {
			t.Errorf("%s: looked up at 0x%x", tc.name, s.Frames[1].Lookup)
		}
	}
}

// If the leaf at frame 0 has pushed registers, its caller's rules read a word too low: here the
// address of a function, which no call returns to.
func TestNoReturnToEntryAboveALeaf(t *testing.T) {
	a := cpu.ARM64
	w := New(Best, core.OSLinux, oneModule(codeBase, codeSize),
		&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "f", 0x2000: "compare", 0x3000: "main", 0x4000: "other"}}, map[uint64]unwind.Row{0x2000: *cfaRow(a, 2)}})
	w.Code = codeAt{code(0x2020) - 4: {0xf9, 0xfb, 0xff, 0x97}, code(0x3030) - 4: {0xf5, 0xfb, 0xff, 0x97}, code(0x4000) - 4: make([]byte, 4)}
	regs := cpu.Regs{Arch: a}
	regs.Set(a.PC, code(0x1010))
	regs.Set(a.LR, code(0x2020))
	regs.Set(a.SP, stackBase)
	expect(t, w.Walk(regs, &fakeMemory{base: stackBase, word: 8, words: []uint64{1, code(0x4000), 3, code(0x3030), 5, 0}}), "1010 context, 2020 leaf, 3030 scan, nothing-found")
}

// In the middle of a function the code after a call that never returns is another path's: xor %eax,
// %eax; ret. It leads to 0, though the caller is above.
func TestNoEndAfterACallWithoutReturn(t *testing.T) {
	program := codeAt{code(0x1010): {0x90}, code(0x2020) - 5: {0xe8, 0, 0, 0, 0, 0x31, 0xc0, 0xc3}, code(0x3030) - 5: {0xe8, 0xd0, 0xef, 0xff, 0xff}}
	rows := map[uint64]unwind.Row{0x1000: *cfaRow(cpu.AMD64, 2)}
	s, _, _ := walkBy(Best, rows, map[uint64]string{0x1000: "f", 0x2000: "thread", 0x3000: "start"}, []uint64{1, code(0x2020), 0, code(0x3030), 5, 0}, nil, program)
	expect(t, s, "1010 context, 2020 cfi, 3030 scan, nothing-found")
}

// That a caller's function cannot be unwound does not end the stack where its code says what it
// pushed: push {r4, lr}; bl. Without the code it ends, as a function's that the system enters.
func TestCannotUnwindACaller(t *testing.T) {
	a := cpu.ARM
	none := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP}, RA: unwind.Rule{Kind: unwind.Undefined}, Outermost: true, CannotUnwind: true}
	rows := map[uint64]unwind.Row{0x1000: *cfaRow(a, 2), 0x2000: none, 0x3000: *cfaRow(a, 2)}
	walk := func(program Code) Stack {
		w := New(Best, core.OSLinux, oneModule(codeBase, codeSize),
			&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "f", 0x2000: "malloc", 0x3000: "main"}}, rows})
		w.Code = program
		regs := cpu.Regs{Arch: a}
		regs.Set(a.PC, code(0x1010))
		regs.Set(a.SP, stackBase)
		return w.Walk(regs, &fakeMemory{base: stackBase, word: 4, words: []uint64{1, code(0x2007), 4, code(0x3031), 5, 0}})
	}
	call := []byte{0xfe, 0xf7, 0xee, 0xff}
	expect(t, walk(codeAt{code(0x2000): append([]byte{0x10, 0xb5}, call...), code(0x3030) - 4: call}), "1010 context, 2007 cfi, 3031 frame_pointer, end")
	expect(t, walk(nil), "1010 context, 2007 cfi, end")
}

// A leaf that a signal interrupted returns to lr, as one does at frame 0, and its caller has its sp.
func TestInterruptedLeaf(t *testing.T) {
	a := cpu.ARM64
	lr := unwind.RegRule{Reg: a.LR, Rule: unwind.Rule{Kind: unwind.AtReg, Reg: a.SP, Offset: 16}}
	signal := unwind.Row{Signal: true, CFA: unwind.Rule{Kind: unwind.AtReg, Reg: a.SP}, RA: unwind.Rule{Kind: unwind.AtReg, Reg: a.SP, Offset: 8}, Saved: []unwind.RegRule{lr}}
	rows := map[uint64]unwind.Row{0x1000: signal, 0x3000: *cfaRow(a, 2)}
	for _, p := range []Policy{Best, Breakpad} {
		w := New(p, core.OSLinux, oneModule(codeBase, codeSize),
			&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "handler", 0x2000: "leaf", 0x3000: "main"}}, rows})
		regs := cpu.Regs{Arch: a}
		regs.Set(a.PC, code(0x1010))
		regs.Set(a.SP, stackBase)
		s := w.Walk(regs, &fakeMemory{base: stackBase, word: 8, words: []uint64{stackBase + 32, code(0x2020), code(0x3030), 1, 2, 0}})
		if got := len(s.Frames) > 2 && s.Frames[2].PC == code(0x3030); got != (p.Name == "best") {
			t.Errorf("%s: %s %v", p.Name, shape(s), s.Stop)
		}
	}
}

// Position-independent code of 32-bit x86 calls a function to know where it is: push ebx; call; test
// eax, eax; je; nop; pop ebx; ret. Neither function has a frame pointer, so that ebp is main's and
// leaves out a caller.
func TestCallForThePC(t *testing.T) {
	a := cpu.X86
	program := codeAt{code(0x1000): {0x8b, 0x1c, 0x24, 0xc3}, code(0x2000): {0x53, 0xe8, 0xfa, 0xef, 0xff, 0xff, 0x85, 0xc0, 0x74, 1, 0x90, 0x5b, 0xc3},
		code(0x3030) - 5: {0xe8, 0xd0, 0xef, 0xff, 0xff}, code(0x4040) - 5: {0xe8, 0xc0, 0xef, 0xff, 0xff}}
	words := []uint64{code(0x2006), 7, code(0x3030), 8, 9, 0, code(0x4040), 10, 11}
	for at, c := range map[uint64]struct {
		sp   int
		want string
	}{
		0x1000: {0, "1000 context, 2006 frame_pointer, 3030 frame_pointer, 4040 "},
		0x1003: {0, "1003 context, 2006 frame_pointer, 3030 frame_pointer, 4040 "},
		0x2006: {1, "2006 context, 3030 frame_pointer, 4040 "},
		0x200c: {2, "200c context, 3030 frame_pointer, 4040 "},
	} {
		w := New(Best, core.OSLinux, oneModule(codeBase, codeSize),
			&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "__x86.get_pc_thunk.bx", 0x2000: "f", 0x3000: "main", 0x4000: "start"}}, map[uint64]unwind.Row{}})
		w.Code = program
		regs := cpu.Regs{Arch: a}
		regs.Set(a.PC, code(at))
		regs.Set(a.SP, stackBase+4*uint64(c.sp))
		regs.Set(a.FP, stackBase+5*4)
		s := w.Walk(regs, &fakeMemory{base: stackBase, word: 4, words: words})
		if got := shape(s); len(got) < len(c.want) || got[:len(c.want)] != c.want {
			t.Errorf("at 0x%x: %s, want %s… %v", at, got, c.want, s.Stop.Attempts)
		}
	}
}

// A thread that was stopped in the first stub of lazy binding, behind its push: two words are above the
// return address, and no symbol is near. A word that an earlier call left there is passed by.
func TestStubOfLazyBinding(t *testing.T) {
	program := codeAt{code(0x1000): {0xff, 0x35, 0xca, 0x2f, 0, 0, 0xff, 0x25, 0xcc, 0x2f, 0, 0}, code(0x2020) - 5: {0xe8, 0, 0, 0, 0}, code(0x3030) - 5: {0xe8, 0, 0, 0, 0}, code(0x4040) - 5: {0xe8, 0, 0, 0, 0}}
	rows := map[uint64]unwind.Row{0x2000: *cfaRow(cpu.AMD64, 2), 0x3000: *cfaRow(cpu.AMD64, 2)}
	words := []uint64{code(0x4040), 0, code(0x2020), 1, code(0x3030), 1, 0}
	names := map[uint64]string{0x800: "_init", 0x2000: "main", 0x3000: "start", 0x4000: "stale"}
	w, regs, mem := walkerBy(Best, rows, names, words, nil, program)
	regs.Set(cpu.AMD64.PC, code(0x1006))
	expect(t, w.Walk(regs, mem), "1006 context, 2020 frame_pointer, 3030 cfi, end")
	program[code(0x1000)][8]++ // another slot: some code
	s := w.Walk(regs, mem)
	if len(s.Frames) < 2 || s.Frames[1].PC != code(0x4040) {
		t.Errorf("%s", shape(s))
	}
}
