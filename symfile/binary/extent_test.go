package binary_test

import (
	"encoding/binary"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	bin "github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestExtents: an exported name without a size counts where an FDE shows that its function is there.
//
//	0x1000 f     no size   FDE [0x1000, 0x1020)
//	0x1030 g     no size   FDE [0x1030, 0x1080) has it and …
//	0x1040 h     no size   … this label
//	0x1090 sized 0x10      no FDE
//	                       FDE [0x10c0, 0x10d0) of a function without a name
func TestExtents(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: make([]byte, 0x100), Align: 0x1000})
	f.Add(elftest.Section{Name: ".eh_frame", Type: 1, Flags: 2, Address: 0x2000, Align: 0x1000,
		Data: ehFrame(0x2000, [2]uint32{0x1000, 0x20}, [2]uint32{0x1030, 0x50}, [2]uint32{0x10c0, 0x10})})
	f.Symbols(".dynsym", []elftest.Sym{
		{Name: "f", Value: 0x1000, Type: 2, Bind: 1, Section: ".text"}, {Name: "g", Value: 0x1030, Type: 2, Bind: 1, Section: ".text"},
		{Name: "h", Value: 0x1040, Type: 2, Bind: 1, Section: ".text"}, {Name: "sized", Value: 0x1090, Size: 0x10, Type: 2, Bind: 1, Section: ".text"}})
	f.Segments = []elftest.Segment{{Type: 1, Flags: 5, First: ".text", Last: ".eh_frame", Address: 0x1000, Align: 0x1000}}
	b, err := bin.Open(input.FromBytes("lib.so", f.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		address uint64
		name    string
		extent  symbol.Extent
	}{
		{0x1000, "f", symbol.Covers},
		{0x101f, "f", symbol.Covers},
		{0x1020, "f", symbol.Passed},
		{0x1030, "g", symbol.Covers},
		{0x103f, "g", symbol.Covers},
		{0x1040, "h", symbol.Covers},
		{0x1041, "h", symbol.Nearest},
		{0x1080, "h", symbol.Passed},
		{0x109f, "sized", symbol.Covers},
		{0x10a0, "", symbol.Covers},
	} {
		s, _, err := b.Lookup(c.address - b.Base())
		if err != nil || s.Name != c.name || s.Extent != c.extent {
			t.Errorf("0x%x: %q, extent %d, %v", c.address, s.Name, s.Extent, err)
		}
	}
	for address, want := range map[uint64]symbol.Range{0x1010: {Start: 0x1000, Size: 0x20}, 0x1020: {}, 0x1041: {Start: 0x1030, Size: 0x50}, 0x10cf: {Start: 0x10c0, Size: 0x10}, 0x10d0: {}} {
		code, ok, err := b.Function(address - b.Base())
		if want.Size > 0 {
			want.Start -= b.Base()
		}
		if err != nil || code != want || ok != (want.Size > 0) {
			t.Errorf("0x%x: function %x, %v, %v", address, code, ok, err)
		}
	}
}

