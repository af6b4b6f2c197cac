package session_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

// codeOf is the listing of code at an address, as the command prints it.
func codeOf(t *testing.T, o *session.Outline, at uint64, wish session.CodeWish) string {
	t.Helper()
	c, err := o.CodeAt(at, wish)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := text.WriteCode(&b, o.Report(), c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOutlineCode: the instructions of programs of each format and processor without a dump, with their lines and rules, and what
// is reported where none are decoded or the file has no code.
func TestOutlineCode(t *testing.T) {
	files := [][]string{{"../../testdata/sample/libtilecodec.so.sym"}, {"../../symfile/dwarf/testdata/gcc5.elf"}, {"../../symfile/pdb/testdata/x64.pdb.gz"},
		{"../../symfile/macho/testdata/m-arm64-fp.dwarf.gz"}, {"../../symfile/macho/testdata/m-x86_64-fp.dylib.gz", "../../symfile/macho/testdata/m-x86_64-fp.dwarf.gz"},
		{"../../symfile/pe/testdata/arm64.dll"}, {"../../symfile/pe/testdata/arm.dll"}}
	targets, err := filepath.Glob("../../symfile/elf/testdata/*.elf")
	if err != nil || len(targets) < 10 {
		t.Fatal(targets, err)
	}
	for _, path := range targets {
		files = append(files, []string{path})
	}
	var b bytes.Buffer
	for _, paths := range files {
		o := openOutline(t, paths, session.Options{})
		largest := report.OutlineRow{}
		for _, r := range list(t, o, session.OutlineWish{Kind: report.OutlineFunctions}, 1<<30).Rows {
			if r.Size > largest.Size || largest.Address == 0 {
				largest = r
			}
		}
		fmt.Fprintf(&b, "== %s\n%s", filepath.Base(paths[0]), codeOf(t, o, largest.Address, session.CodeWish{After: 8}))
		o.Close()
	}
	const path = "testdata/outline/code.txt"
	compareGolden(t, path, b.Bytes())
}

// TestOutlineCodeOfARM: a symbol says whether code of 32-bit arm is ARM or Thumb code. What none says is not decoded, and neither is an
// address with the bit of Thumb code.
func TestOutlineCodeOfARM(t *testing.T) {
	program := testfile.Read(t, "../../symfile/elf/testdata/arm-linux-gnueabihf.elf")
	show := func(program []byte, at uint64) string {
		return codeOf(t, outlineOf(t, []*input.Source{input.FromBytes("a.so", program)}, session.Options{}), at, session.CodeWish{After: 1})
	}
	const run, thumb = 0x1036e, "it may be Thumb code, which is not decoded\n"
	if out := show(program, run); !strings.Contains(out, thumb) {
		t.Errorf("a symbol with the bit:\n%s", out)
	}
	arm := bytes.Replace(program, []byte{0x6f, 0x03, 0x01, 0x00}, []byte{0x6e, 0x03, 0x01, 0x00}, -1)
	if out := show(arm, run); strings.Contains(out, thumb) || !strings.Contains(out, "->  0x1036e  38 b5") {
		t.Errorf("a symbol without the bit:\n%s", out)
	}
	for _, at := range []uint64{run | 1, run - 0x20} {
		if out := show(arm, at); !strings.Contains(out, thumb) {
			t.Errorf("0x%x:\n%s", at, out)
		}
	}
}

// TestOutlineCodeOfParts: of a stripped program the code has the names and lines of a symbol file with its id, and a symbol file
// the code of the program.
func TestOutlineCodeOfParts(t *testing.T) {
	const program = "../../symfile/elf/testdata/x86_64-linux-gnu.elf"
	content := testfile.Read(t, program)
	alone := outlineOf(t, []*input.Source{input.FromBytes("x.so", content)}, session.Options{})
	at, named, err := alone.Address("run")
	if err != nil || !named {
		t.Fatal(at, named, err)
	}
	if same, named, err := alone.Address(fmt.Sprintf("0x%x", at)); same != at || named || err != nil {
		t.Error(same, named, err)
	}
	for _, none := range []string{"nothing", "t"} { // several have a t
		if _, _, err := alone.Address(none); err == nil {
			t.Errorf("%s is found", none)
		}
	}
	sym := fmt.Sprintf("MODULE Linux x86_64 %s x.so\nFILE 0 /src/x.c\nFUNC 47c 20 0 started\n47c 20 7 0\nSTACK CFI INIT 47c 20 .cfa: $rsp 8 + .ra: .cfa 8 - ^\n", alone.File().DebugID)
	if at != 0x40047c || alone.File().Base != 0x400000 {
		t.Fatalf("0x%x, 0x%x", at, alone.File().Base)
	}
	for _, symFirst := range []bool{false, true} {
		srcs := []*input.Source{input.FromBytes("x.so", content), input.FromBytes("x.so.sym", []byte(sym))}
		if symFirst {
			srcs[0], srcs[1] = srcs[1], srcs[0]
		}
		opt := session.Options{}
		readers.Add(&opt)
		fs := session.NewFiles(opt)
		for _, src := range srcs {
			fs.Add(src)
		}
		for i := range srcs {
			o, err := fs.Outline(fs.SymbolsOf(i))
			if err != nil || o.IsBinary() {
				t.Fatal(i, err)
			}
			if out := codeOf(t, o, o.File().Base+0x47c, session.CodeWish{After: 2}); !strings.HasPrefix(out, "started + 0x0, code of x.so\n\nx.c:7\n ->  0x47c  53  ") || !strings.Contains(out, "rule: cfa rsp+8, ra cfa-8") {
				t.Errorf("symbol file first: %v\n%s", symFirst, out)
			}
			o.Close()
		}
	}
}

// TestFindInTables: names are found in the symbol tables of a program and in the public names of a PDB, without reading
// debug information, a part of a table at a time.
func TestFindInTables(t *testing.T) {
	for path, name := range map[string]string{"../../symfile/elf/testdata/x86_64-linux-gnu.elf": "run", "../../symfile/pdb/testdata/x64.pdb.gz": "shapes::Path::total", "../../symfile/pe/testdata/arm64.dll": "Ordinal7",
		"../../symfile/macho/testdata/m-arm64-fp.dylib.gz": "recurse"} {
		o := openOutline(t, []string{path}, session.Options{})
		all := list(t, o, session.OutlineWish{Kind: report.OutlineFunctions, Text: name}, 1<<30)
		find := func(name string) (all []report.OutlineRow) {
			for next := int64(0); next >= 0; {
				found, n, err := o.Find(name, 16, next, 1<<30)
				if err != nil || n >= 0 && n <= next {
					t.Fatalf("%s: %d after %d, %v", path, n, next, err)
				}
				all, next = append(all, found...), n
			}
			return all
		}
		if found := find(name); len(found) == 0 || len(all.Rows) == 0 || !slices.ContainsFunc(found, func(r report.OutlineRow) bool { return r.Address == all.Rows[0].Address }) {
			t.Errorf("%s: %+v; the outline has %+v", path, found, all.Rows)
		}
		if found := find("no such name"); len(found) > 0 {
			t.Errorf("%s: %+v", path, found)
		}
		o.Close()
	}
}
