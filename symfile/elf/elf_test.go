package elf

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

func open(t testing.TB, data []byte) *File {
	t.Helper()
	f, err := Open(input.FromBytes("test.elf", data))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func content(t testing.TB, f *File, name string) []byte {
	t.Helper()
	s := f.Section(name)
	if s == nil {
		t.Fatalf("no section %s", name)
	}
	d, err := f.Data(s)
	if err != nil {
		t.Fatal(err)
	}
	b, err := d.Bytes(0, d.Size)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// forms are the four forms of the container.
func forms(t *testing.T, fn func(t *testing.T, class int, big bool)) {
	for _, class := range []int{32, 64} {
		for _, big := range []bool{false, true} {
			t.Run(fmt.Sprintf("%d-bit,big=%v", class, big), func(t *testing.T) { fn(t, class, big) })
		}
	}
}

func text(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i*7 + 3)
	}
	return b
}

// program is an executable with all that has a name here.
func program(class int, big bool) *elftest.File {
	f := &elftest.File{Class: class, Big: big, Machine: 62, Type: 3, Entry: 0x1010}
	if class == 32 {
		f.Machine = 3
	}
	if big {
		f.Machine = 21
		if class == 32 {
			f.Machine = 20
		}
	}
	id := []byte{0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	f.Add(elftest.Section{Name: ".interp", Type: 1, Flags: 2, Address: 0x200, Data: []byte("/lib/ld.so\x00"), Align: 1})
	f.BuildID(id)
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: text(0x100), Align: 16})
	f.Add(elftest.Section{Name: ".data", Type: 1, Flags: 3, Address: 0x3000, Data: text(0x40), Align: 16})
	f.Add(elftest.Section{Name: ".bss", Type: 8, Flags: 3, Address: 0x3040, NoBits: 0x1000, Align: 16})
	f.Add(elftest.Section{Name: ".debug_info", Type: 1, Data: bytes.Repeat([]byte("information "), 1000), Align: 1, Compress: "zlib"})
	f.Add(elftest.Section{Name: ".debug_line", Type: 1, Data: bytes.Repeat([]byte("line "), 1000), Align: 1, Compress: "zstd"})
	f.Add(elftest.Section{Name: ".zdebug_str", Type: 1, Data: bytes.Repeat([]byte("str "), 1000), Align: 1, Compress: "gnu"})
	f.Add(elftest.Section{Name: ".zdebug_abbrev", Type: 1, Data: []byte("plain"), Align: 1})
	link := append([]byte("prog.debug\x00\x00"), 0, 0, 0, 0)
	f.Order().PutUint32(link[12:], 0x12345678)
	f.Add(elftest.Section{Name: ".gnu_debuglink", Type: 1, Data: link, Align: 4})
	f.Add(elftest.Section{Name: ".gnu_debugaltlink", Type: 1, Data: append([]byte("../.dwz/x\x00"), 9, 8, 7), Align: 1})
	f.Symbols(".symtab", []elftest.Sym{
		{Name: "file.c", Type: 4, Section: "*ABS*"},
		{Name: "main", Type: 2, Bind: 1, Value: 0x1010, Size: 0x20, Section: ".text"},
		{Name: "helper", Type: 2, Bind: 0, Value: 0x1040, Size: 0x10, Section: ".text"},
		{Name: "variable", Type: 1, Bind: 1, Value: 0x3000, Size: 8, Section: ".data"},
		{Name: "label", Type: 0, Bind: 1, Value: 0x1060, Section: ".text"},
		{Name: "inner", Type: 0, Bind: 0, Value: 0x1018, Section: ".text"},
		{Name: "chosen", Type: 10, Bind: 1, Value: 0x1080, Size: 8, Section: ".text"},
		{Name: "alias", Type: 2, Bind: 2, Value: 0x1010, Size: 0x20, Section: ".text"},
		{Name: "outside", Type: 2, Bind: 1},
	})
	f.Segments = []elftest.Segment{
		{Type: 3, First: ".interp"},
		{Type: 1, Flags: 5, First: ".interp", Last: ".text", Align: 0x1000},
		{Type: 1, Flags: 6, First: ".data", Last: ".bss", Align: 0x1000},
		{Type: 4, First: ".note.gnu.build-id"},
	}
	return f
}

