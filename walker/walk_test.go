package walker

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// A crash made of words: the stack is a list, modules are ranges, and symbols are what a test says.
const (
	codeBase  = 0x40000000
	codeSize  = 0x10000
	stackBase = 0x7fff0000
)

// oneModule is a module list of one.
func oneModule(base, size uint64) *core.ModuleMap {
	return core.NewModuleMap([]core.ModuleMapping{{Start: base, Size: size}}, core.OverlapTruncate)
}

type fakeMemory struct {
	base, word uint64
	words      []uint64
}

func (m *fakeMemory) Word(addr uint64, size int) (uint64, bool) {
	if addr < m.base || (addr-m.base)%m.word != 0 || uint64(size) != m.word {
		return 0, false
	}
	if i := (addr - m.base) / m.word; i < uint64(len(m.words)) {
		return m.words[i], true
	}
	return 0, false
}

// fakeSymbols has functions (start → name, each 0x100 long) and a row for all of them.
type fakeSymbols struct {
	loaded  bool
	unsized bool // names alone
	funcs   map[uint64]string
	passed  map[uint64]string // names before code that is not theirs
	tables  []symbol.Range    // functions that unwind rules know
	row     *unwind.Row
	win     *unwind.FrameData
}

func (f *fakeSymbols) Lookup(_ int, rva uint64) (symbol.Symbol, symbol.Answer) {
	if !f.loaded {
		return symbol.Symbol{}, symbol.NoFile
	}
	name, ok := f.funcs[rva&^0xff]
	if name := f.passed[rva&^0xff]; name != "" {
		return symbol.Symbol{Name: name, Start: rva &^ 0xff, Public: true, Extent: symbol.Passed}, symbol.Yes
	}
	if !ok {
		return symbol.Symbol{}, symbol.No
	}
	if f.unsized {
		return symbol.Symbol{Name: name, Start: rva &^ 0xff, Public: true}, symbol.Yes
	}
	return symbol.Symbol{Name: name, Start: rva &^ 0xff, Size: 0x100}, symbol.Yes
}

func (f *fakeSymbols) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	switch {
	case !f.loaded:
		return unwind.Row{}, symbol.NoFile
	case f.row == nil || f.funcs[rva&^0xff] == "":
		return unwind.Row{}, symbol.No
	}
	return *f.row, symbol.Yes
}

func (f *fakeSymbols) Function(_ int, rva uint64) (symbol.Range, bool) {
	for _, r := range f.tables {
		if rva-r.Start < r.Size {
			return r, true
		}
	}
	return symbol.Range{}, false
}

func (f *fakeSymbols) FrameData(_ int, rva uint64) (unwind.FrameData, symbol.Answer) {
	if !f.loaded {
		return unwind.FrameData{}, symbol.NoFile
	}
	if f.win == nil || f.funcs[rva&^0xff] == "" {
		return unwind.FrameData{}, symbol.No
	}
	return *f.win, symbol.Yes
}

// scene is a stack to walk on any CPU. Words of the stack may be given as code(off) and
// stack(index).
type scene struct {
	arch   *cpu.Arch
	os     core.OS
	pc, sp uint64 // sp as an index into words
	regs   map[string]uint64
	words  []uint64
	syms   *fakeSymbols
	policy Policy
	code   Code
	shadow []uint64
	space  Space
}

func code(off uint64) uint64 { return codeBase + off }

func (sc *scene) at(i uint64) uint64 { return stackBase + i*uint64(sc.arch.WordSize) }

func (sc *scene) walk(t *testing.T) Stack {
	t.Helper()
	if sc.syms == nil {
		sc.syms = &fakeSymbols{}
	}
	if sc.policy.Name == "" {
		sc.policy = Best
	}
	regs := cpu.Regs{Arch: sc.arch}
	for i := range sc.arch.Names {
		regs.Set(cpu.Reg(i), 0)
	}
	regs.Set(sc.arch.PC, sc.pc)
	regs.Set(sc.arch.SP, sc.at(sc.sp))
	for n, v := range sc.regs {
		r, ok := sc.arch.Lookup(n)
		if !ok {
			t.Fatalf("%s has no register %s", sc.arch.Name, n)
		}
		regs.Set(r, v)
	}
	w := New(sc.policy, sc.os, oneModule(codeBase, codeSize), sc.syms)
	w.Space = sc.space
	w.Code = sc.code
	var mem unwind.Memory
	if sc.words != nil {
		mem = &fakeMemory{base: stackBase, word: uint64(sc.arch.WordSize), words: sc.words}
	}
	return w.WalkShadowed(regs, mem, sc.shadow)
}

