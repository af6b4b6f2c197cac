package dwarf

import (
	"crypto/md5"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestSourceSum: the checksums of Clang's DWARF 5 are those of the files that were compiled; GCC has none.
func TestSourceSum(t *testing.T) {
	for _, c := range []struct {
		name string
		sums bool
	}{{"clang5", true}, {"clang5-64", true}, {"clang5-gc", true}, {"clang5-mips", true}, {"clang4", false}, {"gcc5", false}} {
		d := variant{name: c.name}.open(t)
		files := map[string]uint64{}
		if err := d.Each(func(f symbol.Function) error {
			for _, l := range f.Lines {
				files[l.File] = l.Start
			}
			return nil
		}); err != nil || len(files) < 3 {
			t.Fatalf("%s: %d files, %v", c.name, len(files), err)
		}
		for path, rva := range files {
			source, err := os.ReadFile(filepath.Join("testdata", filepath.Base(path)))
			if err != nil {
				continue // a header of the system
			}
			want := symbol.Sum{}
			if c.sums {
				want = symbol.Sum{Kind: "MD5", Hex: fmt.Sprintf("%x", md5.Sum(source))}
			}
			if sum, err := d.SourceSum(rva, path); err != nil || sum != want {
				t.Errorf("%s %s: %+v, %v, want %+v", c.name, path, sum, err, want)
			}
		}
		if sum, err := d.SourceSum(0x10, "/src/none.c"); err != nil || sum.Kind != "" {
			t.Errorf("%s: %+v, %v", c.name, sum, err)
		}
	}
}
