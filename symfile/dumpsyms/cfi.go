package dumpsyms

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// stretch is code with the same rules.
type stretch struct {
	start, end uint64
	rules      uint32
	// entry numbers the entry of its table (an FDE) that the rules come from.
	entry uint32
}

// rules is a row in the words of STACK CFI: an expression for .cfa, one for .ra ("" for none: nobody called), and those of registers,
// by register.
type rules struct {
	cfa, ra string
	regs    []regText
}

type regText struct {
	reg  cpu.Reg
	text string
}

// cfiWriter collects stretches and writes them.
type cfiWriter struct {
	o    *output
	arch *cpu.Arch
	rows []rules
	num  map[string]uint32 // number of the rules for a row's bytes, see key
	key  []byte
	// deltas are the rules of a STACK CFI record that leads from one row to another; ok is false if none does.
	deltas map[[2]uint32]delta
	inits  map[uint32]string
	// entries is how many entries of tables have been met.
	entries uint32
}

type delta struct {
	text string
	ok   bool
}

// unsayable stands in cfiWriter.num for rows that the format has no words for.
const unsayable = ^uint32(0)

// cfi writes the STACK CFI records of all tables, by address: what an earlier table covers is left out of a later one.
func (o *output) cfi(arch *cpu.Arch, tables []unwind.Table) error {
	w := &cfiWriter{o: o, arch: arch, num: map[string]uint32{}, deltas: map[[2]uint32]delta{}, inits: map[uint32]string{}}
	var all []stretch
	for _, t := range tables {
		own, err := w.collect(t)
		if err != nil {
			return err
		}
		all = join(all, own)
	}
	return w.write(all)
}

