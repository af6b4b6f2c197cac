package dumpsyms

import (
	"cmp"
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
	// byAddresses is how many addresses were asked one by one.
	byAddresses uint64
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
			if w.o.n.Inexpressible++; w.o.n.Inexpressible == 1 {
				w.o.n.InexpressibleFirst = fmt.Sprintf("0x%x to 0x%x, %s: %s", start, end, row.Origin, why)
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
	return apart(out), nil
}

// apart cuts from each stretch what one before it covers, in place: the unwind data of a library of 2 GB is 100 MB of stretches, which are
// not copied.
func apart(all []stretch) []stretch {
	n, at := 0, uint64(0) // all before at is decided
	for _, s := range all {
		if s.start = max(s.start, at); s.start < s.end {
			all[n], at = s, s.end
			n++
		}
	}
	return all[:n]
}

// join adds to stretches what others cover of the code between them. Both are by address, and within each none covers another.
func join(first, more []stretch) []stretch {
	switch {
	case len(more) == 0:
		return first
	case len(first) == 0:
		return more
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
