package unwind

import (
	"errors"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// The tests have CPUs of their own, so that a change of a table cannot hide a change of the
// evaluator.
var amd64 = &cpu.Arch{
	Name:     "amd64",
	Names:    []string{"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9", "r10", "r11", "r12", "r13", "r14", "r15", "rip"},
	WordSize: 8, PC: 16, SP: 7, FP: 6, LR: cpu.NoReg,
	CalleeSaved: []cpu.Reg{3, 6, 12, 13, 14, 15},
}

var x86 = &cpu.Arch{
	Name:     "x86",
	Names:    []string{"eip", "esp", "ebp", "ebx", "esi", "edi", "eax", "ecx", "edx"},
	WordSize: 4, PC: 0, SP: 1, FP: 2, LR: cpu.NoReg,
	CalleeSaved: []cpu.Reg{2, 3, 4, 5},
}

var arm = &cpu.Arch{
	Name:     "arm",
	Names:    []string{"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"},
	Aliases:  map[string]cpu.Reg{"r13": 13, "r14": 14, "r15": 15},
	WordSize: 4, PC: 15, SP: 13, FP: 11, LR: 14,
	CalleeSaved: []cpu.Reg{4, 5, 6, 7, 8, 9, 10, 11},
}

// memory is words by address.
type memory map[uint64]uint64

func (w memory) Word(addr uint64, _ int) (uint64, bool) { v, ok := w[addr]; return v, ok }

func regs(t testing.TB, a *cpu.Arch, kv ...any) *cpu.Regs {
	g := &cpu.Regs{Arch: a}
	for i := 0; i < len(kv); i += 2 {
		r, ok := a.Lookup(kv[i].(string))
		if !ok {
			t.Fatalf("no register %s", kv[i])
		}
		g.Set(r, uint64(kv[i+1].(int)))
	}
	return g
}

func want(t *testing.T, g *cpu.Regs, name string, v uint64) {
	t.Helper()
	r, _ := g.Arch.Lookup(name)
	got, ok := g.Get(r)
	if !ok || got != v {
		t.Errorf("%s = 0x%x known %v, want 0x%x", name, got, ok, v)
	}
}

func unknown(t *testing.T, g *cpu.Regs, name string) {
	t.Helper()
	r, _ := g.Arch.Lookup(name)
	if v, ok := g.Get(r); ok {
		t.Errorf("%s = 0x%x, want unknown", name, v)
	}
}

func TestParseCFIShapes(t *testing.T) {
	for _, c := range []struct {
		arch *cpu.Arch
		text string
		want Rule
	}{
		{amd64, "$rsp 8 +", Rule{Kind: FromReg, Reg: 7, Offset: 8}},
		{amd64, "rsp 8 +", Rule{Kind: FromReg, Reg: 7, Offset: 8}},
		{amd64, "$rsp", Rule{Kind: FromReg, Reg: 7}},
		{amd64, "$rbp 16 -", Rule{Kind: FromReg, Reg: 6, Offset: -16}},
		{amd64, "8 $rsp +", Rule{Kind: FromReg, Reg: 7, Offset: 8}},
		{amd64, ".cfa -8 + ^", Rule{Kind: AtCFA, Offset: -8}},
		{amd64, ".cfa 8 - ^", Rule{Kind: AtCFA, Offset: -8}},
		{amd64, ".cfa ^", Rule{Kind: AtCFA}},
		{amd64, ".cfa 16 -", Rule{Kind: FromCFA, Offset: -16}},
		{amd64, "$rbx 4 + ^", Rule{Kind: AtReg, Reg: 3, Offset: 4}},
		{amd64, ".undef", Rule{Kind: Undefined}},
		{amd64, "4096", Rule{Kind: Const, Offset: 4096}},
		{amd64, "4096 ^", Rule{Kind: AtConst, Offset: 4096}},
		{amd64, "$rsp 8 + 8 +", Rule{Kind: FromReg, Reg: 7, Offset: 16}},
		{amd64, "$rbp  8 + ^ 3 *", Rule{Kind: Computed, Code: []Op{{Kind: AtReg, Reg: 6, Offset: 8}, {Kind: Const, Offset: 3}, {Kind: Mul}}}},
		{x86, ".cfa 4294967292 + ^", Rule{Kind: AtCFA, Offset: -4}},
		{x86, "-4", Rule{Kind: Const, Offset: 0xfffffffc}},
		{arm, "lr", Rule{Kind: FromReg, Reg: 14}},
		{arm, "r14", Rule{Kind: FromReg, Reg: 14}},
	} {
		m := machine{arch: c.arch}
		got, err := m.expression(c.text)
		if err != nil || !got.Equal(c.want) {
			t.Errorf("%s %q: %+v, %v; want %+v", c.arch.Name, c.text, got, err, c.want)
		}
	}
	for _, bad := range []string{"", "+", "$rsp +", "$rsp 8", "$nope", "0x10", "^", "99999999999999999999999", "$rsp 8 + ="} {
		m := machine{arch: amd64}
		if ru, err := m.expression(bad); err == nil {
			t.Errorf("%q: %+v, want an error", bad, ru)
		}
	}
}

func TestParseCFI(t *testing.T) {
	row, notes, err := ParseCFI(amd64, "  .cfa: $rsp 8 + .ra: .cfa -8 + ^ ", []string{
		".cfa: $rsp 16 + $rbp: .cfa -16 + ^",
		"$rbx: .cfa -24 + ^ .cfa: $rbp 16 +",
		"$rbx: $rbx $xmm6: .cfa -40 + ^",
	})
	if err != nil {
		t.Fatal(err)
	}
	want := Row{
		CFA: Rule{Kind: FromReg, Reg: 6, Offset: 16},
		RA:  Rule{Kind: AtCFA, Offset: -8},
		Saved: []RegRule{
			{6, Rule{Kind: AtCFA, Offset: -16}},
			{3, Rule{Kind: Same}},
		},
	}
	if !row.Equal(&want) {
		t.Errorf("got %v, want %v", row, want)
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "$xmm6") {
		t.Errorf("notes %q", notes)
	}
	if got, want := row.Describe(amd64), "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16], $rbx = unchanged"; got != want {
		t.Errorf("Describe: %s, want %s", got, want)
	}
}

// The format's own first example writes $eip where .ra is meant.
func TestParseCFIOddities(t *testing.T) {
	row, notes, err := ParseCFI(x86, ".cfa: $esp 4 + $eip: .cfa 4 - ^", []string{".cfa: $esp 8 + $ebp: .cfa 8 - ^"})
	if err != nil || !row.RA.Equal(Rule{Kind: AtCFA, Offset: -4}) || len(notes) != 1 {
		t.Errorf("$eip for .ra: %v, %q, %v", row, notes, err)
	}
	for _, c := range []struct{ init, reason string }{
		{"", "neither"},
		{".ra: .cfa 4 - ^", "no rule for .cfa"},
		{".cfa: .cfa 4 + .ra: .cfa ^", "reads .cfa"},
		{".cfa: $esp + .ra: .cfa ^", "rule of .cfa"},
		{".cfa: $esp .ra: $zmm ^", "rule of .ra"},
	} {
		if _, _, err := ParseCFI(x86, c.init, nil); err == nil || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%q: %v, want %q", c.init, err, c.reason)
		}
	}
	if row, _, err := ParseCFI(x86, ".cfa: $esp 4 +", nil); err != nil || !row.Outermost || row.RA.Kind != Undefined || row.CFA.Offset != 4 {
		t.Errorf("without .ra: %v %v", row, err)
	}
	row, notes, err = ParseCFI(x86, "junk .cfa: $esp 4 + .ra: .cfa -4 + ^ $ebx: $ebx: .cfa + $esi: .undef", nil)
	if err != nil || len(notes) != 3 {
		t.Fatalf("%v %q %v", row, notes, err)
	}
	for _, s := range row.Saved {
		if s.Rule.Kind != Undefined {
			t.Errorf("%v is not lost", s)
		}
	}
	// A rule for the pc wins over .ra, as in both peers.
	row, _, err = ParseCFI(x86, ".cfa: $esp 4 + .ra: .cfa -4 + ^ $eip: .undef", nil)
	if err != nil || row.RA.Kind != Undefined {
		t.Errorf("%v %v", row, err)
	}
}

