package dwarf

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

var update = flag.Bool("update", false, "write the goldens")

// variant is a file of testdata, and which golden tells its functions.
type variant struct {
	name, golden string
	alt          string // the supplementary file
	split        string // the .dwp file; "dwo" for .dwo files
}

var variants = []variant{
	{name: "gcc2", golden: "gcc"}, {name: "gcc3", golden: "gcc"}, {name: "gcc4", golden: "gcc"}, {name: "gcc5", golden: "gcc"},
	{name: "gcc4-64", golden: "gcc"}, {name: "gcc5-64", golden: "gcc"},
	{name: "gcc4-types", golden: "gcc"}, {name: "gcc5-types", golden: "gcc"},
	{name: "gcc4-split", golden: "gcc", split: "dwo"}, {name: "gcc5-split", golden: "gcc", split: "dwo"},
	{name: "gcc4-split", golden: "gcc", split: "gcc4-split.dwp"},
	{name: "gcc4-local", golden: "gcc-local", split: "dwo"}, {name: "gcc5-local", golden: "gcc-local", split: "dwo"},
	{name: "gcc4-local", golden: "gcc-local", split: "gcc4-local.dwp"},
	{name: "gcc4-dwz1", golden: "gcc"}, {name: "gcc5-dwz", golden: "gcc", alt: "gcc5-alt.elf"},
	{name: "gcc5-gc", golden: "gcc-gc"},
	{name: "gcc5-i386", golden: "gcc-i386"},
	{name: "clang2", golden: "clang"}, {name: "clang3", golden: "clang"}, {name: "clang4", golden: "clang"}, {name: "clang5", golden: "clang"},
	{name: "clang5-64", golden: "clang"}, {name: "clang4-gdb", golden: "clang"}, {name: "clang5-names", golden: "clang"},
	{name: "clang4-split", golden: "clang", split: "dwo"}, {name: "clang5-split", golden: "clang", split: "dwo"},
	{name: "clang4-split", golden: "clang", split: "clang4-split.dwp"}, {name: "clang5-split", golden: "clang", split: "clang5-split.dwp"},
	{name: "clang4-gc", golden: "clang-gc"}, {name: "clang5-gc", golden: "clang-gc"},
	{name: "clang4-mips64", golden: "clang-mips64"}, {name: "clang5-mips64", golden: "clang-mips64"},
	{name: "clang4-mips", golden: "clang-mips"}, {name: "clang5-mips", golden: "clang-mips"},
}

func (v variant) String() string {
	return strings.TrimSuffix(v.name+" "+v.split+v.alt, " ")
}

func (v variant) open(tb testing.TB) *Data {
	tb.Helper()
	d, err := Open(openELF(tb, filepath.Join("testdata", v.name+".elf")), v.options(tb))
	if err != nil {
		tb.Fatal(err)
	}
	return d
}

func (v variant) options(tb testing.TB) Options {
	var opt Options
	if v.alt != "" {
		s := openELF(tb, filepath.Join("testdata", v.alt))
		opt.Alt = &s
	}
	if v.split != "" {
		files := map[string]*Sections{}
		opt.Split = func(name string) (*Sections, bool) {
			if v.split != "dwo" {
				name = v.split
			}
			if files[name] == nil {
				s := openELF(tb, filepath.Join("testdata", name))
				files[name] = &s
			}
			return files[name], true
		}
	}
	return opt
}

// text prints everything that Each returns.
func text(tb testing.TB, d *Data) string {
	tb.Helper()
	var b strings.Builder
	if err := d.Each(func(f symbol.Function) error {
		multiple := ""
		if f.Multiple {
			multiple = " and others"
		}
		fmt.Fprintf(&b, "%s%s%s\n", f.Name, multiple, ranges(f.Ranges))
		for _, c := range f.Inlines {
			fmt.Fprintf(&b, "    %s%s from %s:%d%s\n", strings.Repeat("> ", c.Depth+1), c.Name, c.CallFile, c.CallLine, ranges(c.Ranges))
		}
		for _, l := range f.Lines {
			fmt.Fprintf(&b, "    %x+%x %s:%d\n", l.Start, l.Size, l.File, l.Line)
		}
		return nil
	}); err != nil {
		tb.Fatal(err)
	}
	return b.String()
}

func ranges(list []symbol.Range) string {
	s := ""
	for _, r := range list {
		s += fmt.Sprintf(" %x+%x", r.Start, r.Size)
	}
	return s
}

