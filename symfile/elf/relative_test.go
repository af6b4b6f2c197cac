package elf

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// TestRelative: each word that the loader computes is found by its address, in files of linkers that
// say how many there are, and of others. A relocation with a symbol is no such word.
func TestRelative(t *testing.T) {
	for _, c := range []struct {
		class  int
		big    bool
		counts bool
		words  []uint64
	}{
		{64, false, true, []uint64{0x3000, 0x3008, 0x3010, 0x4000, 0x9000}},
		{64, true, false, []uint64{0x3000, 0x3008, 0x3010, 0x4000, 0x9000}},
		{32, true, true, []uint64{0x3000, 0x3004, 0x3008}},
		{32, false, false, []uint64{0x9000, 0x3000, 0x4000, 0x3004}}, // not sorted
	} {
		t.Run(fmt.Sprintf("%+v", c), func(t *testing.T) {
			f := &elftest.File{Class: c.class, Big: c.big, Machine: 62, Type: TypeDyn}
			if c.class == 32 {
				f.Machine = 20 // PowerPC
			}
			var relas []elftest.Reloc
			for i, at := range c.words {
				relas = append(relas, elftest.Reloc{Off: at, Type: 8, Addend: int64(0x1000 + i)})
			}
			data := f.RelocBytes(true, append(relas, elftest.Reloc{Off: 0x2000, Sym: 1, Type: 6}))
			dyn := []uint64{dynRela, 0x1000, dynRelaSize, uint64(len(data))}
			if c.counts {
				dyn = append(dyn, dynRelaCount, uint64(len(c.words)))
			}
			f.Add(elftest.Section{Name: ".rela.dyn", Type: 4, Flags: 2, Address: 0x1000, Data: data}).
				Add(elftest.Section{Name: ".dynstr", Type: 3, Flags: 2, Address: 0x1700, Data: []byte{0}}).Dynamic(0x1800, dyn...)
			f.Segments = []elftest.Segment{{Type: 1, Flags: 6, First: ".rela.dyn"}}
			r := open(t, f.Bytes()).Relative()
			if r == nil {
				t.Fatal("no words")
			}
			all := map[uint64]uint64{}
			r.Each(func(at, value uint64) error { all[at] = value; return nil })
			if len(all) != len(c.words) {
				t.Errorf("%d words", len(all))
			}
			for i, at := range c.words {
				if v, ok, err := r.At(at); v != uint64(0x1000+i) || !ok || err != nil || all[at] != v {
					t.Errorf("0x%x: 0x%x %v (%v), in all 0x%x", at, v, ok, err, all[at])
				}
			}
			for _, at := range []uint64{0, 0x2000, 0x2fff, 0x3001, 0x9008} {
				if v, ok, err := r.At(at); ok || err != nil {
					t.Errorf("0x%x: 0x%x (%v)", at, v, err)
				}
			}
		})
	}
}