// TestFormatExample walks the function that symbol_files.md draws as a table: 16 bytes of frame, r0
// saved at sp+12, a word pushed in between. There the return address is at the CFA.
func TestFormatExample(t *testing.T) {
	deltas := []struct {
		at    int
		rules string
	}{{1, ".cfa: $sp 16 +"}, {2, "$r0: .cfa 4 - ^"}, {11, ".cfa: $sp 20 +"}, {21, "$r0: $r0"}, {22, ".cfa: $sp"}}
	const cfa, ra, r0 = 0x8000, 0x1234, 99
	mem := memory{cfa: ra, cfa - 4: r0}
	for pc, sp := range map[int]int{0: cfa, 1: cfa - 16, 2: cfa - 16, 10: cfa - 16, 11: cfa - 20, 20: cfa - 20, 21: cfa - 20, 22: cfa} {
		var in []string
		for _, d := range deltas {
			if d.at <= pc {
				in = append(in, d.rules)
			}
		}
		row, notes, err := ParseCFI(arm, ".cfa: $sp .ra: .cfa ^", in)
		if err != nil || len(notes) > 0 {
			t.Fatal(err, notes)
		}
		callee := regs(t, arm, "sp", sp, "r0", 7)
		if pc >= 21 {
			callee = regs(t, arm, "sp", sp, "r0", r0)
		}
		g, at, err := row.Apply(callee, mem, nil)
		if err != nil || at != cfa {
			t.Fatalf("func+%d: cfa 0x%x, %v", pc, at, err)
		}
		want(t, &g, "pc", ra)
		want(t, &g, "sp", cfa)
		if pc >= 2 {
			want(t, &g, "r0", r0)
		} else {
			unknown(t, &g, "r0") // not saved yet, and no register that a call preserves
		}
	}
}