// shape prints what a stack is: "pc trust" a frame, and how it ended.
func shape(s Stack) string {
	var b strings.Builder
	for _, f := range s.Frames {
		fmt.Fprintf(&b, "%x %s, ", f.PC-codeBase, f.Trust)
	}
	return b.String() + string(s.Stop.Kind)
}

func expect(t *testing.T, s Stack, want string) {
	t.Helper()
	if got := shape(s); got != want {
		t.Errorf("got  %s\nwant %s\nstop: %s %v", got, want, s.Stop.Detail, s.Stop.Attempts)
	}
}

func eachCPU(t *testing.T, f func(t *testing.T, arch *cpu.Arch)) {
	for _, a := range cpu.All() {
		t.Run(a.Name, func(t *testing.T) { f(t, a) })
	}
}

var named = map[uint64]string{0x1000: "leaf", 0x2000: "middle", 0x3000: "main"}

// cfaRow: cfa = sp + n words, ra = [cfa − word].
func cfaRow(a *cpu.Arch, words int64) *unwind.Row {
	w := int64(a.WordSize)
	return &unwind.Row{
		CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: words * w},
		RA:  unwind.Rule{Kind: unwind.AtCFA, Offset: -w},
	}
}

func TestCallFrameInformation(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		s := (&scene{arch: a, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named, row: cfaRow(a, 2)},
			words: []uint64{1, code(0x2020), 2, code(0x3030), 3, 0, 0, 0}}).walk(t)
		expect(t, s, "1010 context, 2020 cfi, 3030 cfi, end")
		for i, name := range []string{"leaf", "middle", "main"} {
			if got := s.Frames[i].Symbol.Name; got != name {
				t.Errorf("frame %d is %q, want %q", i, got, name)
			}
		}
		if f := s.Frames[1]; f.Lookup != f.PC-a.CallSize {
			t.Errorf("a caller is looked up at 0x%x, want %d bytes before its return address 0x%x", f.Lookup, a.CallSize, f.PC)
		}
	})
}

// A return address just after a function's end (its last instruction calls something that never
// returns) belongs to it.
func TestCallAtTheEndOfAFunction(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		s := (&scene{arch: a, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named, row: cfaRow(a, 2)},
			words: []uint64{1, code(0x2100), 2, 0}}).walk(t)
		if len(s.Frames) < 2 || s.Frames[1].Symbol.Name != "middle" {
			t.Fatalf("the caller is not found in the function that ends with the call: %s", shape(s))
		}
	})
}

func TestScanWithoutSymbols(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		s := (&scene{arch: a, pc: code(0x1010), words: []uint64{1, 2, 3, code(0x2020), 4, code(0x3030), 5}}).walk(t)
		expect(t, s, "1010 context, 2020 scan, 3030 scan, nothing-found")
	})
}

func TestScanWithSymbolsWantsANamedFunction(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		s := (&scene{arch: a, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named},
			words: []uint64{code(0x5000), code(0x2020), code(0x7777), code(0x3030)}}).walk(t)
		expect(t, s, "1010 context, 2020 scan, 3030 scan, nothing-found")
	})
}

// The search above frame 0 goes four times as far; Breakpad's loop takes one word more than its
// constant says.
func TestScanReach(t *testing.T) {
	for _, tc := range []struct {
		policy Policy
		gap    int
		found  bool
	}{
		{Breakpad, 160, true}, {Breakpad, 161, false},
		{RustMinidump, 159, true}, {RustMinidump, 160, false},
	} {
		words := make([]uint64, 400)
		words[tc.gap] = code(0x2020)
		s := (&scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), words: words, policy: tc.policy}).walk(t)
		if got := len(s.Frames) == 2; got != tc.found {
			t.Errorf("%s: a return address %d words up: found %v, want %v", tc.policy.Name, tc.gap, got, tc.found)
		}
	}
	words := make([]uint64, 400)
	words[0], words[42] = code(0x2020), code(0x3030)
	for _, p := range []Policy{Breakpad, RustMinidump} {
		s := (&scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), words: words, policy: p}).walk(t)
		if len(s.Frames) != 2 {
			t.Errorf("%s: 41 words above a scanned frame are out of reach, got %s", p.Name, shape(s))
		}
	}
}

