package dwarfcfi

import (
	"fmt"
)

// Call frame instructions (DWARF 5, section 7.24; vendors' ones from GCC's dwarf2.def). What each
// does is in section 6.4.2.
const (
	opAdvanceLoc = 0x40 // high two bits; the low six are an operand
	opOffset     = 0x80
	opRestore    = 0xc0

	opNop               = 0x00
	opSetLoc            = 0x01
	opAdvanceLoc1       = 0x02
	opAdvanceLoc2       = 0x03
	opAdvanceLoc4       = 0x04
	opOffsetExtended    = 0x05
	opRestoreExtended   = 0x06
	opUndefined         = 0x07
	opSameValue         = 0x08
	opRegister          = 0x09
	opRememberState     = 0x0a
	opRestoreState      = 0x0b
	opDefCFA            = 0x0c
	opDefCFARegister    = 0x0d
	opDefCFAOffset      = 0x0e
	opDefCFAExpression  = 0x0f
	opExpression        = 0x10
	opOffsetExtendedSF  = 0x11
	opDefCFASF          = 0x12
	opDefCFAOffsetSF    = 0x13
	opValOffset         = 0x14
	opValOffsetSF       = 0x15
	opValExpression     = 0x16
	opMIPSAdvanceLoc8   = 0x1d
	opNegateRAStatePC   = 0x2c // arm64
	opWindowSave        = 0x2d // sparc; on arm64 the number is DW_CFA_AARCH64_negate_ra_state
	opArgsSize          = 0x2e
	opNegOffsetExtended = 0x2f
)

// maxRemembered limits the stack of DW_CFA_remember_state.
const maxRemembered = 256

// machine executes the instructions of one FDE. Executing them up to an address gives the row of
// the unwind table for it (DWARF 5, section 6.4.1).
//
// Example, for "push rbp; mov rbp, rsp", after the initial instructions of the example at parseCIE:
//
//	41        location + 1
//	0e 10     cfa = rsp + 16
//	86 02     rbp (column 6) at cfa + 2·(-8)
//	43        location + 3
//	0d 06     cfa = rbp + 16: the offset stays
//
// These rows result:
//
//	from    CFA         rbp          return address
//	f       rsp + 8     same         [cfa - 8]
//	f + 1   rsp + 16    [cfa - 16]   [cfa - 8]
//	f + 4   rbp + 16    [cfa - 16]   [cfa - 8]
type machine struct {
	t        *table
	cie      *cie
	cur      state
	start    *state // after the CIE's instructions; nil while these run
	stack    []state
	used     int // of stack; states above it are kept to reuse their memory
	loc      uint64
	function uint64 // its start, for pointers relative to it
	// The CFA at the function's first instruction, valid once the location has moved.
	moved    bool
	entryReg uint64
	entryOff int64
}

// entry returns the register and offset of the CFA at the function's first instruction, or false if
// the CFA has another form.
func (m *machine) entry() (reg uint64, off int64, ok bool) {
	if m.moved {
		return m.entryReg, m.entryOff, m.entryReg != noColumn
	}
	return m.cur.cfaReg, m.cur.cfaOff, m.cur.hasCFA && m.cur.cfaExpr.code == nil
}

// noColumn is entryReg for a CFA that is not a register and an offset.
const noColumn = 1<<64 - 1

// recordEntryCFA saves the CFA of the function's first instruction, before the location moves.
func (m *machine) recordEntryCFA() {
	reg, off, ok := m.entry()
	if !ok {
		reg = noColumn
	}
	m.moved, m.entryReg, m.entryOff = true, reg, off
}

// begin sets the machine to the state after the CIE's initial instructions.
func (m *machine) begin(t *table, f *fde) error {
	if f.cie.start == nil && f.cie.err == nil {
		if err := t.runCIE(f.cie); err != nil {
			return err
		}
	}
	if f.cie.err != nil {
		return f.cie.err
	}
	m.t, m.cie, m.start, m.used, m.moved = t, f.cie, f.cie.start, 0, false
	m.loc, m.function = f.start, f.start
	m.cur.copyFrom(m.start)
	return nil
}

