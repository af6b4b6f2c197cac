package dwarfcfi_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// If a binary is next to the symbol file that Mozilla's or Breakpad's dump_syms made of it,
// every STACK CFI record says what the binary's section says. Two things dump_syms does not say: a
// return address that is undefined keeps the rule of before, and so does a CFA that an expression
// gives.
func TestSymbolFiles(t *testing.T) {
	needCorpus(t)
	for _, c := range []struct{ binary, sym string }{
		{"mozilla+dump_syms/test_data/linux/basic.full", "mozilla+dump_syms/test_data/linux/basic.full.sym"},
		{"getsentry+symbolic/symbolic-testutils/fixtures/linux/crash", "getsentry+symbolic/symbolic-testutils/fixtures/linux/crash.sym"},
		{"made-here/stabs/t-stabs", "made-here/stabs/t-stabs.breakpad.sym"},
		{"made-here/stabs/t-stabs0", "made-here/stabs/t-stabs0.breakpad.sym"},
		{"made-here/stabs/t-stabs32", "made-here/stabs/t-stabs32.breakpad.sym"},
	} {
		t.Run(filepath.Base(c.sym), func(t *testing.T) {
			data, err := os.ReadFile(corpus + c.sym)
			if err != nil {
				t.Fatal(err)
			}
			f, err := symfile.Open(input.FromBytes(filepath.Base(c.sym), data), symfile.Options{})
			if err != nil {
				t.Fatal(err)
			}
			tabs := tables(t, corpus+c.binary)
			arch := machineOf(t, corpus+c.binary)
			n, unsaid := 0, 0
			err = f.CFITable(arch).Each(func(start, end uint64, want unwind.Row) error {
				n++
				for _, rva := range []uint64{start, end - 1} {
					var got unwind.Row
					found := false
					for _, name := range []string{".eh_frame", ".eh_frame scanned", ".debug_frame"} {
						if tab := tabs[name]; tab != nil && !found {
							row, ok, err := tab.Row(rva)
							if err != nil {
								t.Errorf("0x%x: %v", rva, err)
							}
							got, found = row, ok
						}
					}
					if got.Outermost || got.CFA.Kind != unwind.FromReg {
						unsaid++
						continue
					}
					if !found || !got.CFA.Equal(want.CFA) || !got.RA.Equal(want.RA) {
						t.Errorf("0x%x: %s, %s has %s", rva, got.Describe(arch), want.Origin, want.Describe(arch))
					}
					for _, s := range want.Saved {
						if !has(got.Saved, s) {
							t.Errorf("0x%x: %s, %s has %s", rva, got.Describe(arch), want.Origin, want.Describe(arch))
						}
					}
				}
				return nil
			})
			if err != nil || n == 0 {
				t.Errorf("%d ranges, %v", n, err)
			}
			t.Logf("%d ranges, %d addresses at which dump_syms says less", n, unsaid)
			if unsaid > 6 {
				t.Errorf("%d addresses are left out", unsaid)
			}
		})
	}
}

func has(list []unwind.RegRule, r unwind.RegRule) bool {
	for _, l := range list {
		if l.Equal(r) {
			return true
		}
	}
	return r.Rule.Kind == unwind.Same
}
