package binary_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	files "github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/elf/elftest"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// program is an amd64 library with one exported function at 0x1000 and room for more sections;
// debug is the same with a full symbol table and without the code.
func program(more ...elftest.Section) *elftest.File {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x1000, Data: make([]byte, 0x100)})
	f.Symbols(".dynsym", []elftest.Sym{{Name: "exported", Value: 0x1000, Size: 0x10, Type: 2, Bind: 1, Section: ".text"}})
	for _, s := range more {
		f.Add(s)
	}
	f.Segments = []elftest.Segment{{Type: 1, Flags: 5, First: ".text", Last: ".text", Address: 0x1000, Align: 0x1000}}
	return f
}

func debug(more ...elftest.Section) *elftest.File {
	f := &elftest.File{Class: 64, Machine: 62, Type: 3}
	f.Add(elftest.Section{Name: ".text", Type: 8, Flags: 6, Address: 0x1000, NoBits: 0x100})
	f.Symbols(".symtab", []elftest.Sym{{Name: "exported", Value: 0x1000, Size: 0x10, Type: 2, Bind: 1, Section: ".text"},
		{Name: "internal", Value: 0x1040, Size: 0x20, Type: 2, Section: ".text"}})
	for _, s := range more {
		f.Add(s)
	}
	return f
}

func link(name string, crc uint32) elftest.Section {
	b := append([]byte(name), make([]byte, 4-len(name)%4)...)
	return elftest.Section{Name: ".gnu_debuglink", Type: 1, Data: binary.LittleEndian.AppendUint32(b, crc)}
}