// TestContainer reads one program in all four forms.
func TestContainer(t *testing.T) {
	forms(t, func(t *testing.T, class int, big bool) {
		f := open(t, program(class, big).Bytes())
		if f.Class != class || (f.Order == binary.BigEndian) != big || f.Entry != 0x1010 || f.Base != 0 || f.Interp != "/lib/ld.so" {
			t.Errorf("class %d, order %v, entry %#x, base %#x, interpreter %q", f.Class, f.Order, f.Entry, f.Base, f.Interp)
		}
		want := map[bool]map[int]string{false: {32: "x86", 64: "amd64"}, true: {32: "ppc", 64: "ppc64"}}[big][class]
		if f.Arch == nil || f.Arch.Name != want {
			t.Errorf("processor %v, want %s", f.Arch, want)
		}
		if len(f.Warnings()) != 0 {
			t.Errorf("warnings: %q", f.Warnings())
		}
		if id := f.DebugID(); id != "DDCCBBAAFFEE0201030405060708090A0" {
			t.Errorf("debug id %s", id)
		}
		if id := f.CodeID(); id != "aabbccddeeff0102030405060708090a0b0c0d0e" {
			t.Errorf("code id %s", id)
		}
		for name, data := range map[string]string{".debug_info": strings.Repeat("information ", 1000), ".debug_line": strings.Repeat("line ", 1000),
			".debug_str": strings.Repeat("str ", 1000), ".debug_abbrev": "plain", ".text": string(text(0x100))} {
			if got := string(content(t, f, name)); got != data {
				t.Errorf("%s: %d bytes, want %d", name, len(got), len(data))
			}
		}
		if f.Section(".bss") != nil {
			t.Error(".bss has content")
		}
		if b, err := f.At(0x1011, 4); err != nil || !bytes.Equal(b, text(0x100)[0x11:0x15]) {
			t.Errorf("bytes at 0x1011: % x, %v", b, err)
		}
		if b, err := f.At(0x3050, 4); err == nil {
			t.Errorf(".bss has bytes: % x", b)
		}
		if name, crc, ok := f.DebugLink(); name != "prog.debug" || crc != 0x12345678 || !ok {
			t.Errorf("debug link %q %#x %v", name, crc, ok)
		}
		if name, id, ok := f.AltLink(); name != "../.dwz/x" || !bytes.Equal(id, []byte{9, 8, 7}) || !ok {
			t.Errorf("alternate link %q % x %v", name, id, ok)
		}
		n := 0
		f.Symbols(func(s Sym) error {
			n++
			if s.Name == "helper" && (s.Value != 0x1040 || s.Size != 0x10 || s.Type != SymFunc || s.Bind != BindLocal || !s.Defined()) {
				t.Errorf("helper: %+v", s)
			}
			if s.Name == "outside" && s.Defined() {
				t.Errorf("outside: %+v", s)
			}
			return nil
		})
		if n != 9 {
			t.Errorf("%d symbols", n)
		}
		if crc, err := CRC(input.FromBytes("check", []byte("123456789"))); crc != 0xcbf43926 || err != nil {
			t.Errorf("CRC %#x, %v", crc, err)
		}
	})
}

// TestPublics: what a user sees as the name of an address.
func TestPublics(t *testing.T) {
	forms(t, func(t *testing.T, class int, big bool) {
		f := open(t, program(class, big).Bytes())
		p, err := f.Publics()
		if err != nil {
			t.Fatal(err)
		}
		for rva, want := range map[uint64]string{0xfff: "", 0x1000: "", 0x1010: "main 1010+20", 0x101f: "main 1010+20", 0x102f: "main 1010+20", 0x1030: "",
			0x1040: "helper 1040+10", 0x104f: "helper 1040+10", 0x1050: "", 0x1060: "label 1060+0", 0x107f: "label 1060+0", 0x1080: "chosen 1080+8",
			0x1088: ""} {
			got := ""
			if s, ok := p.Lookup(rva); ok {
				got = fmt.Sprintf("%s %x+%x", s.Name, s.Start, s.Size)
			}
			if got != want {
				t.Errorf("%#x: %q, want %q", rva, got, want)
			}
		}
		if p.Len() != 4 {
			t.Errorf("%d names, want 4", p.Len())
		}
	})
}

