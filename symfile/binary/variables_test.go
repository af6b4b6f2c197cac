package binary_test

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	files "github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// TestVariables: variables by name, what the file has where they are, and pointers as the loader writes
// them. A library has those in its relocations, a program at a fixed address in its bytes.
func TestVariables(t *testing.T) {
	for _, c := range []struct {
		name    string
		kind    uint16 // of the ELF file
		base    uint64
		pointer string // at 0x2000, 0x2008, 0x2010
	}{
		{"library", 3, 0, "1234 - -"},
		{"program", 2, 0x400000, "1234 - 3100"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &elftest.File{Class: 64, Machine: 62, Type: c.kind}
			data := make([]byte, 0x18)
			if c.base != 0 {
				f.Word(data[:0], c.base+0x1234)
				f.Word(data[:16], c.base+0x3100)
			}
			f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: c.base + 0x1000, Data: make([]byte, 0x100)}).
				Add(elftest.Section{Name: ".data", Type: 1, Flags: 3, Address: c.base + 0x2000, Data: data}).
				Add(elftest.Section{Name: ".bss", Type: 8, Flags: 3, Address: c.base + 0x3000, NoBits: 0x100})
			f.Symbols(".dynsym", []elftest.Sym{{Name: "exported", Value: c.base + 0x2008, Size: 8, Type: 1, Bind: 1, Section: ".data"}, {Name: "elsewhere", Type: 1, Bind: 1},
				{Name: "function", Value: c.base + 0x1000, Type: 2, Bind: 1, Section: ".text"}})
			f.Symbols(".symtab", []elftest.Sym{{Name: "internal", Value: c.base + 0x3010, Size: 8, Type: 1, Section: ".bss"}})
			if c.base == 0 {
				relas := f.RelocBytes(true, []elftest.Reloc{{Off: 0x2000, Type: 8, Addend: 0x1234}, {Off: 0x2008, Sym: 2, Type: 1}})
				f.Add(elftest.Section{Name: ".rela.dyn", Type: 4, Flags: 2, Address: 0x4000, Data: relas}).Dynamic(0x5000, 7, 0x4000, 8, uint64(len(relas)))
			}
			f.Segments = []elftest.Segment{{Type: 1, Flags: 5, First: ".text", Address: c.base + 0x1000, Align: 0x1000}, {Type: 1, Flags: 6, First: ".data", Last: ".bss", Address: c.base + 0x2000, Align: 0x1000},
				{Type: 1, Flags: 4, First: ".rela.dyn", Address: 0x4000}}[:3-min(1, c.base)]
			b, err := files.Open(input.FromBytes("x", f.Bytes()))
			if err != nil {
				t.Fatal(err)
			}
			base := b.Base() - c.base // of RVA 0
			all := b.Variables([]string{"exported", "internal", "elsewhere", "function"})
			if len(all) != 2 || all["exported"]+base != 0x2008 || all["internal"]+base != 0x3010 {
				t.Errorf("%x, base 0x%x", all, base)
			}
			var word [8]byte
			if n := b.Initial(0x2000-base, word[:]); n != 8 {
				t.Errorf("%d bytes of data", n)
			}
			if n := b.Initial(0x3000-base, word[:]); n != 0 || b.Code(0x2000-base, word[:]) != 0 {
				t.Errorf("%d bytes of .bss, or data is read-only", n)
			}
			have := ""
			for _, at := range []uint64{0x2000, 0x2008, 0x2010} {
				v, ok := b.Pointer(at - base)
				if have += " "; ok {
					have += fmt.Sprintf("%x", v+base)
				} else {
					have += "-"
				}
			}
			if have[1:] != c.pointer {
				t.Errorf("pointers%s, want %s", have, c.pointer)
			}
		})
	}
}