// TestVariants: whichever version, form and container a compiler writes, the same code has the same
// functions, lines and inlined calls, and nothing is warned of.
func TestVariants(t *testing.T) {
	written := map[string]bool{}
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			d := v.open(t)
			got := text(t, d)
			golden := filepath.Join("testdata", v.golden+".txt")
			if *update && !written[golden] {
				written[golden] = true
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("other functions than in %s:\n%s", golden, firstDifference(got, string(want)))
			}
			if len(d.Warnings())+len(d.Wanted()) > 0 {
				t.Errorf("warnings %q, wanted %q", d.Warnings(), d.Wanted())
			}
			if fns, lines, inlines := d.Has(); !fns || !lines || inlines == (v.golden == "gcc-local") {
				t.Errorf("has functions %v, lines %v, inlined calls %v", fns, lines, inlines)
			}
		})
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range g {
		if i >= len(w) || g[i] != w[i] {
			return fmt.Sprintf("line %d:\n%s\nwant\n%s", i+1, g[i], strings.Join(w[min(i, len(w)):min(i+1, len(w))], ""))
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

// TestLookups: at each address a lookup answers what the list of all functions says there.
func TestLookups(t *testing.T) {
	t.Run("whole", func(t *testing.T) { testLookups(t, 1<<40) })
	t.Run("skimmed", func(t *testing.T) { testLookups(t, 0) })
}

func testLookups(t *testing.T, from int64) {
	defer func(was int64) { skimFrom = was }(skimFrom)
	skimFrom = from
	for _, v := range variants {
		t.Run(v.String(), func(t *testing.T) {
			all, d := v.open(t), v.open(t)
			covered := map[uint64]bool{}
			low, high := ^uint64(0), uint64(0)
			if err := all.Each(func(f symbol.Function) error {
				for _, r := range f.Ranges {
					low, high = min(low, r.Start), max(high, r.Start+r.Size)
					for at := r.Start; at < r.Start+r.Size; at++ {
						covered[at] = true
						if got, want := looked(t, d, at), expected(f, r, at); got != want {
							t.Fatalf("%x: %s\nwant %s", at, got, want)
						}
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			for at := low - 2; at < high+2; at++ {
				if s, ans, err := d.Lookup(at); !covered[at] && (ans != symbol.No || err != nil) {
					t.Errorf("%x, between functions: %+v, %v, %v", at, s, ans, err)
				}
			}
		})
	}
}

// looked is a lookup's answer as text.
func looked(t *testing.T, d *Data, at uint64) string {
	s, ans, err := d.Lookup(at)
	if err != nil || ans != symbol.Yes {
		t.Fatalf("%x: %v, %v", at, ans, err)
	}
	out := fmt.Sprintf("%s %x+%x %v %s:%d %v", s.Name, s.Start, s.Size, s.Multiple, s.File, s.Line, s.HasLine)
	if s.HasLine {
		out += fmt.Sprintf(" from %x", s.LineStart)
	}
	for _, in := range s.Inlines {
		out += fmt.Sprintf("\n    %s %x %s:%d %v", in.Name, in.Start, in.File, in.Line, in.HasLine)
	}
	return out
}

// expected is what a lookup should answer, from the function's records.
func expected(f symbol.Function, r symbol.Range, at uint64) string {
	type spot struct {
		file string
		line uint32
		has  bool
	}
	var here spot
	start := uint64(0)
	for _, l := range f.Lines {
		if at-l.Start < l.Size {
			here, start = spot{l.File, l.Line, true}, l.Start
		}
	}
	var calls []symbol.InlineCall
	var starts []uint64
	for depth := 0; ; depth++ {
		found := false
		for _, c := range f.Inlines {
			for _, cr := range c.Ranges {
				if c.Depth == depth && at-cr.Start < cr.Size {
					calls, starts, found = append(calls, c), append(starts, cr.Start), true
				}
			}
		}
		if !found {
			break
		}
	}
	inner := ""
	for i := len(calls) - 1; i >= 0; i-- {
		inner += fmt.Sprintf("\n    %s %x %s:%d %v", calls[i].Name, starts[i], here.file, here.line, here.has)
		here = spot{calls[i].CallFile, calls[i].CallLine, true}
		if start == 0 {
			start = starts[0]
		}
	}
	out := fmt.Sprintf("%s %x+%x %v %s:%d %v", f.Name, r.Start, r.Size, f.Multiple, here.file, here.line, here.has)
	if here.has {
		out += fmt.Sprintf(" from %x", start)
	}
	return out + inner
}

// TestMissingFiles: a unit whose other files are missing keeps its lines, and Wanted names the
// files.
func TestMissingFiles(t *testing.T) {
	for _, v := range variants {
		if v.split == "" && v.alt == "" {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			first := uint64(0)
			if err := v.open(t).Each(func(f symbol.Function) error {
				first = max(first, f.Ranges[0].Start)
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			d := variant{name: v.name}.open(t)
			d.opt.Symbols = symbols{{"named", first, first + 8}}
			s, ans, err := d.Lookup(first)
			if err != nil {
				t.Fatal(err)
			}
			if ans != symbol.Yes || s.Name == "" || !strings.HasPrefix(s.File, "/src/") || s.Line == 0 {
				t.Errorf("%+v, %v", s, ans)
			}
			if v.alt != "" {
				if ans != symbol.Yes || len(d.Wanted()) != 1 {
					t.Errorf("without the supplementary file: %+v, %v, wanted %q", s, ans, d.Wanted())
				}
				return
			}
			if len(d.Wanted()) != 1 || !strings.Contains(d.Wanted()[0], ".dwo (split unit ") {
				t.Errorf("wanted %q", d.Wanted())
			}
			// It comes later.
			d.opt = v.options(t)
			if s, ans, err := d.Lookup(first); ans != symbol.Yes || err != nil || s.Name == "" {
				t.Errorf("with the split units: %+v, %v, %v", s, ans, err)
			}
		})
	}
}
