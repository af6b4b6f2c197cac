package unwind

import "github.com/crashpane/crashpane/core/cpu"

// pending is a rule whose expression is not parsed yet: most rules of a record are replaced by a later delta.
type pending struct {
	reg  cpu.Reg
	expr string
}

// ParseCFI makes the Row of a STACK CFI INIT record's rules and of the deltas that apply at an address, in order of
// address: init and deltas are the "name: expression" parts of the records. Format: Breakpad's symbol_files.md, "STACK CFI
// records".
//
// A later rule replaces an earlier one of the same register. Names count with and without "$". The rule of .ra is the
// return address; a rule for the program counter itself takes its place, as in both peers, and stands in for it if there is
// none. Without .cfa there is no Row, and the error (*RuleError) says so. A record with .cfa and no return address says that the
// function has no caller: so dump_syms writes what DWARF calls an undefined return address, of _start and clone.
//
// notes are the things that were passed over: registers that the CPU does not have, rules without expression, expressions
// that make no sense (their register is then lost). The Row's Origin is left to the caller.
func ParseCFI(arch *cpu.Arch, init string, deltas []string) (row Row, notes []string, err error) {
	var cfa, ra, pc string
	var buf [cpu.MaxRegs]pending
	regs := buf[:0]

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
			notes = append(notes, "rule for "+quote(name)+" ignored: no general register of "+arch.Name)
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
		regs = append(regs, pending{r, expr})
	}
	note := func(n string) { notes = append(notes, n) }
	splitRules(init, set, note)
	atEntry := cfa
	for _, d := range deltas {
		splitRules(d, set, note)
	}

	if pc != "" {
		if ra == "" {
			notes = append(notes, "no rule for .ra; the rule for $"+arch.RegName(arch.PC)+" is taken in its place")
		}
		ra = pc
	}
	switch {
	case cfa == "" && ra == "":
		return Row{}, notes, &RuleError{Reason: "neither .cfa nor .ra has a rule"}
	case cfa == "":
		return Row{}, notes, &RuleError{Reason: "no rule for .cfa"}
	}
	if row.CFA, err = parseExpr(arch, cfa); err != nil {
		return Row{}, notes, wrapRule("rule of .cfa", err)
	}
	if row.CFA.Kind == FromCFA || row.CFA.Kind == AtCFA {
		return Row{}, notes, &RuleError{Reason: "the rule of .cfa reads .cfa", Text: cfa}
	}
	if ra == "" {
		row.RA, row.Outermost = Rule{Kind: Undefined}, true
	} else if row.RA, err = parseExpr(arch, ra); err != nil {
		return Row{}, notes, wrapRule("rule of .ra", err)
	}
	if len(regs) > 0 {
		row.Saved = make([]RegRule, len(regs))
	}
	for i, p := range regs {
		ru, err := parseExpr(arch, p.expr)
		if err != nil {
			// The register is lost, but the frame is not.
			ru = Rule{Kind: Undefined}
			notes = append(notes, "rule for $"+arch.RegName(p.reg)+" ignored: "+err.Error())
		}
		if ru.Kind == FromReg && ru.Reg == p.reg && ru.Offset == 0 {
			ru = Rule{Kind: Same}
		}
		row.Saved[i] = RegRule{p.reg, ru}
	}
	if entry, err := parseExpr(arch, atEntry); err == nil {
		row.EntryFromFP = arch.ExchangedDWARF && entry == Rule{Kind: FromReg, Reg: arch.FP, Offset: int64(arch.WordSize)}
	}
	return row, notes, nil
}

func wrapRule(what string, err error) error {
	if e, ok := err.(*RuleError); ok {
		return &RuleError{Reason: what + ": " + e.Reason, Text: e.Text}
	}
	return err
}

// splitRules calls set for each "name: expression" of a record's rules. A name is a token that ends with a colon, an
// expression reaches to the next name and never holds such a token.
func splitRules(s string, set func(name, expr string), note func(string)) {
	name, start, end := "", 0, 0
	named := false
	flush := func() {
		switch {
		case !named && end > start:
			note("expression without a register before it ignored: " + quote(s[start:end]))
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
