package macho

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
)

// made are the files of testdata, which make.sh makes.
var made = []string{"m-arm64-fp", "m-arm64-nofp", "m-x86_64-fp", "m-x86_64-nofp"}

func open(t testing.TB, name string) *File {
	t.Helper()
	f, err := Open(input.FromBytes(name, testfile.Read(t, "testdata/"+name+".gz")))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestFiles: names, ids and where functions start are those that llvm-nm and the linker have, in the
// program and in its dSYM.
func TestFiles(t *testing.T) {
	for _, name := range made {
		program, dsym := open(t, name+".dylib"), open(t, name+".dwarf")
		if program.Type != TypeDylib || dsym.Type != TypeDSYM || !program.HasCode() || dsym.HasCode() {
			t.Errorf("%s: types %d and %d, code %v and %v", name, program.Type, dsym.Type, program.HasCode(), dsym.HasCode())
		}
		if id := program.DebugID(); len(id) != 33 || id != dsym.DebugID() {
			t.Errorf("%s: id %q, of the dSYM %q", name, id, dsym.DebugID())
		}
		if program.InstallName != "/usr/local/lib/"+name+".dylib" {
			t.Errorf("%s: its name is %q", name, program.InstallName)
		}
		if dsym.Debug(".debug_info") == nil || dsym.Debug(".debug_line") == nil || program.Debug(".debug_info") != nil {
			t.Errorf("%s: debug sections", name)
		}
		want, err := os.ReadFile("testdata/" + name + ".names.txt")
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range []*File{program, dsym} {
			p, err := f.Publics()
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for i := range p.Len() {
				if s := p.At(i); !strings.HasSuffix(s.Name, "@plt") {
					fmt.Fprintf(&got, "%016x _%s\n", s.Start, s.Name)
				}
			}
			if expected := strings.NewReplacer(" T ", " ", " t ", " ").Replace(string(want)); got.String() != expected {
				t.Errorf("%s: names\n%swant\n%s", name, got.String(), expected)
			}
			if w := f.Warnings(); len(w) > 0 {
				t.Errorf("%s: %q", f.Src.Name, w)
			}
		}
		starts, err := program.Starts()
		if err != nil || len(starts) != strings.Count(string(want), "\n") {
			t.Errorf("%s: functions start at %x: %v", name, starts, err)
		}
	}
}

// TestNameEnds: a name ends where the next function starts, also if that has no name, and with its
// section.
func TestNameEnds(t *testing.T) {
	f := open(t, "m-arm64-fp.dylib")
	p, err := f.Publics()
	if err != nil {
		t.Fatal(err)
	}
	if s, ok := p.Lookup(0x388); !ok || s.Name != "leaf" || s.Size != 12 {
		t.Errorf("%+v %v", s, ok)
	}
	p.starts = append(Starts{}, 0x380, 0x384, 0x38c)
	if s, ok := p.Lookup(0x388); ok {
		t.Errorf("a function without a name is %q", s.Name)
	}
	if s, ok := p.Lookup(0x10000); ok {
		t.Errorf("outside of the section is %q", s.Name)
	}
	if got := p.Names(0x38c); len(got) != 1 || got[0] != "framed" {
		t.Errorf("%q", got)
	}
}

// TestStubs: a stub has the name of the function that it calls.
func TestStubs(t *testing.T) {
	for _, name := range made {
		f := open(t, name+".dylib")
		p, err := f.Publics()
		if err != nil {
			t.Fatal(err)
		}
		s := f.Section("__stubs")
		if strings.Contains(name, "arm64") {
			s.Reserved2 = 6 // as Go's linker writes
		}
		if got, ok := p.Lookup(s.Address - f.Base + 2); !ok || got.Name != "outside@plt" {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestExports: of a file whose symbol table has no exported names, the trie has them.
func TestExports(t *testing.T) {
	f := open(t, "m-arm64-fp.dylib")
	f.symtab.count = 0
	p, err := f.Publics()
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range p.Len() {
		names = append(names, p.At(i).Name)
	}
	if got := strings.Join(names, " "); got != "leaf framed large recurse" {
		t.Errorf("%q, warnings %q", got, f.Warnings())
	}
}

// TestStarts: distances, Thumb marks, and what ends the list.
func TestStarts(t *testing.T) {
	for _, c := range []struct{ data, want string }{
		{"8007", "[0x380]"},
		{"80070c00ff", "[0x380 0x38c]"},
		{"8007ff", "[0x380]"},
		{"", "[]"},
		{"ffffffff0f01", "[0xffffffff]"},
		{"8007f8ffffffffffffffff0108", "[0x380]"}, // a sum of more than 64 bits
	} {
		data, _ := hex.DecodeString(c.data)
		f := &File{Src: input.FromBytes("a", data), starts: part{0, uint32(len(data))}}
		got, err := f.Starts()
		if text := fmt.Sprintf("%#x", []uint32(got)); err != nil || strings.ReplaceAll(text, " ", " ") != c.want {
			t.Errorf("%s: %s, %v", c.data, text, err)
		}
	}
}

// TestNoStarts: without a list of functions they start where the symbols are.
func TestNoStarts(t *testing.T) {
	f, err := Open(input.FromBytes("m", testfile.Read(t, "testdata/m-arm64-fp.dylib.gz")))
	if err != nil {
		t.Fatal(err)
	}
	want, err := f.Starts()
	if err != nil || len(want) < 5 {
		t.Fatal(want, err)
	}
	f.starts = part{}
	if got, err := f.Starts(); err != nil || !slices.Equal(got, want) {
		t.Errorf("%x, want %x (%v)", got, want, err)
	}
}

// TestDamaged: damage is reported with the file and the offset, and the rest is read.
func TestDamaged(t *testing.T) {
	whole := testfile.Read(t, "testdata/m-arm64-fp.dylib.gz")
	for _, c := range []struct {
		what, want string
		change     func(b []byte) []byte
	}{
		{"another file", "magic number", func(b []byte) []byte { return []byte("nothing") }},
		{"a command that is too large", "load command 0 at offset 0x24", func(b []byte) []byte { b[36], b[37] = 0xff, 0xff; return b }},
		{"many commands", "load command", func(b []byte) []byte { b[17] = 0xff; return b }},
		{"cut off", "a file of 600 bytes", func(b []byte) []byte { return b[:600] }},
	} {
		f, err := Open(input.FromBytes("a", c.change(append([]byte{}, whole...))))
		said := fmt.Sprint(err)
		if err == nil {
			if _, err := f.Publics(); err != nil {
				said += err.Error()
			}
			said += strings.Join(f.Warnings(), "\n")
		}
		if !strings.Contains(said, c.want) {
			t.Errorf("%s: %s, want %q", c.what, said, c.want)
		}
	}
}

// tiny is an executable with 16 bytes of code at RVA 0x200, two symbols there and, if starts is not
// nil, LC_FUNCTION_STARTS.
func tiny(order binary.AppendByteOrder, wide bool, cpu uint32, desc uint16, starts []byte) []byte {
	const base, code = 0x4000, 0x200
	var body []byte
	u32 := func(words ...uint32) {
		for _, w := range words {
			body = order.AppendUint32(body, w)
		}
	}
	address := func(words ...uint64) {
		for _, w := range words {
			if wide {
				body = order.AppendUint64(body, w)
			} else {
				u32(uint32(w))
			}
		}
	}
	name := func(s string) { body = append(append(body, s...), make([]byte, 16-len(s))...) }
	magic, segment, size, linked := uint32(magic32), uint32(cmdSegment), uint32(56+68), uint32(code+16)
	if wide {
		magic, segment, size = magic64, cmdSegment64, 72+80
	}
	u32(segment, size)
	name("__TEXT")
	address(base, 0x1000, 0, uint64(linked))
	u32(7, 5, 1, 0)
	name("__text")
	name("__TEXT")
	address(base+code, 16)
	u32(code, 2, 0, 0, attrPure|attrSome, 0, 0)
	if wide {
		u32(0)
	}
	entry := uint32(12)
	if wide {
		entry = 16
	}
	u32(cmdSymtab, 24, linked, 2, linked+2*entry, 14, cmdFunctionStarts, 16, linked+2*entry+14, uint32(len(starts)))
	load := body
	body = nil
	u32(magic, cpu, 0, TypeExecutable, 3, uint32(len(load)), 0)
	if wide {
		u32(0)
	}
	body = append(append(body, load...), make([]byte, linked-uint32(len(body)+len(load)))...)
	for i, at := range []uint32{1, 7} {
		u32(at)
		body = order.AppendUint16(append(body, typeSection|external, 1), desc)
		address(uint64(base + code + 8*i))
	}
	return append(append(body, "\x00_main\x00_other\x00"...), starts...)
}

// TestProcessors: both byte orders and sizes of addresses, and Thumb marks, which symbols have in a
// field of their own and function starts in bit 0.
func TestProcessors(t *testing.T) {
	for _, c := range []struct {
		what   string
		order  binary.AppendByteOrder
		wide   bool
		cpu    uint32
		desc   uint16
		starts []byte
		arch   *cpu.Arch
		word   int
	}{
		{"ppc", binary.BigEndian, false, 18, 0, nil, cpu.PPC, 4},
		{"ppc64", binary.BigEndian, true, 0x1000012, 0, nil, cpu.PPC64, 8},
		{"armv7", binary.LittleEndian, false, 12, descThumb, []byte{0x81, 4, 8, 0}, cpu.ARM, 4},
		{"arm64_32", binary.LittleEndian, false, cpuARM64of32, 0, []byte{0x80, 4, 8, 0}, cpu.ARM64, 4},
		{"i386", binary.LittleEndian, false, 7, 0, nil, cpu.X86, 4},
	} {
		f, err := Open(input.FromBytes("a", tiny(c.order, c.wide, c.cpu, c.desc, c.starts)))
		if err != nil {
			t.Fatal(c.what, err)
		}
		p, err := f.Publics()
		if err != nil || f.Arch != c.arch || f.AddressSize() != c.word || len(f.Warnings()) > 0 {
			t.Errorf("%s: %v, %v, %d bits: %q", c.what, err, f.Arch, f.Class, f.Warnings())
		}
		for rva, want := range map[uint64]string{0x200: "main", 0x207: "main", 0x208: "other", 0x20f: "other", 0x210: ""} {
			if got, _ := p.Lookup(rva); got.Name != want {
				t.Errorf("%s at 0x%x: %q, want %q", c.what, rva, got.Name, want)
			}
		}
		if b, err := f.At(f.Base+0x200, 16); err != nil || len(b) != 16 {
			t.Errorf("%s: %v", c.what, err)
		}
	}
}

// withCommand adds a load command to a file of testdata, which has room for it before its code.
func withCommand(b []byte, cmd uint32, words ...uint32) []byte {
	b = bytes.Clone(b)
	le := binary.LittleEndian
	at := 32 + le.Uint32(b[20:])
	for i, w := range append([]uint32{cmd, uint32(8 + 4*len(words))}, words...) {
		le.PutUint32(b[int(at)+4*i:], w)
	}
	le.PutUint32(b[16:], le.Uint32(b[16:])+1)
	le.PutUint32(b[20:], le.Uint32(b[20:])+uint32(8+4*len(words)))
	return b
}

// TestEncrypted: code and unwind tables in an encrypted range are not read, and a warning says so; names are.
func TestEncrypted(t *testing.T) {
	whole := testfile.Read(t, "testdata/m-arm64-fp.dylib.gz")
	for _, c := range []struct {
		off, size, id uint32
		said          string
	}{
		{0x380, 0x3c80, 1, "15488 bytes from offset 0x380 on are encrypted, as in a program from the App Store. They are not read: __text, __stubs, __unwind_info. "},
		{0x1000, 0x1000, 1, "They are not read: __unwind_info. "},
		{0x380, 0x3c80, 0, ""},
	} {
		f, err := Open(input.FromBytes("a", withCommand(whole, cmdEncryption64, c.off, c.size, c.id, 0)))
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Join(f.Warnings(), "\n")
		if c.said == "" && said != "" || !strings.Contains(said, c.said) {
			t.Errorf("said %q, want %q", said, c.said)
		}
		if !f.HasCode() || f.Encrypted() != (c.id != 0) {
			t.Errorf("code %v, encrypted %v", f.HasCode(), f.Encrypted())
		}
		code := f.Section("__text")
		_, err = f.At(code.Address, 4)
		if hidden := c.id != 0 && c.off == 0x380; hidden == code.HasBytes() || hidden != (err != nil) {
			t.Errorf("code is read: %v, %v", code.HasBytes(), err)
		}
		if p, err := f.Publics(); err != nil || p.Len() < 4 {
			t.Errorf("names: %v", err)
		}
	}
}

// TestApart: code that has no RVA, and a collection of programs, are reported.
func TestApart(t *testing.T) {
	whole := testfile.Read(t, "testdata/m-arm64-fp.dylib.gz")
	far := bytes.Clone(whole)
	at := bytes.Index(far, []byte("__stubs\x00")) + 32
	binary.LittleEndian.PutUint64(far[at:], 5<<32)
	kernel := bytes.Clone(withCommand(whole, cmdFileSetEntry, 0, 0, 0, 0))
	kernel[12] = TypeFileSet
	for want, b := range map[string][]byte{
		"section __TEXT,__stubs: expected code in the 4 GB after the header's address 0x0, found address 0x500000000": far,
		"a kernel collection of 1 programs, which are not opened":                                                     kernel,
	} {
		f, err := Open(input.FromBytes("a", b))
		if err != nil || !strings.Contains(strings.Join(f.Warnings(), "\n"), want) {
			t.Errorf("%v %q, want %q", err, f.Warnings(), want)
		}
	}
}

// TestMoved: a file that does not fit its symbol table, or lacks parts, is reported.
func TestMoved(t *testing.T) {
	whole := testfile.Read(t, "testdata/m-arm64-fp.dylib.gz")
	names := func(f *File) (out []string) {
		p, err := f.Publics()
		if err != nil {
			t.Fatal(err)
		}
		for i := range p.Len() {
			out = append(out, p.At(i).Name)
		}
		return out
	}
	for _, c := range []struct {
		what   string
		change func(f *File)
		names  string
		said   string
	}{
		{"as it is", func(f *File) {}, "leaf framed local large recurse outside@plt", ""},
		{"slid", func(f *File) {
			f.Base = 0x1_8000_0000
			for i := range f.Segments {
				f.Segments[i].Address += f.Base
			}
			for i := range f.Sections {
				f.Sections[i].Address += f.Base
			}
		}, "leaf framed large recurse outside@plt", "symbol table at offset 0x80a0: expected symbols in the file's segments, with names, found 5 of 5 that are not"},
		{"names elsewhere", func(f *File) { f.symtab.names.size = 2 }, "leaf framed large recurse", "found 5 of 5 that are not"},
		{"from a shared cache", func(f *File) {
			at := uint32(len(whole)) - f.symtab.names.off
			local := []byte{2, 0, 0, 0, typeSection, 1}
			redacted := append(binary.LittleEndian.AppendUint32(nil, at), local[4:]...)
			f.Src = input.FromBytes("a", append(bytes.Replace(whole, local, redacted, 1), "<redacted>\x00"...))
			f.symtab.names.size = at + 11
		}, "leaf framed large recurse outside@plt", "found 1 that are <redacted>, as in a library that was taken out of a dyld shared cache"},
	} {
		f, err := Open(input.FromBytes("a", whole))
		if err != nil {
			t.Fatal(err)
		}
		c.change(f)
		got := strings.Join(names(f), " ")
		if said := strings.Join(f.Warnings(), "\n"); got != c.names || (c.said == "") != (said == "") || !strings.Contains(said, c.said) {
			t.Errorf("%s: %q, said %q, want %q", c.what, got, said, c.said)
		}
	}

	f, err := Open(input.FromBytes("a", whole[:0x8000]))
	if err != nil || !strings.Contains(strings.Join(f.Warnings(), "\n"), "segments __LINKEDIT: expected their bytes, found a file of 32768 bytes, which ends before") {
		t.Errorf("%v, said %q", err, f.Warnings())
	}
}

// TestManySegments: each symbol looks for its segment, so that their number is limited.
func TestManySegments(t *testing.T) {
	le := binary.LittleEndian
	b := []byte{}
	for _, w := range []uint32{magic64, 0x100000c, 0, TypeDylib, 2000, 2000 * 72, 0, 0} {
		b = le.AppendUint32(b, w)
	}
	for range 2000 {
		b = append(le.AppendUint32(le.AppendUint32(b, cmdSegment64), 72), make([]byte, 64)...)
	}
	f, err := Open(input.FromBytes("a", b))
	if err != nil || len(f.Segments) != maxSegments || !strings.Contains(fmt.Sprint(f.Warnings()), "at most 1024 segments") {
		t.Errorf("%d segments, %q, %v", len(f.Segments), f.Warnings(), err)
	}
}

// TestEndlessExports: parts of names may be empty, so that a trie is deeper than its names are long.
func TestEndlessExports(t *testing.T) {
	var trie []byte
	for i := range 1 << 20 {
		next := 7 * (i + 1)
		trie = append(trie, 0, 1, 0, byte(next)|0x80, byte(next>>7)|0x80, byte(next>>14)|0x80, byte(next>>21))
	}
	f := &File{Src: input.FromBytes("a", trie), exports: part{0, uint32(len(trie))}}
	if err := f.eachExport(func(string, uint64) error { return nil }); err == nil || !strings.Contains(err.Error(), "exports trie at offset 0x7007: expected a shorter name") {
		t.Error(err)
	}
}

func FuzzOpen(f *testing.F) {
	for _, name := range made {
		f.Add(testfile.Read(f, "testdata/"+name+".dylib.gz"))
		f.Add(testfile.Read(f, "testdata/"+name+".dwarf.gz"))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		m, err := Open(input.FromBytes("a", b))
		if err != nil {
			return
		}
		m.DebugID()
		for i := range m.Sections {
			m.Data(&m.Sections[i])
			m.At(m.Sections[i].Address, 16)
		}
		if x, err := m.Fixups(); err == nil && x != nil {
			x.Each(func(at, value uint64) error { return nil })
		}
		p, err := m.Publics()
		if err != nil {
			return
		}
		for i := range min(p.Len(), 100) {
			s := p.At(i)
			p.Lookup(s.Start + 1)
		}
	})
}

// TestTruncated: a file may end anywhere.
func TestTruncated(t *testing.T) {
	whole := testfile.Read(t, "testdata/m-x86_64-fp.dylib.gz")
	for n := 0; n < min(len(whole), 2000); n++ {
		if f, err := Open(input.FromBytes("a", whole[:n])); err == nil {
			f.Publics()
			f.At(f.Base, 4)
		}
	}
}

// A program that strip has made has its exports alone, and at most one local symbol.
func TestHasLocals(t *testing.T) {
	data := slices.Clone(testfile.Read(t, "testdata/m-arm64-fp.dylib.gz"))
	command := []byte{0xb, 0, 0, 0, 80, 0, 0, 0} // LC_DYSYMTAB, its size
	at := bytes.Index(data, command)
	if at < 0 {
		t.Fatal("no LC_DYSYMTAB")
	}
	for locals, want := range []bool{false, false, true} {
		binary.LittleEndian.PutUint32(data[at+12:], uint32(locals))
		f, err := Open(input.FromBytes("m", data))
		if err != nil || f.HasLocals() != want {
			t.Errorf("%d local symbols: %v, want %v (%v)", locals, f.HasLocals(), want, err)
		}
	}
}
