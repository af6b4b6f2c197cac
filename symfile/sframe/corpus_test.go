package sframe

import (
	"debug/elf"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// corpusRoot has ELF files with .sframe and .eh_frame of the same code, and texts that other
// programs made of both.
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
		t.Skip("*** SKIPPED: there is no corpus next to the repository; no SFrame section of a linker was read")
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

// same compares the rules of an address.
func (c *corpusFile) same(t *testing.T, pc uint64, want simple) bool {
	t.Helper()
	return sameRow(t, c.table, pc, want)
}

// TestCorpusRows compares with rows that a second decoder made, at every address, and at the
// addresses around.
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
						if !c.same(t, pc, simple{fmt.Sprintf("%s%+d", r.CFA[0], int64(r.CFA[1].(float64))), opt(r.RA), opt(r.FP), r.Mangled != 0}) {
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
				if !covered[pc] || !c.same(t, pc, simplified(c.arch, &row)) {
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
	eachCorpusFile(t, func(t *testing.T, c corpusFile) { checkReadelf(t, c.table, c.path+".readelf.txt") })
}

// TestCorpusAgainstEHFrame compares with the .eh_frame of the same code, as readelf interprets it,
// at every address that either covers. Not compared are .plt and .plt.got, where ld 2.44 describes
// another frame than the code has.
func TestCorpusAgainstEHFrame(t *testing.T) {
	eachCorpusFile(t, func(t *testing.T, c corpusFile) {
		want := ehFrameRows(t, c.path+".ehframe.txt", c.arch)
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
