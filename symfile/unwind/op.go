package unwind

import "github.com/crashpane/crashpane/core/cpu"

// Kind says what a Rule or an Op is. The first kinds are values, the others operators of code. In
// the formulas a register is the callee's, [x] is the memory word at x, and cfa is the frame's
// canonical frame address: the value of the caller's stack pointer just before the call (DWARF 5,
// section 6.4).
type Kind uint8

const (
	// Unset: there is no rule. A callee-saved register keeps its value, any other becomes unknown.
	Unset Kind = iota
	// Undefined: the function overwrote the value and did not save it.
	Undefined
	// Same: value = the callee's value of the same register.
	Same
	// FromReg: value = Reg + Offset
	FromReg
	// AtReg: value = [Reg + Offset]
	AtReg
	// FromCFA: value = cfa + Offset
	FromCFA
	// AtCFA: value = [cfa + Offset]
	AtCFA
	// Const: value = Offset. A stack scan uses it: it found the address itself.
	Const
	// AtConst: value = [Offset]
	AtConst
	// FromModule: value = the distance by which the module was moved from its preferred address +
	// Offset. Rules have none; locations do.
	FromModule
	// Computed: value = what Code computes. It is of rules only.
	Computed

	// Breakpad's operators, which are all that a STACK CFI record can have. Numbers are unsigned.
	// Align rounds l down to a multiple of r, which must be a power of two: 0x1237 @ 16 is 0x1230.
	Add
	Sub
	Mul
	Div
	Mod
	Align
	Load // address → the word there

	// The other operations of DWARF expressions (DWARF 5, section 2.5.1). Shra, Quotient, Abs and the
	// comparisons read values as two's complement.
	And
	Or
	Xor
	Shl
	Shr
	Shra
	Quotient
	Eq
	Ne
	Lt
	Le
	Gt
	Ge
	Not
	Neg
	Abs
	LoadSized // address → the word of Arg bytes there, zero-extended
	Dup
	Drop
	Over
	Swap
	Rot
	Pick // push a copy of the item Arg below the top
	If   // pop a value, and jump unless it is 0
	Jump // go on Arg ops after the next one, or before it
	// EntryValue: the value that the next Arg ops, which are not executed, had when the function was
	// entered.
	EntryValue

	kinds // how many there are
)

// Op is one step of code for a stack machine, whose values are words of the CPU's size. A value,
// one of the kinds up to FromModule, is pushed.
type Op struct {
	Kind   Kind
	Reg    cpu.Reg
	Arg    int32
	Offset int64
}

// operators has the operators' words, which are Breakpad's where Breakpad has the operator, and how
// many items each pops and pushes. Pick has one more of each for each item below the top.
var operators = [kinds]struct {
	word         string
	takes, gives int
}{
	Add: {"+", 2, 1}, Sub: {"-", 2, 1}, Mul: {"*", 2, 1}, Div: {"/", 2, 1}, Mod: {"%", 2, 1}, Align: {"@", 2, 1}, Load: {"^", 1, 1},
	And: {"and", 2, 1}, Or: {"or", 2, 1}, Xor: {"xor", 2, 1}, Shl: {"shl", 2, 1}, Shr: {"shr", 2, 1}, Shra: {"shra", 2, 1},
	Quotient: {"div", 2, 1}, Eq: {"eq", 2, 1}, Ne: {"ne", 2, 1}, Lt: {"lt", 2, 1}, Le: {"le", 2, 1}, Gt: {"gt", 2, 1}, Ge: {"ge", 2, 1},
	Not: {"not", 1, 1}, Neg: {"neg", 1, 1}, Abs: {"abs", 1, 1}, LoadSized: {"^", 1, 1},
	Dup: {"dup", 1, 2}, Drop: {"drop", 1, 0}, Over: {"over", 2, 3}, Swap: {"swap", 2, 2}, Rot: {"rot", 3, 3}, Pick: {"pick:", 1, 2},
	If: {"if:", 1, 0}, Jump: {"jump:", 0, 0}, EntryValue: {"entry:", 0, 1},
}

