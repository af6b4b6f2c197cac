package dwarfcfi

import (
	"fmt"

	"github.com/crashpane/crashpane/symfile/unwind"
)

// rows makes Rows of states. Slices of rules are shared among rows whose rules are the same, and cut from larger ones: a
// section has millions of rows.
type rows struct {
	t *table
	f *fde
	// of the last row: what it was made of, to see whether it can be shared.
	version int
	made    bool
	ra      unwind.Rule
	saved   []unwind.RegRule
	why     string
	pool    []unwind.RegRule
	// exprs are the expressions of the function as rules: each is translated once, however many rows repeat it.
	exprs map[exprKey]exprRule
}

type exprKey struct {
	off  int64
	kind uint8 // that of use: 0 the CFA, 1 a location, 2 a value
}

type exprRule struct {
	rule unwind.Rule
	err  error
}

func (b *rows) begin(t *table, f *fde) {
	b.t, b.f, b.made = t, f, false
	clear(b.exprs)
}

// row is the Row of a state from an address on; a non-empty string says why there is none.
func (b *rows) row(s *state, loc uint64) (unwind.Row, string) {
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
			return row, fmt.Sprintf("the CFA hangs on DWARF register %d, which is no general register of %s", s.cfaReg, t.Arch.Name)
		}
		row.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: reg, Offset: t.signed(s.cfaOff)}
	}
	if !b.made || b.version != s.version {
		b.registers(s)
		b.made, b.version = true, s.version
	}
	if b.why != "" {
		return row, b.why
	}
	row.RA, row.Saved = b.ra, b.saved
	row.Outermost = row.RA.Kind == unwind.Undefined
	// A register that calls overwrite has the return address only until the first call.
	row.Topmost = row.RA.Kind == unwind.FromReg && row.RA.Reg == t.Arch.LR
	if t.Arch.ExchangedDWARF {
		if t.exchanged {
			row.Origin.Note = NoteNumbering
		}
		// A section may be joined from files that do not number alike; whoever has a stack to look at can tell.
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

// registers makes the rules of the return address and of the saved registers.
func (b *rows) registers(s *state) {
	t, arch := b.t, b.t.Arch
	b.why, b.ra = "", unwind.Rule{}
	b.saved = nil
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
		if !ok || reg == arch.PC {
			continue
		}
		hasSP = hasSP || reg == arch.SP
		b.pool = append(b.pool, unwind.RegRule{Reg: reg, Rule: ru})
	}
	if arch.CFABias != 0 && !hasSP {
		b.pool = append(b.pool, unwind.RegRule{Reg: arch.SP, Rule: unwind.Rule{Kind: unwind.FromCFA, Offset: -arch.CFABias}})
	}
	b.saved = b.pool[from:len(b.pool):len(b.pool)]
	if b.ra.Kind == unwind.Unset {
		b.ra = b.returnRule(unwind.Rule{Kind: unwind.Same})
	}
}

// returnRule is the rule of the return address from that of its column: one that is unchanged lies in the column's register.
// On sparc the register has the address of the call.
func (b *rows) returnRule(ru unwind.Rule) unwind.Rule {
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
		biased, err := unwind.Sum(t.Arch, ru, bias)
		if err != nil {
			b.why = err.Error()
		}
		return biased
	}
	return ru
}

// rule is one column's rule. An expression that cannot be said leaves the register lost.
func (b *rows) rule(c *colRule) unwind.Rule {
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
			b.why = fmt.Sprintf("the return address is in DWARF register %d, which is no general register of %s", c.reg, t.Arch.Name)
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

// signed brings an offset into the form in which equal ones are equal.
func (t *table) signed(off int64) int64 {
	if t.Arch.WordSize == 4 {
		return int64(int32(off))
	}
	return off
}

func (b *rows) expr(e span, kind uint8) exprRule {
	key := exprKey{e.off, kind}
	if r, ok := b.exprs[key]; ok {
		return r
	}
	var r exprRule
	r.rule, r.err = b.t.expression(e, kind == 0)
	if r.err == nil && kind == 1 {
		r.rule, r.err = b.t.wordAt(r.rule, e)
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

// NoteNumbering is the Origin's note of rules of an i386 section in which 4 is ebp and 5 is esp.
const NoteNumbering = unwind.NoteExchanged + "this section numbers them the other way round, as its rules at the functions' entries show"

// origin names an entry.
func (t *table) origin(off int64, note string) unwind.Origin {
	return unwind.Origin{File: t.File, Part: t.name, Offset: off, Note: note}
}

// entryCFA is the register and offset of the CFA at a function's first instruction.
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

// sampled is how many functions are looked at to find out how a section numbers registers.
const sampled = 256

// number finds out how an i386 section numbers esp and ebp. The psABI has 4 and 5 (and compilers write so in .debug_frame and on most
// systems in .eh_frame); compilers for Apple's systems have them the other way round in .eh_frame, and some in .debug_frame.
// At a function's first instruction the return address is the only word that the call has pushed, so the CFA is esp + 4;
// which number stands there in most functions is esp.
func (t *table) number(n int, at func(i int) (int64, error)) {
	if !t.Arch.ExchangedDWARF || n == 0 {
		return
	}
	var votes [2]int
	step := max(1, n/sampled)
	for i := 0; i < n; i += step {
		off, err := at(i)
		if err != nil {
			continue
		}
		f, err := t.fdeAt(off)
		if err != nil {
			continue
		}
		if reg, off, ok := t.entryCFA(&f); ok && off == 4 && (reg == 4 || reg == 5) {
			votes[reg-4]++
		}
	}
	t.exchanged = votes[1] > votes[0]
}