func TestFramePointerChain(t *testing.T) {
	for _, tc := range []struct {
		arch *cpu.Arch
		os   core.OS
	}{{cpu.X86, core.Windows}, {cpu.AMD64, core.OSLinux}} {
		sc := &scene{arch: tc.arch, os: tc.os, pc: code(0x1010)}
		sc.regs = map[string]uint64{tc.arch.RegName(tc.arch.FP): sc.at(2)}
		sc.words = []uint64{0, 0, sc.at(4), code(0x2020), sc.at(7), code(0x3030), 9, 0, 0, 0}
		expect(t, sc.walk(t), "1010 context, 2020 frame_pointer, 3030 frame_pointer, "+map[*cpu.Arch]string{
			cpu.X86: "end", cpu.AMD64: "nothing-found"}[tc.arch])
	}
}

// The outermost function that keeps rbp is called by one that does not, and that has a number in
// it. The return address is right all the same if it follows a call; else the stack is searched.
func TestLastOfTheFramePointers(t *testing.T) {
	after := fakeCode{code(0x3030), []byte{0xe8, 1, 2, 3, 4}}
	sc := &scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), code: eachCall{code(0x2020), code(0x3030)}}
	sc.regs = map[string]uint64{"rbp": sc.at(1)}
	sc.words = []uint64{0, sc.at(4), code(0x2020), code(0x7070), 10, code(0x3030), 0, 0, 0}
	if s := sc.walk(t); len(s.Frames) < 3 || s.Frames[2].PC != code(0x3030) || s.Frames[2].Trust != TrustFramePointer || s.Frames[2].Regs.SP() != sc.at(6) {
		t.Errorf("after a call: %s", shape(s))
	} else if fp, ok := s.Frames[2].Regs.Get(cpu.AMD64.FP); !ok || fp != 10 {
		t.Errorf("the caller's rbp is 0x%x", fp)
	}
	for _, tc := range []struct {
		name   string
		change func()
	}{
		{"the caller is not known to have made a call", func() { sc.code = nil }},
		{"rust-minidump", func() { sc.code, sc.policy = after, RustMinidump }},
		// rbp of the first frame may be any number, as one that points into the stack.
		{"the first frame", func() {
			sc.code, sc.policy, sc.regs["rbp"] = after, Best, sc.at(4)
			sc.words[1], sc.words[2] = 0, code(0x3030)
		}},
	} {
		tc.change()
		if s := sc.walk(t); slices.ContainsFunc(s.Frames, func(f Frame) bool { return f.PC == code(0x3030) && f.Trust == TrustFramePointer }) {
			t.Errorf("%s: %s", tc.name, shape(s))
		}
	}
}

// eachCall has a call before each of its addresses.
type eachCall []uint64

func (c eachCall) Read(addr uint64, p []byte) int {
	for _, at := range c {
		if end := addr + uint64(len(p)); at == end {
			return fakeCode{at, []byte{0xe8, 1, 2, 3, 4}}.Read(addr, p)
		}
	}
	return fakeCode{}.Read(addr, p)
}

// No compiler for Windows amd64 keeps a chain of rbp.
func TestNoFramePointerOnWindowsAMD64(t *testing.T) {
	sc := &scene{arch: cpu.AMD64, os: core.Windows, pc: code(0x1010), policy: Breakpad}
	sc.regs = map[string]uint64{"rbp": sc.at(2)}
	sc.words = []uint64{0, 0, sc.at(4), code(0x2020), sc.at(6), code(0x3030), 0, 0}
	expect(t, sc.walk(t), "1010 context, 2020 scan, 3030 scan, nothing-found")
}

