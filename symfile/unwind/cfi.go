package unwind

import (
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
)

// unparsedRule is a register's rule before its expression is parsed. A later delta often replaces
// it, so parsing waits.
type unparsedRule struct {
	reg  cpu.Reg
	expr string
}

// maxNotes is how many notes are kept of a record, which may have a note for each word.
const maxNotes = 16

// ParseCFI makes a Row from the rules of a STACK CFI INIT record and of the STACK CFI deltas up to
// an address, in order of address. init and deltas are the "name: expression" parts of the records.
// Format: Breakpad's symbol_files.md, "STACK CFI records".
//
//	init    .cfa: $rsp 8 + .ra: .cfa -8 + ^                       cfa = rsp + 8, ra = [cfa - 8]
//	delta   .cfa: $rsp 16 + $rbp: .cfa -16 + ^                    cfa = rsp + 16, rbp = [cfa - 16]
//
// A later rule replaces an earlier one of the same register. Register names count with and without
// "$". The rule of .ra is the return address. If there is a rule for the program counter it wins
// over .ra, as in Breakpad and rust-minidump. Without a rule for .cfa, ParseCFI returns a
// *RuleError. A record with .cfa and no return address means that the function has no caller:
// dump_syms writes this for _start and clone, whose return address is undefined in DWARF.
//
// notes lists what ParseCFI ignored, up to maxNotes: registers that the CPU lacks, rules without an expression, and
// expressions that do not parse (their register is then Undefined). The caller sets Row.Origin.
func ParseCFI(arch *cpu.Arch, init string, deltas []string) (row Row, notes []string, err error) {
	var cfa, ra, pc string
	var buf [cpu.MaxRegs]unparsedRule
	regs := buf[:0]
	note := func(parts ...string) {
		if len(notes) < maxNotes {
			notes = append(notes, strings.Join(parts, ""))
		}
	}

	// Most records have fewer than ten rules, so a list is searched faster than a map.
	set := func(name, expr string) {
		switch name {
		case ".cfa":
			cfa = expr
			return
		case ".ra":
			ra = expr
			return
		}
		r, ok := arch.Lookup(name)
		if !ok {
			note("rule for ", quote(name), " ignored: no general register of ", arch.Name)
			return
		}
		if r == arch.PC {
			pc = expr
			return
		}
		for i := range regs {
			if regs[i].reg == r {
				regs[i].expr = expr
				return
			}
		}
		regs = append(regs, unparsedRule{r, expr})
	}
	say := func(n string) { note(n) }
	splitRules(init, set, say)
	// The deltas may replace the rule of .cfa, and EntryFromFP needs the one at the function's
	// first instruction.
	atEntry := cfa
	for _, d := range deltas {
		splitRules(d, set, say)
	}

	if pc != "" {
		if ra == "" {
			note("no rule for .ra; the rule for $", arch.RegName(arch.PC), " is used instead")
		}
		ra = pc
	}
	switch {
	case cfa == "" && ra == "":
		return Row{}, notes, &RuleError{Reason: "neither .cfa nor .ra has a rule"}
	case cfa == "":
		return Row{}, notes, &RuleError{Reason: "no rule for .cfa"}
	}
	m := machine{arch: arch}
	if row.CFA, err = m.expression(cfa); err != nil {
		return Row{}, notes, wrapRule("rule of .cfa", err)
	}
	// Apply finds a .cfa inside of code; here the compact forms are refused.
	if row.CFA.Kind == FromCFA || row.CFA.Kind == AtCFA {
		return Row{}, notes, &RuleError{Reason: "the rule of .cfa reads .cfa", Text: cfa}
	}
	if ra == "" {
		row.RA, row.Outermost = Rule{Kind: Undefined}, true
	} else if row.RA, err = m.expression(ra); err != nil {
		return Row{}, notes, wrapRule("rule of .ra", err)
	}
	if len(regs) > 0 {
		row.Saved = make([]RegRule, len(regs))
	}
	for i, p := range regs {
		ru, err := m.expression(p.expr)
		if err != nil {
			// A bad rule costs this register only: the frame still has its caller.
			ru = Rule{Kind: Undefined}
			note("rule for $", arch.RegName(p.reg), " ignored: ", err.Error())
		}
		// "$rbx: $rbx" says that the register is unchanged.
		if ru.Kind == FromReg && ru.Reg == p.reg && ru.Offset == 0 {
			ru = Rule{Kind: Same}
		}
		row.Saved[i] = RegRule{p.reg, ru}
	}
	// See Row.EntryFromFP: init, whose rules hold at the function's first instruction, has cfa =
	// ebp + 4.
	if arch.SwappedDWARF {
		entry, err := m.expression(atEntry)
		row.EntryFromFP = err == nil && entry.Equal(Rule{Kind: FromReg, Reg: arch.FP, Offset: int64(arch.WordSize)})
	}
	return row, notes, nil
}

// expression turns a STACK CFI expression into the simplest rule that computes it.
func (m *machine) expression(text string) (Rule, error) {
	m.text = text
	ru, n, err := m.run()
	if err == nil && n != 1 {
		err = m.fail("the expression does not leave one value")
	}
	return ru, err
}

// wrapRule adds to a RuleError which rule it is about.
func wrapRule(what string, err error) error {
	if e, ok := err.(*RuleError); ok {
		return &RuleError{Reason: what + ": " + e.Reason, Text: e.Text}
	}
	return err
}

// splitRules calls set for each "name: expression" of a record's rules, and note for each part that
// is neither. A name is a token that ends with a colon; its expression is all tokens up to the next
// name. In ".cfa: $rsp 8 + .ra: .cfa -8 + ^" the rules are (".cfa", "$rsp 8 +") and (".ra", ".cfa
// -8 + ^").
func splitRules(s string, set func(name, expr string), note func(string)) {
	name, start, end := "", 0, 0
	named := false
	flush := func() {
		switch {
		case !named && end > start:
			note("expression without a register name ignored: " + quote(s[start:end]))
		case named && end <= start:
			note("rule for " + quote(name) + " ignored: it has no expression")
		case named:
			set(name, s[start:end])
		}
	}
	for pos := 0; ; {
		tok, rest := cut(s[pos:])
		if tok == "" {
			break
		}
		after := len(s) - len(rest)
		if len(tok) > 1 && tok[len(tok)-1] == ':' {
			flush()
			name, named = tok[:len(tok)-1], true
			start, end = after, after
		} else {
			if end <= start {
				start = after - len(tok)
			}
			end = after
		}
		pos = after
	}
	flush()
}
