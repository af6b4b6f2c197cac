package unwind

import (
	"errors"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
)

// Without its row an operator would be taken to pop and push nothing. Those that make one value of others are
// computed, unless they read memory or the caller's registers.
func TestEveryOperatorHasARow(t *testing.T) {
	for kind := Computed + 1; kind < kinds; kind++ {
		o := operators[kind]
		if o.word == "" {
			t.Errorf("operator %d has no row", kind)
		}
		if kind == Load || kind == LoadSized || o.takes == 0 || o.gives != 1 {
			continue
		}
		if _, cause := compute(kind, 2, 1, 8); cause == BadProgram {
			t.Errorf("%s is not computed", o.word)
		}
	}
}

// A stack whose rules are DWARF expressions needs these operators.
func TestWords(t *testing.T) {
	mem := memory{0x1000: 0x1122334455667788, 0x2008: 0x3000}
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
		v, ok := e.run(code(amd64, c.text))
		if !ok || v != c.want {
			t.Errorf("%q: %#x %v, want %#x", c.text, v, e.fault, c.want)
		}
		ru, err := Simplify(amd64, code(amd64, c.text), false)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if v, ok := e.compute(&ru); !ok || v != c.want {
			t.Errorf("%q as %+v: %#x %v, want %#x", c.text, ru, v, e.fault, c.want)
		}
	}
}

// coded is a rule of words as they are.
func coded(arch *cpu.Arch, text string) Rule { return Rule{Kind: Computed, Code: code(arch, text)} }

// code makes ops of words, one of each.
func code(arch *cpu.Arch, text string) (code []Op) {
	for _, tok := range strings.Fields(text) {
		if ru, err := operand(arch, tok); err == nil {
			code = append(code, Op{Kind: ru.Kind, Reg: ru.Reg})
			continue
		}
		if v, ok := literal(tok); ok {
			code = append(code, Op{Kind: Const, Offset: int64(v)})
			continue
		}
		for k := Add; int(k) < len(operators); k++ {
			arg, ok := strings.CutPrefix(tok, operators[k].word)
			n, err := strconv.Atoi(arg)
			numbered := k == LoadSized || k == Pick || k == If || k == Jump || k == EntryValue
			if ok && (numbered && err == nil || !numbered && arg == "") {
				if k == If || k == Jump {
					n -= len(code) + 1
				}
				code = append(code, Op{Kind: k, Arg: int32(n)})
				break
			}
		}
	}
	return code
}

// An expression that Breakpad's operators can express has no others, so that it can be written to a
// symbol file.
func TestSimplify(t *testing.T) {
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
		{amd64, "4096 ^", Rule{Kind: AtConst, Offset: 4096}},
	} {
		got, err := Simplify(c.arch, code(c.arch, c.text), false)
		if err != nil || !got.Equal(c.want) {
			t.Errorf("%q: %+v, %v; want %+v", c.text, got, err, c.want)
		}
	}
	for _, c := range []struct {
		arch       *cpu.Arch
		text, want string
		plain      bool
	}{
		{amd64, "$rsp dup +", "$rsp $rsp +", true},
		{amd64, "$rax ^ 8 + ^", "$rax ^ 8 + ^", true},
		{amd64, "$rbp -16 and", "$rbp 16 @", true},
		{amd64, "$rbp -16 and 8 + ^", "$rbp 16 @ 8 + ^", true},
		{x86, "$ebp 4294967280 and", "$ebp 16 @", true},
		{amd64, "$rbp 12 and", "$rbp 12 and", false},
		{amd64, "$rbp 12 and ^", "$rbp 12 and ^", false},
		{amd64, "$rbp ^4", "$rbp ^4", false},
		{amd64, "$rsp 8 + dup ^ dup 1 + rot swap -", "$rsp 8 + ^ $rsp 8 + -", true},
		{amd64, "$rsp 1 if:0", "$rsp 1 if:0", false},
	} {
		got, err := Simplify(c.arch, code(c.arch, c.text), false)
		if err != nil || got.Kind != Computed || postfix(c.arch, got.Code) != c.want || got.Plain() != c.plain {
			t.Errorf("%q: %s, %v; want %s", c.text, postfix(c.arch, got.Code), err, c.want)
		}
	}
	for text, reason := range map[string]string{
		"": "no value", "+": "lacks operands", "dup": "lacks operands", "1 pick:1": "lacks operands",
		"1 if:9": "jump out", "jump:4": "jump out", strings.Repeat("1 ", 40): "too deep", strings.Repeat("1 + ", 3000): "too many operations",
		"$rax " + strings.Repeat("dup * ", 20):                                       "too long",
		"$rax " + strings.Repeat("dup * ", 9) + strings.Repeat("dup 1 * drop ", 200): "too long", "entry:2 1": "entry value",
	} {
		_, err := Simplify(amd64, code(amd64, text), false)
		var rule *RuleError
		if !errors.As(err, &rule) || !strings.Contains(err.Error(), reason) {
			t.Errorf("%.30q: %v, want %q", text, err, reason)
		}
	}
	if _, err := Simplify(amd64, code(amd64, ".cfa 8 +"), true); err == nil {
		t.Error("a rule of the CFA may read .cfa")
	}
	if _, _, err := ParseCFI(amd64, ".cfa: $rsp 12 and .ra: .cfa -8 + ^", nil); err == nil {
		t.Error("a symbol file may use DWARF's words")
	}
}