// TestSegments: a file says where in memory and where in itself its parts are.
func TestSegments(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".rodata", Type: 1, Flags: 2, Address: 0x400000, Data: make([]byte, 0x80), Align: 0x1000})
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x409000, Data: make([]byte, 0x100), Align: 0x1000})
	f.Segments = []elftest.Segment{{Type: 1, Flags: 4, First: ".rodata", Last: ".rodata", Address: 0x400000, Align: 0x1000},
		{Type: 1, Flags: 5, First: ".text", Last: ".text", Address: 0x409000, Align: 0x1000}}
	b, err := bin.Open(input.FromBytes("lib.so", f.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	got := b.Identity().Segments
	if len(got) != 2 || got[0].Start != 0 || got[0].Exec || got[1].Start != 0x9000 || got[1].Size != 0x100 || got[1].FileSize != 0x100 || !got[1].Exec ||
		got[1].Offset == 0 || got[1].Offset%0x1000 != 0 || got[1].Offset == got[1].Start {
		t.Errorf("%+v", got)
	}
}

// TestSections: a file says what a program may do with its parts; the loader makes the read-only
// part of the data so.
func TestSections(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".rodata", Type: 1, Flags: 2, Address: 0x400000, Data: make([]byte, 0x80), Align: 0x1000})
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x409000, Data: make([]byte, 0x100), Align: 0x1000})
	f.Add(elftest.Section{Name: ".got", Type: 1, Flags: 3, Address: 0x40a000, Data: make([]byte, 0x10), Align: 0x1000})
	f.Add(elftest.Section{Name: ".data", Type: 1, Flags: 3, Address: 0x40b000, Data: make([]byte, 0x10), Align: 0x1000})
	f.Add(elftest.Section{Name: ".comment", Type: 1, Data: make([]byte, 0x10)})
	f.Segments = []elftest.Segment{{Type: 1, Flags: 4, First: ".rodata", Last: ".rodata", Address: 0x400000, Align: 0x1000},
		{Type: 0x6474e552, Flags: 4, First: ".got", Last: ".got", Address: 0x40a000, Align: 1}}
	b, err := bin.Open(input.FromBytes("lib.so", f.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	have := ""
	for _, s := range b.Identity().Sections {
		have += fmt.Sprintf("%s %x+%x %v %v\n", s.Name, s.Start, s.Size, s.Write, s.Exec)
	}
	if want := ".rodata 0+80 false false\n.text 9000+100 false true\n.got a000+10 false false\n.data b000+10 true false\n"; have != want {
		t.Errorf("have\n%swant\n%s", have, want)
	}
	dll, err := os.ReadFile("../pe/testdata/x64.dll")
	if err != nil {
		t.Fatal(err)
	}
	if b, err = bin.Open(input.FromBytes("x64.dll", dll)); err != nil {
		t.Fatal(err)
	}
	have = ""
	for _, s := range b.Identity().Sections {
		have += fmt.Sprintf("%s %v %v\n", s.Name, s.Write, s.Exec)
	}
	if !strings.Contains(have, ".text false true\n") || !strings.Contains(have, ".rdata false false\n") {
		t.Errorf("have\n%s", have)
	}
}

// ehFrame makes an .eh_frame section at an address: a CIE of amd64 and an FDE for each start and
// size ("The .eh_frame section" of the Linux Standard Base).
func ehFrame(address uint32, functions ...[2]uint32) []byte {
	le := binary.LittleEndian
	// length, id 0, version 1, "zR", factors 1 and -8, return address 16, encoding pcrel|sdata4,
	// DW_CFA_def_cfa rsp+8, DW_CFA_offset 16 at cfa-8.
	out := []byte{20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0}
	for _, fn := range functions {
		at := uint32(len(out))
		out = le.AppendUint32(out, 16)
		out = le.AppendUint32(out, at+4) // back to the CIE
		out = le.AppendUint32(out, fn[0]-(address+at+8))
		out = le.AppendUint32(out, fn[1])
		out = append(out, 0, 0, 0, 0)
	}
	return append(out, 0, 0, 0, 0)
}

// TestChainedParts: the parts of a function with chained unwind information are one function where
// they follow each other (x64 exception handling, "Chained unwind info structures"). A part that is
// apart from the others is not the code between them.
//
//	0x1000 f, its first part | 0x1010 f | 0x1018 f | 0x1020 g | 0x1030 f, apart | 0x1040 h, from elsewhere
func TestChainedParts(t *testing.T) {
	b, err := os.ReadFile("../pe/testdata/x64.dll")
	if err != nil {
		t.Fatal(err)
	}
	const rdata, pdata = 0x800, 0xa00 // in the file; .rdata is at RVA 0x2000
	const own, chained = 0x2000, 0x2010
	le := binary.LittleEndian
	words := func(at int, ws ...uint32) {
		for i, w := range ws {
			le.PutUint32(b[at+4*i:], w)
		}
	}
	words(rdata, 1)                                       // version 1, no codes
	words(rdata+chained-own, 1|4<<3, 0x1000, 0x1010, own) // UNW_FLAG_CHAININFO
	words(rdata+0x20, 1|4<<3, 0x1048, 0x1050, own)        // of a function that begins at 0x1048
	words(pdata, 0x1000, 0x1010, own, 0x1010, 0x1018, chained, 0x1018, 0x1020, chained, 0x1020, 0x1030, own, 0x1030, 0x1040, chained,
		0x1040, 0x1048, 0x2020, 0x1048, 0x1050, own)
	for at := pdata + 7*12; at < pdata+144; at += 4 {
		le.PutUint32(b[at:], 0x1050)
	}
	f, err := bin.Open(input.FromBytes("x64.dll", b))
	if err != nil {
		t.Fatal(err)
	}
	whole := symbol.Range{Start: 0x1000, Size: 0x20}
	for rva, want := range map[uint64]symbol.Range{0x1000: whole, 0x100f: whole, 0x1010: whole, 0x101f: whole, 0x1020: {Start: 0x1020, Size: 0x10}, 0x1030: {}, 0x1044: {}, 0x1048: {Start: 0x1048, Size: 8}} {
		if code, ok, err := f.Function(rva); err != nil || code != want || ok != (want.Size > 0) {
			t.Errorf("0x%x: function %x, %v, %v", rva, code, ok, err)
		}
	}
}

// TestNamesEndInSym: the symbol file of a stripped library has as many names as the library. After
// a sized name there is code without a name, which the unwind rules do not show on every processor.
// (Of an ARM library they do not where its table says that nothing can be unwound.)
//
//	0x2000 first, size 0x10
//	0x2010 code without a name, with rules in one of two files
//	0x2080 padded, size 0x18; eight bytes of padding
//	0x20a0 last, size 0x20
func TestNamesEndInSym(t *testing.T) {
	for _, rules := range []bool{false, true} {
		f := &elftest.File{Class: 64, Machine: 62, Type: 3}
		f.Add(elftest.Section{Name: ".rodata", Type: 1, Flags: 2, Address: 0x1000, Data: make([]byte, 16), Align: 0x1000})
		f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x2000, Data: make([]byte, 0xc0), Align: 0x1000})
		fdes := [][2]uint32{{0x2000, 0x10}}
		if rules {
			fdes = append(fdes, [2]uint32{0x2010, 0x70})
		}
		f.Add(elftest.Section{Name: ".eh_frame", Type: 1, Flags: 2, Address: 0x3000, Align: 0x1000, Data: ehFrame(0x3000, fdes...)})
		f.Symbols(".dynsym", []elftest.Sym{{Name: "first", Value: 0x2000, Size: 0x10, Type: 2, Bind: 1, Section: ".text"},
			{Name: "padded", Value: 0x2080, Size: 0x18, Type: 2, Bind: 1, Section: ".text"}, {Name: "last", Value: 0x20a0, Size: 0x20, Type: 2, Bind: 1, Section: ".text"}})
		f.Segments = []elftest.Segment{{Type: 1, Flags: 5, First: ".rodata", Last: ".eh_frame", Address: 0x1000, Align: 0x1000}}
		b, err := bin.Open(input.FromBytes("lib.so", f.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		var text strings.Builder
		if _, err := b.WriteSym(&text, bin.SymOptions{}); err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(text.String(), "PUBLIC 1000 0 first\nPUBLIC 1010 0 <unknown in lib.so>\n"); got == rules || strings.Count(text.String(), "<unknown") > 1 {
			t.Errorf("with rules %v:\n%s", rules, text.String())
		}
	}
}