// TestFramePointerIntoFrame: rust-minidump searches the saved registers of Windows amd64 up to 240
// bytes above rbp, in steps of 16, and gives up where what may be the saved rbp leads out of the
// stack.
func TestFramePointerIntoFrame(t *testing.T) {
	for _, c := range []struct {
		name string
		at   map[int]uint64 // words of the stack, as numbers of words or addresses; the others are 1
		want string
	}{
		{"0", map[int]uint64{2: 30, 3: code(0x2020)}, "1010 context, 2020 frame_pointer, nothing-found"},
		{"32", map[int]uint64{6: 30, 7: code(0x2020)}, "1010 context, 2020 frame_pointer, nothing-found"},
		{"24", map[int]uint64{5: 30, 6: code(0x2020)}, "1010 context, 2020 scan, nothing-found"},
		{"240", map[int]uint64{32: 36, 33: code(0x2020)}, "1010 context, 2020 frame_pointer, nothing-found"},
		{"256", map[int]uint64{34: 38, 35: code(0x2020)}, "1010 context, 2020 scan, nothing-found"},
		{"a word out of the stack before it", map[int]uint64{4: 4000, 6: 30, 7: code(0x2020)}, "1010 context, 2020 scan, nothing-found"},
	} {
		sc := &scene{arch: cpu.AMD64, os: core.Windows, pc: code(0x1010), policy: RustMinidump, words: make([]uint64, 60)}
		sc.regs = map[string]uint64{"rbp": sc.at(2)}
		for i := range sc.words {
			sc.words[i] = 1
		}
		for i, v := range c.at {
			if v < 1<<12 {
				v = sc.at(v)
			}
			sc.words[i] = v
		}
		t.Run(c.name, func(t *testing.T) { expect(t, sc.walk(t), c.want) })
	}
}

// A Windows amd64 function without unwind data has its return address at rsp; nothing else has
// moved.
func TestLeafOnWindowsAMD64(t *testing.T) {
	sc := &scene{arch: cpu.AMD64, os: core.Windows, pc: code(0x1010), policy: Breakpad, regs: map[string]uint64{"rsi": 77}}
	sc.words = []uint64{code(0x2020), 0, 0}
	s := sc.walk(t)
	expect(t, s, "1010 context, 2020 leaf, nothing-found")
	rsi, _ := cpu.AMD64.Lookup("rsi")
	if v, ok := s.Frames[1].Regs.Get(rsi); !ok || v != 77 {
		t.Errorf("rsi is lost over a leaf's return")
	}
}

// A function that was just entered has its caller in the link register, whatever the CPU; one that
// has made a call has its own address there, and then the stack is searched.
func TestLeafByLinkRegister(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		if a.LR == cpu.NoReg {
			return
		}
		sc := &scene{arch: a, os: core.OSLinux, pc: code(0x1000), syms: &fakeSymbols{loaded: true, funcs: named}, words: []uint64{1, 2, code(0x3030), 0}}
		sc.regs = map[string]uint64{a.RegName(a.LR): code(0x2020)}
		s := sc.walk(t)
		if len(s.Frames) < 2 || s.Frames[1].PC != code(0x2020) || s.Frames[1].Trust != TrustLeaf || s.Frames[1].Regs.SP() != sc.at(0) {
			t.Errorf("entered: %s", shape(s))
		}
		sc.pc, sc.regs = code(0x1010), map[string]uint64{a.RegName(a.LR): code(0x1008)}
		if s = sc.walk(t); len(s.Frames) > 1 && s.Frames[1].Trust == TrustLeaf {
			t.Errorf("after a call of its own: %s", shape(s))
		}
	})
}

// Breakpad takes arm64's caller from lr, rust-minidump from the frame record: with lr set they name
// different frames.
func TestARM64LinkRegister(t *testing.T) {
	sc := &scene{arch: cpu.ARM64, os: core.OSLinux, pc: code(0x1010)}
	sc.regs = map[string]uint64{"lr": code(0x2020), "fp": sc.at(2)}
	sc.words = []uint64{0, 0, sc.at(4), code(0x3030), 0, 0, 0, 0}
	sc.policy = Breakpad
	expect(t, sc.walk(t), "1010 context, 2020 frame_pointer, 3030 frame_pointer, end")
	sc.policy = RustMinidump
	expect(t, sc.walk(t), "1010 context, 3030 frame_pointer, nothing-found")
	// Just back from a call, lr is where the function goes on: nobody called it from there.
	sc.regs["lr"], sc.policy = code(0x1010), Best
	expect(t, sc.walk(t), "1010 context, 3030 frame_pointer, end")
}

// The top byte of a signed pointer is not part of the address.
func TestARM64PointerAuthentication(t *testing.T) {
	signed := uint64(0x00aa) << 48
	row := cfaRow(cpu.ARM64, 2)
	for _, p := range []Policy{Breakpad, RustMinidump} {
		s := (&scene{arch: cpu.ARM64, os: core.MacOS, pc: code(0x1010), policy: p,
			syms: &fakeSymbols{loaded: true, funcs: named, row: row}, words: []uint64{1, signed | code(0x2020), 2, 0}}).walk(t)
		if len(s.Frames) != 2 || s.Frames[1].PC != code(0x2020) {
			t.Errorf("%s: %s", p.Name, shape(s))
		}
	}
}

