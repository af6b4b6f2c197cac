package session_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

// outlined are files of each format. The first of a row is opened, the others belong to it.
var outlined = map[string][]string{
	"sym":     {"../../testdata/sample/libtilecodec.so.sym"},
	"elf":     {"../../symfile/dwarf/testdata/gcc5.elf"},
	"split":   {"../../symfile/dwarf/testdata/clang5-split.elf", "../../symfile/dwarf/testdata/clang5-split-shapes.dwo", "../../symfile/dwarf/testdata/clang5-split-more.dwo", "../../symfile/dwarf/testdata/clang5-split-plain.dwo"},
	"pdb-x64": {"../../symfile/pdb/testdata/x64.pdb.gz"},
	"pdb-x86": {"../../symfile/pdb/testdata/x86.pdb.gz"},
	"pe":      {"../../symfile/pe/testdata/arm64.dll"},
	"dsym":    {"../../symfile/macho/testdata/m-arm64-fp.dwarf.gz"},
	"dylib":   {"../../symfile/macho/testdata/m-x86_64-fp.dylib.gz", "../../symfile/macho/testdata/m-x86_64-fp.dwarf.gz"},
	"damaged": nil, // made
}

// openOutline opens the outline of the first of some files.
func openOutline(t testing.TB, paths []string, opt session.Options) *session.Outline {
	t.Helper()
	var srcs []*input.Source
	for _, path := range paths {
		srcs = append(srcs, input.FromBytes(strings.TrimSuffix(filepath.Base(path), ".gz"), testfile.Read(t, path)))
	}
	if paths == nil {
		srcs = []*input.Source{input.FromBytes("bare.sym", []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 bare.so\r\nFUNC 1000 20 0 f\r\n1000 10 7 1\r\nnonsense\r\n1010 10 9 1\r\nPUBLIC 900 0 g\r\nPUBLIC zz\r\nFILE 1 /a/b.c\r\n"))}
	}
	return outlineOf(t, srcs, opt)
}

func outlineOf(t testing.TB, srcs []*input.Source, opt session.Options) *session.Outline {
	t.Helper()
	readers.Add(&opt)
	opt.Demangle = msvc.Name
	fs := session.NewFiles(opt)
	for _, src := range srcs {
		fs.Add(src)
	}
	for _, it := range fs.Items() {
		if o, err := fs.Outline(it.ID); err == nil {
			return o
		}
	}
	t.Fatalf("no outline of %s: %+v", srcs[0].Name, fs.Items())
	return nil
}

// list makes a whole list in steps of some bytes.
func list(t testing.TB, o *session.Outline, wish session.OutlineWish, step int64) *report.OutlineList {
	t.Helper()
	for {
		l, err := o.List(wish, 0, 1<<30, step)
		if err != nil {
			t.Fatal(err)
		}
		if l.Ended {
			return l
		}
	}
}

// TestOutlines: what the outline of a file of each format says, as the command prints it.
func TestOutlines(t *testing.T) {
	for name, paths := range outlined {
		o := openOutline(t, paths, session.Options{})
		var b bytes.Buffer
		print := func(title string, out *report.Outline) {
			fmt.Fprintf(&b, "== %s\n", title)
			out.File = o.File()
			if l := out.List; l != nil {
				l.More = l.More || len(l.Rows) > 12
				l.Rows = l.Rows[:min(len(l.Rows), 12)]
			}
			out.Demangle(msvc.Name)
			if err := text.WriteOutline(&b, out); err != nil {
				t.Fatal(err)
			}
		}
		all := list(t, o, session.OutlineWish{Kind: report.OutlineFunctions}, 1<<30)
		files := list(t, o, session.OutlineWish{Kind: report.OutlineFiles}, 1<<30)
		print("functions", &report.Outline{List: all})
		print("source files", &report.Outline{List: files})
		if len(files.Rows) > 0 {
			file := report.BaseName(files.Rows[len(files.Rows)-1].File)
			print("code of "+file, &report.Outline{List: list(t, o, session.OutlineWish{Kind: report.OutlineLines, Text: file + ":"}, 1<<30)})
			print("a line without code of "+file, &report.Outline{List: list(t, o, session.OutlineWish{Kind: report.OutlineLines, Text: file + ":1"}, 1<<30)})
		}
		largest := all.Rows[0]
		for _, r := range all.Rows {
			if r.Size > largest.Size {
				largest = r
			}
		}
		place, err := o.At(largest.Address+largest.Size/2, true, -1, 12)
		if err != nil {
			t.Fatal(err)
		}
		print("the middle of the largest function", &report.Outline{Place: place})
		for _, w := range o.File().Warnings {
			fmt.Fprintf(&b, "warning: %s\n", w)
		}
		o.Close()
		path := "testdata/outline/" + name + ".txt"
		compareGolden(t, path, b.Bytes())
	}
}

// compareGolden compares an output with a file, which -update writes.
func compareGolden(t *testing.T, path string, have []byte) {
	t.Helper()
	if updating() {
		if err := os.WriteFile(path, have, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(have, want) {
		t.Errorf("differs from %s (rewrite it with -update if that is right):\n%s", path, have)
	}
}

// TestOutlineIsTheWalks: the list of functions and their lines is what the walk's lookups answer for each
// address, and a search by name, by line or in steps finds the same.
func TestOutlineIsTheWalks(t *testing.T) {
	for name, paths := range outlined {
		o, slow := openOutline(t, paths, session.Options{}), openOutline(t, paths, session.Options{IndexOnDemand: true})
		all := list(t, o, session.OutlineWish{Kind: report.OutlineFunctions}, 1<<30)
		if again := list(t, slow, session.OutlineWish{Kind: report.OutlineFunctions}, 1); !reflect.DeepEqual(all.Rows, again.Rows) {
			t.Errorf("%s: in steps there are %d rows, at once %d", name, len(again.Rows), len(all.Rows))
		}
		files, lines := list(t, o, session.OutlineWish{Kind: report.OutlineFiles}, 1<<30), 0
		for i, r := range all.Rows {
			if i > 0 && r.Address < all.Rows[i-1].Address {
				t.Errorf("%s: 0x%x is after 0x%x", name, r.Address, all.Rows[i-1].Address)
			}
			at, err := o.At(r.Address, true, 0, 1<<30)
			if err != nil {
				t.Fatal(err)
			}
			if at.Function.Name.Raw != r.Name.Raw && !r.Public || at.Function.Address != r.Address && !r.Public {
				t.Errorf("%s: 0x%x is %q in the list, and %q for the walk", name, r.Address, r.Name.Raw, at.Function.Name.Raw)
			}
			if row := o.RowOf(session.OutlineWish{Kind: report.OutlineFunctions}, r.Address); all.Rows[row].Address != r.Address {
				t.Errorf("%s: 0x%x is in row %d", name, r.Address, row)
			}
			for _, l := range at.Lines {
				place, err := o.At(l.Address, false, 0, 0)
				if err != nil {
					t.Fatal(err)
				}
				file, line := place.File, place.Line
				if len(place.Inlines) > 0 {
					file, line = place.Inlines[0].File, place.Inlines[0].Line
				}
				if lines++; file != l.File || line != l.Line || len(place.Inlines) != len(l.Inlined) {
					t.Errorf("%s: 0x%x is %s:%d in %d calls in the list, and %s:%d in %d for the walk", name, l.Address, l.File, l.Line, len(l.Inlined), file, line, len(place.Inlines))
				}
				// The way back: the line's code has the address.
				if line == 0 || file == "" {
					continue
				}
				found := false
				for _, code := range list(t, o, session.OutlineWish{Kind: report.OutlineLines, Text: fmt.Sprintf("%s:%d", file, line)}, 1<<30).Rows {
					found = found || code.Line == line && code.Address <= l.Address
				}
				if !found {
					t.Errorf("%s: %s:%d has no code, but for 0x%x", name, file, line, l.Address)
				}
			}
			shown := msvc.Name(r.Name.Raw)
			found := false
			for _, f := range list(t, o, session.OutlineWish{Kind: report.OutlineFunctions, Text: strings.ToUpper(shown)}, 1<<30).Rows {
				found = found || f.Address == r.Address
			}
			if !found && shown != "" {
				t.Errorf("%s: %q is not found by its name", name, shown)
			}
		}
		if lines == 0 && len(files.Rows) > 0 {
			t.Errorf("%s: no function has lines", name)
		}
	}
}

// TestParseOutline: a name of C++ is not a line of a file.
func TestParseOutline(t *testing.T) {
	for text, want := range map[string]string{
		"0x4011d0": "0x4011d0", "main": "functions", "a::b": "functions", "a::12": "functions", "f.c:12": "lines", "f.c:": "lines", "a:": "functions", "C:\\a\\b.c:3": "lines", "0x": "functions", "": "functions",
	} {
		wish, address, is := session.ParseOutline(text)
		got := wish.Kind
		if is {
			got = fmt.Sprintf("0x%x", address)
		}
		if got != want {
			t.Errorf("%q is %s, and not %s", text, got, want)
		}
	}
}

// TestHostileOutlines: no damage makes an outline panic or go on for ever, and nothing that it lists is outside
// of the file.
func TestHostileOutlines(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for name, paths := range outlined {
		if len(paths) != 1 {
			continue
		}
		whole := testfile.Read(t, paths[0])
		for round := range 60 {
			data := bytes.Clone(whole)
			if round%3 == 0 {
				data = data[:random.IntN(len(data))]
			}
			for range random.IntN(40) {
				if len(data) > 0 {
					data[random.IntN(len(data))] = byte(random.IntN(256))
				}
			}
			opt := session.Options{IndexOnDemand: round%2 == 0}
			readers.Add(&opt)
			fs := session.NewFiles(opt)
			for _, it := range fs.Add(input.FromBytes(name, data)) {
				o, err := fs.Outline(it.ID)
				if err != nil {
					continue // it was refused
				}
				for _, kind := range []string{report.OutlineFunctions, report.OutlineFiles, report.OutlineLines} {
					for n := 0; ; n++ {
						l, err := o.List(session.OutlineWish{Kind: kind, Text: map[string]string{report.OutlineLines: "c:"}[kind]}, 0, 20, 4<<10)
						for _, r := range l.Rows {
							o.At(r.Address, true, -1, 20)
							o.CodeAt(r.Address, session.CodeWish{Before: 4, After: 8})
						}
						if err != nil || l.Ended {
							break
						}
						if n > len(data) {
							t.Fatalf("%s: a list of %s does not end", name, kind)
						}
					}
				}
				for next := int64(0); next >= 0 && err == nil; {
					_, next, err = o.Find("e", 4, next, 4<<10)
				}
				o.CodeAt(random.Uint64(), session.CodeWish{Before: 4, After: 8})
				o.At(random.Uint64(), true, -1, 20)
				o.File()
				o.Close()
			}
		}
	}
}

// bigSym makes a symbol file of some functions of 10 lines each.
func bigSym(functions int) []byte {
	var b bytes.Buffer
	b.WriteString("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 big\nFILE 0 /src/big.cc\n")
	for i := range functions {
		fmt.Fprintf(&b, "FUNC %x 100 0 ns_%d::function_%d(unsigned long)\n", 0x1000+i*0x100, i%100, i)
		for l := range 10 {
			fmt.Fprintf(&b, "%x 10 %d 0\n", 0x1000+i*0x100+l*0x10, l+i%1000)
		}
	}
	return b.Bytes()
}

// BenchmarkOutline lists and searches symbol files of 100,000 and of a million functions: ten times as many
// cost ten times as much.
func BenchmarkOutline(b *testing.B) {
	for _, n := range []int{100_000, 1_000_000} {
		data := bigSym(n)
		for _, wish := range []session.OutlineWish{{Kind: report.OutlineFunctions}, {Kind: report.OutlineFunctions, Text: "function_77777("}, {Kind: report.OutlineLines, Text: "big.cc:500"}} {
			b.Run(fmt.Sprintf("%d/%s/%s", n, wish.Kind, wish.Text), func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(data)))
				for range b.N {
					o := outlineOf(b, []*input.Source{input.FromBytes("big.sym", data)}, session.Options{IndexOnDemand: true})
					for ended := false; !ended; {
						l, err := o.List(wish, 0, 40, 16<<20)
						if err != nil {
							b.Fatal(err)
						}
						ended = l.Ended
					}
					o.Close()
				}
			})
		}
	}
}
