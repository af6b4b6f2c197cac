package unwind

import (
	"strings"
	"testing"
)

func vars(m map[string]uint64) func(string) (uint64, bool) {
	return func(n string) (uint64, bool) { v, ok := m[n]; return v, ok }
}

func TestParseProgram(t *testing.T) {
	mem := memory{0x1000: 0x2000, 0x1004: 0x401000, 0xff8: 77, 0x1100: 0x402000, 0x10fc: 0x3000, 0x800: 0x403000}
	callee := regs(t, x86, "eip", 0x400000, "esp", 0x800, "ebp", 0x1000, "ebx", 9, "esi", 1, "edi", 2)
	std := map[string]uint64{".raSearch": 0x1100, ".raSearchStart": 0x1100, ".cbSavedRegs": 8, ".cbLocals": 4, ".cbParams": 12}
	for _, c := range []struct {
		text          string
		eip, esp, ebp uint64
		ebx           any
	}{
		// The usual frame; every later program of MSVC is a variation of it.
		{"$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =", 0x401000, 0x1008, 0x2000, 9},
		{"$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + = $L $T0 .cbSavedRegs - = $P $T0 8 + .cbParams + = $ebx $T0 8 - ^ =",
			0x401000, 0x1008, 0x2000, 77},
		{"$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + =", 0x402000, 0x1104, 0x1000, 9},
		// A register that is read after it was assigned has the new value: esp = the caller's ebp +
		// 8.
		{"$eip $ebp 4 + ^ = $ebp $ebp ^ = $esp $ebp 8 + =", 0x401000, 0x2008, 0x2000, 9},
		// MSVC 2010's link-time code generation glues "=" to the next word.
		{"$T0 $ebp = $eip $T0 4 + ^ =$ebp $T0 ^ =$esp $T0 8 + =", 0x401000, 0x1008, 0x2000, 9},
		{"$T1 .raSearch = $T0 $T1 4 - 256 @ = $ebp $T1 4 - ^ = $eip $T1 ^ = $esp $T1 4 + = $ebx $T0 8 + ^ =", 0x402000, 0x1104, 0x3000, nil},
		{"$eip $esp ^ = $esp $esp -4 - = $T9 3 2 * 4 / 1 % = $ebx .undef =", 0x403000, 0x804, 0x1000, nil},
	} {
		row, err := ParseProgram(x86, c.text, vars(std))
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		g, _, err := row.Apply(callee, mem, nil)
		if err != nil {
			t.Errorf("%s: %v (%s)", c.text, err, row.Describe(x86))
			continue
		}
		want(t, &g, "eip", c.eip)
		want(t, &g, "esp", c.esp)
		want(t, &g, "ebp", c.ebp)
		if v, ok := c.ebx.(int); ok {
			want(t, &g, "ebx", uint64(v))
		} else {
			unknown(t, &g, "ebx")
		}
		unknown(t, &g, "esi")
		unknown(t, &g, "edi")
		if t.Failed() {
			t.Fatalf("%s → %s", c.text, row.Describe(x86))
		}
	}
}

func TestParseProgramErrors(t *testing.T) {
	for _, c := range []struct{ text, reason string }{
		{"", "$eip"},
		{"$eip 4 + ^ = $esp $ebp 8 + =", "no value"}, // reads $eip before it has one, as in the format's own example
		{"$eip $ebp ^ =", "$esp"},
		{"$esp $ebp =", "$eip"},
		{"$eip 1 = $esp 2 = 5", "leaves a value"},
		{"$eip 1 = $esp 2 = =", "lacks operands"},
		{"5 1 =", "begins with $"},
		{".cbParams 1 =", "begins with $"},
		{"$ 1 =", "begins with $"},
		{"$eip .cfa = $esp 1 =", "no value"},
		{"$eip $T7 = $esp 1 =", "no value"},
		{"$eip foo = $esp 1 =", "no value"},
		{"$eip ebp = $esp 1 =", "no value"},
		{"$eip .undef = $esp 1 =", "$eip"},
		{"+", "lacks operands"}, {"^", "lacks operands"}, {"1 +", "lacks operands"},
		{strings.Repeat("1 ", 50), "too deep"},
		{strings.Repeat("$eip 1 = ", 3000), "too long"},
		{strings.Repeat("$a 1 =", 2500), "too many words"},
		// Each line doubles the text of $T0.
		{"$T0 $ebp ^ = " + strings.Repeat("$T0 $T0 $T0 * = ", 60), "grows too long"},
		// A long rule that is copied again and again.
		{"$T0 $ebp ^ = " + strings.Repeat("$T0 $T0 $T0 * = ", 9) + strings.Repeat("$T1 $T0 $ebp * = ", 200) + "$eip 1 = $esp 1 =", "grows too long"},
	} {
		if row, err := ParseProgram(x86, c.text, nil); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%.40q: %v %v, want %q", c.text, row, err, c.reason)
		}
	}
}

// Programs of the usual frames end in the compact rules, so that they equal what other sources make
// of the same frame.
func TestParseProgramCompact(t *testing.T) {
	row, err := ParseProgram(x86, "$T0 $ebp = $eip $T0 4 + ^ = $ebp $T0 ^ = $esp $T0 8 + =", nil)
	if err != nil {
		t.Fatal(err)
	}
	if !row.CFA.Equal(Rule{Kind: FromReg, Reg: 2, Offset: 8}) || !row.RA.Equal(Rule{Kind: AtReg, Reg: 2, Offset: 4}) {
		t.Error(row.Describe(x86))
	}
}

func TestFPO(t *testing.T) {
	// From symbol_files.md: RA at esp + locals + saved + callee's parameters; ebp at esp + callee's
	// parameters + saved − 8.
	d := FrameData{Locals: 0x10, SavedRegs: 0xc, AllocatesBP: true}
	const esp, callee = 0x1000, 8
	start := uint64(esp + 0x10 + 0xc + callee)
	g := regs(t, x86, "esp", esp, "ebp", 5, "ebx", 6, "esi", 7)
	mem := memory{start: 0x401000, esp + callee + 0xc - 8: 0x1f00}
	for _, alloc := range []bool{true, false} {
		d.AllocatesBP = alloc
		row, err := ParseProgram(x86, d.ProgramText(), d.Vars(callee, start))
		if err != nil {
			t.Fatal(err)
		}
		c, _, err := row.Apply(g, mem, nil)
		if err != nil {
			t.Fatal(err)
		}
		want(t, &c, "eip", 0x401000)
		want(t, &c, "esp", start+4)
		want(t, &c, "ebx", 6)
		unknown(t, &c, "esi")
		if alloc {
			want(t, &c, "ebp", 0x1f00)
		} else {
			want(t, &c, "ebp", 5)
		}
	}
	d = FrameData{HasProgram: true, Program: "$eip 1 ="}
	if d.ProgramText() != d.Program {
		t.Error(d.ProgramText())
	}
}
