package gopclntab

import (
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// FuzzTable: whatever a table says, reading it ends and does not panic.
func FuzzTable(f *testing.F) {
	all := layouts()
	for i, m := range all {
		f.Add(i, m.bytes())
	}
	f.Fuzz(func(t *testing.T, layout int, table []byte) {
		if layout < 0 || layout >= len(all) {
			return
		}
		tab, err := all[layout].open(table)
		if err != nil {
			return
		}
		for _, rva := range []uint64{0, 0x1000, 0x100f, 0x1048, 0x107f} {
			tab.Lookup(rva)
			tab.Rules().Row(rva)
		}
		tab.Each(func(symbol.Function) error { return nil })
		tab.Rules().Each(func(uint64, uint64, unwind.Row) error { return nil })
	})
}
