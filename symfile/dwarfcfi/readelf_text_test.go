package dwarfcfi_test

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// readelfRow is one line of readelf's tables.
type readelfRow struct {
	start, end uint64
	cfa        string
	cols       map[string]string
}

// parseReadelf calls f for every row, with the section's name and the offset of the entry.
func parseReadelf(r io.Reader, f func(section string, fde string, row readelfRow)) {
	sc := bufio.NewScanner(r)
	sc.Buffer(nil, 1<<20)
	var section, entry string
	var names []string
	var rows []readelfRow
	var lo, hi uint64
	isFDE := false
	cies := map[string][]readelfRow{}
	cie := ""
	flush := func() {
		if entry == "" {
			return
		}
		if !isFDE {
			cies[section+entry] = rows
			rows = nil
			return
		}
		if len(rows) == 0 {
			if c := cies[section+cie]; len(c) > 0 {
				rows = append(rows, readelfRow{start: lo, cfa: c[len(c)-1].cfa, cols: c[len(c)-1].cols})
			}
		}
		for i := range rows {
			rows[i].end = hi
			if i+1 < len(rows) {
				rows[i].end = rows[i+1].start
			}
			f(section, entry, rows[i])
		}
		rows = nil
	}
	for sc.Scan() {
		line := sc.Text()
		fields := named(strings.Fields(line))
		switch {
		case strings.HasPrefix(line, "Contents of the "):
			flush()
			section, entry = fields[3], ""
		case len(fields) > 3 && (fields[3] == "CIE" || fields[3] == "FDE"):
			flush()
			entry, isFDE, names = fields[0], fields[3] == "FDE", nil
			if isFDE {
				cie = strings.TrimPrefix(fields[4], "cie=")
				a, b, _ := strings.Cut(strings.TrimPrefix(fields[5], "pc="), "..")
				lo, _ = strconv.ParseUint(a, 16, 64)
				hi, _ = strconv.ParseUint(b, 16, 64)
			}
		case strings.HasPrefix(line, "   LOC "):
			names = fields[2:]
		case strings.HasSuffix(line, "ZERO terminator"):
		case names != nil && len(fields) == len(names)+2:
			loc, err := strconv.ParseUint(fields[0], 16, 64)
			if err != nil {
				continue
			}
			row := readelfRow{start: loc, cfa: fields[1], cols: map[string]string{}}
			for i, n := range names {
				row.cols[n] = fields[2+i]
			}
			rows = append(rows, row)
		}
	}
	flush()
}

// named takes the name where readelf has number and name: "r1 (rdx)".
func named(fields []string) []string {
	out := fields[:0]
	for _, f := range fields {
		if strings.HasPrefix(f, "(") && strings.HasSuffix(f, ")") && len(out) > 0 {
			out[len(out)-1] = strings.Trim(f, "()")
			continue
		}
		out = append(out, f)
	}
	return out
}

// readelfName is the name that readelf has for a register of ours.
func readelfName(a *cpu.Arch, n string) (cpu.Reg, bool) {
	if a == cpu.AMD64 || a == cpu.X86 {
		return a.Lookup(n)
	}
	if d, ok := strings.CutPrefix(n, "r"); ok && a != cpu.ARM {
		if v, err := strconv.Atoi(d); err == nil && v < len(a.DWARF) && a.DWARF[v] != cpu.NoReg {
			return a.DWARF[v], true
		}
		return 0, false
	}
	return a.Lookup(n)
}

// sameAs returns a rule in readelf's notation, and whether readelf's table has it so.
func sameAs(a *cpu.Arch, ru unwind.Rule, said string, isRA bool) bool {
	switch {
	case said == "u":
		// The return address is then in its column's register, whichever that is, and sp is what it
		// is before the call.
		return ru.Kind == unwind.Unset || ru.Kind == unwind.Undefined || isRA && ru.Kind == unwind.FromReg && ru.Offset == a.Frame.RABias ||
			a.CFABias != 0 && ru.Equal(unwind.Rule{Kind: unwind.FromCFA, Offset: -a.CFABias})
	case said == "s":
		return ru.Kind == unwind.Same || isRA && ru.Kind == unwind.FromReg && ru.Reg == a.LR
	case said == "exp" || said == "vexp":
		return ru.Kind != unwind.Unset && ru.Kind != unwind.Undefined && ru.Kind != unwind.Same
	case strings.HasPrefix(said, "c"):
		off, err := strconv.ParseInt(said[1:], 10, 64)
		return err == nil && ru.Equal(unwind.Rule{Kind: unwind.AtCFA, Offset: off})
	case strings.HasPrefix(said, "v"):
		off, err := strconv.ParseInt(said[1:], 10, 64)
		return err == nil && ru.Equal(unwind.Rule{Kind: unwind.FromCFA, Offset: off})
	}
	reg, ok := readelfName(a, said)
	want := unwind.Rule{Kind: unwind.FromReg, Reg: reg}
	if isRA {
		want.Offset = a.Frame.RABias
	}
	return ok && ru.Equal(want)
}

func sameCFA(a *cpu.Arch, ru unwind.Rule, said string) bool {
	if said == "exp" {
		return ru.Kind != unwind.Unset && ru.Kind != unwind.Undefined
	}
	i := strings.LastIndexAny(said, "+-")
	if i < 1 {
		return false
	}
	reg, ok := readelfName(a, said[:i])
	off, err := strconv.ParseInt(said[i:], 10, 64)
	return ok && err == nil && ru.Equal(unwind.Rule{Kind: unwind.FromReg, Reg: reg, Offset: off})
}

func differs(a *cpu.Arch, row unwind.Row, ok bool, err error, want readelfRow) string {
	if err != nil || !ok {
		return fmt.Sprintf("no row (%v, %v)", row.Origin, err)
	}
	if !sameCFA(a, row.CFA, want.cfa) {
		return "the CFA"
	}
	for name, said := range want.cols {
		if name == "ra" {
			if sameAs(a, row.RA, said, true) {
				continue
			}
			if _, register := a.Lookup(name); !register {
				return "the return address"
			}
			// Functions that are called in a way of their own have another column, and ra is a
			// register like others.
		}
		reg, known := readelfName(a, name)
		if !known || reg == a.PC {
			continue
		}
		var ru unwind.Rule
		for _, s := range row.Saved {
			if s.Reg == reg {
				ru = s.Rule
			}
		}
		if !sameAs(a, ru, said, false) {
			return name
		}
	}
	return ""
}
