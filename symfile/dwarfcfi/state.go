package dwarfcfi

import (
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
)

// ruleKind is a register rule of DWARF (DWARF 5, section 6.4.1).
type ruleKind uint8

const (
	ruleUndefined ruleKind = iota
	ruleSame
	ruleOffset        // value = [CFA + off]
	ruleValOffset     // value = CFA + off
	ruleRegister      // value = register reg
	ruleExpression    // value = [expr]
	ruleValExpression // value = expr
)

// span is a DWARF expression: its bytes and their section offset.
type span struct {
	code []byte
	off  int64
}

// colRule is the rule of a column of the unwind table. A column is a DWARF register number.
type colRule struct {
	col  uint64
	kind ruleKind
	reg  uint64
	off  int64
	expr span
}

// state is the current row of the unwind table while instructions are executed.
//
// A rule of the return address is in rules like any other, under the column cie.ra.
type state struct {
	// The CFA is cfaExpr if its code is not nil, else register cfaReg + cfaOff. hasCFA: an
	// instruction has defined it.
	hasCFA  bool
	cfaReg  uint64
	cfaOff  int64
	cfaExpr span
	// rules has the columns with a rule, in the order in which they first got one.
	rules []colRule
	// signed: the return address is signed (arm64 pointer authentication).
	signed bool
	// version changes with every change of rules, so that rowBuilder can reuse those of the last
	// row.
	version int
}

// find returns the index of a column's rule, or -1. A function saves about ten registers, so a list
// is searched.
func (s *state) find(col uint64) int {
	for i := range s.rules {
		if s.rules[i].col == col {
			return i
		}
	}
	return -1
}

// set replaces a column's rule or adds it, and counts the change: rowBuilder makes a new row only
// after one.
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

// copyFrom copies another state, and reuses the memory of rules.
func (s *state) copyFrom(o *state) {
	rules, version := append(s.rules[:0], o.rules...), s.version
	*s = *o
	s.rules, s.version = rules, version+1
}

// register returns the general register of a DWARF number.
func (t *table) register(n uint64) (cpu.Reg, bool) {
	if t.swapped && (n == 4 || n == 5) {
		n = 9 - n
	}
	if n >= uint64(len(t.Arch.DWARF)) || t.Arch.DWARF[n] == cpu.NoReg {
		return 0, false
	}
	return t.Arch.DWARF[n], true
}

// wanted reports whether a Row can have the rule of a column: that of a general register or of the
// return address.
func (t *table) wanted(col uint64, c *cie) bool {
	if col == c.ra {
		return true
	}
	_, ok := t.register(col)
	return ok
}
