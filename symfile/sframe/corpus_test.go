package sframe

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// corpusRoot has ELF files with .sframe and .eh_frame of the same code, and texts that other programs made of both.
const corpusRoot = "../../../shared/corpus/other/made-here/sframe"

type corpusFile struct {
	path  string
	elf   *elf.File
	arch  *cpu.Arch
	table unwind.Table
}

// eachCorpusFile opens every file of the corpus.
func eachCorpusFile(t *testing.T, f func(t *testing.T, c corpusFile)) {
	t.Helper()
	expected, _ := filepath.Glob(filepath.Join(corpusRoot, "*.sframe.json"))
	if len(expected) == 0 {
		t.Skip("*** SKIPPED: there is no corpus beside the repository; no SFrame section of a linker was read")
	}
	for _, p := range expected {
		p = strings.TrimSuffix(p, ".sframe.json")
		t.Run(filepath.Base(p), func(t *testing.T) {
			c := corpusFile{path: p}
			var err error
			if c.elf, err = elf.Open(p); err != nil {
				t.Fatal(err)
			}
			defer c.elf.Close()
			section := c.elf.Section(SectionName)
			data, err := section.Data()
			if err != nil {
				t.Fatal(err)
			}
			c.table = open(t, filepath.Base(p), data, section.Addr, 0)
			c.arch = c.table.(*table).arch
			f(t, c)
			if all := c.table.Warnings(); len(all) > 0 {
				t.Errorf("warnings: %q", all)
			}
		})
	}
}

// simple is a row as the texts have it: "sp+16", "c-8", "u" for unchanged.
type simple struct{ cfa, ra, fp string }

// simplified writes a row so.
func simplified(t testing.TB, arch *cpu.Arch, row *unwind.Row) simple {
	t.Helper()
	s := simple{cfa: row.CFA.Describe(arch), ra: row.RA.Describe(arch), fp: "u"}
	base := map[cpu.Reg]string{arch.SP: "sp", arch.FP: "fp"}
	if row.CFA.Kind == unwind.FromReg && base[row.CFA.Reg] != "" {
		s.cfa = fmt.Sprintf("%s%+d", base[row.CFA.Reg], row.CFA.Offset)
	}
	saved := func(ru unwind.Rule, unchanged bool) string {
		switch {
		case ru.Kind == unwind.AtCFA:
			return fmt.Sprintf("c%+d", ru.Offset)
		case unchanged:
			return "u"
		}
		return ru.Describe(arch)
	}
	s.ra = saved(row.RA, row.RA == unwind.Rule{Kind: unwind.FromReg, Reg: arch.LR})
	for _, r := range row.Saved {
		if r.Reg == arch.FP {
			s.fp = saved(r.Rule, r.Rule.Kind == unwind.Same || r.Rule.Kind == unwind.Unset)
		}
	}
	return s
}

// same compares the rules of an address.
func (c *corpusFile) same(t *testing.T, pc uint64, want simple) bool {
	t.Helper()
	row, ok, err := c.table.Row(pc)
	if err != nil || !ok {
		t.Errorf("%x: %v %v, want %v", pc, ok, err, want)
		return false
	}
	if got := simplified(t, c.arch, &row); got != want {
		t.Errorf("%x: %v, want %v", pc, got, want)
		return false
	}
	return true
}

// TestCorpusRows compares with rows that a second decoder made, at every address, and at the addresses around.
func TestCorpusRows(t *testing.T) {
	eachCorpusFile(t, func(t *testing.T, c corpusFile) {
		var want struct {
			Version, Flags, Abi uint8
			FixedRA             int8   `json:"cfa_fixed_ra"`
			Address             uint64 `json:"section_addr"`
			Fdes                []struct {
				PC   uint64
				Size uint64
				Fde  string
				Rep  uint64
				Rows []struct {
					Off     uint64
					CFA     [2]any
					RA, FP  *int64
					Mangled int
				}
			}
		}
		text, err := os.ReadFile(c.path + ".sframe.json")
		if err == nil {
			err = json.Unmarshal(text, &want)
		}
		if err != nil {
			t.Fatal(err)
		}
		h := c.table.(*table).Header
		if h.Version != want.Version || uint8(h.Flags) != want.Flags || uint8(h.ABI) != want.Abi || h.FixedRA != want.FixedRA || int(h.Functions) != len(want.Fdes) {
			t.Errorf("the header is %+v", h)
		}
		covered := map[uint64]bool{}
		opt := func(v *int64) string {
			if v == nil {
				return "u"
			}
			return fmt.Sprintf("c%+d", *v)
		}
		for _, fn := range want.Fdes {
			for pc := fn.PC; pc < fn.PC+fn.Size; pc++ {
				covered[pc] = true
				off := pc - fn.PC
				if fn.Fde == "pcmask" {
					off %= fn.Rep
				}
				for i := len(fn.Rows) - 1; i >= 0; i-- {
					if r := fn.Rows[i]; r.Off <= off {
						if !c.same(t, pc, simple{fmt.Sprintf("%s%+d", r.CFA[0], int64(r.CFA[1].(float64))), opt(r.RA), opt(r.FP)}) {
							return
						}
						break
					}
				}
			}
		}
		for pc := range covered {
			for _, near := range []uint64{pc - 1, pc + 1} {
				if _, ok, err := c.table.Row(near); ok != covered[near] || err != nil {
					t.Errorf("%x: %v %v, want %v", near, ok, err, covered[near])
				}
			}
		}
		// The list says the same as the lookups.
		listed := 0
		if err := c.table.Each(func(start, end uint64, row unwind.Row) error {
			for pc := start; pc < end; pc++ {
				listed++
				if !covered[pc] || !c.same(t, pc, simplified(t, c.arch, &row)) {
					return fmt.Errorf("%x is listed with other rules", pc)
				}
			}
			return nil
		}); err != nil || listed != len(covered) {
			t.Errorf("%d addresses listed of %d: %v", listed, len(covered), err)
		}
		t.Logf("%d addresses of %d functions", len(covered), len(want.Fdes))
	})
}

