package walker

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// fakeSpace is a memory map by page, and other memory that the dump has.
type fakeSpace struct {
	exec  map[uint64]bool // page → whether it is executable; pages that are not there are not mapped
	maps  map[uint64]Mapping
	held  uint64   // the start of memory that the dump holds besides the stack
	words []uint64 // that memory
}

func (f *fakeSpace) Executable(addr uint64) (yes, known bool) {
	yes, known = f.exec[addr&^0xfff]
	return yes, known
}

func (f *fakeSpace) Mapping(addr uint64) (Mapping, bool) {
	m, ok := f.maps[addr&^0xfff]
	return m, ok
}

func (f *fakeSpace) Stack(sp uint64) unwind.Memory {
	if !f.holds(sp) {
		return nil
	}
	return &fakeMemory{base: f.held, word: 8, words: f.words}
}

func (f *fakeSpace) holds(addr uint64) bool {
	return f.held != 0 && addr-f.held < uint64(8*len(f.words))
}

// codeBytes are the instructions from an address on, and nothing else.
type codeBytes struct {
	at    uint64
	bytes []byte
}

func (c codeBytes) Read(addr uint64, p []byte) int {
	if addr < c.at || addr-c.at >= uint64(len(c.bytes)) {
		return 0
	}
	return copy(p, c.bytes[addr-c.at:])
}

// walkBy walks with rules by function on amd64.
func walkBy(p Policy, rows map[uint64]unwind.Row, funcs map[uint64]string, words []uint64, space Space, code Code) (Stack, *Walker, unwind.Memory) {
	w, regs, mem := walkerBy(p, rows, funcs, words, space, code)
	return w.Walk(regs, mem), w, mem
}

// walkerBy makes what walkBy walks.
func walkerBy(p Policy, rows map[uint64]unwind.Row, funcs map[uint64]string, words []uint64, space Space, code Code) (*Walker, cpu.Regs, unwind.Memory) {
	a := cpu.AMD64
	syms := &rowsByFunction{fakeSymbols{loaded: true, funcs: funcs}, rows}
	w := New(p, core.OSLinux, oneModule(codeBase, codeSize), syms)
	w.Space, w.Code = space, code
	regs := cpu.Regs{Arch: a}
	regs.Set(a.PC, codeBase+0x1010)
	regs.Set(a.SP, stackBase)
	return w, regs, &fakeMemory{base: stackBase, word: 8, words: words}
}

// Rules may lead anywhere; a caller is taken unless something in the dump says that it cannot be
// one. The scan that follows finds the caller at the next word.
func TestRefutedPC(t *testing.T) {
	const jit, heap, gone = 0x7f1200001234, 0x55550000abc8, 0x7f9900000010
	space := &fakeSpace{exec: map[uint64]bool{jit &^ 0xfff: true, heap &^ 0xfff: false, codeBase + 0x1000: true, codeBase + 0x2000: true, codeBase + 0x9000: false}}
	call, noCall := []byte{0xcc, 0xcc, 0xcc, 0xe8, 1, 2, 3, 4}, []byte{0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0x90}
	signal := *cfaRow(cpu.AMD64, 2)
	signal.Signal = true
	for _, tc := range []struct {
		name   string
		pc     uint64
		space  Space
		code   Code
		row    *unwind.Row
		policy Policy
		gone   []core.UnloadedModule
		guess  bool   // the caller is taken, and not trusted
		reason string // "": the caller is taken
	}{
		{name: "generated code", pc: jit, space: space},
		{name: "generated code in a dump without a map", pc: jit, guess: true},
		{name: "generated code whose bytes are there", pc: jit, code: codeBytes{jit - 8, call}},
		{name: "no call", pc: jit, code: codeBytes{jit - 8, noCall}, reason: "its return address 0x7f1200001234 is in no module, and the instruction before it is not a call"},
		{name: "code that was patched, by the map", pc: jit, space: space, code: codeBytes{jit - 8, noCall}},
		{name: "interrupted generated code", pc: jit, code: codeBytes{jit - 8, noCall}, row: &signal},
		{name: "an unloaded library", pc: gone, space: space, guess: true},
		{name: "an unloaded library that the dump lists", pc: gone, space: space, gone: []core.UnloadedModule{{Base: 1, Size: 2}, {Base: gone &^ 0xfff, Size: 0x1000}}},
		{name: "behind an unloaded library", pc: gone, gone: []core.UnloadedModule{{Base: gone - 0x1001, Size: 0x1000}}, guess: true},
		{name: "an overwritten return address", pc: 0x6172747320746f6e, space: space, guess: true},
		{name: "an overwritten return address, as Breakpad", pc: 0x6172747320746f6e, space: space, policy: Breakpad},
		{name: "the heap", pc: heap, space: space, reason: "its return address 0x55550000abc8 is in memory that is not executable"},
		{name: "data of a module", pc: codeBase + 0x9008, space: space, reason: "its return address 0x40009008 is in memory that is not executable"},
		{name: "a call that ends a page of code", pc: jit&^0xfff + 0x1000, space: space},
		{name: "the stack", pc: stackBase + 24, reason: "its return address 0x7fff0018 is on the thread's own stack"},
		{name: "the stack, odd", pc: stackBase + 21, space: space, reason: "its return address 0x7fff0015 is on the thread's own stack"},
		{name: "an executable stack", pc: stackBase + 24, space: &fakeSpace{exec: map[uint64]bool{stackBase: true}}},
		{name: "as Breakpad", pc: stackBase + 24, space: space, policy: Breakpad},
		{name: "as rust-minidump", pc: heap, space: space, policy: RustMinidump},
	} {
		p := tc.policy
		if p.Name == "" {
			p = Best
		}
		row := tc.row
		if row == nil {
			row = cfaRow(cpu.AMD64, 2)
		}
		w, regs, mem := walkerBy(p, map[uint64]unwind.Row{0x1000: *row}, named, []uint64{1, tc.pc, 3, code(0x2020), 5, 6}, tc.space, tc.code)
		w.Unloaded = tc.gone
		s := w.Walk(regs, mem)
		if len(s.Frames) < 2 {
			t.Errorf("%s: %s %v", tc.name, shape(s), s.Stop.Attempts)
			continue
		}
		f := &s.Frames[1]
		if tc.reason == "" {
			if f.PC != tc.pc || f.Trust != map[bool]Trust{false: TrustCFI, true: TrustNone}[tc.guess] || f.Doubtful != tc.guess {
				t.Errorf("%s: %s %v", tc.name, shape(s), f.Attempts)
			}
			continue
		}
		said := ""
		for _, a := range f.Attempts {
			if a.Source == SourceCFI {
				said = a.Reason
			}
		}
		if f.PC != code(0x2020) || f.Trust != TrustScan || said != tc.reason {
			t.Errorf("%s: %s, said %q", tc.name, shape(s), said)
		}
	}
}

