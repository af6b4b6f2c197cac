package unwind

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
)

// Cause says why a value could not be computed.
type Cause uint8

const (
	_ Cause = iota
	// NoWord: the dump does not have the memory word at Addr.
	NoWord
	// NoRegister: the callee's value of Reg is not known.
	NoRegister
	// Lost: the rule says that the value cannot be recovered, or there is no rule.
	Lost
	// DivisionByZero: / or % by zero.
	DivisionByZero
	// BadAlignment: @ with something else than a power of two.
	BadAlignment
	// BadProgram: the rule's text is not a valid expression.
	BadProgram
)

// EvalError says which value of a Row could not be computed and why.
type EvalError struct {
	// For is the value that was wanted: "cfa", "ra" or "$" and a register's name.
	For   string
	Cause Cause
	// Addr and Size are the address and size in bytes of the word that is not there (NoWord).
	Addr uint64
	Size int
	// Reg is the register whose value is not known, with "$" (NoRegister).
	Reg string
	// Text says more about a bad program.
	Text string
}

func (e *EvalError) Error() string { return e.For + ": " + e.reason() }

func (e *EvalError) reason() string {
	switch e.Cause {
	case NoWord:
		return fmt.Sprintf("the %d-byte word at 0x%x is not in the dump", e.Size, e.Addr)
	case NoRegister:
		return "the value of " + e.Reg + " is not known"
	case Lost:
		return "the rules say that it cannot be recovered"
	case DivisionByZero:
		return "division by zero (" + e.Text + ")"
	case BadAlignment:
		return "alignment to something that is not a power of two"
	}
	return e.Text
}

// WordRead is one word that an evaluation read.
type WordRead struct {
	Addr, Value uint64
	// Size in bytes.
	Size int
	// For is the value that needed the word: "cfa", "ra" or "$" and a register's name.
	For string
}

// Made is one value that an evaluation computed, or could not.
type Made struct {
	// For is "cfa", "ra" or "$" and a register's name.
	For  string
	Rule Rule
	// Value is 0 if Err says why there is none.
	Value uint64
	Err   *EvalError
}

// Trace records what an evaluation did, for the person who asks why. A nil Trace costs nothing.
type Trace struct {
	Words []WordRead
	// Values are the rules in the order in which they were evaluated: cfa, ra, then the saved registers.
	Values []Made
	// Notes are the registers that were lost, and why.
	Notes []string
}

// fault is an EvalError before it is known to be needed: a value, so that losing a register does not allocate.
type fault struct {
	cause Cause
	reg   cpu.Reg
	addr  uint64
	size  int
	text  string
}

// target is the value being computed: a register's number or one of these.
type target int

const (
	forCFA target = -1 - iota
	forRA
)

// evaluation is the state of one Apply.
type evaluation struct {
	callee *cpu.Regs
	mem    Memory
	tr     *Trace
	cfa    uint64
	hasCFA bool
	want   target
}

func (e *evaluation) name(t target) string {
	switch t {
	case forCFA:
		return "cfa"
	case forRA:
		return "ra"
	}
	return "$" + e.callee.Arch.RegName(cpu.Reg(t))
}

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

func (e *evaluation) reg(r cpu.Reg) (uint64, fault) {
	v, ok := e.callee.Get(r)
	if !ok {
		return 0, fault{cause: NoRegister, reg: r}
	}
	return v, fault{}
}

func (e *evaluation) word(addr uint64) (uint64, fault) { return e.read(addr, e.callee.Arch.WordSize) }

// read is the size-byte word at an address.
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

// value computes one rule, and records it if somebody wants to know.
func (e *evaluation) value(ru *Rule) (uint64, fault) {
	v, f := e.compute(ru)
	if e.tr != nil {
		m := Made{For: e.name(e.want), Rule: *ru, Value: v}
		if f.cause != 0 {
			m.Value, m.Err = 0, e.err(f)
		}
		e.tr.Values = append(e.tr.Values, m)
	}
	return v, f
}

// compute is the value of one rule; the formulas are those at the RuleKinds.
func (e *evaluation) compute(ru *Rule) (uint64, fault) {
	arch := e.callee.Arch
	switch ru.Kind {
	case Same:
		if e.want < 0 {
			return 0, fault{cause: BadProgram, text: "\"unchanged\" is no rule for it"}
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
	return 0, fault{cause: Lost}
}

// Apply computes the caller's registers from the callee's: the one evaluator of rules.
//
//	cfa = CFA     pc = RA     sp = cfa, unless Saved has a rule for sp
//
// Registers with a rule in Saved get its value. Of the others, those that a call preserves keep the callee's value if that
// is known (unless the row says OthersLost), and the rest is unknown. A rule in Saved that fails makes its register unknown, with a note in tr (rust-minidump
// does the same; Breakpad gives up the whole record). A failing rule for cfa, ra or sp is an *EvalError, which names the
// memory word or register that is missing: without them there is no frame.
//
// All rules read the callee's registers, in whatever order they stand; only the CFA is the new one. Values wrap around at
// the CPU's word size. mem may be nil. callee and its Arch must not be nil. The result's cfa is in the address space of the
// process, in bytes.
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

	if !r.OthersLost {
		for _, s := range arch.CalleeSaved {
			if v, ok := callee.Get(s); ok {
				caller.Set(s, v)
			}
		}
	}
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
