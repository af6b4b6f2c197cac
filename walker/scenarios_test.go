package walker

import (
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// partial symbols have call frame information for some functions only.
type partial struct {
	fakeSymbols
	with map[uint64]bool
}

func (p *partial) Row(module int, rva uint64) (unwind.Row, symbol.Answer) {
	if !p.with[rva&^0xff] {
		return unwind.Row{}, symbol.No
	}
	return p.fakeSymbols.Row(module, rva)
}

// A frame that only a scan finds is between two that the rules find; the rules take over again at
// once.
func TestScanBetweenGoodFrames(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		syms := &partial{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "leaf", 0x2000: "bare", 0x3000: "middle", 0x4000: "main"},
			row: cfaRow(a, 2)}, map[uint64]bool{0x1000: true, 0x3000: true}}
		sc := &scene{arch: a, pc: code(0x1010), words: []uint64{1, code(0x2020), 2, 3, code(0x3030), 4, code(0x4040), 5}}
		regs := cpu.Regs{Arch: a}
		for i := range a.Names {
			regs.Set(cpu.Reg(i), 0)
		}
		regs.Set(a.PC, sc.pc)
		regs.Set(a.SP, stackBase)
		p := Best
		// Frame pointers are not what this is about, and 0 is one on some CPUs.
		p.Sources = []Source{SourceCFI, SourceScan}
		w := New(p, core.OSLinux, oneModule(codeBase, codeSize), syms)
		s := w.Walk(regs, &fakeMemory{base: stackBase, word: uint64(a.WordSize), words: sc.words})
		expect(t, s, "1010 context, 2020 cfi, 3030 scan, 4040 cfi, nothing-found")
	})
}

// The rules are those of the address: at the entry, after a push, and in the body a frame ends at
// another place.
func TestRulesAtEachAddress(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		for words := int64(1); words < 5; words++ {
			stack := []uint64{7, 7, 7, 7, 7, 7, 7, 7}
			stack[words-1] = code(0x2020)
			sc := &scene{arch: a, pc: code(0x1000 + uint64(words)), words: stack,
				syms: &fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "leaf"}, row: cfaRow(a, words)}}
			s := sc.walk(t)
			if len(s.Frames) < 2 || s.Frames[1].PC != code(0x2020) || s.Frames[1].Regs.SP() != sc.at(uint64(words)) {
				t.Errorf("a frame of %d words: %s", words, shape(s))
			}
		}
	})
}

// A stack that overflowed has no memory below the guard page, often none at all where sp points:
// what is above is still reached by rules that do not read below it, or not at all, and the walk
// says which word was missing.
func TestStackOverflow(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		sc := &scene{arch: a, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named, row: cfaRow(a, 2)}, words: []uint64{1, 2}}
		sc.sp = 100 // above everything that the dump has
		s := sc.walk(t)
		if len(s.Frames) != 1 || len(s.Stop.Attempts) == 0 && s.Stop.Detail == "" {
			t.Errorf("%s, attempts %v", shape(s), s.Stop.Attempts)
		}
	})
}

// 32-bit iOS keeps a chain in r7 and its rules are not believed; everywhere else r7 is a register
// like others.
func TestARMOnIOS(t *testing.T) {
	sc := &scene{arch: cpu.ARM, os: core.IOS, pc: code(0x1010), policy: Breakpad}
	sc.regs = map[string]uint64{"r7": sc.at(2), "lr": code(0x2020)}
	sc.words = []uint64{0, 0, sc.at(4), code(0x3030), 0, 0, 0}
	sc.syms = &fakeSymbols{loaded: true, funcs: named, row: cfaRow(cpu.ARM, 1)}
	expect(t, sc.walk(t), "1010 context, 2020 frame_pointer, 3030 frame_pointer, end")
	sc.os = core.Android
	s := sc.walk(t)
	if len(s.Frames) > 1 && s.Frames[1].Trust == TrustFramePointer {
		t.Errorf("r7 was taken for a frame pointer on Android: %s", shape(s))
	}
}

// A caller in no module (generated code, an unloaded library) does not end the walk: the frame
// pointer goes on.
func TestThroughCodeOfNoModule(t *testing.T) {
	sc := &scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010)}
	sc.regs = map[string]uint64{"rbp": sc.at(2)}
	jit := uint64(0x7f0000001234)
	sc.words = []uint64{0, 0, sc.at(4), jit, sc.at(6), code(0x2020), sc.at(9), code(0x3030), 9, 0, 0, 0}
	s := sc.walk(t)
	if len(s.Frames) < 4 || s.Frames[1].PC != jit || s.Frames[1].Module != -1 || s.Frames[2].PC != code(0x2020) {
		t.Errorf("%s", shape(s))
	}
}