// A word that points to a module's data is not a return address; an explanation lists it with the
// reason.
func TestScanOfDataPointers(t *testing.T) {
	space := &fakeSpace{exec: map[uint64]bool{codeBase + 0x2000: true, codeBase + 0x3000: false}}
	words := []uint64{1, code(0x3030), code(0x2020), 4}
	s, w, mem := walkBy(Best, nil, named, words, space, nil)
	expect(t, s, "1010 context, 2020 scan, nothing-found")
	x, err := w.Explain(&s, 1, mem)
	if err != nil || len(x.Scanned.Rejected) != 1 || x.Scanned.Rejected[0].Reason != "it points to memory that is not executable" {
		t.Errorf("%v %+v", err, x.Scanned)
	}
	if s, _, _ := walkBy(Breakpad, nil, named, words, space, nil); s.Frames[1].PC != code(0x3030) {
		t.Errorf("as Breakpad: %s", shape(s))
	}
}

// Rules that read no memory could go on without end. If the stack pointer has left the dump's
// memory, and the caller's is not in it either, nothing can be known. Other stacks that the dump
// has are followed.
func TestStackPointerLeavesTheMemory(t *testing.T) {
	a := cpu.AMD64
	forever := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: 16}, RA: unwind.Rule{Kind: unwind.Const, Offset: int64(code(0x1020))}}
	rows := map[uint64]unwind.Row{0x1000: forever}
	words := make([]uint64, 8)
	s, _, _ := walkBy(Best, rows, named, words, nil, nil)
	if n := len(s.Frames); n < 4 || n > 6 || s.Stop.Kind != StopLeftStack || !strings.Contains(s.Stop.Detail, "has left the memory that the dump has") {
		t.Errorf("%d frames, %s: %s", n, s.Stop.Kind, s.Stop.Detail)
	}
	said := false
	for _, at := range s.Stop.Attempts {
		said = said || at.Source == SourceCFI && strings.HasPrefix(at.Reason, "the dump has no memory at its sp 0x")
	}
	if !said {
		t.Errorf("%v", s.Stop.Attempts)
	}
	// As much again in memory that touches it.
	other, _, _ := walkBy(Best, rows, named, words, &fakeSpace{held: stackBase + 64, words: make([]uint64, 512)}, nil)
	if len(other.Frames) < 200 || other.Stop.Kind != StopLeftStack {
		t.Errorf("%d frames, %s: %s", len(other.Frames), other.Stop.Kind, other.Stop.Detail)
	}
	// A switch to a stack elsewhere.
	const far = 0x7fffffff0000
	rows = map[uint64]unwind.Row{
		0x1000: {CFA: unwind.Rule{Kind: unwind.Const, Offset: far}, RA: unwind.Rule{Kind: unwind.AtConst, Offset: stackBase}},
		0x2000: {CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: 16}, RA: unwind.Rule{Kind: unwind.Const, Offset: int64(code(0x3030))}}}
	words[0] = code(0x2020)
	switched, _, _ := walkBy(Best, rows, named, words, &fakeSpace{held: far, words: make([]uint64, 8)}, nil)
	if got := shape(switched); !strings.HasPrefix(got, "1010 context, 2020 cfi, 3030 cfi, ") {
		t.Errorf("another stack: %s %v", got, switched.Stop.Attempts)
	}
}

