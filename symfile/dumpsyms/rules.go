package dumpsyms

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strconv"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// number returns the number of a row's rules; why is the reason if the format cannot express them.
//
// A program of a million ranges has a few hundred different rows, so a row is made to text once and
// then known by its bytes.
func (w *cfiWriter) number(row *unwind.Row) (n uint32, why string) {
	k := w.key[:0]
	add := func(r cpu.Reg, ru *unwind.Rule) {
		k = append(k, byte(r), byte(ru.Kind), byte(ru.Reg))
		k = binary.AppendVarint(k, ru.Offset)
		k = binary.AppendUvarint(k, uint64(len(ru.Code)))
		for _, op := range ru.Code {
			k = append(k, byte(op.Kind), byte(op.Reg))
			k = binary.AppendVarint(binary.AppendVarint(k, int64(op.Arg)), op.Offset)
		}
	}
	add(cpu.NoReg, &row.CFA)
	add(cpu.NoReg, &row.RA)
	for i := range row.Saved {
		add(row.Saved[i].Reg, &row.Saved[i].Rule)
	}
	w.key = k
	if n, ok := w.num[string(k)]; ok {
		return n, ""
	}
	r, why := w.text(row)
	if why != "" {
		return 0, why
	}
	n = uint32(len(w.rows))
	w.rows = append(w.rows, r)
	w.num[string(k)] = n
	return n, ""
}

// text writes a row as text.
func (w *cfiWriter) text(row *unwind.Row) (r rules, why string) {
	var ok bool
	if r.cfa, ok = w.expr(cpu.NoReg, &row.CFA); !ok || r.cfa == "" {
		return r, "no rule for the cfa that the format has words for"
	}
	if r.ra, ok = w.expr(cpu.NoReg, &row.RA); !ok {
		return r, "no rule for the return address that the format has words for"
	}
	for i := range row.Saved {
		s := &row.Saved[i]
		text, ok := w.expr(s.Reg, &s.Rule)
		if !ok {
			w.o.n.LostRegisters++
			continue
		}
		if text != "" {
			r.regs = append(r.regs, regText{s.Reg, text})
		}
	}
	slices.SortFunc(r.regs, func(a, b regText) int { return cmp.Compare(a.reg, b.reg) })
	return r, ""
}

// expr returns a rule as a postfix expression, or "" where none is needed: for a register without a
// rule, and for one that is lost, which the format cannot express.
func (w *cfiWriter) expr(of cpu.Reg, ru *unwind.Rule) (string, bool) {
	base := ""
	switch ru.Kind {
	case unwind.Unset, unwind.Undefined:
		return "", true
	case unwind.Same:
		if of == cpu.NoReg {
			return "", false
		}
		return w.reg(of), true
	case unwind.FromReg, unwind.AtReg:
		base = w.reg(ru.Reg)
	case unwind.FromCFA, unwind.AtCFA:
		base = ".cfa"
	case unwind.Const, unwind.AtConst:
		base = strconv.FormatInt(ru.Offset, 10)
	case unwind.Computed:
		return ru.Postfix(w.reg), ru.Plain()
	default:
		return "", false
	}
	b := []byte(base)
	switch ru.Kind {
	case unwind.FromReg, unwind.AtReg, unwind.FromCFA, unwind.AtCFA:
		// Breakpad writes "$rsp 0 +" for a cfa without distance, and a register alone as itself.
		if ru.Offset != 0 || of == cpu.NoReg && ru.Kind == unwind.FromReg && ru.Reg != w.arch.LR || ru.Kind == unwind.AtCFA {
			b = append(strconv.AppendInt(append(b, ' '), ru.Offset, 10), " +"...)
		}
	}
	switch ru.Kind {
	case unwind.AtReg, unwind.AtCFA, unwind.AtConst:
		b = append(b, " ^"...)
	}
	return string(b), true
}

// reg is a register's name as symbol files have it.
func (w *cfiWriter) reg(r cpu.Reg) string {
	if w.arch.PlainCFI {
		return w.arch.RegName(r)
	}
	return "$" + w.arch.RegName(r)
}

// rule is one rule of a record, with a blank before it.
func rule(name, text string) string { return " " + name + ": " + text }

// init returns all rules of a row.
func (w *cfiWriter) init(n uint32) string {
	if s, ok := w.inits[n]; ok {
		return s
	}
	r := &w.rows[n]
	s := rule(".cfa", r.cfa)
	if r.ra != "" {
		s += rule(".ra", r.ra)
	}
	for _, g := range r.regs {
		s += rule(w.reg(g.reg), g.text)
	}
	w.inits[n] = s
	return s
}

// delta returns the rules of one row that another one does not have. A register that has none any
// more gets its own value, which is what "no rule" means for those that a call preserves. For
// others, and for a return address that is lost from here on, only a new INIT record can express
// it.
//
// Both lists are sorted by register, so they are compared side by side, as in a merge.
func (w *cfiWriter) delta(from, to uint32) delta {
	if from == to {
		return delta{"", true}
	}
	if d, ok := w.deltas[[2]uint32{from, to}]; ok {
		return d
	}
	a, b := &w.rows[from], &w.rows[to]
	d := delta{ok: a.ra == "" || b.ra != ""}
	if a.cfa != b.cfa {
		d.text += rule(".cfa", b.cfa)
	}
	if a.ra != b.ra && b.ra != "" {
		d.text += rule(".ra", b.ra)
	}
	i, j := 0, 0
	for i < len(a.regs) || j < len(b.regs) {
		switch {
		case j == len(b.regs) || i < len(a.regs) && a.regs[i].reg < b.regs[j].reg:
			if own := w.reg(a.regs[i].reg); a.regs[i].text != own {
				d.text += rule(own, own)
			}
			d.ok = d.ok && slices.Contains(w.arch.CalleeSaved, a.regs[i].reg)
			i++
		case i == len(a.regs) || b.regs[j].reg < a.regs[i].reg:
			d.text += rule(w.reg(b.regs[j].reg), b.regs[j].text)
			j++
		default:
			if a.regs[i].text != b.regs[j].text {
				d.text += rule(w.reg(b.regs[j].reg), b.regs[j].text)
			}
			i, j = i+1, j+1
		}
	}
	w.deltas[[2]uint32{from, to}] = d
	return d
}
