package unwind

import (
	"math/rand/v2"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// noise is memory in which each word is a function of its address.
type noise struct{}

func (noise) Word(addr uint64, size int) (uint64, bool) {
	return (addr ^ 0x9e3779b97f4a7c15) * 0xff51afd7ed558ccd, addr%13 != 0
}

func full(a *cpu.Arch) *cpu.Regs {
	g := &cpu.Regs{Arch: a}
	for i := range a.Names {
		g.Set(cpu.Reg(i), uint64(i)*0x123456789+0x1000)
	}
	return g
}

// FuzzExpr: nothing panics, and a compact rule means what its text means.
func FuzzExpr(f *testing.F) {
	for _, s := range []string{"$rsp 8 +", ".cfa -8 + ^", "$rbp 1 + $rbx 2 + *", "16 3 @", ".undef", "1 0 /", "$rsp $rsp - 5 %"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, a := range []*cpu.Arch{amd64, x86, arm} {
			m := machine{arch: a}
			ru, err := m.expression(text)
			_ = ru.Describe(a)
			if err != nil {
				continue
			}
			e := evaluation{callee: full(a), mem: masked{a}, cfa: 0x8000, hasCFA: true, want: forRA}
			v, ok := e.value(&ru)
			set, known := run(a, "$value "+text+" =", vars(map[string]uint64{".cfa": 0x8000}))
			// The reference knows registers with "$" only, and no pc.
			if known && (!ok || v != set["$value"]) {
				t.Fatalf("%s %q: rule %s gives %x %v, text gives %x", a.Name, text, ru.Describe(a), v, ok, set["$value"])
			}
		}
		row, _, err := ParseCFI(amd64, text, []string{text})
		if err == nil {
			row.Apply(full(amd64), noise{}, &Trace{})
		}
	})
}

// run executes a program on numbers. It is the reference for ParseProgram.
func run(a *cpu.Arch, text string, vars func(string) (uint64, bool)) (map[string]uint64, bool) {
	type item struct {
		name string
		v    uint64
	}
	var stack []item
	env := map[string]uint64{}
	g := full(a)
	read := func(it item) (uint64, bool) {
		if it.name == "" {
			return it.v, true
		}
		if v, ok := env[it.name]; ok {
			return v, true
		}
		if it.name[0] == '.' {
			return vars(it.name)
		}
		r, ok := a.Lookup(it.name)
		if !ok || it.name[0] != '$' || r == a.PC {
			return 0, false
		}
		return g.Get(r)
	}
	for {
		var tok string
		if tok, text = cut(text); tok == "" {
			return env, len(stack) == 0
		}
		if tok[0] == '=' && len(tok) > 1 {
			tok, text = "=", tok[1:]+text
		}
		n := len(stack)
		switch {
		case tok == "=":
			if n < 2 {
				return nil, false
			}
			v, ok := read(stack[n-1])
			if !ok || len(stack[n-2].name) < 2 || stack[n-2].name[0] != '$' {
				return nil, false
			}
			env[stack[n-2].name] = v
			stack = stack[:n-2]
		case operator(tok) != Unset:
			if n < 1 || tok != "^" && n < 2 {
				return nil, false
			}
			r, ok := read(stack[n-1])
			if !ok {
				return nil, false
			}
			if tok == "^" {
				v, ok := noise{}.Word(r, a.WordSize)
				if !ok {
					return nil, false
				}
				stack[n-1] = item{v: a.Mask(v)}
				continue
			}
			l, ok := read(stack[n-2])
			if !ok {
				return nil, false
			}
			v, c := compute(operator(tok), l, r, a.WordSize)
			if c != 0 {
				return nil, false
			}
			stack = append(stack[:n-2], item{v: a.Mask(v)})
		default:
			if v, ok := literal(tok); ok {
				stack = append(stack, item{v: a.Mask(v)})
			} else {
				stack = append(stack, item{name: tok})
			}
		}
	}
}

