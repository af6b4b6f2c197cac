package dumpsyms

import (
	"fmt"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// rules is a row as STACK CFI writes it: an expression for .cfa, one for .ra ("" if there is no
// caller), and those of registers, by register.
type rules struct {
	cfa, ra string
	regs    []regText
}

// regText is a register's rule.
type regText struct {
	reg  cpu.Reg
	text string
}

// cfiWriter collects ranges and writes them.
type cfiWriter struct {
	o    *output
	arch *cpu.Arch
	rows []rules
	num  map[string]uint32 // number of the rules for a row's bytes, see number
	key  []byte
	// deltas are the rules of a STACK CFI record that leads from one row to another; ok is false if
	// none does.
	deltas map[[2]uint32]delta
	inits  map[uint32]string
	// entries counts the entries of tables so far.
	entries uint32
	// byAddresses counts the addresses that byAddress has evaluated.
	byAddresses uint64
}

// delta is the text of a STACK CFI record, "" for none; ok is false if only a new INIT record can
// say it.
type delta struct {
	text string
	ok   bool
}

// cfi writes the STACK CFI records of all tables, by address: what an earlier table covers is left
// out of a later one.
func (o *output) cfi(arch *cpu.Arch, tables []unwind.Table) error {
	w := &cfiWriter{o: o, arch: arch, num: map[string]uint32{}, deltas: map[[2]uint32]delta{}, inits: map[uint32]string{}}
	all := (&ruleRanges{}).each()
	for _, t := range tables {
		own, err := w.collect(t)
		if err != nil {
			return err
		}
		all = join(all, own)
	}
	return w.write(all)
}

// collect returns the ranges of a table by address, without overlaps: of two that overlap the one
// that starts first counts, and of those that start at one address the table's first.
func (w *cfiWriter) collect(t unwind.Table) (series, error) {
	var out ruleRanges
	var last unwind.Origin
	var open ruleRange // the one that the next may continue; may be empty
	w.entries++
	// A table has a row for each range. Ranges that follow each other with one row, and belong to
	// one entry, become one.
	err := t.Each(func(start, end uint64, row unwind.Row) error {
		// A record without a return address says that the function has no caller.
		if start >= end || row.CannotUnwind {
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
			if open.end == start && open.rules == n && open.entry == w.entries {
				open.end = end
				return ""
			}
			if open.end > open.start {
				out.add(open)
			}
			open = ruleRange{start, end, n, w.entries}
			return ""
		}
		why := add(start, end, &row)
		if why != "" && w.byAddress(start, end, row, add) {
			why = ""
		}
		if why != "" {
			if w.o.n.Inexpressible++; w.o.n.Inexpressible == 1 {
				w.o.n.InexpressibleFirst = fmt.Sprintf("0x%x to 0x%x, %s: %s", start, end, row.Origin, why)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if open.end > open.start {
		out.add(open)
	}
	out.sort()
	return apart(out.each()), nil
}

// write writes the records: STACK CFI INIT address size rules for the first range of an entry, and
// STACK CFI address rules for those that follow it without a gap, with the rules that differ there.
func (w *cfiWriter) write(all series) error {
	o := w.o
	var one []ruleRange // those of one INIT record
	for next, ok := all(); ok; {
		one = append(one[:0], next)
		for {
			last := one[len(one)-1]
			if next, ok = all(); !ok || next.start != last.end || next.entry != last.entry || !w.delta(last.rules, next.rules).ok {
				break
			}
			one = append(one, next)
		}
		o.n.CFIInits++
		o.str("STACK CFI INIT")
		o.hex(one[0].start)
		o.hex(one[len(one)-1].end - one[0].start)
		o.str(w.init(one[0].rules))
		o.end()
		for i, s := range one[1:] {
			d := w.delta(one[i].rules, s.rules)
			if d.text == "" {
				continue
			}
			o.n.CFIDeltas++
			o.str("STACK CFI")
			o.hex(s.start)
			o.str(d.text)
			o.end()
		}
	}
	return o.err
}
