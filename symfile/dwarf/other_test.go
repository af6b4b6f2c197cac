package dwarf

import (
	"debug/macho"
	"debug/pe"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// machoSections are a Mach-O file's, by the standard library's reader of the container.
func machoSections(t *testing.T, path string) Sections {
	f, err := macho.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := made{}
	for _, s := range f.Sections {
		if s.Seg == "__DWARF" {
			if m["."+s.Name[2:]], err = s.Data(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if b, ok := m[".debug_str_offs"]; ok { // names are cut to 16 bytes
		m[".debug_str_offsets"] = b
	}
	s := m.sections(f.ByteOrder)
	s.Base = f.Segment("__TEXT").Addr
	return s
}

// peSections are a PE file's.
func peSections(t *testing.T, path string) Sections {
	f, err := pe.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	m := made{}
	for _, s := range f.Sections {
		b, err := s.Data()
		if err != nil {
			t.Fatal(err)
		}
		m[s.Name] = b[:min(len(b), int(s.VirtualSize))]
	}
	s := m.sections(binary.LittleEndian)
	switch h := f.OptionalHeader.(type) {
	case *pe.OptionalHeader64:
		s.Base = h.ImageBase
	case *pe.OptionalHeader32:
		s.Base = uint64(h.ImageBase)
	}
	return s
}

// TestOtherContainers: DWARF of macOS and of Windows, against .sym files that Mozilla's dump_syms
// made of it.
func TestOtherContainers(t *testing.T) {
	for _, c := range []struct {
		file, sym string
		open      func(*testing.T, string) Sections
		functions int
		known     []string // kinds of differences that are not mistakes
	}{
		{"mozilla+dump_syms/test_data/windows/basic64-dwarf.dll", "mozilla+dump_syms/test_data/windows/basic64-dwarf.sym", peSections, 10, nil},
		{"getsentry+symbolic/symbolic-testutils/fixtures/macos/crash.dSYM/Contents/Resources/DWARF/crash", "getsentry+symbolic/symbolic-testutils/fixtures/macos/crash.inlines.sym", machoSections, 100, []string{
			// Its demangler leaves out what a template's function returns.
			"name", "name of an inlined call",
			// Two calls of one function from one line, side by side, are one call there.
			"start of an inlined call",
		}},
		{"getsentry+symbolic/symbolic-testutils/fixtures/windows/hello-dwarf.exe", "", peSections, 10, nil},
		{"getsentry+rust-breakpad/tests/fixtures/hello_macos.dSYM/Contents/Resources/DWARF/hello_macos", "", machoSections, 1, nil},
	} {
		t.Run(filepath.Base(c.file), func(t *testing.T) {
			d, err := Open(c.open(t, corpusFile(t, c.file)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			var addrs []uint64
			if err := d.Each(func(f symbol.Function) error {
				n++
				for _, r := range f.Ranges {
					for at := r.Start; at < r.Start+r.Size; at++ {
						addrs = append(addrs, at)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if n < c.functions || len(d.Warnings()) > 0 {
				t.Errorf("%d functions, want %d or more; warnings %q", n, c.functions, d.Warnings())
			}
			if c.sym == "" {
				return
			}
			diff := compare(t, d, openSym(t, corpusFile(t, c.sym)), addrs)
			for _, kind := range c.known {
				delete(diff.count, kind)
			}
			if len(diff.count) > 0 {
				t.Error(diff)
			}
		})
	}
}
