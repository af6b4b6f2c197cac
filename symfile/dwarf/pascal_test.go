package dwarf

import (
	"slices"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestPascal: a method has its class's name before its own, as in a Pascal program. Free Pascal
// writes names in upper case in DWARF 2.
func TestPascal(t *testing.T) {
	for _, c := range []struct {
		file string
		want []string
	}{
		{"testdata/pascal2.elf", []string{"TSHAPE.CREATE", "TSHAPE.AREA", "SCALED", "PLAIN", "main"}},
		{"testdata/pascal3.elf", []string{"TShape.Create", "TShape.Area", "Scaled", "Plain", "$main"}},
		{"testdata/pascal4.elf", []string{"TShape.Create", "TShape.Area", "Scaled", "Plain", "$main"}},
	} {
		d, err := Open(openELF(t, c.file), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var have []string
		var starts []uint64
		err = d.Each(func(f symbol.Function) error {
			have, starts = append(have, f.Name), append(starts, f.Ranges[0].Start)
			return nil
		})
		if err != nil || !slices.Equal(have, c.want) {
			t.Errorf("%s: %q, %v", c.file, have, err)
		}
		for i, at := range starts {
			if s, _, err := d.Lookup(at + 1); err != nil || s.Name != c.want[i] {
				t.Errorf("%s, 0x%x: %q, %v", c.file, at+1, s.Name, err)
			}
		}
	}
}