func opened(t *testing.T, f *elftest.File, name string) *files.File {
	t.Helper()
	b, err := files.Open(input.FromBytes(name, f.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// nameAt is the name that a file has for an address, with how it answered.
func nameAt(t *testing.T, b *files.File, rva uint64) (string, symbol.Answer) {
	t.Helper()
	s, ans, err := b.Lookup(rva)
	if err != nil {
		t.Fatal(err)
	}
	return s.Name, ans
}

// A debug file belongs to a program by the build id of both, else by the check sum that the program
// has of it.
func TestAttachDebugFile(t *testing.T) {
	id, other := []byte("0123456789abcdefghij"), []byte("another build's id..")
	plain := debug().Bytes()
	sum := crc32.ChecksumIEEE(plain)
	for _, c := range []struct {
		what      string
		program   *elftest.File
		debug     []byte
		debugName string
		took      bool
		err       string
	}{
		{"build id", program().BuildID(id), debug().BuildID(id).Bytes(), "/a/any.debug", true, ""},
		{"another build id", program().BuildID(id), debug().BuildID(other).Bytes(), "/a/any.debug", false, ""},
		{"another build id, the right name", program(link("x.debug", sum)).BuildID(id), debug().BuildID(other).Bytes(), "/a/x.debug", false, ""},
		{"name and CRC", program(link("x.debug", sum)), plain, "/a/x.debug", true, ""},
		{"another CRC", program(link("x.debug", sum+1)), plain, "/a/x.debug", false, "the CRC"},
		{"another name", program(link("x.debug", sum)), plain, "/a/y.debug", true, ""},
		{"another name, another CRC", program(link("x.debug", sum+1)), plain, "/a/y.debug", false, ""},
		{"another name, of other code", program(link("x.debug", sum), elftest.Section{Name: ".init", Type: 1, Flags: 6, Address: 0x2000, Data: []byte{0xc3}}),
			plain, "/a/y.debug", false, ""},
		{"no link", program(), plain, "/a/x.debug", false, ""},
		{"not ELF", program(link("x.debug", sum)), []byte("hello"), "/a/x.debug", false, ""},
	} {
		b := opened(t, c.program, "/bin/x")
		if name, ans := nameAt(t, b, 0x48); name != "" || ans != symbol.NoFile {
			t.Errorf("%s: before %q %v", c.what, name, ans)
		}
		took, err := b.Attach(input.FromBytes(c.debugName, c.debug))
		if took != c.took || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %v %v", c.what, took, err)
		}
		want := map[bool]string{true: "internal"}[c.took]
		if name, ans := nameAt(t, b, 0x48); name != want || (ans == symbol.Yes) != c.took {
			t.Errorf("%s: after %q %v", c.what, name, ans)
		}
		if name, _ := nameAt(t, b, 4); name != "exported" {
			t.Errorf("%s: %q", c.what, name)
		}
		if name, ans := nameAt(t, b, 0x100000); name != "" || ans != symbol.No {
			t.Errorf("%s: outside of all code %q %v", c.what, name, ans)
		}
		has := b.Has()
		if has.OnlyExports == c.took {
			t.Errorf("%s: %+v", c.what, has)
		}
	}
}

// Missing names a file until it is attached.
func TestMissing(t *testing.T) {
	id := []byte("0123456789abcdefghij")
	b := opened(t, program(link("x.debug", 1)).BuildID(id), "/bin/x")
	if m := b.Has().Missing; len(m) != 1 || m[0] != "the separate debug file x.debug (build id 303132333435363738396162636465666768696a)" {
		t.Errorf("%q", m)
	}
	alone := opened(t, debug().BuildID(id), "/bin/x.debug")
	if m := alone.Has().Missing; alone.Identity().Code || len(m) != 1 || !strings.Contains(m[0], "the program itself") {
		t.Errorf("%+v %q", alone.Identity(), m)
	}
	alt := elftest.Section{Name: ".gnu_debugaltlink", Type: 1, Data: append([]byte("/dwz/common.debug\x00"), id...)}
	info := elftest.Section{Name: ".debug_info", Type: 1, Data: []byte{}}
	b = opened(t, program(alt, info), "/bin/x")
	shared := func(id []byte) []byte { return (&elftest.File{Class: 64, Machine: 62, Type: 3}).BuildID(id).Bytes() }
	if took, err := b.Attach(input.FromBytes("/dwz/common.debug", shared([]byte("another build's id..")))); took || err == nil || !strings.Contains(err.Error(), ".gnu_debugaltlink") {
		t.Errorf("%v %v", took, err)
	}
	if took, err := b.Attach(input.FromBytes("/elsewhere/renamed", shared(id))); !took || err != nil {
		t.Errorf("%v %v", took, err)
	}
	for _, m := range b.Has().Missing {
		if strings.Contains(m, "supplementary") {
			t.Errorf("%q", m)
		}
	}
}

// Code returns bytes of read-only sections only, and none that the file lacks.
func TestCode(t *testing.T) {
	f := program(elftest.Section{Name: ".data", Type: 1, Flags: 3, Address: 0x3000, Data: []byte("abcdefgh")})
	f.Sections[0].Data[5] = 0xcc
	b := opened(t, f, "/bin/x")
	var p [8]byte
	if n := b.Code(0, p[:]); n != 8 || p[5] != 0xcc {
		t.Errorf("%d % x", n, p)
	}
	if n := b.Code(0xfc, p[:]); n != 4 {
		t.Errorf("at the end of the section: %d bytes", n)
	}
	for _, rva := range []uint64{0x100, 0x2000, 1 << 40, ^uint64(0)} {
		if n := b.Code(rva, p[:]); n != 0 {
			t.Errorf("%d bytes at 0x%x", n, rva)
		}
	}
	if n := opened(t, debug(), "/bin/x.debug").Code(0, p[:]); n != 0 {
		t.Errorf("%d bytes of a debug file", n)
	}
}

// TestIdentity: what the files of the corpus say about themselves.
func TestIdentity(t *testing.T) {
	corpus(t)
	for path, want := range map[string]symbol.Identity{
		moz + "basic.stripped": {Name: "basic.stripped", DebugID: "20AD60B0B4C68177552708AA192E77390", CodeID: "b060ad20c6b47781552708aa192e7739fac7c84a",
			OS: "Linux", Arch: "x86_64", Kind: "executable", Code: true},
		moz + "basic.dbg": {Name: "basic.dbg", DebugID: "20AD60B0B4C68177552708AA192E77390", CodeID: "b060ad20c6b47781552708aa192e7739fac7c84a",
			OS: "Linux", Arch: "x86_64", Kind: "debug file"},
		framehop + "x86_64/nofp/libc.so.6":                                  {Name: "libc.so.6", OS: "Linux", Arch: "x86_64", Kind: "executable", Code: true},
		"other/mstange+framehop/fixtures/android/arm/release-libmozglue.so": {Name: "libmozglue.so", OS: "Android", Arch: "arm", Kind: "library", Code: true},
		samply + "simple-example/out/with-dwo/main.dwo":                     {Name: "main.dwo", OS: "Linux", Arch: "arm64", Kind: "split debug information", SplitUnits: true},
		samply + "simple-example/out/with-dwp/main.dwp":                     {Name: "main.dwp", OS: "Linux", Arch: "arm64", Kind: "package of split debug information", SplitUnits: true},
	} {
		have := open(t, filepath.Join(corpusRoot, path)).Identity()
		if want.DebugID == "" {
			have.DebugID, have.CodeID = "", ""
		}
		if have.Size == 0 != (want.Kind == "split debug information" || want.Kind == "package of split debug information") {
			t.Errorf("%s: size %d", path, have.Size)
		}
		if has := have.CodeLayout != ""; has == want.SplitUnits {
			t.Errorf("%s: has the headers of code: %v", path, has)
		}
		have.CodeLayout = ""
		have.OtherIDs, have.IDLoaded = nil, false                      // what they are is symfile/elf's to say
		have.LinkedNames, have.Segments, have.Sections = nil, nil, nil // TestLinks
		if have.Size = 0; !reflect.DeepEqual(have, want) {
			t.Errorf("%s: %+v, want %+v", path, have, want)
		}
	}
}

// A file says which others have parts of its debug information, and which segments it has.
func TestLinks(t *testing.T) {
	corpus(t)
	for path, want := range map[string]string{
		framehop + "x86_64/nofp/libc.so.6":                                  "[037b6260865346802321dd2256b8ad1d857e63.debug] [] 4 segments",
		"other/mstange+framehop/fixtures/android/arm/release-libmozglue.so": "[libmozglue.so.dbg] [] 3 segments",
		samply + "simple-example/out/with-dwo/main":                         "[] [] 2 segments split",
	} {
		id := open(t, filepath.Join(corpusRoot, path)).Identity()
		have := fmt.Sprintf("%v %v %d segments", id.LinkedNames, id.LinkedIDs, len(id.Segments))
		if id.NeedsSplit {
			have += " split"
		}
		if have != want {
			t.Errorf("%s: %s, want %s", path, have, want)
		}
	}
}

// TestAttachReturnsMemory: what lookups keep of a file is returned when another file is attached, which
// replaces it.
func TestAttachReturnsMemory(t *testing.T) {
	read := func(name string) *input.Source {
		b, err := os.ReadFile("../dwarf/testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return input.FromBytes(name, b)
	}
	src := read("clang5-split.elf")
	src.Budget = &input.Budget{}
	f, err := files.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	used := func() int64 {
		if attached, err := f.Attach(read("clang5-split-plain.dwo")); !attached || err != nil {
			t.Fatal(attached, err)
		}
		functions := 0
		if err := f.Each(func(fn symbol.Function) error {
			functions++
			_, _, err := f.Lookup(fn.Ranges[0].Start)
			return err
		}); err != nil || functions == 0 {
			t.Fatal(functions, err)
		}
		return src.Budget.Limit(input.Memory) - src.Budget.Left(input.Memory)
	}
	if first, second := used(), used(); first == 0 || first != second {
		t.Errorf("%d bytes of memory, then %d", first, second)
	}
}