// TestBase: an address in a module counts from where the loader maps its first page.
func TestBase(t *testing.T) {
	for _, c := range []struct{ first, second, want uint64 }{{0x400000, 0x600000, 0x400000}, {0x400040, 0x600000, 0x400000}, {0x600000, 0x10000, 0x10000},
		{0, 0x1000, 0}, {0x8040, 0x10000, 0x8000}} {
		f := &elftest.File{Class: 64, Machine: 62, Type: 2, Segments: []elftest.Segment{
			{Type: 1, Address: c.first, Align: 0x1000}, {Type: 1, Address: c.second, Align: 0x1000}}}
		if got := open(t, f.Bytes()).Base; got != c.want {
			t.Errorf("%#x and %#x: base %#x, want %#x", c.first, c.second, got, c.want)
		}
	}
}

// xorID is the debug id of some bytes: their groups of 16, combined by exclusive or, as a GUID
// whose first three numbers turn around.
func xorID(data []byte) string {
	var x [16]byte
	for i, b := range data {
		x[i%16] ^= b
	}
	return fmt.Sprintf("%02X%02X%02X%02X%02X%02X%02X%02X%X0", x[3], x[2], x[1], x[0], x[5], x[4], x[7], x[6], x[8:])
}

// TestOtherIDs: what writers that find no build id make of the code. Which section, and how its
// last group of 16 bytes ends, is each writer's own. These ids are there also with a build id. A
// build id of zeros does not count, and zeros are not an id.
func TestOtherIDs(t *testing.T) {
	code := make([]byte, 5000)
	for i, x := 0, uint32(1); i < len(code); i++ { // no pattern, since patterns cancel out
		x = x*1664525 + 1013904223
		code[i] = byte(x >> 24)
	}
	short, stub := code[:100], code[1000:1027]
	buildID := []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20}
	const ofBuildID = "0403020106050807090A0B0C0D0E0F100"
	sec := func(name string, flags uint64, data []byte) elftest.Section {
		return elftest.Section{Name: name, Type: 1, Flags: flags, Address: 0x1000, Data: data, Align: 16}
	}
	beyond := func(data, next []byte) string { return xorID(append(slices.Clone(data), next[:-len(data)&15]...)) }
	zeros := make([]byte, 16)
	for _, c := range []struct {
		name    string
		add     []elftest.Section
		buildID []byte
		debugID string
		want    []string
	}{
		{"a page and more", []elftest.Section{sec(".text", 6, code)}, nil, xorID(code[:4096]), []string{xorID(code[:4096])}},
		{"with a build id", []elftest.Section{sec(".text", 6, code)}, buildID, ofBuildID, []string{xorID(code[:4096])}},
		{"with a short build id", []elftest.Section{sec(".text", 6, code)}, buildID[:8], "040302010605080700000000000000000", []string{xorID(code[:4096])}},
		{"with a build id of zeros", []elftest.Section{sec(".text", 6, code)}, make([]byte, 20), xorID(code[:4096]), []string{xorID(code[:4096])}},
		{"less than a page", []elftest.Section{sec(".text", 6, short), sec(".data", 3, code)}, nil, beyond(short, zeros), []string{xorID(short)}},
		{".init before .text", []elftest.Section{sec(".init", 6, stub), sec(".text", 6, code)}, nil, xorID(code[:4096]),
			[]string{xorID(code[:4096]), xorID(stub)}},
		{"code that is not called .text", []elftest.Section{sec(".rodata", 2, short), sec("main", 6, code)}, nil, xorID(code[:4096]), []string{xorID(code[:4096])}},
		{"text without a dot", []elftest.Section{sec(".init", 6, stub), sec("text", 6, code)}, nil, xorID(code[:4096]), []string{xorID(code[:4096]), xorID(stub)}},
		{"no code", []elftest.Section{sec(".rodata", 2, short)}, nil, "", nil},
		{"zeros", []elftest.Section{sec(".text", 6, make([]byte, 64))}, nil, "", nil},
	} {
		for _, big := range []bool{false, true} {
			f := &elftest.File{Class: 64, Machine: 62, Type: 2, Big: big}
			for _, s := range c.add {
				f.Add(s)
			}
			if c.buildID != nil {
				f.BuildID(c.buildID)
			}
			e := open(t, f.Bytes())
			if e.DebugID() != c.debugID || !slices.Equal(e.OtherIDs, c.want) {
				t.Errorf("%s, big %v: %s and %q, want %s and %q", c.name, big, e.DebugID(), e.OtherIDs, c.debugID, c.want)
			}
		}
	}

	// Breakpad reads the last group to its end, beyond that of the section.
	f := &elftest.File{Class: 64, Machine: 62, Type: 2}
	f.Add(sec(".text", 6, short)).Add(elftest.Section{Name: ".data", Type: 1, Flags: 3, Address: 0x2000, Data: code, Align: 1})
	if e := open(t, f.Bytes()); !slices.Equal(e.OtherIDs, []string{beyond(short, code), xorID(short)}) || e.DebugID() != e.OtherIDs[0] {
		t.Errorf("%q, want %s and %s", e.OtherIDs, beyond(short, code), xorID(short))
	}

	// A debug file has no code to hash.
	f = &elftest.File{Class: 64, Machine: 62, Type: 2}
	f.Add(elftest.Section{Name: ".text", Type: 8, Flags: 6, Address: 0x1000, NoBits: 5000, Align: 16})
	if e := open(t, f.Bytes()); e.DebugID() != "" || e.OtherIDs != nil {
		t.Errorf("a debug file without code has the ids %q", e.OtherIDs)
	}
}