// Two rules made of one do not write into each other.
func TestShared(t *testing.T) {
	base, err := Simplify(amd64, code(amd64, "$rax ^ ^ $rbx ^ ^ *"), false)
	if err != nil {
		t.Fatal(err)
	}
	a, b := Sum(amd64, base, 8), Sum(amd64, base, 16)
	c := Deref(a)
	Sum(amd64, a, 32)
	const want = "$rax ^ ^ $rbx ^ ^ *"
	if s := postfix(amd64, base.Code) + postfix(amd64, a.Code) + postfix(amd64, b.Code) + postfix(amd64, c.Code); s != want+want+" 8 +"+want+" 16 +"+want+" 8 + ^" {
		t.Error(s)
	}
	row, err := ParseProgram(x86, "$T0 $ebp ^ ^ = $eip $T0 4 + = $esp $T0 8 + = $ebp $T0 ^ =", nil)
	if err != nil || row.Describe(x86) != "cfa = [[$ebp]] + 8, ra = [[$ebp]] + 4, $ebp = [[[$ebp]]], $esi = lost, $edi = lost" {
		t.Error(row.Describe(x86), err)
	}
}

// A program that would loop for ever stops with a reason.
func TestProgramBounds(t *testing.T) {
	for text, reason := range map[string]string{
		"jump:0": "too many steps", "1 if:0": "too many steps", "1 dup jump:1": "too deep a stack", "drop": "lacks operands", "": "no value", "1 drop": "no value",
		"0 jump:5": "", "1 jump:-1": "jump out", "entry:1 $rax": "function's entry", "1 0 div": "division by zero", "1 0 %": "division by zero", "$rax": "not known", "64 ^2": "2-byte word",
	} {
		row := Row{CFA: coded(amd64, text), RA: Rule{Kind: Const}}
		_, _, err := row.Apply(&cpu.Regs{Arch: amd64}, memory{}, nil)
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
		"entry:2 $rdi ^ 1 +":                 "entry([$rdi]) + 1",
	} {
		if got := coded(amd64, text).Describe(amd64); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
	g := regs(t, amd64, "rsp", 0x1000)
	m := RuleResult{Rule: coded(amd64, "$rsp 12 and"), Value: 0}
	if got, want := m.Computed(g, 0), "0x1000 and 12 = 0x0"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// agreeWords checks that code and the rule that Simplify makes of it compute the same value.
func agreeWords(t *testing.T, text string) {
	for _, a := range []*cpu.Arch{amd64, x86} {
		program := code(a, text)
		ru, err := Simplify(a, program, false)
		_ = ru.Describe(a)
		if err != nil {
			continue
		}
		e := evaluation{callee: full(a), mem: masked{a}, cfa: 0x8000, hasCFA: true, want: forRA}
		v1, ok1 := e.compute(&ru)
		v2, ok2 := e.run(program)
		if ok1 && ok2 && v1 != v2 {
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
