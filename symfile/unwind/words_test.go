package unwind

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// A stack whose rules are DWARF expressions needs these operators.
func TestWords(t *testing.T) {
	mem := words{0x1000: 0x1122334455667788, 0x2008: 0x3000}
	for _, c := range []struct {
		text string
		want uint64
	}{
		{"12 10 and", 8}, {"12 10 or", 14}, {"12 10 xor", 6}, {"3 4 shl", 48}, {"1 64 shl", 0}, {"-1 60 shr", 15}, {"-16 2 shra", 1<<64 - 4},
		{"-7 2 div", 1<<64 - 3}, {"7 -1 div", 1<<64 - 7}, {"-1 0 lt", 1}, {"-1 0 gt", 0}, {"3 3 le", 1}, {"3 3 ge", 1}, {"3 3 eq", 1}, {"3 3 ne", 0},
		{"0 not", 1<<64 - 1}, {"5 neg", 1<<64 - 5}, {"-5 abs", 5}, {"5 abs", 5},
		{"$rsp 8 + ^", 0x3000}, {"4096 ^8", 0x1122334455667788},
		{"1 2 swap -", 1}, {"1 2 over + +", 4}, {"1 2 3 rot - -", 4}, {"7 dup *", 49}, {"7 8 drop", 7}, {"1 2 3 pick:2", 1}, {"1 2 3 pick:0", 3},
		{"5 6", 6}, // the value is the top of the stack
		// What gcc's linker writes for a procedure linkage table: 8 more once the push has been
		// done.
		{"$rsp 8 + $rip 15 and 11 ge 3 shl +", 0x2008 + 8},
		// A loop: 5 + 4 + 3 + 2 + 1.
		{"0 5 dup rot + swap 1 - dup if:2 drop", 15},
		{"1 if:4 77 jump:5 88", 88}, {"0 if:4 77 jump:5 88", 77},
	} {
		g := regs(t, amd64, "rsp", 0x2000, "rip", 0x400b)
		e := evaluation{callee: g, mem: mem, cfa: 0x8000, hasCFA: true, want: forRA}
		v, f := e.program(c.text)
		if f.cause != 0 || v != c.want {
			t.Errorf("%q: %#x %v, want %#x", c.text, v, f, c.want)
		}
		ru, err := ParseExpression(amd64, c.text, false)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if v, f := e.compute(&ru); f.cause != 0 || v != c.want {
			t.Errorf("%q as %+v: %#x %v, want %#x", c.text, ru, v, f, c.want)
		}
	}
}