// TestLayout: the sections of an object file have addresses that do not overlap, and relocations
// mean them.
func TestLayout(t *testing.T) {
	forms(t, func(t *testing.T, class int, big bool) {
		f := &elftest.File{Class: class, Big: big, Machine: 62, Type: 1}
		abs, pc := uint32(10), uint32(2)
		if class == 32 {
			f.Machine, abs = 3, 1
		}
		if big {
			f.Machine, abs, pc = 20, 1, 26
			if class == 64 {
				f.Machine = 21
			}
		}
		f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Data: text(0x21), Align: 16})
		f.Add(elftest.Section{Name: ".text.other", Type: 1, Flags: 6, Data: text(0x10), Align: 16})
		f.Add(elftest.Section{Name: ".debug_info", Type: 1, Data: make([]byte, 16), Align: 1, Compress: "zlib"})
		f.Add(elftest.Section{Name: ".eh_frame", Type: 1, Flags: 2, Data: make([]byte, 16), Align: 8})
		f.Symbols(".symtab", []elftest.Sym{{Type: 3, Section: ".text.other"}, {Name: "fn", Type: 2, Bind: 1, Value: 4, Size: 8, Section: ".text.other"},
			{Name: "elsewhere", Bind: 1}})
		relocs := []elftest.Reloc{{Off: 0, Sym: 1, Type: abs, Addend: 5}, {Off: 4, Sym: 2, Type: abs}, {Off: 8, Sym: 2, Type: pc, Addend: -4},
			{Off: 12, Sym: 3, Type: abs, Addend: 7}, {Off: 14, Sym: 2, Type: abs}, {Off: 1 << 31, Sym: 2, Type: abs}, {Off: 0, Sym: 2, Type: 250}}
		f.Relocs(".debug_info", ".symtab", true, relocs)
		f.Relocs(".eh_frame", ".symtab", true, relocs[:4])
		e := open(t, f.Bytes())
		if a := e.Section(".text.other").Address; a != 0x30 {
			t.Errorf(".text.other at %#x, want 0x30", a)
		}
		at := func(b []byte, i int) uint32 { return f.Order().Uint32(b[i:]) }
		info, frame := content(t, e, ".debug_info"), content(t, e, ".eh_frame")
		place := uint32(e.Section(".eh_frame").Address)
		for i, want := range []uint32{0x35, 0x34, 0x34 - 4 - 8, 7} {
			if got := at(info, 4*i); got != want {
				t.Errorf(".debug_info %d: %#x, want %#x", i, got, want)
			}
			if i == 2 {
				want -= place
			}
			if got := at(frame, 4*i); got != want {
				t.Errorf(".eh_frame %d: %#x, want %#x", i, got, want)
			}
		}
		if w := strings.Join(e.Warnings(), "\n"); !strings.Contains(w, "type 250") || !strings.Contains(w, "0x80000000") {
			t.Errorf("warnings: %s", w)
		}
		p, err := e.Publics()
		if s, ok := p.Lookup(0x36); err != nil || !ok || s.Name != "fn" || s.Start != 0x34 {
			t.Errorf("fn: %+v, %v", s, err)
		}
	})
}