// TestCorpusReadelf compares with what readelf --sframe prints.
func TestCorpusReadelf(t *testing.T) {
	eachCorpusFile(t, func(t *testing.T, c corpusFile) {
		text, err := os.ReadFile(c.path + ".readelf.txt")
		if err != nil {
			t.Fatal(err)
		}
		var start uint64
		masked, rows := false, 0
		for line := range strings.Lines(string(text)) {
			words := strings.Fields(line)
			switch {
			case len(words) > 5 && words[0] == "func" && words[1] == "idx":
				start, err = strconv.ParseUint(strings.TrimSuffix(words[5], ","), 0, 64)
			case len(words) > 0 && strings.HasPrefix(words[0], "STARTPC"):
				masked = words[0] == "STARTPC[m]"
			case len(words) == 4 && len(words[0]) == 16:
				var pc uint64
				pc, err = strconv.ParseUint(words[0], 16, 64)
				if masked {
					pc += start
				}
				ra := words[3]
				if ra == "f" {
					ra = "c-8"
				}
				rows++
				c.same(t, pc, simple{words[1], ra, words[2]})
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if rows == 0 || rows != int(c.table.(*table).Rows) {
			t.Errorf("%d rows in the text", rows)
		}
	})
}

// TestCorpusAgainstEHFrame compares with the .eh_frame of the same code, as readelf interprets it, at every address that either
// covers. Not compared are .plt and .plt.got, where ld 2.44 describes another frame than the code has.
func TestCorpusAgainstEHFrame(t *testing.T) {
	eachCorpusFile(t, func(t *testing.T, c corpusFile) {
		text, err := os.ReadFile(c.path + ".ehframe.txt")
		if err != nil {
			t.Fatal(err)
		}
		want := ehFrameRows(t, string(text), c.arch)
		skip := func(pc uint64) bool {
			for _, name := range []string{".plt", ".plt.got"} {
				if s := c.elf.Section(name); s != nil && pc >= s.Addr && pc < s.Addr+s.Size {
					return true
				}
			}
			return false
		}
		inText := c.elf.Section(".text")
		compared, alone := 0, 0
		for pc := inText.Addr; pc < inText.Addr+inText.Size; pc++ {
			w, ok := want[pc]
			if _, has, err := c.table.Row(pc); !has && ok && err == nil {
				alone++
				continue
			} else if has != ok || err != nil {
				t.Fatalf("%x: in .sframe %v, in .eh_frame %v, %v", pc, has, ok, err)
			}
			if !ok || skip(pc) {
				continue
			}
			compared++
			if !c.same(t, pc, w) {
				return
			}
		}
		for pc, w := range want {
			if _, has, _ := c.table.Row(pc); has && !skip(pc) && (pc < inText.Addr || pc >= inText.Addr+inText.Size) {
				compared++
				c.same(t, pc, w)
			}
		}
		if compared < 500 {
			t.Errorf("only %d addresses compared", compared)
		}
		t.Logf("%d addresses compared; %d have rules in .eh_frame only", compared, alone)
	})
}

// ehFrameRows reads the output of readelf --debug-dump=frames-interp: rules by address.
func ehFrameRows(t *testing.T, text string, arch *cpu.Arch) map[uint64]simple {
	t.Helper()
	// The rules that hold at the call, which the one CIE of these files says and an FDE without rows keeps.
	initial := simple{"sp+0", "u", "u"}
	if arch == cpu.AMD64 {
		initial = simple{"sp+8", "c-8", "u"}
	}
	rows := map[uint64]simple{}
	var end uint64
	var columns []string
	inFDE := false
	fill := func(from uint64, s simple) {
		for pc := from; pc < end; pc++ {
			rows[pc] = s
		}
	}
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		switch {
		case len(words) == 0:
		case strings.Contains(line, " CIE "):
			inFDE = false
		case strings.Contains(line, " FDE "):
			var start uint64
			if _, err := fmt.Sscanf(line[strings.Index(line, "pc="):], "pc=%x..%x", &start, &end); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			inFDE = true
			fill(start, initial)
		case words[0] == "LOC":
			columns = words[1:]
		case inFDE && len(words) == len(columns)+1 && len(words[0]) == 16:
			pc, err := strconv.ParseUint(words[0], 16, 64)
			if err != nil {
				t.Fatal(err)
			}
			s := simple{"", "u", "u"}
			for i, w := range words[1:] {
				switch columns[i] {
				case "CFA":
					s.cfa = strings.NewReplacer("rsp", "sp", "rbp", "fp", "x29", "fp").Replace(w)
				case "ra":
					s.ra = w
				case "rbp", "x29":
					s.fp = w
				}
			}
			fill(pc, s)
		}
	}
	return rows
}
