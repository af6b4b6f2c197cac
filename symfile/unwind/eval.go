package unwind

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
)

// Cause says why a value could not be computed.
type Cause uint8

const (
	_ Cause = iota
	// NoWord: the dump lacks the memory word at Addr.
	NoWord
	// NoRegister: the callee's value of Reg is not known.
	NoRegister
	// Unrecoverable: the rule is Undefined, or there is no rule.
	Unrecoverable
	// DivisionByZero: / or % by zero.
	DivisionByZero
	// BadAlignment: the right operand of @ is not a power of two.
	BadAlignment
	// BadProgram: the rule's code is not valid.
	BadProgram
	// NoEntry: a value that the function had at its entry is not known.
	NoEntry
)

// EvalError says which value of a Row could not be computed and why.
type EvalError struct {
	// For is the value that Apply was computing: "cfa", "ra", or a register such as "$rbx".
	For   string
	Cause Cause
	// Addr and Size are the address of the missing word and its size in bytes (NoWord).
	Addr uint64
	Size int
	// Reg is the register whose value is unknown, with "$" (NoRegister).
	Reg string
	// Text is the operator (DivisionByZero), what is wrong with the code (BadProgram), or the
	// expression (NoEntry).
	Text string
}

func (e *EvalError) Error() string { return e.For + ": " + e.reason() }

func (e *EvalError) reason() string {
	switch e.Cause {
	case NoWord:
		return fmt.Sprintf("the %d-byte word at 0x%x is not in the dump", e.Size, e.Addr)
	case NoRegister:
		return "the value of " + e.Reg + " is not known"
	case Unrecoverable:
		return "the rules say that it cannot be recovered"
	case DivisionByZero:
		return "division by zero (" + e.Text + ")"
	case BadAlignment:
		return "alignment to something that is not a power of two"
	case NoEntry:
		return "the value that " + e.Text + " had at the function's entry is not known"
	}
	return e.Text
}

// WordRead is one memory word that Apply read.
type WordRead struct {
	Addr, Value uint64
	// Size in bytes.
	Size int
	// For is the value that needed the word: "cfa", "ra", or a register such as "$rbx".
	For string
}

// RuleResult is one value that Apply computed or failed to compute.
type RuleResult struct {
	// For is "cfa", "ra", or a register such as "$rbx".
	For  string
	Rule Rule
	// Value is the result. It is 0 if Err is set.
	Value uint64
	Err   *EvalError
}

// Trace records what Apply did, for a frame's explanation. With a nil Trace, Apply records nothing
// and does not allocate.
type Trace struct {
	Words []WordRead
	// Values are in the order of evaluation: cfa, ra, then the saved registers.
	Values []RuleResult
	// Notes names each saved register that could not be computed, and why.
	Notes []string
}

// fault is the reason for a failure in a form that needs no allocation. err makes an EvalError of
// it where one is wanted: losing a register is common, and costs nothing.
type fault struct {
	cause Cause
	reg   cpu.Reg
	addr  uint64
	size  int
	text  string
}

// target is the value being computed: a register's number, or one of these.
type target int

const (
	forCFA target = -1 - iota
	forRA
	forValue // of a location
)

// evaluation is the state of one Apply, or of one location.
type evaluation struct {
	callee *cpu.Regs
	mem    Memory // may be nil
	tr     *Trace // may be nil
	cfa    uint64
	hasCFA bool // false until the rule of the CFA is computed, which may not read .cfa
	want   target
	scope  *Scope // of a location, else nil
	fault  fault  // why the last value could not be computed
}

// name is the value's name in errors and traces.
func (e *evaluation) name(t target) string {
	switch t {
	case forCFA:
		return "cfa"
	case forRA:
		return "ra"
	case forValue:
		return "value"
	}
	return "$" + e.callee.Arch.RegName(cpu.Reg(t))
}

// fail keeps why there is no value.
func (e *evaluation) fail(f fault) (uint64, bool) {
	e.fault = f
	return 0, false
}

func (e *evaluation) bad(why string) (uint64, bool) {
	return e.fail(fault{cause: BadProgram, text: why})
}