// arity returns how many items an op pops and pushes.
func (op *Op) arity() (takes, gives int) {
	if op.Kind < Computed {
		return 0, 1
	}
	o := &operators[op.Kind]
	if op.Kind == Pick {
		return o.takes + int(op.Arg), o.gives + int(op.Arg)
	}
	return o.takes, o.gives
}

// Ops returns how many ops Apply executes at most.
func (r *Row) Ops() int64 {
	n := r.CFA.ops() + r.RA.ops()
	for i := range r.Saved {
		n += r.Saved[i].Rule.ops()
	}
	return n
}

// ops is Ops for one rule. Code that jumps back may run until maxSteps.
func (ru *Rule) ops() int64 {
	for i := range ru.Code {
		if op := &ru.Code[i]; (op.Kind == Jump || op.Kind == If) && int64(op.Arg) < 0 {
			return maxSteps
		}
	}
	return int64(len(ru.Code))
}

const (
	// maxDepth limits the stack of the machine. Real rules need three or four items.
	maxDepth = 32
	// maxSteps limits the ops of code and those that one evaluation executes, maxText the bytes of a
	// record's expression, so that a crafted file cannot make one frame slow.
	maxSteps = 2048
	maxText  = 16384
	// maxCopied limits the ops that are copied while rules are made of a text or an expression: each use
	// of a variable, and each dup, may copy a long rule.
	maxCopied = 16 * maxSteps
)

// compute returns l op r, or op r for operators of one value. The caller masks the result to the
// CPU's word size. The results are those of DWARF 5, sections 2.5.1.4 and 2.5.1.5.
func compute(op Kind, l, r uint64, wordSize int) (uint64, Cause) {
	sl, sr := int64(l), int64(r)
	if wordSize == 4 {
		sl, sr = int64(int32(l)), int64(int32(r))
	}
	truth := func(b bool) (uint64, Cause) {
		if b {
			return 1, 0
		}
		return 0, 0
	}
	switch op {
	case Add:
		return l + r, 0
	case Sub:
		return l - r, 0
	case Mul:
		return l * r, 0
	case Div, Mod, Quotient:
		switch {
		case r == 0:
			return 0, DivisionByZero
		case op == Div:
			return l / r, 0
		case op == Mod:
			return l % r, 0
		case sr == -1: // as an integer division the smallest value / -1 would overflow
			return -l, 0
		}
		return uint64(sl / sr), 0
	case Align:
		if r == 0 || r&(r-1) != 0 {
			return 0, BadAlignment
		}
		return l &^ (r - 1), 0
	case And:
		return l & r, 0
	case Or:
		return l | r, 0
	case Xor:
		return l ^ r, 0
	// As in Go, a shift by the word size or more gives 0, or −1 for Shra of a negative value.
	case Shl:
		return l << r, 0
	case Shr:
		return l >> r, 0
	case Shra:
		return uint64(sl >> r), 0
	case Eq:
		return truth(l == r)
	case Ne:
		return truth(l != r)
	case Lt:
		return truth(sl < sr)
	case Le:
		return truth(sl <= sr)
	case Gt:
		return truth(sl > sr)
	case Ge:
		return truth(sl >= sr)
	case Not:
		return ^r, 0
	case Neg:
		return -r, 0
	case Abs:
		return uint64(max(sr, -sr)), 0
	}
	return 0, BadProgram
}

// shuffle executes Dup, Drop, Over, Swap, Rot or Pick on the n items of st, which must have space
// for the result. The caller changes n.
func shuffle[T any](op Op, st []T, n int) {
	switch op.Kind {
	case Dup:
		st[n] = st[n-1]
	case Over:
		st[n] = st[n-2]
	case Swap:
		st[n-1], st[n-2] = st[n-2], st[n-1]
	case Rot: // the top moves below the two items under it
		st[n-1], st[n-2], st[n-3] = st[n-2], st[n-3], st[n-1]
	case Pick:
		st[n] = st[n-1-int(op.Arg)]
	}
}
