package walker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// explained walks the scene and gives what explains its frames and its end.
func (sc *scene) explained(t *testing.T) (Stack, func(frame int) *Explanation, Scanned) {
	t.Helper()
	s := sc.walk(t)
	w := New(sc.policy, sc.os, oneModule(codeBase, codeSize), sc.syms)
	w.Code = sc.code
	var mem unwind.Memory
	if sc.words != nil {
		mem = &fakeMemory{base: stackBase, word: uint64(sc.arch.WordSize), words: sc.words}
	}
	return s, func(frame int) *Explanation {
		x, err := w.Explain(&s, frame, mem)
		if err != nil {
			t.Fatalf("frame %d: %v", frame, err)
		}
		if x.After != s.Frames[frame].Regs {
			t.Errorf("frame %d: the explanation ends in other registers than the frame's", frame)
		}
		return x
	}, w.ExplainStop(&s, mem)
}

func (x *Explanation) checkWords() string {
	var out []string
	for _, c := range x.Checks {
		w := string(c.Kind)
		if c.Number > 0 {
			w += fmt.Sprintf(" %d", c.Number)
		}
		out = append(out, w)
	}
	return strings.Join(out, ", ")
}

// Explaining is computing again: on every CPU the explanation of every frame ends in the frame's
// own registers.
func TestExplainIsTheWalk(t *testing.T) {
	eachCPU(t, func(t *testing.T, a *cpu.Arch) {
		for _, p := range Policies() {
			sc := &scene{arch: a, os: core.OSLinux, pc: code(0x1010), policy: p,
				syms: &fakeSymbols{loaded: true, funcs: named, row: cfaRow(a, 2)}}
			sc.words = []uint64{1, code(0x2020), 2, code(0x3030), 3, code(0x2020), code(0x9000), code(0x3030), 0, 0}
			if a.FP != cpu.NoReg {
				sc.regs = map[string]uint64{a.RegName(a.FP): sc.at(4)}
			}
			s, explain, _ := sc.explained(t)
			for i := range s.Frames {
				x := explain(i)
				// A frame keeps the CFA by which its caller was found.
				if i > 0 && s.Frames[i-1].HasCFA == (x.Source == SourceScan) || i > 0 && s.Frames[i-1].HasCFA && s.Frames[i-1].CFA != x.CFA {
					t.Errorf("%s: frame %d has the CFA 0x%x %v, its caller was found by 0x%x (%s)", p.Name, i-1, s.Frames[i-1].CFA, s.Frames[i-1].HasCFA, x.CFA, x.Source)
				}
			}
		}
	})
}

// A frame's own rules say what some of its registers were; others are known only because calls
// preserve them.
func TestRecovered(t *testing.T) {
	a := cpu.AMD64
	reg := func(name string) cpu.Reg { r, _ := a.Lookup(name); return r }
	row := cfaRow(a, 3)
	row.Saved = []unwind.RegRule{{Reg: reg("rbx"), Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: -16}}, {Reg: reg("r13"), Rule: unwind.Rule{Kind: unwind.Undefined}}}
	sc := &scene{arch: a, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named, row: row},
		words: []uint64{1, 77, code(0x2020), 2, 0, 0, 0}, regs: map[string]uint64{"rbx": 3, "r12": 4, "r13": 5, "rax": 6}}
	s := sc.walk(t)
	if len(s.Frames) < 2 {
		t.Fatalf("%+v", s)
	}
	for i, want := range []string{"rax rbx r12 r13 rsp rip", "rbx rsp rip"} {
		var got []string
		for _, name := range []string{"rax", "rbx", "r12", "r13", "rsp", "rip"} {
			if s.Frames[i].Recovered(reg(name)) {
				got = append(got, name)
			}
		}
		if g := strings.Join(got, " "); g != want {
			t.Errorf("frame %d: %s, want %s", i, g, want)
		}
	}
	if !s.Frames[1].Regs.Known(reg("r12")) {
		t.Error("r12 is not known, though calls preserve it")
	}
}