// err makes an error of the fault, about the value that is being computed.
func (e *evaluation) err() *EvalError {
	f := &e.fault
	err := &EvalError{For: e.name(e.want), Cause: f.cause, Text: f.text}
	switch f.cause {
	case NoWord:
		err.Addr, err.Size = f.addr, f.size
	case NoRegister:
		err.Reg = "$" + e.callee.Arch.RegName(f.reg)
	}
	return err
}

// reg returns the callee's value of a register.
func (e *evaluation) reg(r cpu.Reg) (uint64, bool) {
	v, ok := e.callee.Get(r)
	if !ok {
		return e.fail(fault{cause: NoRegister, reg: r})
	}
	return v, true
}

// word returns the word of the CPU's size at addr.
func (e *evaluation) word(addr uint64) (uint64, bool) { return e.read(addr, e.callee.Arch.WordSize) }

// read returns the word of size bytes at addr, and traces it.
func (e *evaluation) read(addr uint64, size int) (uint64, bool) {
	addr = e.callee.Arch.Mask(addr)
	if e.mem == nil {
		return e.fail(fault{cause: NoWord, addr: addr, size: size})
	}
	v, ok := e.mem.Word(addr, size)
	if !ok {
		return e.fail(fault{cause: NoWord, addr: addr, size: size})
	}
	if e.tr != nil {
		e.tr.Words = append(e.tr.Words, WordRead{Addr: addr, Value: v, Size: size, For: e.name(e.want)})
	}
	return v, true
}

// value computes one rule and traces the result.
func (e *evaluation) value(ru *Rule) (uint64, bool) {
	v, ok := e.compute(ru)
	if e.tr != nil {
		m := RuleResult{For: e.name(e.want), Rule: *ru, Value: v}
		if !ok {
			m.Err = e.err()
		}
		e.tr.Values = append(e.tr.Values, m)
	}
	return v, ok
}

// compute returns the value of one rule.
func (e *evaluation) compute(ru *Rule) (uint64, bool) {
	switch ru.Kind {
	case Same:
		// The CFA and the return address are not registers of the callee, so they cannot stay as
		// they are.
		if e.want < 0 {
			return e.bad("only a register can be \"unchanged\"")
		}
		return e.reg(cpu.Reg(e.want))
	case Computed:
		return e.run(ru.Code)
	}
	return e.operand(ru.Kind, ru.Reg, ru.Offset)
}

// operand returns a value, by the formula at its Kind.
func (e *evaluation) operand(kind Kind, reg cpu.Reg, offset int64) (uint64, bool) {
	arch := e.callee.Arch
	switch kind {
	case FromReg, AtReg:
		v, ok := e.reg(reg)
		if !ok {
			return 0, false
		}
		v = arch.Mask(v + uint64(offset))
		if kind == AtReg {
			return e.word(v)
		}
		return v, true
	case FromCFA, AtCFA:
		if !e.hasCFA {
			return e.bad("the rule of .cfa reads .cfa")
		}
		v := arch.Mask(e.cfa + uint64(offset))
		if kind == AtCFA {
			return e.word(v)
		}
		return v, true
	case Const:
		return arch.Mask(uint64(offset)), true
	case AtConst:
		return e.word(uint64(offset))
	case FromModule:
		if e.scope != nil {
			return arch.Mask(e.scope.Moved + uint64(offset)), true
		}
	}
	return e.fail(fault{cause: Unrecoverable})
}