// A function that the system or a runtime enters has no caller, whatever the symbol file's rules
// give: dump_syms may have lost that they have none. Names that a program may use itself end a
// stack only where the rules lead nowhere.
func TestOutermostByName(t *testing.T) {
	ordinary := *cfaRow(cpu.AMD64, 2)
	signal := ordinary
	signal.Signal = true
	rows := map[uint64]unwind.Row{0x1000: ordinary, 0x2000: ordinary}
	for _, tc := range []struct {
		name, shape string
		first       unwind.Row
	}{
		{"_start", "1010 context, 2020 cfi, end", ordinary},
		{"__clone", "1010 context, 2020 cfi, end", ordinary},
		{"runtime.clone", "1010 context, 2020 cfi, end", ordinary},
		{"runtime.goexit.abi0", "1010 context, 2020 cfi, end", ordinary},
		{"clone", "1010 context, 2020 cfi, 3030 cfi, nothing-found", ordinary},
		{"start", "1010 context, 2020 cfi, 3030 cfi, nothing-found", ordinary},
		{"__clone", "1010 context, 2020 cfi, 3030 cfi, nothing-found", signal},
	} {
		rows[0x1000] = tc.first
		funcs := map[uint64]string{0x1000: "leaf", 0x2000: tc.name, 0x3000: "f"}
		s, _, _ := walkBy(Best, rows, funcs, []uint64{1, code(0x2020), 2, code(0x3030), 4, 5}, nil, nil)
		expect(t, s, tc.shape)
		if s.Stop.Kind == StopEnd && s.Stop.Detail != tc.name+" is where a stack begins: nothing calls it. The address 0x40003030, found by its unwind rules (CFI), is left from something else" {
			t.Errorf("%s: %s", tc.name, s.Stop.Detail)
		}
	}
	if s, _, _ := walkBy(Breakpad, rows, map[uint64]string{0x1000: "leaf", 0x2000: "_start", 0x3000: "f"}, []uint64{1, code(0x2020), 2, code(0x3030), 4, 5}, nil, nil); len(s.Frames) < 3 {
		t.Errorf("as Breakpad: %s", shape(s))
	}
}

// Rules for x86 that do not recover ebp are not good, unless the frame's own ebp was not known either,
// as behind Go's switches of stacks.
func TestRulesWithoutEbp(t *testing.T) {
	a := cpu.X86
	lost := *cfaRow(a, 2)
	lost.Saved = []unwind.RegRule{{Reg: a.FP, Rule: unwind.Rule{Kind: unwind.Undefined}}}
	for _, c := range []struct {
		policy Policy
		ebp    bool
		row    unwind.Row
		want   string
	}{
		{Best, true, *cfaRow(a, 2), "1010 context, 2020 cfi, nothing-found"},
		{Best, true, lost, "1010 context, 2020 scan, nothing-found"},
		{Best, false, lost, "1010 context, 2020 cfi, nothing-found"},
		{Best, false, *cfaRow(a, 2), "1010 context, 2020 cfi, nothing-found"},
		{Breakpad, false, lost, "1010 context, 2020 scan, nothing-found"},
	} {
		w := New(c.policy, core.OSLinux, oneModule(codeBase, codeSize),
			&rowsByFunction{fakeSymbols{loaded: true, funcs: map[uint64]string{0x1000: "f", 0x2000: "main"}}, map[uint64]unwind.Row{0x1000: c.row}})
		regs := cpu.Regs{Arch: a}
		regs.Set(a.PC, code(0x1010))
		regs.Set(a.SP, stackBase)
		if c.ebp {
			regs.Set(a.FP, 7)
		}
		s := w.Walk(regs, &fakeMemory{base: stackBase, word: 4, words: []uint64{7, code(0x2020), 0, 0}})
		if got := shape(s); got != c.want {
			t.Errorf("%s, ebp known: %v, lost: %v: %s, want %s", c.policy.Name, c.ebp, len(c.row.Saved) > 0, got, c.want)
		}
	}
}
