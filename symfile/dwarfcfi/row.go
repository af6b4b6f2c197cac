package dwarfcfi

import (
	"cmp"
	"fmt"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// rowBuilder makes Rows from states. A section has millions of rows, so consecutive rows with the
// same register rules share one slice, and the slices are parts of larger arrays.
type rowBuilder struct {
	t *table
	f *fde
	// The register rules of the last row, valid if made, for the state's version. why is the reason
	// if there is no return address.
	version int
	made    bool
	ra      unwind.Rule
	saved   []unwind.RegRule
	why     string
	pool    []unwind.RegRule // the array that saved is a part of
	// exprs caches the function's expressions as rules.
	exprs map[exprKey]exprRule
}

// exprKey identifies an expression of the function by its offset. One expression means different
// rules for different uses.
type exprKey struct {
	off  int64
	kind uint8 // of its use: 0 the CFA, 1 a register's location, 2 a register's value
}

// exprRule is what an expression was turned into, or why it could not be.
type exprRule struct {
	rule unwind.Rule
	err  error
}

// begin starts with the rows of a function. Its expressions were not seen before.
func (b *rowBuilder) begin(t *table, f *fde) {
	b.t, b.f, b.made = t, f, false
	clear(b.exprs)
}

// row makes the Row of a state that holds from the address loc on. If there is none, it returns the
// reason.
//
// In order: the CFA; the registers and the return address, unless those of the last row still hold;
// what the walker must know about the row: Outermost (an undefined return address, DWARF 5, section
// 6.4.4), Topmost, EntryFromFP, Signed.
func (b *rowBuilder) row(s *state, loc uint64) (unwind.Row, string) {
	t := b.t
	row := unwind.Row{Signal: b.f.cie.signal, Start: t.mask(loc - t.Base), Origin: t.origin(b.f.off, "")}
	switch {
	case !s.hasCFA:
		return row, "no rule for the CFA"
	case s.cfaExpr.code != nil:
		e := b.expr(s.cfaExpr, 0)
		if e.err != nil {
			return row, e.err.Error()
		}
		row.CFA = e.rule
	default:
		reg, ok := t.register(s.cfaReg)
		if !ok {
			return row, fmt.Sprintf("the CFA depends on DWARF register %d, which is not a general register of %s", s.cfaReg, t.Arch.Name)
		}
		row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: reg, Offset: t.signed(s.cfaOff)}
	}
	// Most advances change the CFA alone, and the registers of the last row still hold.
	if !b.made || b.version != s.version {
		b.registers(s)
		b.made, b.version = true, s.version
	}
	if b.why != "" {
		return row, b.why
	}
	row.RA, row.Saved = b.ra, b.saved
	row.Outermost = row.RA.Kind == unwind.Undefined
	// The link register has the return address only until the function's first call.
	row.Topmost = row.RA.Kind == unwind.FromReg && row.RA.Reg == t.Arch.LR
	if t.Arch.SwappedDWARF {
		if t.swapped != t.ESPIs5 {
			row.Origin.Note = NoteNumbering
		}
		// A linker may have joined sections of compilers that number differently. The walker can
		// tell by the stack.
		if reg, off, ok := t.m.entry(); ok && off == 4 {
			fp, known := t.register(reg)
			row.EntryFromFP = known && fp == t.Arch.FP
		}
	}
	if s.signed {
		row.Signed = unwind.KeyA
		if b.f.cie.keyB {
			row.Signed = unwind.KeyB
		}
	}
	return row, ""
}

// registers makes the rules of the return address and of the saved registers. A column without a
// rule for the return address means that the address is still in the column's register.
func (b *rowBuilder) registers(s *state) {
	t, arch := b.t, b.t.Arch
	b.why, b.ra = "", unwind.Rule{}
	b.saved = nil
	// One array of a thousand rules serves many rows. Slices of it are handed out, so a full one is
	// left to them and a new one begins.
	if need := len(s.rules) + 1; cap(b.pool)-len(b.pool) < need {
		b.pool = make([]unwind.RegRule, 0, max(1024, need))
	}
	from := len(b.pool)
	hasSP := false
	for i := range s.rules {
		c := &s.rules[i]
		ru := b.rule(c)
		if c.col == b.f.cie.ra {
			b.ra = b.returnRule(ru)
			continue
		}
		reg, ok := t.register(c.col)
		// Vector registers have columns too, and no place in a Row.
		if !ok || reg == arch.PC {
			continue
		}
		hasSP = hasSP || reg == arch.SP
		b.pool = append(b.pool, unwind.RegRule{Reg: reg, Rule: ru})
	}
	// On s390x the CFA is not the caller's sp but CFABias above it.
	if arch.CFABias != 0 && !hasSP {
		b.pool = append(b.pool, unwind.RegRule{Reg: arch.SP, Rule: unwind.Rule{Kind: unwind.FromCFA, Offset: -arch.CFABias}})
	}
	b.saved = b.pool[from:len(b.pool):len(b.pool)]
	if b.ra.Kind == unwind.Unset {
		b.ra = b.returnRule(unwind.Rule{Kind: unwind.Same})
	}
}