// run executes code, and returns the top of the stack that it leaves. Code may jump, also back;
// maxSteps counts executed ops, so that a loop ends.
func (e *evaluation) run(code []Op) (uint64, bool) {
	arch := e.callee.Arch
	var stack [maxDepth]uint64
	n := 0
	for at, steps := 0, 0; at < len(code); steps++ {
		if steps >= maxSteps {
			return e.bad("the program takes too many steps")
		}
		op := &code[at]
		at++
		takes, gives := op.arity()
		if n < takes {
			return e.bad(op.String() + " lacks operands")
		}
		if n-takes+gives > maxDepth {
			return e.bad("the program needs too deep a stack")
		}
		var v uint64
		ok := true
		switch {
		case op.Kind < Computed:
			v, ok = e.operand(op.Kind, op.Reg, op.Offset)
		case op.Kind == Load:
			v, ok = e.word(stack[n-1])
		case op.Kind == LoadSized:
			v, ok = e.read(stack[n-1], int(op.Arg))
		case op.Kind == Jump || op.Kind == If && stack[n-1] != 0:
			if at += int(op.Arg); at < 0 {
				return e.bad("a jump out of the program")
			}
		case op.Kind == EntryValue:
			nested := code[at:][:max(0, min(int(op.Arg), len(code)-at))]
			at += len(nested)
			v, ok = e.entry(nested)
		case takes > 0 && gives == 1 && op.Kind != Drop:
			var c Cause
			if v, c = compute(op.Kind, stack[max(n-2, 0)], stack[n-1], arch.WordSize); c != 0 {
				return e.fail(fault{cause: c, text: op.String()})
			}
		default:
			shuffle(*op, stack[:], n)
		}
		if !ok {
			return 0, false
		}
		n += gives - takes
		if gives == 1 {
			stack[n-1] = arch.Mask(v)
		}
	}
	if n < 1 {
		return e.bad("the program leaves no value")
	}
	return stack[n-1], true
}

// entry returns the value that code had when the function was entered.
func (e *evaluation) entry(code []Op) (uint64, bool) {
	if e.scope != nil && e.scope.Entry != nil {
		if v, ok := e.scope.Entry(code); ok {
			return v, true
		}
	}
	return e.fail(fault{cause: NoEntry, text: (&printer{arch: e.callee.Arch}).infix(code)})
}

// Apply computes the caller's registers from the callee's.
//
//	cfa = CFA     pc = RA     sp = cfa, unless Saved has a rule for sp
//
// A register with a rule in Saved gets the rule's value. A callee-saved register without a rule
// keeps the callee's value, unless the row has OthersUndefined. Any other register is unknown. If a
// rule in Saved fails, its register becomes unknown and tr gets a note; rust-minidump does the
// same, Breakpad drops the whole record. If the rule for cfa, ra or sp fails there is no frame, and
// Apply returns an *EvalError that names the missing memory word or register.
//
// Every rule reads the callee's registers, so the order of Saved does not matter; only the CFA is
// the new value. Values wrap at the CPU's word size. mem may be nil; callee and callee.Arch may
// not. Apply also returns the CFA, an address in the process.
func (r *Row) Apply(callee *cpu.Regs, mem Memory, tr *Trace) (caller cpu.Regs, cfa uint64, err error) {
	arch := callee.Arch
	caller.Arch = arch
	e := evaluation{callee: callee, mem: mem, tr: tr, want: forCFA}

	cfa, ok := e.value(&r.CFA)
	if !ok {
		return caller, 0, e.err()
	}
	e.cfa, e.hasCFA = cfa, true

	e.want = forRA
	ra, ok := e.value(&r.RA)
	if !ok {
		return caller, cfa, e.err()
	}

	// Calling conventions have a function preserve these, so a row without a rule says that it did.
	if !r.OthersUndefined {
		for _, s := range arch.CalleeSaved {
			if v, ok := callee.Get(s); ok {
				caller.Set(s, v)
			}
		}
	}
	// The CFA is by definition the caller's stack pointer. A rule for sp in Saved replaces it
	// below.
	caller.Set(arch.SP, cfa)
	caller.Set(arch.PC, ra)
	for i := range r.Saved {
		s := &r.Saved[i]
		if s.Rule.Kind == Unset {
			continue
		}
		e.want = target(s.Reg)
		if v, ok := e.value(&s.Rule); ok {
			caller.Set(s.Reg, v)
			continue
		}
		// Without its stack pointer the caller's frame cannot be found, so this is not a loss of one
		// register.
		if s.Reg == arch.SP {
			return caller, cfa, e.err()
		}
		caller.Forget(s.Reg)
		if tr != nil && s.Rule.Kind != Undefined {
			tr.Notes = append(tr.Notes, e.err().Error())
		}
	}
	return caller, cfa, nil
}