type masked struct{ a *cpu.Arch }

func (m masked) Word(addr uint64, size int) (uint64, bool) {
	v, ok := noise{}.Word(addr, size)
	return m.a.Mask(v), ok
}

// agree compares ParseProgram with the reference for one program.
func agree(t *testing.T, text string) {
	d := FrameData{Params: 4, SavedRegs: 12, Locals: 32}
	vars := d.Vars(8, 0x2000)
	row, err := ParseProgram(x86, text, vars)
	if err != nil {
		return
	}
	_ = row.Describe(x86)
	got, _, err := row.Apply(full(x86), masked{x86}, &Trace{})
	env, ok := run(x86, text, vars)
	if !ok || err != nil {
		return // a word that is missing in a temporary fails the reference, but not a row that does not need it
	}
	for name, v := range env {
		r, ok := x86.Lookup(name)
		if !ok {
			continue
		}
		if g, known := got.Get(r); !known || g != v {
			t.Fatalf("%q: %s = %x %v, want %x (%s)", text, name, g, known, v, row.Describe(x86))
		}
	}
}

// FuzzProgram: nothing panics, and the symbolic execution agrees with a plain one.
func FuzzProgram(f *testing.F) {
	f.Add("$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =")
	f.Add("$T1 .raSearch = $T0 $T1 4 - 8 @ = $ebp $T1 4 - ^ = $eip $T1 ^ =$esp $T1 4 + =$ebx $T0 28 - ^ =")
	f.Add("$eip 1 = $esp $esp $esp * 3 - =")
	f.Fuzz(agree)
}

// TestProgramsRandom runs programs made of the language's own words through the same comparison.
func TestProgramsRandom(t *testing.T) {
	words := []string{"$T0", "$T1", "$ebp", "$esp", "$ebx", "$eip", "4", "-8", "16", "+", "-", "*", "/", "%", "@", "^", "=", "=", ".cbLocals", ".raSearch"}
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		s := "$eip $ebp 4 + ^ = $esp $ebp 8 + = "
		for range rng.IntN(5) {
			s += []string{"$T0 ", "$ebp ", "$esp ", "$ebx ", "$eip "}[rng.IntN(5)]
			s += words[rng.IntN(9)] + " "
			for range rng.IntN(4) {
				if rng.IntN(3) == 0 {
					s += "^ "
				} else {
					s += words[rng.IntN(9)] + " " + words[9+rng.IntN(6)] + " "
				}
			}
			s += "= "
		}
		agree(t, s)
	}
}

func BenchmarkApply(b *testing.B) {
	row, _, err := ParseCFI(amd64, ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^ $rbx: .cfa -24 + ^ $r12: .cfa -32 + ^", nil)
	if err != nil {
		b.Fatal(err)
	}
	callee := full(amd64)
	var mem Memory = all{}
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := row.Apply(callee, mem, nil); err != nil {
			b.Fatal(err)
		}
	}
}

type all struct{}

func (all) Word(addr uint64, size int) (uint64, bool) { return addr, true }

func TestApplyAllocs(t *testing.T) {
	row, _, _ := ParseCFI(amd64, ".cfa: $rbp 16 + .ra: .cfa -8 + ^ $rbp: .cfa -16 + ^ $rbx: $rbp 3 * ", nil)
	callee := full(amd64)
	for _, mem := range []Memory{all{}, noise{}} {
		if n := testing.AllocsPerRun(100, func() { row.Apply(callee, mem, nil) }); n != 0 {
			t.Errorf("%v allocations", n)
		}
	}
}

func BenchmarkParseCFI(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := ParseCFI(amd64, ".cfa: $rsp 8 + .ra: .cfa -8 + ^", []string{".cfa: $rsp 16 + $rbp: .cfa -16 + ^", ".cfa: $rbp 16 +"})
		if err != nil {
			b.Fatal(err)
		}
	}
}