func TestNonCanonicalReturnAddress(t *testing.T) {
	sc := &scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010)}
	sc.regs = map[string]uint64{"rbp": sc.at(1)}
	sc.words = []uint64{0, sc.at(4), 0x6172747320746f6e, code(0x2020), 0, 0, 0}
	s := sc.walk(t)
	expect(t, s, "1010 context, 2020 scan, nothing-found")
	if a := s.Frames[1].Attempts; len(a) == 0 || !strings.Contains(a[len(a)-1].Reason, "not canonical") {
		t.Errorf("the rejected frame pointer is not explained: %v", a)
	}
}

func TestStackThatDoesNotMove(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		row := &unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP}, RA: unwind.Rule{Kind: unwind.AtCFA}}
		s := (&scene{arch: a, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named, row: row},
			words: []uint64{code(0x2020), code(0x2020), 0}}).walk(t)
		// Frame 0's caller may have the same sp (a leaf), the next may not: the walk must end.
		expect(t, s, "1010 context, 2020 cfi, no-progress")
	})
}

func TestNoStackMemory(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		expect(t, (&scene{arch: a, pc: code(0x1010)}).walk(t), "1010 context, no-stack-memory")
	})
}

func TestRecursionEndsAtTheLimit(t *testing.T) {
	p := Best
	p.MaxFrames = 50
	words := make([]uint64, 400)
	for i := range words {
		words[i] = code(0x2020)
	}
	s := (&scene{arch: cpu.AMD64, pc: code(0x1010), policy: p, words: words,
		syms: &fakeSymbols{loaded: true, funcs: named, row: cfaRow(cpu.AMD64, 2)}}).walk(t)
	if s.Stop.Kind != StopLimit || len(s.Frames) != 51 {
		t.Errorf("%d frames, %s", len(s.Frames), s.Stop.Kind)
	}
}

// A signal frame's caller was interrupted, not called: its pc is looked up as it is.
func TestSignalFrame(t *testing.T) {
	row := cfaRow(cpu.AMD64, 2)
	row.Signal = true
	s := (&scene{arch: cpu.AMD64, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named, row: row},
		words: []uint64{1, code(0x2000), 2, 0}}).walk(t)
	if len(s.Frames) != 2 || s.Frames[1].Lookup != code(0x2000) || s.Frames[1].Symbol.Name != "middle" {
		t.Errorf("%s, looked up at 0x%x", shape(s), s.Frames[1].Lookup)
	}
}

// A call through a null pointer has pushed its return address and nothing else: frame pointer and
// all other registers are still the caller's.
func TestCallOfNull(t *testing.T) {
	for _, a := range []*cpu.Arch{cpu.X86, cpu.AMD64} {
		sc := &scene{arch: a, os: core.OSLinux, pc: 0, syms: &fakeSymbols{loaded: true, funcs: named}}
		sc.regs = map[string]uint64{a.RegName(a.FP): sc.at(2)}
		sc.words = []uint64{code(0x1010), 0, sc.at(4), code(0x2020), sc.at(6), code(0x3030), 0, 0, 0}
		s := sc.walk(t)
		if len(s.Frames) < 4 || s.Frames[1].PC != code(0x1010) || s.Frames[1].Trust != TrustLeaf || s.Frames[1].Regs.SP() != sc.at(1) ||
			s.Frames[2].PC != code(0x2020) || s.Frames[3].PC != code(0x3030) {
			t.Errorf("%s, stopped at null: %s", a.Name, shape(s))
		}
	}
	// The same in a signal's handler: the kernel saved a pc of 0.
	row := cfaRow(cpu.AMD64, 2)
	row.Signal = true
	sc := &scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "restore", 0x2000: "caller"}, row: row}}
	sc.words = []uint64{1, 0, code(0x2020), 4, 5, 0}
	s := sc.walk(t)
	if len(s.Frames) < 3 || s.Frames[1].PC != 0 || s.Frames[1].Source != SourceCFI || s.Frames[2].PC != code(0x2020) || s.Frames[2].Trust != TrustLeaf {
		t.Errorf("in a handler: %s", shape(s))
	}
	// So it is with a call to where the memory map has data or nothing, in a handler and where the
	// thread stopped.
	space := &fakeSpace{exec: map[uint64]bool{codeBase + 0x1000: true, codeBase + 0x2000: true, codeBase + 0x3000: true, stackBase &^ 0xfff: false, 0x600000: false}}
	for _, to := range []uint64{0x600010, 0x41414141} {
		sc := &scene{arch: cpu.AMD64, os: core.OSLinux, pc: to, syms: &fakeSymbols{loaded: true, funcs: named}, space: space}
		sc.words = []uint64{code(0x1010), 0, 0, code(0x2020), 0, 0}
		if s := sc.walk(t); len(s.Frames) < 2 || s.Frames[1].PC != code(0x1010) || s.Frames[1].Trust != TrustLeaf {
			t.Errorf("stopped at %#x: %s", to, shape(s))
		}
		sc = &scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "restore", 0x2000: "caller"}, row: row}, space: space}
		sc.words = []uint64{1, to, code(0x2020), 4, 5, 0}
		if s := sc.walk(t); len(s.Frames) < 3 || s.Frames[1].PC != to || s.Frames[2].PC != code(0x2020) || s.Frames[2].Trust != TrustLeaf {
			t.Errorf("in a handler of a call to %#x: %s", to, shape(s))
		}
	}
	// A return address of 0 that was not saved by the kernel ends the stack, unless callers are left.
	row.Signal = false
	expect(t, sc.walk(t), "1010 context, lost")
	sc.words[2] = 3
	expect(t, sc.walk(t), "1010 context, end")
	sc.words[2] = code(0x2020)
	sc.policy, row.Signal = Breakpad, true
	expect(t, sc.walk(t), "1010 context, 2020 scan, end") // its checks look for another
}