func TestExplainCallFrameInformation(t *testing.T) {
	row := cfaRow(cpu.AMD64, 2)
	rbx, _ := cpu.AMD64.Lookup("rbx")
	row.Saved = []unwind.RegRule{{Reg: rbx, Rule: unwind.Rule{Kind: unwind.AtCFA, Offset: -800}}}
	sc := &scene{arch: cpu.AMD64, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named, row: row},
		words: []uint64{1, code(0x2020), 2, 0}, code: fakeCode{code(0x2020), []byte{0xe8, 1, 2, 3, 4}}}
	_, explain, _ := sc.explained(t)
	x := explain(1)
	if x.Source != SourceCFI || x.CFA != sc.at(2) || len(x.Words) != 1 {
		t.Errorf("%+v", x)
	}
	if w := x.Words[0]; w.Addr != sc.at(1) || w.For != "ra" || w.Place.Module != 0 || w.Place.Symbol.Name != "middle" {
		t.Errorf("%+v", w)
	}
	if got := x.checkWords(); got != "in-module, in-function, after-call, moved-up 16, canonical, in-stack" {
		t.Errorf("checks: %s", got)
	}
	if len(x.Notes) != 1 || !strings.Contains(x.Notes[0], "$rbx: the 8-byte word at 0x7ffefcf0 is not in the dump") {
		t.Errorf("notes: %q", x.Notes)
	}
	x = explain(0)
	if x.Source != SourceContext || x.checkWords() != "in-module, in-function, in-stack" || x.Before.Arch != nil {
		t.Errorf("%+v", x)
	}
}

// A scan tells which words it passed by, and why.
func TestExplainScan(t *testing.T) {
	sc := &scene{arch: cpu.AMD64, pc: code(0x1010), syms: &fakeSymbols{loaded: true, funcs: named},
		words: []uint64{5, code(0x2020), code(0x7777), code(0x3030), 6, code(0x7000)},
		code:  fakeCode{code(0x3030), []byte{0xff, 0xd0}}}
	s, explain, stop := sc.explained(t)
	expect(t, s, "1010 context, 3030 scan, nothing-found")
	x := explain(1)
	got := fmt.Sprintf("%x %d %x", x.Scanned.From, x.Scanned.Words, x.Scanned.Rejected)
	var why []string
	for _, r := range x.Scanned.Rejected {
		why = append(why, fmt.Sprintf("%x=%x %s", r.Addr-stackBase, r.Value-codeBase, r.Reason))
	}
	if x.Scanned.From != stackBase || x.Scanned.Words != 4 || strings.Join(why, "; ") !=
		"8=2020 the instruction before it is not a call; 10=7777 the instruction before it is not a call" {
		t.Errorf("%s: %q", got, why)
	}
	if len(stop.Rejected) != 1 || stop.Rejected[0].Value != code(0x7000) {
		t.Errorf("%+v", stop)
	}
}

// What was a signed pointer is said to have been one.
func TestExplainPointerAuthentication(t *testing.T) {
	signed := uint64(0x00aa)<<48 | code(0x2020)
	sc := &scene{arch: cpu.ARM64, os: core.MacOS, pc: code(0x1010), words: []uint64{1, signed, 2, 0},
		syms: &fakeSymbols{loaded: true, funcs: named, row: cfaRow(cpu.ARM64, 2)}}
	_, explain, _ := sc.explained(t)
	x := explain(1)
	if len(x.Stripped) != 1 || x.Stripped[0].Raw != signed || x.Stripped[0].Value != code(0x2020) || x.Words[0].Place.Symbol.Name != "middle" {
		t.Errorf("%+v", x)
	}
}

func TestExplainNoSuchFrame(t *testing.T) {
	w := New(Best, core.OSLinux, &core.ModuleMap{}, &fakeSymbols{})
	if _, err := w.Explain(&Stack{}, 0, nil); err == nil || !strings.Contains(err.Error(), "0 frames") {
		t.Errorf("%v", err)
	}
}
