package cpu

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"
)

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
			if shown := a.Shown(); a.Order != nil {
				all := map[Reg]bool{}
				for _, r := range shown {
					all[r] = true
				}
				if len(shown) != len(a.Names) || len(all) != len(a.Names) {
					t.Errorf("Order has %d registers, %d of them once; the CPU has %d", len(shown), len(all), len(a.Names))
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
			checkFrame(t, a)
			checkConventions(t, a)
			checkFormats(t, a)
			checkCode(t, a)
			for n, r := range a.DWARF {
				if r != NoReg && int(r) >= len(a.Names) {
					t.Errorf("DWARF number %d is register %d of %d", n, r, len(a.Names))
				}
			}
			if a.CallSize == 0 || a.CallSize > 8 {
				t.Errorf("a call of %d bytes", a.CallSize)
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

// checkConventions: where the walker does something else for each CPU, the table has decided, and
// says what that needs.
func checkConventions(t *testing.T, a *Arch) {
	c := a.Conventions
	if c.EqualSP == 0 || c.FPCheck == 0 || c.ScanFP == 0 {
		t.Errorf("not decided: %+v", c)
	}
	if c.FPCheck == FPInStack && a.Canonical == nil || c.FPCheck == FPInRange && c.AddressEnd == 0 {
		t.Error("a check of frame pointers that does not know which addresses there are")
	}
	if c.LinkStale && a.Target == nil {
		t.Error("nothing tells a link register that is stale")
	}
	if (c.LinkInRecord || c.LinkAlone || c.LinkStale) && a.LR == NoReg {
		t.Error("facts of a link register that the CPU does not have")
	}
}

// checkFormats: a CPU that some file may be for is found by what the file says.
func checkFormats(t *testing.T, a *Arch) {
	if w := a.ModuleWord(); ByModuleWord(w) != a || ByWord(w) != a || ByWord(a.Name) != a {
		t.Errorf("MODULE word %q or name %q is of another CPU", w, a.Name)
	}
	if ByName(a.FamilyName()) == nil && a.Family != "s390" { // its 31-bit form has no table
		t.Errorf("the family %q is no CPU", a.Family)
	}
	for _, n := range a.PEMachines {
		if n != 0 && ByPE(n) != a {
			t.Errorf("PE machine %#x is of %s", n, ByPE(n).Name)
		}
	}
	if a.MachO != 0 && ByMachO(a.MachO) != a {
		t.Errorf("Mach-O type %#x is of another CPU", a.MachO)
	}
	if a.ELFMachines[0] == 0 || ByELF(a.ELFMachines[0], 8*a.WordSize, 0) != a {
		t.Errorf("ELF machines %d are of another CPU", a.ELFMachines)
	}
	for _, n := range a.ELFMachines {
		if n == 0 {
			continue
		}
		if e := ELFOf(n); len(e.Relocations) == 0 || len(e.Slots) == 0 || e.Stubs == nil && !e.SlotsAreStubs && !e.Glink {
			t.Errorf("ELF machine %d has no relocations, no slots or no stubs", n)
		}
	}
	numbers := map[uint16]bool{}
	for _, p := range a.Processors {
		numbers[p] = true
	}
	if (len(numbers) == 0) != (len(a.Contexts) == 0) {
		t.Errorf("%d processor numbers, %d context records", len(numbers), len(a.Contexts))
	}
	for _, l := range a.Contexts {
		if !numbers[l.Usual] {
			t.Errorf("the context record %s is for processor %#x, which the CPU is not", l.What, l.Usual)
		}
	}
	for _, other := range All() {
		for _, l := range other.Contexts {
			if other != a && numbers[l.Usual] && slices.ContainsFunc(a.Contexts, func(own *ContextLayout) bool { return own.Size == l.Size && own.Flag == l.Flag }) {
				t.Errorf("nothing tells a context of %d bytes of %s from one of %s", l.Size, other.Name, a.Name)
			}
		}
	}
}

// TestSecondProcessors: numbers with a name of their own are further ones of some CPU, and all of
// those have one.
func TestSecondProcessors(t *testing.T) {
	names := map[uint16]string{}
	for _, p := range SecondProcessors {
		names[p.Number] = p.Name
	}
	for _, a := range All() {
		for i, n := range a.Processors {
			if (names[n] != "") != (i > 0) {
				t.Errorf("number %#x of %s has the name %q", n, a.Name, names[n])
			}
			delete(names, n)
		}
	}
	if len(names) > 0 {
		t.Errorf("names of no CPU: %v", names)
	}
}

// checkCode: calls can be told from other instructions, so that a scan can be.
func checkCode(t *testing.T, a *Arch) {
	if a.IsCall == nil || a.CallBytes <= 0 || a.CallBytes > MaxCallBytes {
		t.Fatalf("a call is looked for in %d bytes", a.CallBytes)
	}
	if a.Instructions == 0 {
		t.Error("nobody decided who decodes an instruction")
	}
	if a.IsCall(make([]byte, a.CallBytes), 0x1000, binary.LittleEndian) {
		t.Error("zeros are a call")
	}
}

// TestExpand: lists of names, with numbers that go on, in the middle of a name too.
func TestExpand(t *testing.T) {
	if got := strings.Join(expand("x8-11 fp p1-2_home zmm0-1h"), " "); got != "x8 x9 x10 x11 fp p1_home p2_home zmm0h zmm1h" {
		t.Error(got)
	}
}

// checkFrame holds the layouts to what the ABIs say: a pair of words below the CFA, but for sparc's
// register window and powerpc's back chain.
func checkFrame(t *testing.T, a *Arch) {
	f, w := a.Frame, int64(a.WordSize)
	if f.SysVRAOffset != 0 && f.SysVRAOffset != w {
		t.Errorf("frame layout %+v", f)
	}
	f.SysVRAOffset = 0
	switch f.Style {
	case NoFrame:
		if f != (FrameLayout{}) {
			t.Errorf("no frames, but %+v", f)
		}
	case FrameRecord:
		record := f.RAOffset == -w && f.FPOffset == -2*w && f.RABias == 0 && (f.CFAOffset == 2*w || f.CFAOffset == 0)
		window := f == FrameLayout{Style: FrameRecord, RAOffset: 15 * w, FPOffset: 14 * w, RABias: 8}
		if !record && !window {
			t.Errorf("frame layout %+v", f)
		}
	case BackChain:
		if f != (FrameLayout{Style: BackChain, RAOffset: 2 * w}) {
			t.Errorf("frame layout %+v", f)
		}
	}
}

// TestNumbers pins a few numbers that symbol files and DWARF depend on.
func TestNumbers(t *testing.T) {
	covered := map[*Arch]bool{}
	for _, c := range []struct {
		a     *Arch
		dwarf int
		name  string
	}{
		{X86, 4, "esp"}, {X86, 5, "ebp"}, {X86, 8, "eip"}, {X86, 1, "ecx"},
		{AMD64, 1, "rdx"}, {AMD64, 6, "rbp"}, {AMD64, 7, "rsp"}, {AMD64, 16, "rip"},
		{ARM, 11, "fp"}, {ARM, 12, "r12"}, {ARM, 13, "sp"}, {ARM, 15, "pc"},
		{ARM64, 29, "fp"}, {ARM64, 30, "lr"}, {ARM64, 31, "sp"}, {ARM64, 32, "pc"},
		{MIPS, 0, "zero"}, {MIPS, 29, "sp"}, {MIPS64, 30, "fp"}, {MIPS64, 31, "ra"},
		{PPC, 1, "r1"}, {PPC64, 31, "r31"}, {PPC, 65, "lr"}, {PPC64, 66, "ctr"}, {PPC, 40, "?"},
		{SPARC, 14, "sp"}, {SPARC, 15, "o7"}, {SPARC, 30, "fp"}, {SPARC, 31, "i7"},
		{RISCV, 0, "?"}, {RISCV, 1, "ra"}, {RISCV64, 2, "sp"}, {RISCV64, 8, "s0"}, {RISCV64, 9, "s1"}, {RISCV64, 10, "a0"},
		{RISCV64, 18, "s2"}, {RISCV64, 28, "t3"}, {RISCV64, 31, "t6"},
		{LoongArch64, 1, "ra"}, {LoongArch64, 3, "sp"}, {LoongArch64, 22, "fp"}, {LoongArch64, 31, "s8"},
		{S390X, 15, "r15"}, {S390X, 16, "f0"}, {S390X, 17, "f2"}, {S390X, 28, "f9"}, {S390X, 31, "f15"}, {S390X, 32, "?"}, {S390X, 65, "pc"},
	} {
		covered[c.a] = true
		if got := c.a.RegName(c.a.DWARF[c.dwarf]); got != c.name {
			t.Errorf("%s: DWARF register %d is %s, want %s", c.a.Name, c.dwarf, got, c.name)
		}
	}
	for _, a := range All() {
		if !covered[a] {
			t.Errorf("%s: no DWARF number is checked", a.Name)
		}
	}
	for _, c := range []struct {
		a           *Arch
		alias, name string
	}{{ARM, "r11", "fp"}, {ARM, "$r13", "sp"}, {ARM, "r14", "lr"}, {ARM, "r15", "pc"}, {ARM64, "x29", "fp"}, {ARM64, "x30", "lr"}, {X86, "$eflags", "efl"},
		{MIPS, "$to", "t0"}, {MIPS64, "s8", "fp"}, {PPC, "sp", "r1"}, {PPC64, "pc", "srr0"}, {SPARC, "i6", "fp"}, {SPARC, "o6", "sp"},
		{RISCV, "fp", "s0"}, {RISCV64, "x1", "ra"}, {RISCV64, "x31", "t6"}, {S390X, "pswa", "pc"}, {LoongArch64, "r3", "sp"}, {LoongArch64, "$r22", "fp"}, {LoongArch64, "r12", "t0"}} {
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
