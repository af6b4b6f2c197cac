package sframe

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// simple is a row as readelf writes it: "sp+16", "c-8" for the word at cfa − 8, "(fp+0)" for the
// word at fp, "r17+0" for register 17, "u" for unchanged.
type simple struct {
	cfa, ra, fp string
	signed      bool
}

// simplified writes a row so.
func simplified(arch *cpu.Arch, row *unwind.Row) simple {
	name := func(r cpu.Reg) string {
		switch r {
		case arch.SP:
			return "sp"
		case arch.FP:
			return "fp"
		}
		for n, d := range arch.DWARF {
			if d == r {
				return fmt.Sprintf("r%d", n)
			}
		}
		return "?"
	}
	text := func(ru unwind.Rule) string {
		switch ru.Kind {
		case unwind.FromReg:
			return fmt.Sprintf("%s%+d", name(ru.Reg), ru.Offset)
		case unwind.AtReg:
			return fmt.Sprintf("(%s%+d)", name(ru.Reg), ru.Offset)
		case unwind.AtCFA, unwind.FromCFA: // readelf writes both alike
			return fmt.Sprintf("c%+d", ru.Offset)
		case unwind.Same, unwind.Unset:
			return "u"
		}
		return ru.Describe(arch)
	}
	s := simple{text(row.CFA), text(row.RA), "u", row.Signed != unwind.NotSigned}
	if row.RA.Equal(unwind.Rule{Kind: unwind.FromReg, Reg: arch.LR}) {
		s.ra = "u"
	}
	for _, r := range row.Saved {
		if r.Reg == arch.FP {
			s.fp = text(r.Rule)
		}
	}
	return s
}

// sameRow compares the rules of an address.
func sameRow(t *testing.T, tab unwind.Table, pc uint64, want simple) bool {
	t.Helper()
	row, ok, err := tab.Row(pc)
	if err != nil || !ok {
		t.Errorf("%x: %v %v, want %v", pc, ok, err, want)
		return false
	}
	if got := simplified(tab.(*table).arch, &row); got != want {
		t.Errorf("%x: %v, want %v", pc, got, want)
		return false
	}
	return true
}

// Version 2 has registers without an offset.
var plainRegister = regexp.MustCompile(`^r\d+$`)

var funcLine = regexp.MustCompile(`func idx \[\d+\]: pc = (0x[0-9a-f]+), size = (\d+) bytes`)

// checkReadelf compares every row with those that readelf --sframe printed into a file, at both
// ends of where they hold.
func checkReadelf(t *testing.T, tab unwind.Table, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var start, size uint64
	masked, rows := false, 0
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(line)
		if m := funcLine.FindStringSubmatch(line); m != nil {
			start, _ = strconv.ParseUint(m[1], 0, 64)
			size, _ = strconv.ParseUint(m[2], 10, 64)
			continue
		}
		if len(words) > 0 && strings.HasPrefix(words[0], "STARTPC") {
			masked = words[0] == "STARTPC[m]"
		}
		if len(words) == 3 && words[1] == "RA" && words[2] == "undefined" {
			words = []string{words[0], "lost", "u", "lost"}
		}
		if len(words) != 4 || len(words[0]) != 16 {
			continue
		}
		pc, err := strconv.ParseUint(words[0], 16, 64)
		if err != nil {
			t.Fatal(err)
		}
		if masked {
			pc += start
		}
		rows++
		if pc >= start+size {
			continue
		}
		ra, signed := strings.CutSuffix(words[3], "[s]")
		switch {
		case ra == "f" || ra == "U" && tab.(*table).FixedRA != 0:
			ra = "c-8"
		case ra == "U":
			ra = "u"
		case ra == "r40":
			ra = "lost" // s390x has no such register
		}
		sameRow(t, tab, pc, simple{strings.Replace(words[1], "+-", "-", 1), plainRegister.ReplaceAllString(ra, "$0+0"), plainRegister.ReplaceAllString(words[2], "$0+0"), signed})
	}
	if rows == 0 || rows != int(tab.(*table).Rows) {
		t.Errorf("%d rows in the text", rows)
	}
}

// ehFunc is a function of .eh_frame.
type ehFunc struct {
	start, end uint64
	rows       []ehRow
}

type ehRow struct {
	at uint64
	simple
}

// A register rule that names a register, "r17 (f2)".
var byRegister = regexp.MustCompile(`(r\d+) \([a-z0-9]+\)`)

// ehFuncs reads a file with the output of readelf --debug-dump=frames-interp. Expressions are
// "exp".
func ehFuncs(t *testing.T, path string, arch *cpu.Arch) []ehFunc {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	// The rules at the call, which the CIE of these files says and an FDE without rows keeps.
	initial := map[*cpu.Arch]simple{cpu.AMD64: {cfa: "sp+8", ra: "c-8", fp: "u"}, cpu.ARM64: {cfa: "sp+0", ra: "u", fp: "u"}, cpu.S390X: {cfa: "sp+160", ra: "u", fp: "u"}}[arch]
	bases := map[*cpu.Arch]*strings.Replacer{cpu.AMD64: strings.NewReplacer("rsp", "sp", "rbp", "fp"), cpu.ARM64: strings.NewReplacer("x29", "fp"),
		cpu.S390X: strings.NewReplacer("r15", "sp", "r11", "fp")}[arch]
	fp := map[*cpu.Arch]string{cpu.AMD64: "rbp", cpu.ARM64: "x29", cpu.S390X: "r11"}[arch]
	var all []ehFunc
	var columns []string
	inFDE := false
	for line := range strings.Lines(string(text)) {
		words := strings.Fields(byRegister.ReplaceAllString(line, "$1+0"))
		switch {
		case len(words) == 0:
		case strings.Contains(line, " CIE "):
			inFDE = false
		case strings.Contains(line, " FDE "):
			var f ehFunc
			if _, err := fmt.Sscanf(line[strings.Index(line, "pc="):], "pc=%x..%x", &f.start, &f.end); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			f.rows = []ehRow{{f.start, initial}}
			all, inFDE = append(all, f), true
		case words[0] == "LOC":
			columns = words[1:]
		case inFDE && len(words) == len(columns)+1 && len(words[0]) == 16:
			pc, err := strconv.ParseUint(words[0], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			r := ehRow{pc, simple{"", "u", "u", false}}
			for i, w := range words[1:] {
				switch columns[i] {
				case "CFA":
					r.cfa = bases.Replace(w)
				case "ra":
					r.ra = w
				case fp:
					r.fp = w
				}
			}
			f := &all[len(all)-1]
			if pc == f.start {
				f.rows = nil
			}
			f.rows = append(f.rows, r)
		}
	}
	return all
}

// ehFrameRows are the rules by address.
func ehFrameRows(t *testing.T, path string, arch *cpu.Arch) map[uint64]simple {
	t.Helper()
	rows := map[uint64]simple{}
	for _, f := range ehFuncs(t, path, arch) {
		for _, r := range f.rows {
			for pc := r.at; pc < f.end; pc++ {
				rows[pc] = r.simple
			}
		}
	}
	return rows
}
