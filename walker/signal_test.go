package walker

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// signalTruth is a program where the handler of a signal begins: see testdata/signals.
type signalTruth struct {
	Crash, Handler map[string]uint64
	At, Return     uint64
	Stack, Code    string
	Big            bool
}

func readSignal(t *testing.T, path string) (truth signalTruth, arch *cpu.Arch) {
	t.Helper()
	name, _, _ := strings.Cut(strings.TrimSuffix(filepath.Base(path), ".json"), "-")
	if err := json.Unmarshal(testfile.Read(t, path), &truth); err != nil {
		t.Fatal(err)
	}
	switch name {
	case "thumb":
		name = "arm"
	case "ppc64le":
		name = "ppc64"
	}
	if arch = cpu.ByName(name); arch == nil {
		t.Fatalf("no CPU %s", name)
	}
	return truth, arch
}

// walk walks from the handler's first instruction, whose rules are known, with a module around the
// program but not around the code that the handler returns to.
func (g *signalTruth) walk(a *cpu.Arch, p Policy) Stack {
	regs := cpu.Regs{Arch: a}
	for name, v := range g.Handler {
		if r, ok := a.Lookup(name); ok {
			regs.Set(r, v)
		}
	}
	entry := unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP}, RA: unwind.Rule{Kind: unwind.FromReg, Reg: a.LR}}
	if a.LR == cpu.NoReg {
		w := int64(a.WordSize)
		entry = unwind.Row{CFA: unwind.Rule{Kind: unwind.FromReg, Reg: a.SP, Offset: w}, RA: unwind.Rule{Kind: unwind.AtCFA, Offset: -w}}
	}
	handler := g.Handler["pc"]
	raw, _ := hex.DecodeString(g.Stack)
	code, _ := hex.DecodeString(g.Code)
	mem := &oracleMemory{g.At, raw, binary.LittleEndian}
	if g.Big {
		mem.order = binary.BigEndian
	}
	w := New(p, core.OSLinux, oneModule(handler&^0xf, 0x1000), rulesAt{handler &^ 0xf, handler, entry})
	w.Code = fakeCode{(g.Return &^ 1) + uint64(len(code)), code}
	w.BigEndian = g.Big
	return w.Walk(regs, mem)
}

// rulesAt are the rules of one address of a module.
type rulesAt struct {
	base, at uint64
	row      unwind.Row
}

func (r rulesAt) Lookup(int, uint64) (symbol.Symbol, symbol.Answer) {
	return symbol.Symbol{}, symbol.No
}
func (r rulesAt) Row(_ int, rva uint64) (unwind.Row, symbol.Answer) {
	if r.base+rva == r.at {
		return r.row, symbol.Yes
	}
	return unwind.Row{}, symbol.No
}
func (rulesAt) Function(int, uint64) (symbol.Range, bool) { return symbol.Range{}, false }
func (r rulesAt) FrameData(int, uint64) (unwind.FrameData, symbol.Answer) {
	return unwind.FrameData{}, symbol.No
}

