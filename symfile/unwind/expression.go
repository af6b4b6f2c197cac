package unwind

import (
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// ParseExpression turns a postfix program, in the operators of Breakpad and of words.go, into the
// simplest rule that computes the top of its stack: a compact kind if possible, else an Expr if
// Breakpad's operators suffice, else a Program.
//
//	"$rsp 8 +"          FromReg, rsp + 8
//	"$rax dup ^1 +"     Program, "$rax $rax ^1 +"
//
// It executes the program on rules (see parse.go), so that dup, swap and the like disappear. Only a
// program with jumps keeps its text. forCFA says that the rule is that of the CFA, which may not
// read .cfa. Errors are of type *RuleError.
func ParseExpression(arch *cpu.Arch, text string, forCFA bool) (Rule, error) {
	text = strings.TrimSpace(text)
	fail := func(reason string) (Rule, error) { return Rule{}, &RuleError{Reason: reason, Text: text} }
	if len(text) > maxText {
		return fail("the expression is too long")
	}
	var stack [maxDepth]Rule
	// stack[:n] are rules: what each item of the program's stack is in terms of registers and
	// memory.
	n, rest, jumps := 0, text, false
	count := 0
	for ; ; count++ {
		var tok string
		if tok, rest = cut(rest); tok == "" {
			break
		}
		if count >= maxSteps {
			return fail("the expression has too many tokens")
		}
		// How many items the token pops and pushes. Those of words.go are known; Breakpad's
		// operators and operands follow below.
		takes, gives, known := arity(tok)
		if word, _ := numbered(tok); word == "if" || word == "jump" {
			jumps = true
			continue
		}
		if forCFA && tok == ".cfa" {
			return fail("the rule of .cfa reads .cfa")
		}
		if !known {
			switch {
			case tok == "^":
				takes, gives = 1, 1
			case isOp(tok):
				takes, gives = 2, 1
			default:
				gives = 1
			}
		}
		var ru Rule
		var err error
		if takes == 0 && !known {
			if ru, err = operandRule(arch, tok); err != nil {
				return Rule{}, err
			}
		}
		if jumps {
			continue // from here on the depth of the stack depends on values
		}
		if n < takes {
			return fail(tok + " lacks operands")
		}
		if n-takes+gives > maxDepth {
			return fail("the expression needs too deep a stack")
		}
		switch {
		case takes == 0 && !known:
		case tok == "^":
			ru, err = Deref(arch, stack[n-1])
		case takes == 1 && gives == 1:
			ru, err = unary(arch, tok, stack[n-1])
		case gives == 1:
			ru, err = joinWord(arch, tok, stack[n-2], stack[n-1])
		default:
			shuffle(tok, stack[:], n)
		}
		if err != nil {
			return Rule{}, err
		}
		// What was computed is the new top. shuffle has moved its items itself.
		n += gives - takes
		if gives == 1 {
			stack[n-1] = ru
		}
	}
	switch {
	case jumps:
		return jumping(text, count)
	case n < 1:
		return fail("the expression leaves no value")
	}
	return stack[n-1], nil
}

// jumping returns a program with jumps as a rule, after checking that each target is one of its
// count words or its end.
func jumping(text string, count int) (Rule, error) {
	for rest := text; ; {
		var tok string
		if tok, rest = cut(rest); tok == "" {
			return Rule{Kind: Program, Text: text}, nil
		}
		if word, to := numbered(tok); (word == "if" || word == "jump") && to > count {
			return Rule{}, &RuleError{Reason: "a jump out of the expression", Text: text}
		}
	}
}

// longest limits the text of a rule under construction: each "dup +" doubles it.
const longest = 2048

// grown joins parts to the text of a rule.
func grown(kind RuleKind, parts ...string) (Rule, error) {
	text := strings.Join(parts, " ")
	if len(text) > longest {
		return Rule{}, &RuleError{Reason: "the expression grows too long", Text: text}
	}
	return Rule{Kind: kind, Text: text}, nil
}

// kindOf returns Program if one of the rules is a Program, else Expr.
func kindOf(rules ...Rule) RuleKind {
	for _, r := range rules {
		if r.Kind == Program {
			return Program
		}
	}
	return Expr
}

// Deref returns the rule [ru]: the memory word at the address that ru computes.
func Deref(arch *cpu.Arch, ru Rule) (Rule, error) {
	switch ru.Kind {
	case Undefined, FromReg, FromCFA, Const:
		return deref(arch, ru)
	}
	return grown(kindOf(ru), postfix(arch, ru), "^")
}

// unary returns the rule "op ru", folded if ru is constant.
func unary(arch *cpu.Arch, op string, ru Rule) (Rule, error) {
	if ru.Kind == Undefined {
		return ru, nil
	}
	if v, c := compute(op, 0, uint64(ru.Offset), arch.WordSize); ru.Kind == Const && c == 0 {
		return canon(arch, Rule{Kind: Const, Offset: int64(v)}), nil
	}
	return grown(Program, postfix(arch, ru), op)
}

// joinWord returns the rule "l op r" for the operators of Breakpad and of words.go, folded to a
// compact kind if possible.
func joinWord(arch *cpu.Arch, op string, l, r Rule) (Rule, error) {
	if l.Kind == Undefined || r.Kind == Undefined {
		return Rule{Kind: Undefined}, nil
	}
	if l.Kind == Const && r.Kind == Const {
		v, c := compute(op, uint64(l.Offset), uint64(r.Offset), arch.WordSize)
		if isOp(op) {
			v, c = binary(op[0], uint64(l.Offset), uint64(r.Offset))
		}
		if c == 0 {
			return canon(arch, Rule{Kind: Const, Offset: int64(v)}), nil
		}
	}
	if op == "and" && r.Kind == Const {
		// "x & 0xfff…f0" is Breakpad's "x 16 @".
		// −0xfff…f0 is 16: a mask with upper bits set and lower ones clear rounds down to a power
		// of two.
		if step := arch.Mask(-uint64(r.Offset)); step != 0 && step&(step-1) == 0 {
			op, r.Offset = "@", int64(step)
		}
	}
	if op == "+" || op == "-" {
		// A base and a number stay one compact rule with another offset.
		plain := func(ru Rule) bool { return ru.Kind == FromReg || ru.Kind == FromCFA || ru.Kind == Const }
		if plain(l) && r.Kind == Const || op == "+" && l.Kind == Const && plain(r) {
			return join(arch, op[0], l, r)
		}
	}
	kind := kindOf(l, r)
	if !isOp(op) {
		kind = Program
	}
	return grown(kind, postfix(arch, l), postfix(arch, r), op)
}

// Sum returns the rule ru + by.
func Sum(arch *cpu.Arch, ru Rule, by int64) (Rule, error) {
	if by == 0 {
		return ru, nil
	}
	return joinWord(arch, "+", ru, canon(arch, Rule{Kind: Const, Offset: by}))
}
