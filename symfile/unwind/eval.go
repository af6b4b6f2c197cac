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
	// BadProgram: the rule's text is not a valid expression.
	BadProgram
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
	// Text is the operator (DivisionByZero) or what is wrong with the expression (BadProgram).
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

// target is the value being computed: a register's number, or forCFA or forRA.
type target int

const (
	forCFA target = -1 - iota
	forRA
)

// evaluation is the state of one Apply.
type evaluation struct {
	callee *cpu.Regs
	mem    Memory // may be nil
	tr     *Trace // may be nil
	cfa    uint64
	hasCFA bool // false until the rule of the CFA is computed, which may not read .cfa
	want   target
}

// name is the value's name in errors and traces.
func (e *evaluation) name(t target) string {
	switch t {
	case forCFA:
		return "cfa"
	case forRA:
		return "ra"
	}
	return "$" + e.callee.Arch.RegName(cpu.Reg(t))
}

// err makes an error of a fault, about the value that is being computed.
func (e *evaluation) err(f fault) *EvalError {
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
func (e *evaluation) reg(r cpu.Reg) (uint64, fault) {
	v, ok := e.callee.Get(r)
	if !ok {
		return 0, fault{cause: NoRegister, reg: r}
	}
	return v, fault{}
}

// word returns the word of the CPU's size at addr.
func (e *evaluation) word(addr uint64) (uint64, fault) { return e.read(addr, e.callee.Arch.WordSize) }

// read returns the word of size bytes at addr, and traces it.
func (e *evaluation) read(addr uint64, size int) (uint64, fault) {
	addr = e.callee.Arch.Mask(addr)
	if e.mem == nil {
		return 0, fault{cause: NoWord, addr: addr, size: size}
	}
	v, ok := e.mem.Word(addr, size)
	if !ok {
		return 0, fault{cause: NoWord, addr: addr, size: size}
	}
	if e.tr != nil {
		e.tr.Words = append(e.tr.Words, WordRead{Addr: addr, Value: v, Size: size, For: e.name(e.want)})
	}
	return v, fault{}
}

// value computes one rule and traces the result.
func (e *evaluation) value(ru *Rule) (uint64, fault) {
	v, f := e.compute(ru)
	if e.tr != nil {
		m := RuleResult{For: e.name(e.want), Rule: *ru, Value: v}
		if f.cause != 0 {
			m.Value, m.Err = 0, e.err(f)
		}
		e.tr.Values = append(e.tr.Values, m)
	}
	return v, f
}

// compute returns the value of one rule, by the formula at its RuleKind.
func (e *evaluation) compute(ru *Rule) (uint64, fault) {
	arch := e.callee.Arch
	switch ru.Kind {
	case Same:
		// The CFA and the return address are not registers of the callee, so they cannot stay as
		// they are.
		if e.want < 0 {
			return 0, fault{cause: BadProgram, text: "only a register can be \"unchanged\""}
		}
		return e.reg(cpu.Reg(e.want))
	case FromReg, AtReg:
		v, f := e.reg(ru.Reg)
		if f.cause != 0 {
			return 0, f
		}
		v = arch.Mask(v + uint64(ru.Offset))
		if ru.Kind == AtReg {
			return e.word(v)
		}
		return v, fault{}
	case FromCFA, AtCFA:
		if !e.hasCFA {
			return 0, fault{cause: BadProgram, text: "the rule of .cfa reads .cfa"}
		}
		v := arch.Mask(e.cfa + uint64(ru.Offset))
		if ru.Kind == AtCFA {
			return e.word(v)
		}
		return v, fault{}
	case Const:
		return arch.Mask(uint64(ru.Offset)), fault{}
	case AtConst:
		return e.word(uint64(ru.Offset))
	case Expr:
		return e.expr(ru.Text)
	case Program:
		return e.program(ru.Text)
	}
	return 0, fault{cause: Unrecoverable}
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

	cfa, f := e.value(&r.CFA)
	if f.cause != 0 {
		return caller, 0, e.err(f)
	}
	e.cfa, e.hasCFA = cfa, true

	e.want = forRA
	ra, f := e.value(&r.RA)
	if f.cause != 0 {
		return caller, cfa, e.err(f)
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
		v, f := e.value(&s.Rule)
		if f.cause == 0 {
			caller.Set(s.Reg, v)
			continue
		}
		// Without its stack pointer the caller's frame cannot be found, so this is no loss of one
		// register.
		if s.Reg == arch.SP {
			return caller, cfa, e.err(f)
		}
		caller.Forget(s.Reg)
		if tr != nil && s.Rule.Kind != Undefined {
			tr.Notes = append(tr.Notes, e.err(f).Error())
		}
	}
	return caller, cfa, nil
}
