package dwarf

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// symbols is a symbol table, sorted by address.
type symbols []symbolEntry

type symbolEntry struct {
	name       string
	start, end uint64
}

func (s symbols) Len() int          { return len(s) }
func (s symbols) Name(n int) string { return s[n].name }

func (s symbols) Piece(rva uint64) (int, symbol.Range, error) {
	for i, e := range s {
		if rva < e.start {
			return -1, symbol.Range{Start: rva, Size: e.start - rva}, nil
		}
		if rva < e.end {
			return i, symbol.Range{Start: e.start, Size: e.end - e.start}, nil
		}
	}
	return -1, symbol.Range{Start: rva, Size: -rva}, nil
}

func (s symbols) Linkage(starts []uint64, plain string) (string, error) {
	for _, e := range s {
		for _, start := range starts {
			if e.start == start && (plain == "" || e.name == "linked "+plain) {
				return e.name, nil
			}
		}
	}
	return "", nil
}

// TestSymbolFunctions: without the .dwo files, which have the entries, the functions that a symbol
// table names have the same code and lines, and a lookup answers the same as Each.
func TestSymbolFunctions(t *testing.T) {
	for _, v := range variants {
		if v.split == "" {
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			var table symbols
			want := map[uint64]string{}
			if err := v.open(t).Each(func(f symbol.Function) error {
				if len(f.Ranges) == 1 {
					r := f.Ranges[0]
					table = append(table, symbolEntry{f.Name, r.Start, r.Start + r.Size})
					want[r.Start] = fmt.Sprint(f.Name, f.Ranges, f.Lines)
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			d := variant{name: v.name}.open(t)
			d.opt.Symbols = table
			n := 0
			if err := d.Each(func(f symbol.Function) error {
				r := f.Ranges[0]
				if got := fmt.Sprint(f.Name, f.Ranges, f.Lines); got != want[r.Start] {
					t.Errorf("%s\nwant\n%s", got, want[r.Start])
				}
				for at := r.Start; at < r.Start+r.Size; at++ {
					if got, want := looked(t, d, at), expected(f, r, at); got != want {
						t.Fatalf("%x: %s\nwant %s", at, got, want)
					}
				}
				n++
				return nil
			}); err != nil {
				t.Fatal(err)
			}
			if n != len(table) || n < 3 {
				t.Errorf("%d functions of %d symbols", n, len(table))
			}
		})
	}
}

// TestSymbolsAndEntries: an entry comes before a symbol, wherever the symbol begins; a symbol's
// function ends where an entry begins.
func TestSymbolsAndEntries(t *testing.T) {
	d := variant{name: "clang5"}.open(t)
	plain := text(t, d)
	var all []symbol.Function
	if err := d.Each(func(f symbol.Function) error { all = append(all, f); return nil }); err != nil {
		t.Fatal(err)
	}
	// One symbol inside the first function, one from there over all others.
	second := all[0].Ranges[0].Start + 2
	d.opt.Symbols = symbols{{"first", second - 1, second}, {"rest", second, 1 << 30}}
	if got := text(t, d); got != plain {
		t.Errorf("functions with symbols that entries cover: %s", firstDifference(got, plain))
	}
	// Padding after a function that begins with a symbol of its own is a function up to the next.
	for i, f := range all[:len(all)-1] {
		end, next := f.Ranges[0].Start+f.Ranges[0].Size, all[i+1].Ranges[0].Start
		if end >= next {
			continue
		}
		d.opt.Symbols = symbols{{"padding", end, next + 100}}
		s, ans, err := d.Lookup(end)
		if err != nil || ans == symbol.Yes && (s.Name != "padding" || s.Start != end || s.Start+s.Size > next || s.Line == 0) {
			t.Errorf("%x: %+v, %v, %v", end, s, ans, err)
		}
		found := symbol.Function{}
		if err := d.Each(func(f symbol.Function) error {
			if f.Name == "padding" {
				found = f
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if (ans == symbol.Yes) != (found.Name != "") || ans == symbol.Yes && (found.Ranges[0] != symbol.Range{Start: s.Start, Size: s.Size} ||
			len(found.Lines) != 1 || found.Lines[0].Range != found.Ranges[0]) {
			t.Errorf("%x: a lookup says %+v, Each %+v", end, s, found)
		}
		if ans == symbol.Yes {
			return
		}
	}
	t.Error("no padding has a line")
}

// TestManyUnitsOfOneProgram: units that share a line program, and symbols that begin in it, cost no
// more than an honest file of so many symbols could.
func TestManyUnitsOfOneProgram(t *testing.T) {
	var prog bits
	prog.u(2, 4)
	prog.u(4, 0)
	for _, v := range []uint64{1, 1, 1, 0xfb, 14, 10, 0, 1, 1, 1, 1, 0, 0, 0, 1} {
		prog.u(1, v)
	}
	prog[2] = byte(len(prog) - 6 + 2)
	prog = append(prog, 0, 0, 0, 9, 2)
	prog.u(8, 0x1000)
	prog = append(prog, 1, 2) // a row, and 1 MiB further the end
	prog.leb(1 << 20)
	prog = append(prog, 0, 1, 1)
	var line bits
	line.u(4, uint64(len(prog)))
	line = append(line, prog...)
	var info []byte
	const units = 100
	for range units {
		var b bits
		b.leb(9)
		b.u(8, 0x1000)
		b.u(8, 1<<20)
		b.u(4, 0)
		info = append(info, unit4(0, append(b, 0))...)
	}
	asked := 0
	d, err := Open(made{".debug_info": info, ".debug_abbrev": evil(), ".debug_line": line}.sections(binary.LittleEndian), Options{Symbols: endless{&asked}})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := d.Each(func(symbol.Function) error { n++; return nil }); err != nil {
		t.Fatal(err)
	}
	if limit := 1<<18 + 1000 + units; n < 1000 || asked > limit || len(d.Warnings()) == 0 || !strings.Contains(d.Warnings()[0], "line programs of different code") {
		t.Errorf("%d functions of %d symbols, at most %d; %q", n, asked, limit, d.Warnings())
	}
}

// endless has a symbol at each address, and says that it has a thousand.
type endless struct{ asked *int }

func (e endless) Len() int        { return 1000 }
func (e endless) Name(int) string { return "f" }
func (e endless) Piece(rva uint64) (int, symbol.Range, error) {
	*e.asked++
	return 0, symbol.Range{Start: rva, Size: 1}, nil
}
func (e endless) Linkage([]uint64, string) (string, error) { return "", nil }
