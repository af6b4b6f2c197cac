package unwind

import (
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
)

// The front ends (Breakpad's words in words.go, DWARF's expressions in package dwarfcfi) execute
// their code on Rules instead of numbers: a register is FromReg, a literal is Const, and an operator
// joins two Rules into one. So "base + offset" and "[base + offset]" become compact kinds however the
// record writes them, dup and swap disappear, and all else becomes a Computed.
//
//	op              stack of rules for ".cfa -16 + ^"
//	FromCFA 0       FromCFA 0
//	Const -16       FromCFA 0, Const -16
//	Add             FromCFA -16
//	Load            AtCFA -16

// canon gives equal rules equal offsets: on a 32-bit CPU an offset to a base is sign-extended, a
// constant zero-extended. Example: on a 32-bit CPU "$esp 4294967292 +" and "$esp -4 +" are both
// FromReg −4.
func (ru *Rule) canon(arch *cpu.Arch) {
	if arch.WordSize == 4 {
		switch ru.Kind {
		case Const, AtConst:
			ru.Offset = int64(uint32(ru.Offset))
		case FromReg, AtReg, FromCFA, AtCFA, FromModule:
			ru.Offset = int64(int32(ru.Offset))
		}
	}
}

// constant is the rule of a number.
func constant(arch *cpu.Arch, v uint64) Rule {
	return Rule{Kind: Const, Offset: int64(arch.Mask(v))}
}

// Ops returns the rule as code, which has space for an operator.
func (ru *Rule) Ops() []Op {
	if ru.Kind == Computed {
		return ru.Code
	}
	return append(make([]Op, 0, 4), Op{Kind: ru.Kind, Reg: ru.Reg, Offset: ru.Offset})
}

// shared returns the rule for a second use. Code grows in place, so only one of two may have space.
func (ru Rule) shared() Rule {
	ru.Code = slices.Clip(ru.Code)
	return ru
}

// Deref returns the rule [ru]: the memory word at the address that ru computes.
func Deref(ru Rule) Rule {
	ru = ru.shared()
	ru.unary(nil, Op{Kind: Load})
	return ru
}

// Sum returns the rule ru + by.
func Sum(arch *cpu.Arch, ru Rule, by int64) Rule {
	if ru = ru.shared(); by != 0 {
		by := constant(arch, uint64(by))
		ru.binary(arch, Add, &by)
	}
	return ru
}

// Difference returns the rule l − r.
func Difference(arch *cpu.Arch, l, r Rule) Rule {
	l = l.shared()
	l.binary(arch, Sub, &r)
	return l
}

// unary makes the rule "op ru", in a compact kind if possible. What has no value gives none.
func (ru *Rule) unary(arch *cpu.Arch, op Op) {
	switch {
	case ru.Kind == Undefined:
		return
	case op.Kind == Load && (ru.Kind == FromReg || ru.Kind == FromCFA || ru.Kind == Const):
		ru.Kind++ // AtReg, AtCFA, AtConst
		return
	case ru.Kind == Const && op.Kind != LoadSized:
		if v, c := compute(op.Kind, 0, uint64(ru.Offset), arch.WordSize); c == 0 {
			*ru = constant(arch, v)
			return
		}
	}
	*ru = Rule{Kind: Computed, Code: append(ru.Ops(), op)}
}

