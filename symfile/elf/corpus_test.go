package elf

import (
	"bytes"
	stdelf "debug/elf"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// corpusRoot is a folder of real binaries that is next to the module and is not part of it.
const corpusRoot = "../../../shared/corpus"

// corpus lists the ELF files of the corpus, or skips the test.
func corpus(t testing.TB) []string {
	var all []string
	filepath.WalkDir(corpusRoot, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && isELF(p) {
			all = append(all, p)
		}
		return nil
	})
	if len(all) == 0 {
		t.Skip("*** SKIPPED: there is no corpus of binaries at " + corpusRoot)
	}
	return all
}

func isELF(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer file.Close()
	var head [4]byte
	file.Read(head[:])
	return Is(head[:])
}

func openFile(t testing.TB, path string) *File {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	info, err := file.Stat()
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(input.New(filepath.Base(path), file, info.Size()))
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return f
}

// TestCorpusAgainstStandardLibrary compares every header, section and symbol with what debug/elf
// reads.
func TestCorpusAgainstStandardLibrary(t *testing.T) {
	n := 0
	for _, path := range corpus(t) {
		if compare(t, path) {
			n++
		}
	}
	t.Logf("%d files are equal", n)
	if n < 50 {
		t.Errorf("only %d files are equal", n)
	}
}

// TestCorpusAgainstSymFiles compares ids and the addresses and names of PUBLIC records with the
// .sym files that Breakpad's and Mozilla's dump_syms made of the same binaries. They may demangle,
// and Mozilla's names the PLT's sections, in angle brackets.
func TestCorpusAgainstSymFiles(t *testing.T) {
	files := map[string]*File{}
	for _, path := range corpus(t) {
		f := openFile(t, path)
		if id := f.DebugID(); id != "" && (files[id] == nil || f.HasSymtab()) {
			files[id] = f
		}
	}
	compared, names := 0, 0
	filepath.WalkDir(corpusRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".sym") {
			return nil
		}
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var p *Publics
		for _, l := range strings.Split(string(data), "\n") {
			w := strings.Fields(l)
			switch {
			case len(w) >= 5 && w[0] == "MODULE":
				f := files[strings.ToUpper(w[3])]
				if f == nil || w[1] != "Linux" {
					return nil
				}
				if p, err = f.Publics(); err != nil {
					t.Fatal(err)
				}
				compared++
			case len(w) >= 3 && w[0] == "INFO" && w[1] == "CODE_ID":
				if id := p.f.CodeID(); !strings.EqualFold(id, w[2]) {
					t.Errorf("%s: code id %s, want %s", path, id, w[2])
				}
			case len(w) >= 4 && w[0] == "PUBLIC" && w[1] != "m" && !strings.HasPrefix(w[3], "<"):
				var at uint64
				fmt.Sscanf(w[1], "%x", &at)
				names++
				if s, ok := p.Lookup(at); !ok || s.Start != at || s.Name != w[3] && !strings.HasPrefix(s.Name, "_Z") {
					t.Errorf("%s: %s; ours %+v", path, l, s)
				}
			}
		}
		return nil
	})
	t.Logf("%d .sym files with %d names compared", compared, names)
	if compared < 12 || names < 400 {
		t.Errorf("only %d .sym files with %d names were compared", compared, names)
	}
}

// TestHostAgainstStandardLibrary does so with some libraries of the machine.
func TestHostAgainstStandardLibrary(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("*** SKIPPED: the host's own binaries are looked at on Linux only")
	}
	n := 0
	for _, pattern := range []string{"/usr/lib/*/lib[a-d]*.so.?", "/usr/bin/[a-c]*", "/usr/lib/*/*.o", "/usr/lib/gcc/*/*/*.o", "/usr/*-linux-gnu*/lib/*c.so.6",
		"/usr/*-linux-gnu*/lib/*crt*.o", "/usr/*-linux-gnu*/lib/libm.so*"} {
		all, _ := filepath.Glob(pattern)
		for _, path := range all {
			if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Size() < 8<<20 && isELF(path) && n < 250 {
				n++
				compare(t, path)
			}
		}
	}
	if n == 0 {
		t.Skip("*** SKIPPED: no binaries where Linux usually has them")
	}
	t.Logf("%d files", n)
}

