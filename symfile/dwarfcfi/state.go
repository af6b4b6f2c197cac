package dwarfcfi

import (
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
)

// ruleKind is how DWARF says that a register is found (DWARF 5, section 6.4.1).
type ruleKind uint8

const (
	ruleUndefined ruleKind = iota
	ruleSame
	ruleOffset        // at CFA + off
	ruleValOffset     // CFA + off
	ruleRegister      // in register reg
	ruleExpression    // at what the expression gives
	ruleValExpression // what the expression gives
)

// span is a DWARF expression: its bytes and where they lie in the section.
type span struct {
	code []byte
	off  int64
}

// colRule is the rule of one column of the table, that is of a DWARF register number.
type colRule struct {
	col  uint64
	kind ruleKind
	reg  uint64
	off  int64
	expr span
}

// state is one row of the table while instructions run.
type state struct {
	// The CFA is register cfaReg + cfaOff, or what cfaExpr gives if its code is not nil. hasCFA: an instruction has said so.
	hasCFA  bool
	cfaReg  uint64
	cfaOff  int64
	cfaExpr span
	// rules are those of columns that have one, in the order in which they first got it.
	rules []colRule
	// signed: the return address carries arm64's authentication code.
	signed bool
	// version changes with every change of rules, so that equal ones need not be made twice.
	version int
}

func (s *state) find(col uint64) int {
	for i := range s.rules {
		if s.rules[i].col == col {
			return i
		}
	}
	return -1
}

func (s *state) set(r colRule) {
	s.version++
	if i := s.find(r.col); i >= 0 {
		s.rules[i] = r
		return
	}
	s.rules = append(s.rules, r)
}

// reset gives a column the rule that it had after the CIE's instructions.
func (s *state) reset(col uint64, start *state) {
	if start != nil {
		if i := start.find(col); i >= 0 {
			s.set(start.rules[i])
			return
		}
	}
	if i := s.find(col); i >= 0 {
		s.rules = slices.Delete(s.rules, i, i+1)
		s.version++
	}
}

// copyFrom takes over another state, and keeps its own memory.
func (s *state) copyFrom(o *state) {
	rules, version := append(s.rules[:0], o.rules...), s.version
	*s = *o
	s.rules, s.version = rules, version+1
}

// register is the general register of a DWARF number. i386 has two ways to number two of them.
func (t *table) register(n uint64) (cpu.Reg, bool) {
	if t.exchanged && (n == 4 || n == 5) {
		n = 9 - n
	}
	if n >= uint64(len(t.Arch.DWARF)) || t.Arch.DWARF[n] == cpu.NoReg {
		return 0, false
	}
	return t.Arch.DWARF[n], true
}

// wanted: a column of whose rule a row can speak.
func (t *table) wanted(col uint64, c *cie) bool {
	if col == c.ra {
		return true
	}
	_, ok := t.register(col)
	return ok
}