// binary makes the rule "l op r", in a compact kind if possible.
func (l *Rule) binary(arch *cpu.Arch, op Kind, r *Rule) {
	// A base and a number stay one compact rule with another offset.
	based := func(ru *Rule) bool { return ru.Kind == FromReg || ru.Kind == FromCFA || ru.Kind == FromModule }
	switch {
	case l.Kind == Undefined || r.Kind == Undefined:
		*l = Rule{Kind: Undefined}
		return
	case r.Kind == Const && based(l) && (op == Add || op == Sub):
		if l.Offset += r.Offset; op == Sub {
			l.Offset -= 2 * r.Offset
		}
		l.canon(arch)
		return
	case l.Kind == Const && based(r) && op == Add:
		off := l.Offset
		*l = *r
		l.Offset += off
		l.canon(arch)
		return
	case l.Kind == Const && r.Kind == Const:
		if v, c := compute(op, uint64(l.Offset), uint64(r.Offset), arch.WordSize); c == 0 {
			*l = constant(arch, v)
			return
		}
	}
	last := Op{Kind: r.Kind, Reg: r.Reg, Offset: r.Offset}
	if op == And && r.Kind == Const {
		// "x & 0xfff…f0" is Breakpad's "x 16 @": −0xfff…f0 is 16, and a mask with upper bits set and
		// lower ones clear rounds down to a power of two.
		if step := arch.Mask(-uint64(r.Offset)); step != 0 && step&(step-1) == 0 {
			op, last.Offset = Align, int64(step)
		}
	}
	code := l.Ops()
	if r.Kind == Computed {
		code = append(code, r.Code...)
	} else {
		code = append(code, last)
	}
	*l = Rule{Kind: Computed, Code: append(code, Op{Kind: op})}
}

// Simplify returns the simplest rule that computes the top of the stack that code leaves: a compact
// kind if possible, else a Computed, whose operators are Breakpad's if those suffice.
//
//	$rsp, 8, Add            FromReg, rsp + 8
//	$rax, Dup, Load, Add    Computed, "$rax $rax ^ +"
//
// forCFA says that the rule is that of the CFA, which may not read it. Only code with jumps stays as
// it is, as the depth of its stack depends on values. Errors are of type *RuleError.
func Simplify(arch *cpu.Arch, code []Op, forCFA bool) (Rule, error) {
	fail := func(reason string) (Rule, error) {
		return Rule{}, &RuleError{Reason: reason, Text: postfix(arch, code)}
	}
	if len(code) > maxSteps {
		return Rule{}, &RuleError{Reason: "the expression has too many operations"}
	}
	jumps := false
	for i := range code {
		switch op := &code[i]; op.Kind {
		case If, Jump:
			jumps = true
			if to := i + 1 + int(op.Arg); to < 0 || to > len(code) {
				return fail("a jump out of the expression")
			}
		case FromCFA:
			if forCFA {
				return fail("the rule of .cfa reads .cfa")
			}
		}
	}
	if jumps {
		return Rule{Kind: Computed, Code: code}, nil
	}
	var stack [maxDepth]Rule
	n, copied := 0, 0
	for i := 0; i < len(code); i++ {
		op := &code[i]
		takes, gives := op.arity()
		switch {
		case n < takes:
			return fail(op.String() + " lacks operands")
		case n-takes+gives > maxDepth:
			return fail("the expression needs too deep a stack")
		case op.Kind == EntryValue:
			if int(op.Arg) >= len(code)-i {
				return fail("an entry value of more than the expression")
			}
			stack[n] = Rule{Kind: Computed, Code: slices.Clone(code[i : i+1+int(op.Arg)])}
			i += int(op.Arg)
		case takes == 0:
			stack[n] = Rule{Kind: op.Kind, Reg: op.Reg, Offset: op.Offset}
			stack[n].canon(arch)
		case takes == 1 && gives == 1:
			stack[n-1].unary(arch, *op)
		case takes == 2 && gives == 1:
			copied += len(stack[n-1].Code)
			stack[n-2].binary(arch, op.Kind, &stack[n-1])
		default:
			if shuffle(*op, stack[:], n); gives > takes {
				stack[n] = stack[n].shared()
				copied += len(stack[n].Code)
			}
		}
		// Each "dup +" doubles a rule.
		if n += gives - takes; copied > maxCopied || n > 0 && len(stack[n-1].Code) > maxSteps {
			return fail("the expression grows too long")
		}
	}
	if n < 1 {
		return fail("the expression leaves no value")
	}
	return stack[n-1], nil
}