func TestApply(t *testing.T) {
	row, _, err := ParseCFI(amd64, "$rbx: $rbp 1 + $rbp: .cfa -16 + ^ .ra: .cfa -8 + ^ $r12: .cfa -800 + ^ $r13: .undef .cfa: $rbp 16 +", nil)
	if err != nil {
		t.Fatal(err)
	}
	callee := regs(t, amd64, "rip", 0x400000, "rsp", 0x7000, "rbp", 0x7100, "rbx", 5, "r12", 12, "r13", 13, "r14", 14, "rax", 1)
	mem := memory{0x7100: 0x7200, 0x7108: 0x400123}
	var tr Trace
	caller, cfa, err := row.Apply(callee, mem, &tr)
	if err != nil || cfa != 0x7110 {
		t.Fatalf("cfa 0x%x, %v", cfa, err)
	}
	want(t, &caller, "rip", 0x400123)
	want(t, &caller, "rsp", 0x7110)
	want(t, &caller, "rbp", 0x7200)
	want(t, &caller, "rbx", 0x7101) // reads the callee's rbp, not the caller's
	want(t, &caller, "r14", 14)
	for _, r := range []string{"rax", "r12", "r13", "r15"} {
		unknown(t, &caller, r)
	}
	if len(tr.Words) != 2 || tr.Words[0] != (WordRead{0x7108, 0x400123, 8, "ra"}) || tr.Words[1] != (WordRead{0x7100, 0x7200, 8, "$rbp"}) {
		t.Errorf("words %+v", tr.Words)
	}
	if len(tr.Notes) != 1 || tr.Notes[0] != "$r12: the 8-byte word at 0x6df0 is not in the dump" {
		t.Errorf("notes %q", tr.Notes)
	}

	_, _, err = row.Apply(callee, memory{}, nil)
	var e *EvalError
	if !errors.As(err, &e) || e.Cause != NoWord || e.Addr != 0x7108 || e.For != "ra" {
		t.Errorf("missing return address: %v", err)
	}
	_, _, err = row.Apply(regs(t, amd64, "rsp", 1), nil, nil)
	if !errors.As(err, &e) || e.Cause != NoRegister || e.Reg != "$rbp" || e.For != "cfa" {
		t.Errorf("missing register: %v", err)
	}
}

