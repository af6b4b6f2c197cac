package unwind

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// RuleError says why ParseCFI, ParseProgram or ParseExpression could not parse the text of an
// unwind record.
type RuleError struct {
	Reason string
	// Text is the offending part of the record, or empty.
	Text string
}

func (e *RuleError) Error() string {
	if e.Text == "" {
		return e.Reason
	}
	return e.Reason + ": " + quote(e.Text)
}

// The parsers execute an expression on Rules instead of numbers: a register is FromReg, a literal
// is Const, and an operator joins two Rules into one. So "base + offset" and "[base + offset]"
// become compact kinds however the record writes them, and all else becomes an Expr.
//
//	token    stack of rules for ".cfa -16 + ^"
//	.cfa     FromCFA 0
//	-16      FromCFA 0, Const -16
//	+        FromCFA -16
//	^        AtCFA -16

// canon gives equal rules equal offsets: on a 32-bit CPU an offset to a base is sign-extended, a
// constant zero-extended. Example: on a 32-bit CPU "$esp 4294967292 +" and "$esp -4 +" are both
// FromReg −4.
func canon(arch *cpu.Arch, ru Rule) Rule {
	if arch.WordSize == 4 {
		switch ru.Kind {
		case Const, AtConst:
			ru.Offset = int64(uint32(ru.Offset))
		case FromReg, AtReg, FromCFA, AtCFA:
			ru.Offset = int64(int32(ru.Offset))
		}
	}
	return ru
}

// join returns the rule "l op r" for Breakpad's operators.
// If one operand has no value, the result has none.
func join(arch *cpu.Arch, op byte, l, r Rule) (Rule, error) {
	if l.Kind == Undefined || r.Kind == Undefined {
		return Rule{Kind: Undefined}, nil
	}
	base := func(k RuleKind) bool { return k == FromReg || k == FromCFA || k == Const }
	switch {
	case op == '+' && base(l.Kind) && r.Kind == Const:
		l.Offset += r.Offset
		return canon(arch, l), nil
	case op == '+' && base(r.Kind) && l.Kind == Const:
		r.Offset += l.Offset
		return canon(arch, r), nil
	case op == '-' && base(l.Kind) && r.Kind == Const:
		l.Offset -= r.Offset
		return canon(arch, l), nil
	}
	lt, rt := postfix(arch, l), postfix(arch, r)
	if len(lt)+len(rt)+3 > maxText {
		return Rule{}, &RuleError{Reason: "the expression grows too long"}
	}
	return Rule{Kind: Expr, Text: lt + " " + rt + " " + string(op)}, nil
}

// deref returns the rule [ru], the memory word at ru.
func deref(arch *cpu.Arch, ru Rule) (Rule, error) {
	switch ru.Kind {
	case Undefined:
		return ru, nil
	case FromReg:
		ru.Kind = AtReg
		return ru, nil
	case FromCFA:
		ru.Kind = AtCFA
		return ru, nil
	case Const:
		ru.Kind = AtConst
		return ru, nil
	}
	t := postfix(arch, ru)
	if len(t)+2 > maxText {
		return Rule{}, &RuleError{Reason: "the expression grows too long"}
	}
	return Rule{Kind: Expr, Text: t + " ^"}, nil
}

// postfix returns the rule as a postfix expression.
// Example: AtCFA −16 is ".cfa -16 + ^".
func postfix(arch *cpu.Arch, ru Rule) string {
	s := ru.Text
	switch ru.Kind {
	case FromReg, AtReg:
		s = "$" + arch.RegName(ru.Reg)
	case FromCFA, AtCFA:
		s = ".cfa"
	case Const, AtConst:
		s = strconv.FormatInt(ru.Offset, 10)
	}
	switch ru.Kind {
	case FromReg, AtReg, FromCFA, AtCFA:
		if ru.Offset != 0 {
			s += " " + strconv.FormatInt(ru.Offset, 10) + " +"
		}
	}
	switch ru.Kind {
	case AtReg, AtCFA, AtConst:
		s += " ^"
	}
	return s
}

// operandRule returns the rule for a token that is not an operator.
func operandRule(arch *cpu.Arch, tok string) (Rule, error) {
	switch tok {
	case ".cfa":
		return Rule{Kind: FromCFA}, nil
	case ".undef":
		return Rule{Kind: Undefined}, nil
	}
	if v, ok := literal(tok); ok {
		return canon(arch, Rule{Kind: Const, Offset: int64(v)}), nil
	}
	if r, ok := arch.Lookup(tok); ok {
		return Rule{Kind: FromReg, Reg: r}, nil
	}
	return Rule{}, &RuleError{Reason: "unknown register or word", Text: tok}
}

// parseExpr turns a STACK CFI expression into the simplest rule that computes it.
func parseExpr(arch *cpu.Arch, text string) (Rule, error) {
	if len(text) > maxText {
		return Rule{}, &RuleError{Reason: "the expression is too long", Text: text}
	}
	var stack [maxDepth]Rule
	n := 0
	rest := text
	for steps := 0; ; steps++ {
		var tok string
		if tok, rest = cut(rest); tok == "" {
			break
		}
		if steps >= maxSteps {
			return Rule{}, &RuleError{Reason: "the expression has too many tokens", Text: text}
		}
		var err error
		switch {
		case tok == "^":
			if n < 1 {
				return Rule{}, &RuleError{Reason: "an operator lacks operands", Text: text}
			}
			if stack[n-1], err = deref(arch, stack[n-1]); err != nil {
				return Rule{}, err
			}
		case isOp(tok):
			if n < 2 {
				return Rule{}, &RuleError{Reason: "an operator lacks operands", Text: text}
			}
			if stack[n-2], err = join(arch, tok[0], stack[n-2], stack[n-1]); err != nil {
				return Rule{}, err
			}
			n--
		default:
			if n == maxDepth {
				return Rule{}, &RuleError{Reason: "the expression needs too deep a stack", Text: text}
			}
			if stack[n], err = operandRule(arch, tok); err != nil {
				return Rule{}, err
			}
			n++
		}
	}
	if n != 1 {
		return Rule{}, &RuleError{Reason: "the expression does not leave one value", Text: text}
	}
	if stack[0].Kind == Expr {
		// Keep the record's own text: that is what a user will look for in the file.
		stack[0].Text = strings.TrimSpace(text)
	}
	return stack[0], nil
}