// maxWork limits the bytes of initial instructions that a table executes. Each cached CIE is
// executed once, but the functions of a crafted section can use more CIEs in turn than the cache
// has.
const maxWork = 64 << 20

// runCIE executes a CIE's initial instructions. What is wrong with them is c.err; the error is of a
// read that was interrupted.
func (t *table) runCIE(c *cie) error {
	if t.work += int64(len(c.init)); t.work > maxWork {
		c.err = t.bad(c.off, fmt.Sprintf("CIEs with %d bytes of instructions in all", maxWork), "more")
		return nil
	}
	m := machine{t: t, cie: c}
	r := t.section.reader(c.init, c.initOff)
	for r.pos < len(r.data) && r.err == nil {
		m.step(&r)
	}
	if t.src.Interrupted(r.err) {
		return r.err
	}
	c.err, c.start = r.err, &m.cur
	return nil
}

// step executes one instruction. It returns true if the instruction sets the location. Two operands
// are read in two statements, in the order in which the instruction has them.
func (m *machine) step(r *reader) bool {
	at := r.at()
	op := r.u8()
	low := uint64(op & 0x3f)
	c := m.cie
	switch op & 0xc0 {
	case opAdvanceLoc:
		return m.advance(r, low)
	case opOffset:
		m.saved(low, ruleOffset, int64(r.uleb())*c.dataAlign)
		return false
	case opRestore:
		m.cur.reset(low, m.start)
		return false
	}
	switch op {
	case opNop:
	case opSetLoc:
		loc, ok := r.pointer(c.pointers, c.addressSize, m.function, r.sec.dataBase())
		if ok && loc < m.loc {
			r.fail(fmt.Sprintf("an address from 0x%x on", m.loc), fmt.Sprintf("0x%x", loc))
		}
		if r.err == nil {
			if !m.moved && loc != m.loc {
				m.recordEntryCFA()
			}
			m.loc = loc
			return true
		}
	case opAdvanceLoc1:
		return m.advance(r, r.uint(1))
	case opAdvanceLoc2:
		return m.advance(r, r.uint(2))
	case opAdvanceLoc4:
		return m.advance(r, r.uint(4))
	case opMIPSAdvanceLoc8:
		return m.advance(r, r.uint(8))
	case opOffsetExtended:
		col := r.uleb()
		m.saved(col, ruleOffset, int64(r.uleb())*c.dataAlign)
	case opOffsetExtendedSF:
		col := r.uleb()
		m.saved(col, ruleOffset, r.sleb()*c.dataAlign)
	case opNegOffsetExtended:
		col := r.uleb()
		m.saved(col, ruleOffset, -int64(r.uleb())*c.dataAlign)
	case opValOffset:
		col := r.uleb()
		m.saved(col, ruleValOffset, int64(r.uleb())*c.dataAlign)
	case opValOffsetSF:
		col := r.uleb()
		m.saved(col, ruleValOffset, r.sleb()*c.dataAlign)
	case opRestoreExtended:
		m.cur.reset(r.uleb(), m.start)
	case opUndefined:
		m.saved(r.uleb(), ruleUndefined, 0)
	case opSameValue:
		m.saved(r.uleb(), ruleSame, 0)
	case opRegister:
		col := r.uleb()
		m.set(colRule{col: col, kind: ruleRegister, reg: r.uleb()})
	case opExpression:
		col := r.uleb()
		m.set(colRule{col: col, kind: ruleExpression, expr: r.expression()})
	case opValExpression:
		col := r.uleb()
		m.set(colRule{col: col, kind: ruleValExpression, expr: r.expression()})
	// Compilers write the pair around an epilogue in the middle of a function: after it the state
	// is that of the body again.
	case opRememberState:
		if m.used >= maxRemembered {
			r.fail(fmt.Sprintf("at most %d remembered states", maxRemembered), "one more")
			break
		}
		if m.used == len(m.stack) {
			m.stack = append(m.stack, state{})
		}
		m.copyState(r, &m.stack[m.used], &m.cur)
		m.used++
	case opRestoreState:
		if m.used == 0 {
			r.fail("a state that was remembered", "none")
			break
		}
		m.used--
		m.copyState(r, &m.cur, &m.stack[m.used])
	case opDefCFA:
		reg := r.uleb()
		m.cfa(reg, int64(r.uleb()))
	case opDefCFASF:
		reg := r.uleb()
		m.cfa(reg, r.sleb()*c.dataAlign)
	case opDefCFARegister:
		m.cfa(r.uleb(), m.cur.cfaOff)
	case opDefCFAOffset:
		m.cfa(m.cur.cfaReg, int64(r.uleb()))
	case opDefCFAOffsetSF:
		m.cfa(m.cur.cfaReg, r.sleb()*c.dataAlign)
	case opDefCFAExpression:
		m.cur.cfaExpr, m.cur.hasCFA = r.expression(), true
	case opArgsSize:
		r.uleb() // size of the arguments that a call pushed: no rule needs it
	case opWindowSave:
		switch a := m.t.Arch; {
		case a.PointerAuth: // DW_CFA_AARCH64_negate_ra_state
			m.cur.signed = !m.cur.signed
		case a.RegisterWindow:
			m.windowSave()
		default:
			m.unknown(r, at, op)
		}
	// DW_CFA_AARCH64_negate_ra_state_with_pc: the signature is made with the pc too.
	case opNegateRAStatePC:
		if !m.t.Arch.PointerAuth {
			m.unknown(r, at, op)
			break
		}
		m.cur.signed = !m.cur.signed
	default:
		m.unknown(r, at, op)
	}
	return false
}