func TestEveryRejectionIsKept(t *testing.T) {
	s := (&scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), words: []uint64{1, 2, 3}}).walk(t)
	expect(t, s, "1010 context, nothing-found")
	var sources []string
	for _, a := range s.Stop.Attempts {
		if a.Reason == "" {
			t.Errorf("%s was rejected without a reason", a.Source)
		}
		sources = append(sources, string(a.Source))
	}
	if got := strings.Join(sources, " "); got != "cfi frame-pointer scan" {
		t.Errorf("attempts: %s", got)
	}
}

func BenchmarkWalk(b *testing.B) {
	words := make([]uint64, 20002)
	for i := range words {
		words[i] = code(0x2020)
	}
	words[20000], words[20001] = 0, 0
	regs := cpu.Regs{Arch: cpu.AMD64}
	for i := range cpu.AMD64.Names {
		regs.Set(cpu.Reg(i), 0)
	}
	regs.Set(cpu.AMD64.PC, code(0x1010))
	regs.Set(cpu.AMD64.SP, stackBase)
	w := New(Best, core.OSLinux, oneModule(codeBase, codeSize), &fakeSymbols{loaded: true, funcs: named, row: cfaRow(cpu.AMD64, 2)})
	mem := &fakeMemory{base: stackBase, word: 8, words: words}
	b.ReportAllocs()
	frames := 0
	for b.Loop() {
		frames += len(w.Walk(regs, mem).Frames)
	}
	b.ReportMetric(float64(frames)/b.Elapsed().Seconds(), "frames/s")
}

// fakeCode has the same bytes everywhere but at one place.
type fakeCode struct {
	at    uint64
	bytes []byte // end at at
}

func (c fakeCode) Read(addr uint64, p []byte) int {
	for i := range p {
		p[i] = 0x90
		if a := addr + uint64(i); a < c.at && c.at-a <= uint64(len(c.bytes)) {
			p[i] = c.bytes[uint64(len(c.bytes))-(c.at-a)]
		}
	}
	return len(p)
}