// collect is all that a table says, by address, none over another: of two that are, the one that starts first counts, of those that
// start together the table's first.
func (w *cfiWriter) collect(t unwind.Table) ([]stretch, error) {
	var out []stretch
	var last unwind.Origin
	w.entries++
	err := t.Each(func(start, end uint64, row unwind.Row) error {
		if start >= end {
			return nil
		}
		if row.Origin.Offset != last.Offset || row.Origin.Part != last.Part {
			last = row.Origin
			w.entries++
		}
		add := func(start, end uint64, row *unwind.Row) string {
			n, why := w.number(row)
			if why != "" {
				return why
			}
			if k := len(out); k > 0 && out[k-1].end == start && out[k-1].rules == n && out[k-1].entry == w.entries {
				out[k-1].end = end
			} else {
				out = append(out, stretch{start, end, n, w.entries})
			}
			return ""
		}
		why := add(start, end, &row)
		if why != "" && w.byAddress(start, end, row, add) {
			why = ""
		}
		if why != "" {
			if w.o.n.Unsayable++; w.o.n.Unsayable == 1 {
				w.o.n.UnsayableFirst = fmt.Sprintf("0x%x to 0x%x, %s: %s", start, end, row.Origin, why)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if byStart := func(a, b stretch) int { return cmp.Compare(a.start, b.start) }; !slices.IsSortedFunc(out, byStart) {
		slices.SortStableFunc(out, byStart)
	}
	return join(nil, out), nil
}

// maxByAddress bounds the code of which byAddress asks every byte.
const maxByAddress = 1 << 20

// byAddress says a cfa that an expression finds from the program counter and the stack pointer alone, which the format has no words
// for, as one rule for each address. Linkers describe the stubs of .plt so, one entry for all of them: within a stub of 16 bytes a
// word is pushed at byte 11.
func (w *cfiWriter) byAddress(start, end uint64, row unwind.Row, add func(start, end uint64, row *unwind.Row) string) bool {
	if row.CFA.Kind != unwind.Program || end-start > maxByAddress {
		return false
	}
	cfa := func(pc, sp uint64) (int64, bool) {
		regs := cpu.Regs{Arch: w.arch}
		regs.Set(w.arch.PC, pc)
		regs.Set(w.arch.SP, sp)
		r := unwind.Row{CFA: row.CFA, RA: unwind.Rule{Kind: unwind.Const}}
		caller, _, err := r.Apply(&regs, nothing{}, nil)
		return int64(caller.SP() - sp), err == nil
	}
	// The module lies anywhere, and so does the stack.
	const module, stack, other = 0x55550000, 0x7ff01000, 0x66670008
	distance := func(rva uint64) (int64, bool) {
		a, ok := cfa(rva, stack)
		b, ok2 := cfa(rva+module, other)
		return a, ok && ok2 && a == b
	}
	for at := start; at < end; {
		d, ok := distance(at)
		if !ok {
			return false // at the first address, where there is any doubt
		}
		from := at
		for at++; at < end; at++ {
			if next, ok := distance(at); !ok || next != d {
				break
			}
		}
		plain := row
		plain.CFA = unwind.Rule{Kind: unwind.FromReg, Reg: w.arch.SP, Offset: d}
		if add(from, at, &plain) != "" {
			return false
		}
	}
	return true
}

// nothing is memory of which nothing is known.
type nothing struct{}

func (nothing) Word(uint64, int) (uint64, bool) { return 0, false }

// join adds to stretches that lie beside each other what others cover of the code between them. Both are by address.
func join(first, more []stretch) []stretch {
	if len(more) == 0 {
		return first
	}
	out := make([]stretch, 0, len(first)+len(more))
	at := uint64(0) // all before it is decided
	for _, s := range more {
		s.start = max(s.start, at)
		for len(first) > 0 && first[0].start < s.end && s.start < s.end {
			f := first[0]
			if f.start > s.start {
				part := s
				part.end = f.start
				out = append(out, part)
			}
			out = append(out, f)
			at = max(at, f.end)
			s.start = max(s.start, f.end)
			first = first[1:]
		}
		if s.start < s.end {
			out = append(out, s)
			at = s.end
		}
	}
	return append(out, first...)
}

// number is the number of a row's rules; why says that the format has no words for them.
func (w *cfiWriter) number(row *unwind.Row) (n uint32, why string) {
	k := w.key[:0]
	add := func(r cpu.Reg, ru *unwind.Rule) {
		k = append(k, byte(r), byte(ru.Kind), byte(ru.Reg))
		k = binary.AppendVarint(k, ru.Offset)
		k = binary.AppendUvarint(k, uint64(len(ru.Text)))
		k = append(k, ru.Text...)
	}
	add(cpu.NoReg, &row.CFA)
	add(cpu.NoReg, &row.RA)
	for i := range row.Saved {
		add(row.Saved[i].Reg, &row.Saved[i].Rule)
	}
	w.key = k
	if n, ok := w.num[string(k)]; ok && n != unsayable {
		return n, ""
	}
	r, why := w.text(row)
	n = unsayable
	if why == "" {
		n = uint32(len(w.rows))
		w.rows = append(w.rows, r)
	}
	w.num[string(k)] = n
	return n, why
}

// text puts a row into words.
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

// expr is a rule as a postfix expression; "" where nothing has to be said: a register without a rule or one that is lost, which
// the format cannot say and whose place nobody knows either.
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
		b := []byte(nil)
		if ru.Offset < 0 {
			b = append(b, '-')
			b = appendDec(b, uint64(-ru.Offset))
		} else {
			b = appendDec(b, uint64(ru.Offset))
		}
		base = string(b)
	case unwind.Expr:
		return w.plain(ru.Text), ru.Text != ""
	default:
		return "", false
	}
	b := []byte(base)
	switch ru.Kind {
	case unwind.FromReg, unwind.AtReg, unwind.FromCFA, unwind.AtCFA:
		// Breakpad writes "$rsp 0 +" for a cfa without distance, and a register alone as itself.
		if ru.Offset != 0 || of == cpu.NoReg && ru.Kind == unwind.FromReg && ru.Reg != w.arch.LR || ru.Kind == unwind.AtCFA {
			b = append(b, ' ')
			if ru.Offset < 0 {
				b = append(b, '-')
				b = appendDec(b, uint64(-ru.Offset))
			} else {
				b = appendDec(b, uint64(ru.Offset))
			}
			b = append(b, " +"...)
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
	if plainNames[w.arch] {
		return w.arch.RegName(r)
	}
	return "$" + w.arch.RegName(r)
}

// plain takes the "$" off the names in an expression where the processor's names have none.
func (w *cfiWriter) plain(text string) string {
	if !plainNames[w.arch] {
		return text
	}
	b := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if text[i] != '$' {
			b = append(b, text[i])
		}
	}
	return string(b)
}

// write writes the records: STACK CFI INIT address size rules for the first stretch of an entry, and STACK CFI address rules for
// those that follow it without a gap, with the rules that are other ones there.
func (w *cfiWriter) write(all []stretch) error {
	o := w.o
	for i := 0; i < len(all); {
		end := i + 1
		for end < len(all) && all[end].start == all[end-1].end && all[end].entry == all[i].entry && w.delta(all[end-1].rules, all[end].rules).ok {
			end++
		}
		o.n.CFIInits++
		o.str("STACK CFI INIT")
		o.hex(all[i].start)
		o.hex(all[end-1].end - all[i].start)
		o.str(w.init(all[i].rules))
		o.end()
		for i++; i < end; i++ {
			d := w.delta(all[i-1].rules, all[i].rules)
			if d.text == "" {
				continue
			}
			o.n.CFIDeltas++
			o.str("STACK CFI")
			o.hex(all[i].start)
			o.str(d.text)
			o.end()
		}
	}
	return o.err
}

func rule(name, text string) string { return " " + name + ": " + text }

// init are all rules of a row.
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

// delta are the rules of one row that another one does not have. A register that has none any more gets its own value, which is
// what "no rule" means for those that a call preserves; for others, and for a return address that is lost from here on, there are
// no words but those of a new INIT record.
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