// Every register of the interrupted function is found, on each CPU and in each form of the kernel's
// frame, by the code to which the handler returns alone.
func TestSignalByCode(t *testing.T) {
	files, _ := filepath.Glob("../testdata/signals/*.json")
	if len(files) < 21 {
		t.Fatalf("%d files", len(files))
	}
	for _, path := range files {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".json"), func(t *testing.T) {
			truth, a := readSignal(t, path)
			s := truth.walk(a, Best)
			if len(s.Frames) < 3 {
				t.Fatalf("%d frames: %s %v", len(s.Frames), s.Stop.Detail, s.Stop.Attempts)
			}
			if back := &s.Frames[1]; back.PC != truth.Return || back.Lookup != a.CodeAddress(back.PC) {
				t.Errorf("the handler returns to 0x%x, looked up at 0x%x; it is 0x%x", back.PC, back.Lookup, truth.Return)
			}
			crash := &s.Frames[2]
			if crash.Source != SourceSignal || crash.Lookup != crash.PC {
				t.Errorf("%s, looked up at 0x%x, pc 0x%x", crash.Source, crash.Lookup, crash.PC)
			}
			known := 0
			for name, want := range truth.Crash {
				// gdb has the names of n64, where t0 to t3 are other registers.
				if a == cpu.MIPS64 && strings.HasPrefix(name, "t") {
					continue
				}
				r, ok := a.Lookup(name)
				if !ok {
					continue
				}
				known++
				if v, ok := crash.Regs.Get(r); !ok || v != a.Mask(want) {
					t.Errorf("%s is 0x%x, %v; it was 0x%x", name, v, ok, want)
				}
			}
			if known < 8 {
				t.Errorf("%d registers", known)
			}
			if s = truth.walk(a, Breakpad); len(s.Frames) > 2 && s.Frames[2].PC == truth.Crash["pc"] {
				t.Error("Breakpad's walker does not know this code")
			}
		})
	}
}

// If the frames before were guessed, the words have to look like the registers of a thread. And
// a pointer in the frame to its registers has to be there.
func TestSignalAfterGuess(t *testing.T) {
	restorer := []byte{0x48, 0xc7, 0xc0, 15, 0, 0, 0, 0x0f, 0x05}
	words := make([]uint64, 40)
	words[2], words[3] = stackBase+8*30, code(0x2000)
	put := func(pc, sp uint64) { words[4+(40+8*15)/8], words[4+(40+8*16)/8] = sp, pc }
	walk := func() Stack {
		sc := &scene{arch: cpu.AMD64, os: core.OSLinux, pc: code(0x1010), words: words, code: fakeCode{code(0x2000) + 9, restorer}, regs: map[string]uint64{"rbp": stackBase + 16}}
		return sc.walk(t)
	}
	put(code(0x3000), stackBase+8*38)
	expect(t, walk(), "1010 context, 2000 frame_pointer, 3000 cfi, nothing-found")
	put(0x1234567, stackBase+8*38)
	if s := walk(); len(s.Frames) > 2 && s.Frames[2].Source == SourceSignal {
		t.Errorf("pc is not an address of code: %s", shape(s))
	}
	put(code(0x3000), 0x1234560)
	if s := walk(); len(s.Frames) > 2 && s.Frames[2].Source == SourceSignal {
		t.Errorf("sp is not an address of a stack: %s", shape(s))
	}
}

// If the dump lacks the code, a return address that is the first byte of a function with the
// name of that code says the same; another function's does not.
func TestSignalByName(t *testing.T) {
	for _, c := range []struct {
		name  string
		found bool
	}{{"__restore_rt", true}, {"runtime.sigreturn__sigaction.abi0", true}, {"__restore", false}, {"restore", false}} {
		a := cpu.AMD64
		words := make([]uint64, 40)
		words[1] = code(0x2000)
		words[2+(40+8*15)/8], words[2+(40+8*16)/8] = stackBase+8*36, code(0x3000)
		rows := map[uint64]unwind.Row{0x1000: *cfaRow(a, 2), 0x1f00: *cfaRow(a, 4)}
		s, _, _ := walkBy(Best, rows, map[uint64]string{0x1000: "handler", 0x1f00: "before", 0x2000: c.name, 0x3000: "crash"}, words, nil, nil)
		if got := len(s.Frames) > 2 && s.Frames[2].PC == code(0x3000) && s.Frames[1].Symbol.Name == c.name; got != c.found {
			t.Errorf("%s: %s", c.name, shape(s))
		}
	}
}