// compare reads one file in both ways. Files that the standard library refuses are only opened.
func compare(t *testing.T, path string) bool {
	f := openFile(t, path)
	std, err := stdelf.Open(path)
	if err != nil {
		t.Logf("%s: the standard library: %v; ours warns: %q", path, err, f.Warnings())
		return false
	}
	defer std.Close()
	for _, w := range f.Warnings() {
		t.Logf("%s: %s", path, w)
	}
	before := t.Failed()
	if f.Machine != uint16(std.Machine) || f.Type != uint16(std.Type) || f.Entry != std.Entry || f.Order != std.ByteOrder || f.Class/32 != int(std.Class) {
		t.Errorf("%s: header", path)
	}
	if len(f.Sections) != len(std.Sections) || len(f.Segments) != len(std.Progs) {
		t.Errorf("%s: %d sections and %d segments, want %d and %d", path, len(f.Sections), len(f.Segments), len(std.Sections), len(std.Progs))
		return false
	}
	for i, s := range std.Progs {
		if g := f.Segments[i]; g.Address != s.Vaddr || g.Offset != s.Off || g.FileSize != s.Filesz || g.MemSize != s.Memsz || g.Flags != uint32(s.Flags) ||
			g.Type != uint32(s.Type) || g.Align != s.Align {
			t.Errorf("%s: segment %d: %+v, want %+v", path, i, g, s)
		}
	}
	for i, s := range std.Sections {
		compareSection(t, path, f, &f.Sections[i], std, s)
	}
	for dynamic, read := range map[bool]func() ([]stdelf.Symbol, error){false: std.Symbols, true: std.DynamicSymbols} {
		want, err := read()
		if err != nil || !dynamic && f.table(secSymtab) == nil {
			continue
		}
		i := 0
		each := f.Symbols
		if dynamic {
			each = f.DynamicSymbols
		}
		each(func(s Sym) error {
			if i >= len(want) {
				i++
				return nil
			}
			w := want[i]
			i++
			if f.Type == TypeRel && s.Defined() {
				w.Value += f.Sections[s.Section].Address
			}
			// The standard library has 16 bits for a section's number.
			if s.Name != w.Name || s.Value != w.Value || s.Size != w.Size || s.Type != w.Info&15 || s.Bind != w.Info>>4 || s.Section&0xffff != uint32(w.Section) && w.Section != 0xffff {
				t.Errorf("%s: symbol %+v, want %+v", path, s, w)
			}
			return nil
		})
		if i != len(want) {
			t.Errorf("%s: %d symbols, want %d", path, i, len(want))
		}
	}
	return t.Failed() == before
}

func compareSection(t *testing.T, path string, f *File, s *Section, std *stdelf.File, want *stdelf.Section) {
	if s.Name != want.Name || s.Type != uint32(want.Type) || s.Flags != uint64(want.Flags) || s.Offset != want.Offset || s.Size != want.FileSize ||
		s.Link != want.Link || s.Info != want.Info || f.Type != TypeRel && s.Address != want.Addr {
		t.Errorf("%s: section %+v, want %+v", path, *s, *want)
		return
	}
	// What has relocations is compared with other readers (see the tests of relocation).
	if !s.HasBytes() || f.Type == TypeRel && f.hasRelocs(s) {
		return
	}
	data, err := want.Data()
	d, ours := f.Data(s)
	if (err == nil) != (ours == nil) {
		t.Logf("%s: section %s: %v, the standard library: %v", path, s.Name, ours, err)
		return
	}
	if err != nil {
		return
	}
	b, err := d.Bytes(0, d.Size)
	if err != nil || len(data) >= 4 && string(data[:4]) == "ZLIB" {
		if err != nil {
			t.Errorf("%s: section %s: %v", path, s.Name, err)
		}
		return // the standard library inflates these only for DWARF
	}
	if !bytes.Equal(b, data) {
		t.Errorf("%s: section %s: other bytes", path, s.Name)
	}
}

func (f *File) hasRelocs(s *Section) bool {
	for i := range f.Sections {
		if r := &f.Sections[i]; (r.Type == secRel || r.Type == secRela) && int(r.Info) == s.Index {
			return true
		}
	}
	return false
}
