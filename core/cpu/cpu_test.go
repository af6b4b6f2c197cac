package cpu

import "testing"

// TestTables checks what every table must hold, so that a new CPU cannot be half filled in.
func TestTables(t *testing.T) {
	for _, a := range All() {
		t.Run(a.Name, func(t *testing.T) {
			if ByName(a.Name) != a {
				t.Errorf("ByName(%q) is another CPU", a.Name)
			}
			if a.WordSize != 4 && a.WordSize != 8 {
				t.Errorf("word size %d", a.WordSize)
			}
			if a.PC == NoReg || a.SP == NoReg || a.FP == NoReg {
				t.Errorf("pc, sp and fp must exist: %d %d %d", a.PC, a.SP, a.FP)
			}
			seen := map[string]bool{}
			for i, n := range a.Names {
				if seen[n] {
					t.Errorf("register %q twice", n)
				}
				seen[n] = true
				for _, spelled := range []string{n, "$" + n} {
					if r, ok := a.Lookup(spelled); !ok || r != Reg(i) {
						t.Errorf("Lookup(%q) = %d, %v; want %d", spelled, r, ok, i)
					}
				}
			}
			for n, r := range a.Aliases {
				if seen[n] {
					t.Errorf("alias %q is also a name", n)
				}
				if int(r) >= len(a.Names) {
					t.Errorf("alias %q is register %d of %d", n, r, len(a.Names))
				}
			}
			saved := map[Reg]bool{}
			for _, r := range a.CalleeSaved {
				if saved[r] || r == a.PC || r == a.SP {
					t.Errorf("callee-saved %s is wrong or there twice", a.RegName(r))
				}
				saved[r] = true
			}
			if !saved[a.FP] {
				t.Errorf("the frame pointer is not callee-saved")
			}
			if a.Frame.CFAOffset != 2*int64(a.WordSize) || a.Frame.RAOffset != -int64(a.WordSize) || a.Frame.FPOffset != -2*int64(a.WordSize) {
				t.Errorf("frame layout %+v", a.Frame)
			}
			if _, ok := a.Lookup("$nosuch"); ok {
				t.Error("a register that does not exist was found")
			}
			if a.RegName(NoReg) != "?" {
				t.Error("NoReg has a name")
			}
		})
	}
}

// TestNumbers pins a few numbers that symbol files and DWARF depend on.
func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		a     *Arch
		dwarf int
		name  string
	}{
		{X86, 4, "esp"}, {X86, 5, "ebp"}, {X86, 8, "eip"}, {X86, 1, "ecx"},
		{AMD64, 1, "rdx"}, {AMD64, 6, "rbp"}, {AMD64, 7, "rsp"}, {AMD64, 16, "rip"},
		{ARM, 11, "fp"}, {ARM, 12, "r12"}, {ARM, 13, "sp"}, {ARM, 15, "pc"},
		{ARM64, 29, "fp"}, {ARM64, 30, "lr"}, {ARM64, 31, "sp"}, {ARM64, 32, "pc"},
	} {
		if got := c.a.RegName(c.a.DWARF[c.dwarf]); got != c.name {
			t.Errorf("%s: DWARF register %d is %s, want %s", c.a.Name, c.dwarf, got, c.name)
		}
	}
	for _, c := range []struct {
		a           *Arch
		alias, name string
	}{{ARM, "r11", "fp"}, {ARM, "$r13", "sp"}, {ARM, "r14", "lr"}, {ARM, "r15", "pc"}, {ARM64, "x29", "fp"}, {ARM64, "x30", "lr"}, {X86, "$eflags", "efl"}} {
		if r, ok := c.a.Lookup(c.alias); !ok || c.a.RegName(r) != c.name {
			t.Errorf("%s: %s is %s, %v; want %s", c.a.Name, c.alias, c.a.RegName(r), ok, c.name)
		}
	}
}

func TestCanonical(t *testing.T) {
	for addr, want := range map[uint64]bool{0: true, 0x7fffffffffff: true, 0x800000000000: false,
		0xffff7fffffffffff: false, 0xffff800000000000: true, ^uint64(0): true} {
		if got := AMD64.Canonical(addr); got != want {
			t.Errorf("canonical(%#x) = %v", addr, got)
		}
	}
}

func TestRegs(t *testing.T) {
	g := Regs{Arch: X86}
	if g.AllKnown() || g.Known(X86.PC) {
		t.Error("fresh registers are known")
	}
	for i := range X86.Names {
		g.Set(Reg(i), 0x1_0000_0000+uint64(i))
	}
	if !g.AllKnown() {
		t.Error("not all are known after setting all")
	}
	if v, ok := g.Get(X86.SP); !ok || v != 1 {
		t.Errorf("esp = %#x, %v; want 1 (cut to 32 bits)", v, ok)
	}
	g.Forget(X86.SP)
	if _, ok := g.Get(X86.SP); ok || g.AllKnown() || g.SP() != 0 {
		t.Error("a forgotten register is still known")
	}
	g.Set(NoReg, 1) // must be harmless: NoReg stands where a CPU has no such register
	if g.Known(NoReg) {
		t.Error("NoReg is known")
	}
}