// TestDifferences: relocations that add to and take from what is there, in pairs, say distances in
// code that the linker may still shorten (RISC-V psABI and LoongArch ABI, "Relocation types").
func TestDifferences(t *testing.T) {
	for _, c := range []struct {
		name    string
		machine uint16
		types   [4][2]uint32 // of a word, a byte, the low 6 bits, a ULEB128
	}{
		{"riscv", 243, [4][2]uint32{{35, 39}, {33, 37}, {53, 52}, {60, 61}}},
		{"loongarch", 258, [4][2]uint32{{50, 55}, {47, 52}, {105, 106}, {107, 108}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := &elftest.File{Class: 64, Machine: c.machine, Type: 1}
			f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Data: text(0x400), Align: 16})
			f.Add(elftest.Section{Name: ".debug_line", Type: 1, Data: []byte{0, 0, 0, 0, 0, 0xc0, 0x80, 0, 0xee}, Align: 1})
			f.Symbols(".symtab", []elftest.Sym{{Type: 3, Section: ".text"}})
			var relocs []elftest.Reloc
			for i, at := range []uint64{0, 4, 5, 6} {
				relocs = append(relocs, elftest.Reloc{Off: at, Sym: 1, Type: c.types[i][0], Addend: 0x120}, elftest.Reloc{Off: at, Sym: 1, Type: c.types[i][1], Addend: 0x100})
			}
			f.Relocs(".debug_line", ".symtab", true, relocs)
			e := open(t, f.Bytes())
			if got, want := content(t, e, ".debug_line"), []byte{0x20, 0, 0, 0, 0x20, 0xc0 | 0x20, 0xa0, 0, 0xee}; !bytes.Equal(got, want) || len(e.Warnings()) > 0 {
				t.Errorf("% x, want % x; %q", got, want, e.Warnings())
			}
		})
	}
}

// TestInflateBounds: a header that claims much makes no memory.
func TestInflateBounds(t *testing.T) {
	f := &elftest.File{Class: 64, Machine: 62, Type: 2}
	for i, claim := range []uint64{1 << 62, 1 << 29, 10} {
		for _, kind := range []uint32{1, 2, 9} {
			head := make([]byte, 24)
			binary.LittleEndian.PutUint32(head, kind)
			binary.LittleEndian.PutUint64(head[8:], claim)
			packed := elftest.Zlib([]byte("small"))
			if kind == 2 {
				packed = elftest.Zstd([]byte("small"))
			}
			f.Add(elftest.Section{Name: fmt.Sprintf(".debug_%d%d", i, kind), Type: 1, Flags: 0x800, Data: append(head, packed...)})
		}
	}
	f.Add(elftest.Section{Name: ".debug_short", Type: 1, Flags: 0x800, Data: []byte{1, 0, 0}})
	e := open(t, f.Bytes())
	for i := range e.Sections {
		s := &e.Sections[i]
		if !strings.HasPrefix(s.Name, ".debug_") {
			continue
		}
		_, err := e.Data(s)
		if err == nil || !strings.Contains(err.Error(), "test.elf: section "+s.Name) {
			t.Errorf("%s: %v", s.Name, err)
		}
	}
}