// An expression that Breakpad's operators can express becomes an Expr, so that it can be written to
// a symbol file.
func TestParseExpression(t *testing.T) {
	for _, c := range []struct {
		arch *cpu.Arch
		text string
		want Rule
	}{
		{amd64, "$rbp 16 +", Rule{Kind: FromReg, Reg: 6, Offset: 16}},
		{amd64, "$rbp -8 + ^", Rule{Kind: AtReg, Reg: 6, Offset: -8}},
		{amd64, ".cfa $rbp", Rule{Kind: FromReg, Reg: 6}},
		{amd64, ".cfa 8 -", Rule{Kind: FromCFA, Offset: -8}},
		{amd64, "$rsp 2 3 * +", Rule{Kind: FromReg, Reg: 7, Offset: 6}},
		{amd64, "$rsp dup +", Rule{Kind: Expr, Text: "$rsp $rsp +"}},
		{amd64, "$rax ^ 8 + ^", Rule{Kind: Expr, Text: "$rax ^ 8 + ^"}},
		{amd64, "$rbp -16 and", Rule{Kind: Expr, Text: "$rbp 16 @"}},
		{amd64, "$rbp -16 and 8 + ^", Rule{Kind: Expr, Text: "$rbp 16 @ 8 + ^"}},
		{x86, "$ebp 4294967280 and", Rule{Kind: Expr, Text: "$ebp 16 @"}},
		{amd64, "$rbp 12 and", Rule{Kind: Program, Text: "$rbp 12 and"}},
		{amd64, "$rbp 12 and ^", Rule{Kind: Program, Text: "$rbp 12 and ^"}},
		{amd64, "$rbp ^4", Rule{Kind: Program, Text: "$rbp ^4"}},
		{amd64, "$rsp 1 if:0", Rule{Kind: Program, Text: "$rsp 1 if:0"}},
	} {
		got, err := ParseExpression(c.arch, c.text, false)
		if err != nil || got != c.want {
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
	for text, reason := range map[string]string{
		"": "no value", "+": "lacks operands", "dup": "lacks operands", "1 pick:1": "lacks operands", "$nosuch": "unknown register",
		"1 if:9": "jump out", "jump:4": "jump out", strings.Repeat("1 ", 40): "too deep", strings.Repeat("dup ", 3000): "lacks operands",
		"$rax " + strings.Repeat("dup + ", 20): "too long",
		"1 " + strings.Repeat("nop ", 1):       "unknown",
	} {
		_, err := ParseExpression(amd64, text, false)
		var rule *RuleError
		if !errors.As(err, &rule) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%.30q: %v, want %q", text, err, reason)
		}
	}
	if _, err := ParseExpression(amd64, ".cfa 8 +", true); err == nil {
		t.Error("a rule of the CFA may read .cfa")
	}
	if _, _, err := ParseCFI(amd64, ".cfa: $rsp 12 and .ra: .cfa -8 + ^", nil); err == nil {
		t.Error("a symbol file may use DWARF's words")
	}
}

// A program that would loop for ever stops with a reason.
func TestProgramBounds(t *testing.T) {
	for text, reason := range map[string]string{
		"jump:0": "too many steps", "1 if:0": "too many steps", "1 dup jump:1": "too deep a stack", "drop": "lacks operands", "": "no value", "1 drop": "no value",
		strings.Repeat("1 ", maxText): "too long", "0 jump:5": "", "1 0 div": "division by zero", "1 0 %": "division by zero", "$rax": "not known", "64 ^2": "2-byte word",
	} {
		row := Row{CFA: Rule{Kind: Program, Text: text}, RA: Rule{Kind: Const}}
		_, _, err := row.Apply(&cpu.Regs{Arch: amd64}, words{}, nil)
		if reason == "" {
			if err != nil {
				t.Errorf("%q: %v", text, err)
			}
		} else if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%.30q: %v, want %q", text, err, reason)
		}
	}
}

func TestDescribeProgram(t *testing.T) {
	for text, want := range map[string]string{
		"$rsp 8 + $rip 15 and 11 ge 3 shl +": "($rsp + 8) + ((($rip and 15) ge 11) shl 3)",
		"$rax not":                           "not $rax",
		"1 if:0":                             "1 if:0",
	} {
		if got := (Rule{Kind: Program, Text: text}).Describe(amd64); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	g := regs(t, amd64, "rsp", 0x1000)
	m := RuleResult{Rule: Rule{Kind: Program, Text: "$rsp 12 and"}, Value: 0}
	if got, want := m.Computed(g, 0), "0x1000 and 12 = 0x0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// agreeWords checks that a program and the rule that ParseExpression makes of it compute the same
// value.
func agreeWords(t *testing.T, text string) {
	for _, a := range []*cpu.Arch{amd64, x86} {
		ru, err := ParseExpression(a, text, false)
		_ = ru.Describe(a)
		if err != nil {
			continue
		}
		e := evaluation{callee: full(a), mem: masked{a}, cfa: 0x8000, hasCFA: true, want: forRA}
		v1, f1 := e.compute(&ru)
		v2, f2 := e.program(strings.TrimSpace(text))
		if f1.cause == 0 && f2.cause == 0 && v1 != v2 {
			t.Fatalf("%s %q: %+v gives %x, the program %x", a.Name, text, ru, v1, v2)
		}
	}
}

func FuzzExpression(f *testing.F) {
	f.Add("$rsp 8 + 15 and 11 ge 3 shl +")
	f.Add("0 5 dup rot + swap 1 - dup if:2 drop")
	f.Fuzz(agreeWords)
}

func TestExpressionsRandom(t *testing.T) {
	all := []string{"$rsp", "$esp", ".cfa", "1", "-16", "4", "+", "-", "*", "/", "%", "@", "^", "and", "or", "xor", "shl", "shr", "shra", "div", "eq", "lt", "ge",
		"not", "neg", "abs", "^1", "^4", "dup", "drop", "over", "swap", "rot", "pick:1"}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 20000 {
		var b strings.Builder
		b.WriteString("$rsp .cfa 5 ")
		for range rng.IntN(12) {
			b.WriteString(all[rng.IntN(len(all))] + " ")
		}
		agreeWords(t, b.String())
		agreeWords(t, strings.ReplaceAll(b.String(), "rsp", "esp"))
	}
}