// arm64's frame pointer does not say where a frame begins: above a handler without rules, whose frame
// record it points to, the signal's frame is below the record that the kernel made. Longer vectors make
// the frame larger.
func TestSignalByRecord(t *testing.T) {
	truth, a := readSignal(t, "../testdata/signals/arm64.json")
	stack, _ := hex.DecodeString(truth.Stack)
	codeOfReturn, _ := hex.DecodeString(truth.Code)
	module := truth.Handler["pc"] &^ 0xfff
	const handlers = 96 // bytes of the handler's frame, with its record at the lower end
	for _, tc := range []struct {
		name   string
		more   uint64 // bytes of vectors, above the registers
		spoil  uint64 // a byte of the record that is other than in the frame
		code   string // "", or what the dump has: "code", "vdso"
		frames int
	}{
		{"code", 0, 0, "code", 3}, {"code, vectors", 0x2340, 0, "code", 3}, {"vdso", 0, 0, "vdso", 3}, {"nothing", 0, 0, "", 1},
		{"another record", 0, 1, "code", 2}, {"another link register", 0x20, 9, "code", 2},
	} {
		sp := truth.Handler["sp"] - tc.more
		record := truth.Handler["x29"]
		mem := &oracleMemory{sp - handlers, make([]byte, handlers+int(tc.more)+len(stack)), binary.LittleEndian}
		// The registers stay where the frame begins, and the record is at its end.
		body := mem.bytes[handlers:]
		copy(body, stack[:record-truth.Handler["sp"]])
		copy(body[record-sp:], stack[record-truth.Handler["sp"]:])
		if tc.spoil != 0 {
			body[record-sp+tc.spoil-1] ^= 0x55
		}
		binary.LittleEndian.PutUint64(mem.bytes, record)
		binary.LittleEndian.PutUint64(mem.bytes[8:], truth.Return)
		w := New(Best, core.OSLinux, oneModule(module, 0x1000), rulesAt{at: 1})
		space := &fakeSpace{exec: map[uint64]bool{module: true}, maps: map[uint64]Mapping{}}
		w.Space = space
		switch tc.code {
		case "code":
			w.Code = fakeCode{truth.Return + uint64(len(codeOfReturn)), codeOfReturn}
		case "vdso":
			space.maps[truth.Return&^0xfff] = Mapping{Name: "[vdso]"}
		}
		regs := cpu.Regs{Arch: a}
		regs.Set(a.PC, truth.Handler["pc"]+64)
		regs.Set(a.SP, sp-handlers)
		regs.Set(a.FP, sp-handlers)
		s := w.Walk(regs, mem)
		if tc.frames == 3 && len(s.Frames) >= 3 {
			for name, want := range truth.Crash {
				if r, ok := a.Lookup(name); ok {
					if v, _ := s.Frames[2].Regs.Get(r); v != want {
						t.Errorf("%s: %s is 0x%x; it was 0x%x", tc.name, name, v, want)
					}
				}
			}
			continue
		}
		if signal := len(s.Frames) > 2 && s.Frames[2].Source == SourceSignal; signal || tc.frames == 3 {
			t.Errorf("%s: %s %v", tc.name, shape(s), s.Stop)
		}
	}
}

// On amd64 C libraries return from handlers themselves: a return address into the vdso is no such code.
func TestNoSignalInVDSO(t *testing.T) {
	words := make([]uint64, 40)
	words[1] = code(0x2000)
	words[2+(40+8*15)/8], words[2+(40+8*16)/8] = stackBase+8*36, code(0x3000)
	space := &fakeSpace{exec: map[uint64]bool{code(0x2000): true, code(0x3000): true}, maps: map[uint64]Mapping{code(0x2000): {Name: "[vdso]"}}}
	s, _, _ := walkBy(Best, map[uint64]unwind.Row{0x1000: *cfaRow(cpu.AMD64, 2)}, map[uint64]string{0x1000: "handler", 0x3000: "crash"}, words, space, nil)
	for _, f := range s.Frames {
		if f.Source == SourceSignal {
			t.Errorf("%s", shape(s))
		}
	}
}