// A row with OthersUndefined gives only the registers that it has rules for.
func TestApplyOthersLost(t *testing.T) {
	row := Row{CFA: Rule{Kind: FromReg, Reg: 6, Offset: 16}, RA: Rule{Kind: AtCFA, Offset: -8}, OthersUndefined: true,
		Saved: []RegRule{{6, Rule{Kind: AtCFA, Offset: -16}}}}
	caller, _, err := row.Apply(regs(t, amd64, "rbp", 0x100, "rbx", 3), memory{0x100: 1, 0x108: 2}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want(t, &caller, "rbp", 1)
	want(t, &caller, "rip", 2)
	want(t, &caller, "rsp", 0x110)
	unknown(t, &caller, "rbx")
}

func TestApplySP(t *testing.T) {
	row, _, err := ParseCFI(amd64, ".cfa: $rsp 8 + .ra: .cfa -8 + ^ $rsp: .cfa 32 +", nil)
	if err != nil {
		t.Fatal(err)
	}
	caller, cfa, err := row.Apply(regs(t, amd64, "rsp", 0x1000), memory{0x1000: 7}, nil)
	if err != nil || cfa != 0x1008 {
		t.Fatal(cfa, err)
	}
	want(t, &caller, "rsp", 0x1028)
	row.Saved[0].Rule = Rule{Kind: AtConst, Offset: 64}
	if _, _, err = row.Apply(regs(t, amd64, "rsp", 0x1000), memory{0x1000: 7}, nil); err == nil {
		t.Error("a lost sp is no error")
	}
}

// Values wrap around at the word size, before a word is read as well as after an operator.
func TestApplyWrap(t *testing.T) {
	row, _, err := ParseCFI(x86, ".cfa: $esp 8 + .ra: .cfa 4 - ^ $ebx: $eax $eax * 3 / $esi: 0 1 - $edi: $eax -2 +", nil)
	if err != nil {
		t.Fatal(err)
	}
	caller, cfa, err := row.Apply(regs(t, x86, "esp", 0xfffffffc, "eax", 0x10001), memory{0: 0x1234}, nil)
	if err != nil || cfa != 4 {
		t.Fatal(cfa, err)
	}
	want(t, &caller, "eip", 0x1234)
	want(t, &caller, "ebx", 0x20001/3)
	want(t, &caller, "esi", 0xffffffff)
	want(t, &caller, "edi", 0xffff)
}

func TestExprFaults(t *testing.T) {
	for _, c := range []struct {
		text  string
		cause Cause
	}{
		{"1 0 /", DivisionByZero}, {"1 0 %", DivisionByZero}, {"16 3 @", BadAlignment}, {"16 0 @", BadAlignment},
		{"1 +", BadProgram}, {"^", BadProgram}, {"", BadProgram}, {".cfa", BadProgram},
		{"$rbx", NoRegister}, {"64 ^", NoWord}, {".undef", Unrecoverable},
		{strings.Repeat("1 ", 40), BadProgram}, {strings.Repeat("1 ", 1) + strings.Repeat("1 + ", 3000), BadProgram},
	} {
		row := Row{CFA: coded(amd64, c.text), RA: Rule{Kind: Const}}
		_, _, err := row.Apply(regs(t, amd64, "rsp", 1), memory{}, nil)
		var e *EvalError
		if !errors.As(err, &e) || e.Cause != c.cause || e.Error() == "" {
			t.Errorf("%.20q: %v, want cause %d", c.text, err, c.cause)
		}
	}
	row := Row{CFA: coded(amd64, "$rsp 15 + 16 @ 7 3 % + 2 * 8 -"), RA: Rule{Kind: Same}}
	if _, cfa, err := row.Apply(regs(t, amd64, "rsp", 17), nil, nil); cfa != (32+1)*2-8 || err == nil {
		t.Errorf("cfa %d, %v", cfa, err)
	}
	row = Row{}
	if _, _, err := row.Apply(regs(t, amd64), nil, nil); err == nil {
		t.Error("a row without rules was applied")
	}
}

func TestEqual(t *testing.T) {
	a := Row{CFA: Rule{Kind: FromReg, Reg: 7, Offset: 8}, Saved: []RegRule{{1, Rule{Kind: Same}}, {2, Rule{Kind: Same}}, {5, Rule{}}}}
	b := Row{CFA: a.CFA, Saved: []RegRule{{2, Rule{Kind: Same}}, {1, Rule{Kind: Same}}}, Origin: Origin{Line: 3}}
	if !a.Equal(&b) || !b.Equal(&a) {
		t.Error("order, origin or an unset rule matters")
	}
	b.Saved = b.Saved[:1]
	if a.Equal(&b) || b.Equal(&a) {
		t.Error("a missing rule does not matter")
	}
	b = a
	b.Signal = true
	if a.Equal(&b) {
		t.Error("Signal does not matter")
	}
}

func TestDescribe(t *testing.T) {
	for text, want := range map[string]string{
		"$rsp 8 + ^ 3 * .cfa -": "([$rsp + 8] * 3) − cfa",
		"$rbp 1 + $rbx 2 + *":   "($rbp + 1) * ($rbx + 2)",
		"$rsp 4 * 16 @":         "align($rsp * 4, 16)",
		"+ $rsp":                "+ $rsp",
	} {
		if got := coded(amd64, text).Describe(amd64); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for _, c := range []struct {
		ru   Rule
		want string
	}{
		{Rule{}, "no rule"}, {Rule{Kind: AtReg, Reg: 7, Offset: 8}, "[$rsp + 8]"}, {Rule{Kind: Const, Offset: 16}, "0x10"},
		{Rule{Kind: AtConst, Offset: 16}, "[0x10]"}, {Rule{Kind: FromModule, Offset: 16}, "module + 0x10"},
	} {
		if got := c.ru.Describe(amd64); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	if s := (Row{CFA: Rule{Kind: FromReg, Reg: 7, Offset: 8}}).String(); s != "cfa = r#7 + 8, ra = no rule" {
		t.Error(s)
	}
	for o, want := range map[Origin]string{
		{File: "libfoo.sym", Part: "STACK CFI", Line: 812}: "libfoo.sym line 812",
		{File: "a.so", Part: ".eh_frame", Offset: 0x3a8}:   "a.so .eh_frame+0x3a8",
		{Part: "frame pointer"}:                            "frame pointer",
		{File: "a.so", Part: ".eh_frame"}:                  "a.so .eh_frame",
	} {
		if got := o.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
