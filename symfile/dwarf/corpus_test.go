package dwarf

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

const corpus = "../../../shared/corpus/other/"

func corpusFile(t *testing.T, path string) string {
	t.Helper()
	path = filepath.Join(corpus, path)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("*** SKIPPED: %s is not there", path)
	}
	return path
}

// TestMozilla holds every address of other projects' files to the .sym files that Mozilla's
// dump_syms made of them.
func TestMozilla(t *testing.T) {
	const dir = "mozilla+dump_syms/test_data/linux/"
	for _, c := range []struct {
		file, sym string
		names     bool
	}{
		{"basic.full", "basic.full.inlines.sym", true},
		// Its names and DW_AT_comp_dir are in a supplementary file that the corpus lacks. dump_syms
		// took the functions' names from the symbol table.
		{"basic.dwz", "basic.dwz.inlines.sym", false},
	} {
		t.Run(c.file, func(t *testing.T) {
			d, err := Open(openELF(t, corpusFile(t, dir+c.file)), Options{})
			if err != nil {
				t.Fatal(err)
			}
			var addrs []uint64
			if err := d.Each(func(f symbol.Function) error {
				for _, r := range f.Ranges {
					for at := r.Start; at < r.Start+r.Size; at++ {
						addrs = append(addrs, at)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if len(addrs) < 300 {
				t.Errorf("%d addresses in functions", len(addrs))
			}
			diff := compare(t, d, openSym(t, corpusFile(t, dir+c.sym)), addrs)
			if !c.names {
				for _, kind := range []string{"name", "file", "file in an inlined call"} {
					delete(diff.count, kind)
				}
			}
			if len(diff.count) > 0 {
				t.Error(diff)
			}
		})
	}
}

// TestCorpus: real files of other projects are read without a warning, and lookups answer what the
// list of functions says.
func TestCorpus(t *testing.T) {
	for _, c := range []struct {
		file, alt, split string
		functions        int
	}{
		{"getsentry+symbolic/symbolic-testutils/fixtures/linux/crash.debug", "", "", 150},
		{"getsentry+symbolic/symbolic-testutils/fixtures/linux/crash.debug-zlib", "", "", 150},
		{"getsentry+rust-breakpad/tests/fixtures/hello_linux", "", "", 1},
		{"mstange+samply/fixtures/other/simple-example/out/regular-debuglink/main.dbg", "", "", 10},
		{"mstange+samply/fixtures/other/simple-example/out/with-dwo/main", "", "mstange+samply/fixtures/other/simple-example/out/with-dwo/", 10},
		{"mstange+samply/fixtures/other/simple-example/out/with-dwp/main", "", "mstange+samply/fixtures/other/simple-example/out/with-dwp/main.dwp", 10},
		{"mstange+samply/fixtures/other/ls-linux/260a3e6e46db57abf718f6a3562c6eedccf269.debug", "mstange+samply/fixtures/other/ls-linux/coreutils.debug", "", 140},
	} {
		t.Run(c.file, func(t *testing.T) {
			var opt Options
			if c.alt != "" {
				s := openELF(t, corpusFile(t, c.alt))
				opt.Alt = &s
			}
			if c.split != "" {
				corpusFile(t, c.split)
				files := map[string]*Sections{}
				opt.Split = func(name string) (*Sections, bool) {
					path := corpus + c.split
					if c.split[len(c.split)-1] == '/' {
						path += filepath.Base(name)
					}
					if files[path] == nil {
						s := openELF(t, path)
						files[path] = &s
					}
					return files[path], true
				}
			}
			open := func() *Data {
				d, err := Open(openELF(t, corpusFile(t, c.file)), opt)
				if err != nil {
					t.Fatal(err)
				}
				return d
			}
			all, d := open(), open()
			n, asked := 0, 0
			if err := all.Each(func(f symbol.Function) error {
				n++
				for _, r := range f.Ranges {
					for at := r.Start; at < r.Start+r.Size; at += 1 + r.Size/16 {
						asked++
						if got, want := looked(t, d, at), expected(f, r, at); got != want {
							t.Fatalf("%x: %s\nwant %s", at, got, want)
						}
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			t.Logf("%d functions, %d addresses", n, asked)
			if n < c.functions {
				t.Errorf("%d functions, want %d", n, c.functions)
			}
			if len(all.Warnings())+len(all.Wanted()) > 0 {
				t.Errorf("warnings %q, wanted %q", all.Warnings(), all.Wanted())
			}
		})
	}
}

// TestRawSections reads gimli's fixture: the sections of a large Rust program, as files.
func TestRawSections(t *testing.T) {
	dir := corpusFile(t, "gimli-rs+gimli/fixtures/self")
	s := Sections{File: "self", Order: littleEndian}
	s.Get = func(name string) (*input.Source, error) {
		b, err := os.ReadFile(filepath.Join(dir, name[1:]))
		if err != nil {
			return nil, nil
		}
		return input.FromBytes(name, b), nil
	}
	d, err := Open(s, Options{ZeroIsCode: true})
	if err != nil {
		t.Fatal(err)
	}
	n, lines, inlines := 0, 0, 0
	if err := d.Each(func(f symbol.Function) error {
		n++
		lines += len(f.Lines)
		inlines += len(f.Inlines)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d functions, %d lines, %d inlined calls; warnings %q", n, lines, inlines, d.Warnings())
	if n < 1000 || lines < 10000 {
		t.Error("too few")
	}
}