// Rules that take the return address from a register hold where a thread was stopped and where a
// signal interrupted it. In a frame that made a call the register holds something else: what is
// right there is to give no frame, not the same one again.
func TestReturnAddressInRegister(t *testing.T) {
	for _, a := range []*cpu.Arch{cpu.ARM64, cpu.S390X} {
		link := unwind.Row{Topmost: true, CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: 16}, RA: unwind.Rule{Kind: unwind.FromReg, Reg: a.LR}}
		for _, tc := range []struct {
			name  string
			edit  func(rows map[uint64]unwind.Row)
			shape string
		}{
			{"stopped in it", func(map[uint64]unwind.Row) {}, "1010 context, 2020 cfi, 3030 cfi, nothing-found"},
			{"called something", func(rows map[uint64]unwind.Row) {
				first := link
				first.Saved = []unwind.RegRule{{Reg: a.LR, Rule: unwind.Rule{Kind: unwind.Same}}}
				rows[0x1000], rows[0x2000] = first, link
			}, "1010 context, 2020 cfi, nothing-found"},
			{"interrupted by a signal", func(rows map[uint64]unwind.Row) {
				rows[0x1000] = unwind.Row{Signal: true, CFA: link.CFA, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -16},
					Saved: []unwind.RegRule{{Reg: a.LR, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: -8}}}}
				rows[0x2000] = link
			}, "1010 context, 2020 cfi, 3030 cfi, nothing-found"},
		} {
			rows := map[uint64]unwind.Row{0x1000: link,
				0x2000: {CFA: link.CFA, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -8}, Saved: []unwind.RegRule{{Reg: a.LR, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: -8}}}}}
			tc.edit(rows)
			words := []uint64{1, 2, 3, code(0x3030), 0, 0, 0, 0}
			if rows[0x1000].Signal {
				words[0], words[1] = code(0x2020), code(0x3030)
			}
			p := Best
			p.Sources = []Source{SourceCFI}
			w := New(p, core.OSLinux, oneModule(codeBase, codeSize), &rowsByFunction{rows: rows})
			regs := cpu.Regs{Arch: a}
			regs.Set(a.PC, code(0x1010))
			regs.Set(a.SP, stackBase)
			regs.Set(a.LR, code(0x2020))
			s := w.Walk(regs, &fakeMemory{base: stackBase, word: uint64(a.WordSize), words: words})
			if got := shape(s); got != tc.shape {
				t.Errorf("%s, %s: %s\nwant %s", a.Name, tc.name, got, tc.shape)
			}
		}
	}
}

// rowsByFunction has rules for some functions.
type rowsByFunction struct {
	fakeSymbols
	rows map[uint64]unwind.Row
}

func (f *rowsByFunction) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	row, ok := f.rows[rva&^0xff]
	if !ok {
		return unwind.Row{}, symbol.No
	}
	return row, symbol.Yes
}

// Rules that say about a function that nobody calls it end the stack there; where the thread was
// stopped in it, other sources may still find something.
func TestRulesOfTheOutermost(t *testing.T) {
	a := cpu.AMD64
	last := unwind.Row{Outermost: true, CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: 8}, RA: unwind.Rule{Kind: unwind.Undefined},
		Origin: unwind.Origin{File: "a.so", Part: ".eh_frame", Offset: 24}}
	rows := map[uint64]unwind.Row{0x1000: *cfaRow(a, 2), 0x2000: last}
	regs := cpu.Regs{Arch: a}
	regs.Set(a.SP, stackBase)
	mem := &fakeMemory{base: stackBase, word: 8, words: []uint64{1, code(0x2020), 2, code(0x3030), 3, 4}}
	for pc, want := range map[uint64]string{0x1010: "1010 context, 2020 cfi, end", 0x2010: "2010 context, 2020 scan, end"} {
		regs.Set(a.PC, code(pc))
		w := New(Best, core.OSLinux, oneModule(codeBase, codeSize), &rowsByFunction{rows: rows})
		s := w.Walk(regs, mem)
		if got := shape(s); got != want {
			t.Errorf("%s, want %s", got, want)
		}
		if want := "a.so .eh_frame+0x18 says that nothing calls the function"; s.Stop.Detail != want {
			t.Errorf("%s, want %s", s.Stop.Detail, want)
		}
	}
}