// Of two words that point into code, the one after a call is the return address.
func TestScanWantsACall(t *testing.T) {
	tested := map[*cpu.Arch]bool{}
	for name, tc := range map[string]struct {
		arch *cpu.Arch
		call []byte
	}{
		"rel32":        {cpu.AMD64, []byte{0xe8, 1, 2, 3, 4}},
		"register":     {cpu.AMD64, []byte{0xff, 0xd0}},
		"r12":          {cpu.AMD64, []byte{0x41, 0xff, 0xd4}},
		"memory":       {cpu.X86, []byte{0xff, 0x15, 1, 2, 3, 4}},
		"disp8":        {cpu.X86, []byte{0xff, 0x50, 0x10}},
		"sib disp32":   {cpu.AMD64, []byte{0xff, 0x94, 0xc8, 1, 2, 3, 4}},
		"arm64 bl":     {cpu.ARM64, []byte{0x10, 0, 0, 0x94}},
		"arm64 blr x8": {cpu.ARM64, []byte{0x00, 0x01, 0x3f, 0xd6}},
		"arm64 blraa":  {cpu.ARM64, []byte{0x09, 0x09, 0x3f, 0xd7}},
		"arm bl":       {cpu.ARM, []byte{0x10, 0, 0, 0xeb}},
		"arm blx r3":   {cpu.ARM, []byte{0x33, 0xff, 0x2f, 0xe1}},
		"arm mov, bx":  {cpu.ARM, []byte{0x0f, 0xe0, 0xa0, 0xe1, 0x13, 0xff, 0x2f, 0xe1}},
		"mips jal":     {cpu.MIPS, []byte{0x10, 0, 0, 0x0c, 0, 0, 0, 0}},
		"mips jalr t9": {cpu.MIPS64, []byte{0x09, 0xf8, 0x20, 0x03, 0, 0, 0, 0}},
		"mips bal":     {cpu.MIPS, []byte{0x10, 0, 0x11, 0x04, 0, 0, 0, 0}},
		"ppc bl":       {cpu.PPC, []byte{0x01, 0x01, 0, 0x48}},
		"ppc bctrl":    {cpu.PPC64, []byte{0x21, 0x04, 0x80, 0x4e}},
		"sparc call":   {cpu.SPARC, []byte{0x10, 0, 0, 0x40, 0, 0, 0, 0x01}},
		"riscv jal":    {cpu.RISCV, []byte{0xef, 0, 0x10, 0}},
		"riscv jalr":   {cpu.RISCV64, []byte{0xe7, 0x80, 0x07, 0}},
		"riscv c.jalr": {cpu.RISCV64, []byte{0x82, 0x97}},
		"z brasl":      {cpu.S390X, []byte{0xc0, 0xe5, 0, 0, 0, 9}},
		"z basr":       {cpu.S390X, []byte{0x0d, 0xe1}},
		"loong bl":     {cpu.LoongArch64, []byte{0xff, 0x5b, 0xff, 0x57}},
		"loong jirl":   {cpu.LoongArch64, []byte{0x81, 0x01, 0, 0x4c}},
	} {
		tested[tc.arch] = true
		t.Run(name, func(t *testing.T) {
			sc := &scene{arch: tc.arch, pc: code(0x1010), words: []uint64{code(0x2020), code(0x3030), 0},
				code: fakeCode{code(0x3030), tc.call}}
			end := "nothing-found"
			if tc.arch.Frame.Style == cpu.BackChain {
				end = "lost" // the word at sp is a back chain that ends, behind a guessed frame
			}
			expect(t, sc.walk(t), "1010 context, 3030 scan, "+end)
		})
	}
	for _, a := range cpu.All() {
		if !tested[a] {
			t.Errorf("no call of %s is tested", a.Name)
		}
	}
}

// Nobody calls _start: what is above it on the stack are arguments and what the loader left.
func TestNothingAboveStart(t *testing.T) {
	for _, p := range []Policy{Best, Breakpad} {
		sc := &scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), policy: p,
			syms:  &fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "main", 0x2000: "_start", 0x3000: "left over"}},
			words: []uint64{1, code(0x2020), 2, code(0x3030), 3}}
		want := "1010 context, 2020 scan, end"
		if p.Name == "breakpad" {
			want = "1010 context, 2020 scan, 3030 scan, nothing-found"
		}
		expect(t, sc.walk(t), want)
	}
}

// The CPU's own list of return addresses tells the right word from an older one that looks as good.
func TestShadowStack(t *testing.T) {
	sc := &scene{arch: cpu.AMD64, os: core.Windows, pc: code(0x1010), shadow: []uint64{code(0x2020), code(0x3030)},
		words: []uint64{1, code(0x5050), 2, code(0x2020), code(0x6060), code(0x3030), 0}}
	expect(t, sc.walk(t), "1010 context, 2020 prewalked, 3030 prewalked, end")
	// Call frame information is asked first, and the shadow stack follows it.
	sc.syms = &fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "leaf"}, row: cfaRow(cpu.AMD64, 4)}
	expect(t, sc.walk(t), "1010 context, 2020 cfi, 3030 prewalked, end")
}