// copyState remembers a state or restores it, and draws a step of work for each rule: an entry may
// have millions of these instructions.
func (m *machine) copyState(r *reader, to, from *state) {
	to.copyFrom(from)
	r.draw(int64(len(from.rules)))
}

// unknown fails at an instruction that is not known. Its operands are not either, so nothing after
// it can be read.
func (m *machine) unknown(r *reader, at int64, op uint8) {
	r.pos = int(at - r.off)
	r.fail("a known call frame instruction", fmt.Sprintf("0x%02x", op))
}

// advance moves the location by units of the CIE's code_alignment_factor.
func (m *machine) advance(r *reader, units uint64) bool {
	by := units * m.cie.codeAlign
	if r.err == nil && (units != 0 && by/units != m.cie.codeAlign || m.t.mask(m.loc+by) < m.loc || m.loc+by < m.loc) {
		r.fail("an advance inside the address space", fmt.Sprintf("one by %d units of %d", units, m.cie.codeAlign))
	}
	if r.err != nil {
		return false
	}
	if !m.moved && by != 0 {
		m.recordEntryCFA()
	}
	m.loc = m.t.mask(m.loc + by)
	return true
}

// cfa sets the rule of the CFA to a register and an offset.
func (m *machine) cfa(reg uint64, off int64) {
	m.cur.cfaReg, m.cur.cfaOff, m.cur.cfaExpr, m.cur.hasCFA = reg, off, span{}, true
}

// saved sets the rule of a column to one of a kind that has no operand but an offset.
func (m *machine) saved(col uint64, kind ruleKind, off int64) {
	m.set(colRule{col: col, kind: kind, off: off})
}

// set sets a column's rule, unless no Row can use it.
func (m *machine) set(r colRule) {
	if m.t.wanted(r.col, m.cie) {
		m.cur.set(r)
	}
}

// windowSave executes DW_CFA_GNU_window_save: sparc's save instruction has put the local and in
// registers (columns 16 to 31) in the register save area, which is at the CFA: column 16 at cfa,
// column 17 one word above, and so on.
func (m *machine) windowSave() {
	for col := uint64(16); col < 32; col++ {
		m.saved(col, ruleOffset, int64(col-16)*int64(m.t.AddressSize))
	}
}

// expression reads an expression: its length as ULEB128, then its bytes.
func (r *reader) expression() span {
	n := r.uleb()
	at := r.at()
	if n > uint64(r.left()) {
		r.fail(fmt.Sprintf("an expression of %d bytes", n), fmt.Sprintf("%d to the end of the entry", r.left()))
		return span{}
	}
	return span{code: r.take(int(n)), off: at}
}