// returnRule makes the rule of the return address from that of its column. "Same value" means that
// the column's register has it. On sparc that register has the address of the call instruction, and
// RABias leads to the return address.
func (b *rowBuilder) returnRule(ru unwind.Rule) unwind.Rule {
	t := b.t
	if ru.Kind == unwind.Same {
		reg, ok := t.register(b.f.cie.ra)
		if !ok || reg == t.Arch.PC {
			b.why = fmt.Sprintf("no rule for the return address (DWARF register %d)", b.f.cie.ra)
			return ru
		}
		ru = unwind.Rule{Kind: unwind.FromReg, Reg: reg}
	}
	if bias := t.Arch.Frame.RABias; bias != 0 && ru.Kind != unwind.Undefined {
		return unwind.Sum(t.Arch, ru, bias)
	}
	return ru
}

// rule makes one column's rule. It is Undefined if a Row cannot express it.
func (b *rowBuilder) rule(c *colRule) unwind.Rule {
	t := b.t
	switch c.kind {
	case ruleSame:
		return unwind.Rule{Kind: unwind.Same}
	case ruleOffset:
		return unwind.Rule{Kind: unwind.AtCFA, Offset: t.signed(c.off)}
	case ruleValOffset:
		return unwind.Rule{Kind: unwind.FromCFA, Offset: t.signed(c.off)}
	case ruleRegister:
		if c.reg == c.col {
			return unwind.Rule{Kind: unwind.Same}
		}
		if reg, ok := t.register(c.reg); ok {
			return unwind.Rule{Kind: unwind.FromReg, Reg: reg}
		}
		if c.col == b.f.cie.ra {
			b.why = fmt.Sprintf("the return address is in DWARF register %d, which is not a general register of %s", c.reg, t.Arch.Name)
		}
	case ruleExpression, ruleValExpression:
		kind := uint8(1)
		if c.kind == ruleValExpression {
			kind = 2
		}
		e := b.expr(c.expr, kind)
		if e.err == nil {
			return e.rule
		}
		if c.col == b.f.cie.ra {
			b.why = e.err.Error()
		}
	}
	return unwind.Rule{Kind: unwind.Undefined}
}

// signed sign-extends an offset from the word size, so that equal offsets compare equal: an
// unsigned operand of 0xfffffff8 is -8 on a 32-bit CPU.
func (t *table) signed(off int64) int64 {
	if t.Arch.WordSize == 4 {
		return int64(int32(off))
	}
	return off
}

// expr returns an expression as a rule, from the cache if possible.
func (b *rowBuilder) expr(e span, kind uint8) exprRule {
	key := exprKey{e.off, kind}
	if r, ok := b.exprs[key]; ok {
		return r
	}
	var r exprRule
	r.rule, r.err = b.t.expression(e, kind == 0)
	// The expression computes where the register is saved.
	if r.err == nil && kind == 1 {
		r.rule = unwind.Deref(r.rule)
	}
	if r.err != nil {
		b.t.warn("expression", r.err)
	}
	if b.exprs == nil {
		b.exprs = map[exprKey]exprRule{}
	}
	b.exprs[key] = r
	return r
}

// NoteNumbering is Origin.Note for the rows of an i386 section in which 4 and 5 are not those of esp
// and ebp that the section should have (see detectNumbering).
const NoteNumbering = unwind.NoteSwapped + "this section numbers them the other way round, as its rules at the functions' entries show"

// origin returns the Origin of an entry.
func (t *table) origin(off int64, note string) unwind.Origin {
	return unwind.Origin{File: t.File, Part: t.name, Offset: off, Note: note}
}

// entryCFA returns the register and offset of the CFA at a function's first instruction: it
// executes the instructions only up to the first advance.
func (t *table) entryCFA(f *fde) (reg uint64, off int64, ok bool) {
	if err := t.m.begin(t, f); err != nil {
		return 0, 0, false
	}
	r := t.section.reader(f.code, f.codeOff)
	for r.pos < len(r.data) && r.err == nil && !t.m.moved {
		t.m.step(&r)
	}
	return t.m.entry()
}

// sampled is how many functions detectNumbering reads.
const sampled = 256

// detectNumbering finds out which of the DWARF registers 4 and 5 is esp in an i386 section. In the
// psABI 4 is esp and 5 is ebp. On Apple's systems they are swapped in __eh_frame (Config.ESPIs5), and
// some compilers swap them in .debug_frame too, which is wrong. At a function's first instruction the call has pushed only the return address, so
// cfa = esp + 4: the register in that rule, in most functions, is esp.
//
// If bytes are not there yet, it reads on, so that one round has those of all functions, and returns the
// error.
func (t *table) detectNumbering(n int, at func(i int) (int64, error)) error {
	var votes [2]int
	var interrupted error
	// The sample is spread over the section, since a linker may have joined code of several
	// compilers.
	step := max(1, n/sampled)
	for i := 0; i < n; i += step {
		off, err := at(i)
		var f fde
		if err == nil {
			f, err = t.fdeAt(off)
		}
		if t.src.Interrupted(err) {
			interrupted = cmp.Or(interrupted, err)
		}
		if err != nil {
			continue
		}
		if reg, off, ok := t.entryCFA(&f); ok && off == 4 && (reg == 4 || reg == 5) {
			votes[reg-4]++
		}
	}
	t.swapped = votes[1] > votes[0] || votes[1] == votes[0] && t.ESPIs5
	return interrupted
}
