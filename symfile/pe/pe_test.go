package pe_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pe"
)

func read(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func open(t testing.TB, name string, b []byte) *pe.File {
	t.Helper()
	f, err := pe.Open(input.FromBytes(name, b))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// What headers, the debug directory and the tables of names say about a file of each processor.
func TestFiles(t *testing.T) {
	for _, c := range []struct {
		file, arch string
		class      int
		names      string
		functions  int // entries of .pdata
	}{
		{"x64.dll", "amd64", 64, "Ordinal7 run", 12},
		{"x86.dll", "x86", 32, "Ordinal7 run", 0},
		{"arm64.dll", "arm64", 64, "Ordinal7 run", 9},
		{"arm.dll", "arm", 32, "Ordinal7 run", 9},
	} {
		f := open(t, c.file, read(t, c.file))
		if f.Arch == nil || f.Arch.Name != c.arch || f.Class != c.class || !f.IsDLL() || f.Hybrid != "" {
			t.Errorf("%s: %+v", c.file, f)
		}
		if len(f.Warnings()) > 0 {
			t.Errorf("%s: %q", c.file, f.Warnings())
		}
		if f.CodeView.Signature != "RSDS" || f.CodeView.File != "t.pdb" || len(f.DebugID()) != 33 || !strings.HasSuffix(f.DebugID(), "1") || len(f.CodeID()) != 12 {
			t.Errorf("%s: %+v, debug id %q, code id %q", c.file, f.CodeView, f.DebugID(), f.CodeID())
		}
		p, err := f.Publics()
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for i := range p.Len() {
			s := p.At(i)
			names = append(names, s.Name)
			for _, rva := range []uint64{s.Start, s.Start + 3} {
				if have, ok := p.Lookup(rva); !ok || have.Name != s.Name || have.Start&1 != 0 {
					t.Errorf("%s, 0x%x: %+v", c.file, rva, have)
				}
			}
		}
		if have := strings.Join(names, " "); have != c.names {
			t.Errorf("%s: %s", c.file, have)
		}
		for _, rva := range []uint64{0, 0xfff, 0x2000, 1 << 40} {
			if s, ok := p.Lookup(rva); ok {
				t.Errorf("%s: %s at 0x%x, where no code is", c.file, s.Name, rva)
			}
		}
		src, rva := f.Exceptions()
		if c.functions == 0 {
			if src != nil {
				t.Errorf("%s: a function table at 0x%x", c.file, rva)
			}
			continue
		}
		if section, _ := f.Place(rva); src == nil || section != ".pdata" || src.Size/8 < int64(c.functions) {
			t.Errorf("%s: %d bytes of function table in %s", c.file, src.Size, section)
		}
	}
}

// The program's bytes are those of what is not written to, and none of what is not there.
func TestReadCode(t *testing.T) {
	f := open(t, "x64.dll", read(t, "x64.dll"))
	var p [16]byte
	if n := f.ReadCode(0x1000, p[:]); n != 16 || p[0] != 0x53 { // push rbx
		t.Errorf("%d % x", n, p)
	}
	text := f.Section(".text")
	if n := f.ReadCode(uint64(text.RVA+text.Size)-3, p[:]); n != 3 {
		t.Errorf("%d bytes at the section's end", n)
	}
	if s := f.SectionAt(0x3000); s == nil || s.Name != ".data" || !s.Write() {
		t.Errorf("%+v", s)
	}
	for _, rva := range []uint64{0x3000, 0x9000, 1 << 40} {
		if n := f.ReadCode(rva, p[:]); n != 0 {
			t.Errorf("%d bytes at 0x%x", n, rva)
		}
	}
	if _, err := f.At(0x1000, 1<<40); err == nil {
		t.Error("more than the file has")
	}
}

// Names of debug sections do not fit into a header, and are in the string table; functions are in
// the symbol table.
func TestSymbolTable(t *testing.T) {
	f := open(t, "dwarf.dll", read(t, "dwarf.dll"))
	for _, name := range []string{".debug_info", ".debug_line_str", ".debug_str_offsets"} {
		s := f.Section(name)
		if s == nil {
			t.Errorf("there is no %s", name)
			continue
		}
		if d, err := f.Data(s); err != nil || d.Size == 0 || d.Size > int64(s.Size) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if f.DebugID() != "" || !f.HasSymbols() {
		t.Errorf("debug id %q, symbols %v", f.DebugID(), f.HasSymbols())
	}
	p, err := f.Publics()
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for i := range p.Len() {
		names[p.At(i).Name] = true
	}
	for _, name := range []string{"run", "many", "leaf", "varargs", "twice", "split", "__chkstk"} {
		if !names[name] {
			t.Errorf("no name %s", name)
		}
	}
}

// An older CodeView record, a packed program, one without a time stamp, one for two processors.
func TestOddFiles(t *testing.T) {
	whole := read(t, "x64.dll")
	change := func(f func(b []byte)) *pe.File {
		b := bytes.Clone(whole)
		f(b)
		return open(t, "x64.dll", b)
	}
	header := binary.LittleEndian.Uint32(whole[60:])
	f := change(func(b []byte) {
		at := bytes.Index(b, []byte("RSDS"))
		copy(b[at:], "NB10\x00\x00\x00\x00\x78\x56\x34\x12\x0a\x00\x00\x00old.pdb\x00")
	})
	if f.DebugID() != "12345678a" || f.CodeView.File != "old.pdb" {
		t.Errorf("%q %+v", f.DebugID(), f.CodeView)
	}
	f = change(func(b []byte) { clear(b[header+8 : header+12]) })
	if f.CodeID() != "" {
		t.Errorf("code id %q", f.CodeID())
	}
	f = change(func(b []byte) { copy(b[bytes.Index(b, []byte(".rdata")):], "UPX1\x00\x00") })
	if w := f.Warnings(); len(w) != 1 || !strings.Contains(w[0], "packed with UPX") {
		t.Errorf("%q", w)
	}
	f = change(func(b []byte) { binary.LittleEndian.PutUint16(b[header+4:], pe.MachineARM64EC) })
	if f.Hybrid != "arm64ec" {
		t.Errorf("%q", f.Hybrid)
	}
	f = open(t, "x64.dll", whole[:len(whole)-700])
	if w := f.Warnings(); len(w) == 0 || !strings.Contains(w[0], "it is cut off") {
		t.Errorf("%q", w)
	}
	for _, c := range []struct{ data, says string }{
		{"", "DOS header"}, {"MZ", "DOS header"}, {"\x7fELF" + strings.Repeat("\x00", 100), "DOS header"},
		{"MZ" + strings.Repeat("\x00", 100), "a DOS program"}, {string(whole[:header+10]), "file header"}, {string(whole[:header+40]), "optional header"},
	} {
		if _, err := pe.Open(input.FromBytes("a.exe", []byte(c.data))); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%d bytes: %v", len(c.data), err)
		}
	}
}

// An image as the loader laid it out says the same as its file.
func TestMapped(t *testing.T) {
	b := read(t, "x64.dll")
	file := open(t, "x64.dll", b)
	img := make([]byte, file.ImageSize)
	copy(img, b[:0x400])
	for _, s := range file.Sections {
		copy(img[s.RVA:], b[s.Offset:s.Offset+min(s.Size, s.FileSize)])
	}
	f, err := pe.OpenMapped(input.FromBytes("memory", img))
	if err != nil {
		t.Fatal(err)
	}
	if f.DebugID() != file.DebugID() || f.CodeID() != file.CodeID() || len(f.Warnings()) > 0 {
		t.Errorf("%q %q %q", f.DebugID(), f.CodeID(), f.Warnings())
	}
	a, err := file.At(0x1000, 64)
	m, err2 := f.At(0x1000, 64)
	if err != nil || err2 != nil || !bytes.Equal(a, m) {
		t.Errorf("%v %v", err, err2)
	}
}

// TestSmallAlignment: sections of firmware may begin anywhere in the file. Those of programs begin at a
// sector of 512 bytes, whatever their headers say.
func TestSmallAlignment(t *testing.T) {
	whole := read(t, "x64.dll")
	le := binary.LittleEndian
	want, err := open(t, "x64.dll", whole).At(0x1000, 32)
	if err != nil {
		t.Fatal(err)
	}
	const moved = 0x60
	for align, shift := range map[uint32]int{0x20: moved, 0x200: 0} {
		headers := int(le.Uint32(whole[60:]))
		first := len(whole)
		b := bytes.Clone(whole)
		le.PutUint32(b[headers+24+36:], align)
		count, at := int(le.Uint16(b[headers+6:])), headers+24+int(le.Uint16(b[headers+20:]))
		for i := range count {
			raw := b[at+40*i+20:]
			if off := le.Uint32(raw); off > 0 {
				first = min(first, int(off))
				le.PutUint32(raw, off+moved)
			}
		}
		b = append(append(b[:first:first], make([]byte, shift)...), b[first:]...)
		if have, err := open(t, "moved.dll", b).At(0x1000, 32); err != nil || !bytes.Equal(have, want) {
			t.Errorf("alignment 0x%x: % x, %v, want % x", align, have, err, want)
		}
	}
}
