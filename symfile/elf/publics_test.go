package elf

import (
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// named makes a file with symbols in two sections of code.
func named(t *testing.T, symbols ...elftest.Sym) *Publics {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: text(0x100), Align: 16})
	f.Add(elftest.Section{Name: ".text.more", Type: 1, Flags: 6, Address: 0x2000, Data: text(0x20), Align: 16})
	for i := range symbols {
		if s := &symbols[i]; s.Section == "" {
			s.Section = ".text"
		}
	}
	f.Symbols(".symtab", symbols)
	p, err := open(t, f.Bytes()).Publics()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestNameOfAnAddress: of several symbols at one address a function with a size names it, not the
// label, the alias without a size, or the resolver's public name.
func TestNameOfAnAddress(t *testing.T) {
	p := named(t,
		elftest.Sym{Name: "label", Bind: 1, Value: 0x1000}, elftest.Sym{Name: "sized", Type: 2, Value: 0x1000, Size: 8},
		elftest.Sym{Name: "old", Type: 2, Bind: 1, Value: 0x1000},
		elftest.Sym{Name: "memcpy", Type: 10, Bind: 1, Value: 0x1010, Size: 8}, elftest.Sym{Name: "resolve", Type: 2, Value: 0x1010, Size: 8},
		elftest.Sym{Name: "weak", Type: 2, Bind: 2, Value: 0x1020, Size: 8}, elftest.Sym{Name: "global", Type: 2, Bind: 1, Value: 0x1020, Size: 8},
		elftest.Sym{Name: "alone", Type: 10, Bind: 1, Value: 0x1030, Size: 8})
	for rva, want := range map[uint64]string{0x1000: "sized", 0x1010: "resolve", 0x1020: "global weak", 0x1030: "alone", 0x1001: ""} {
		if got := strings.Join(p.Names(rva), " "); got != want {
			t.Errorf("%#x: %q, want %q", rva, got, want)
		}
	}
}

// TestPiece: each address has the name of the smallest function around it.
func TestPiece(t *testing.T) {
	p := named(t,
		elftest.Sym{Name: "outer", Type: 2, Bind: 1, Value: 0x1010, Size: 0x40},
		elftest.Sym{Name: "inner", Type: 2, Value: 0x1020, Size: 8},
		elftest.Sym{Name: "dropped", Value: 0x1030}, // a label without a size inside a function
		elftest.Sym{Name: "label", Bind: 1, Value: 0x1060},
		elftest.Sym{Name: "next", Bind: 1, Value: 0x1080},
		elftest.Sym{Name: "more", Type: 2, Bind: 1, Value: 0x2000, Size: 8, Section: ".text.more"})
	want := `- 1000-1010
outer 1010-1020
inner 1020-1028
outer 1028-1050
- 1050-1060
label 1060-1080
next 1080-1100
- 1100-2000
more 2000-2008
- 2008-ffffffffffffffff
`
	got := ""
	for at := uint64(0x1000); at != ^uint64(0); {
		n, start, end := p.Piece(at)
		name := "-"
		if n >= 0 {
			name = p.At(n).Name
		}
		got += fmt.Sprintf("%s %x-%x\n", name, start, end)
		for _, rva := range []uint64{start, end - 1} {
			if s, ok := p.Lookup(rva); ok != (n >= 0) || ok && s.Name != name {
				t.Errorf("%#x: %q, %v, in the piece of %s", rva, s.Name, ok, name)
			}
		}
		if end <= at {
			t.Fatalf("%#x: a piece that ends at %#x", at, end)
		}
		at = end
	}
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
