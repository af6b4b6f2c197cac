package pdb_test

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
)

const (
	largeFunctions = 6000
	largeCode      = 64 // bytes of a function
)

// largeModule is a module of many functions, whose symbols and lines are in two orders. One of the
// functions has more symbols than are read at once.
func largeModule(symbolOrder, lineOrder []int) (symbols []byte, subsections [][]byte) {
	local := record(0x113e, func(b *buf) { b.u32(0x74).u16(0).text("a local variable, which is not to be read here") })
	symbols = record(0x1101, func(b *buf) { b.u32(0).text("large.obj") })
	for _, i := range symbolOrder {
		inner := bytes.Repeat(local, 3)
		if i == largeFunctions/3 {
			inner = bytes.Repeat(local, 4000)
		}
		symbols = append(symbols, proc(4+len(symbols), 0x1110, uint32(i*largeCode), largeCode, fmt.Sprintf("function%d", i), inner)...)
	}
	for _, i := range lineOrder {
		subsections = append(subsections, lines(uint32(i*largeCode), largeCode, [2]uint32{0, uint32(2 * i)}, [2]uint32{8, uint32(2*i + 1)}))
	}
	return symbols, subsections
}

// TestLargeModule: functions and lines of a module are found whatever their order is and wherever
// the list of files is. If they are in order, as compilers write them, a lookup reads a small
// part of the module.
func TestLargeModule(t *testing.T) {
	ordered := make([]int, largeFunctions)
	for i := range ordered {
		ordered[i] = i
	}
	moved := slices.Clone(ordered)
	slices.Reverse(moved[500:2000])
	for _, c := range []struct {
		what           string
		symbols, lines []int
		files          int // before which subsection of lines the files are
		searched       bool
	}{
		{"files first", ordered, ordered, 0, true},
		{"files last", ordered, ordered, largeFunctions, true},
		{"files in the middle", ordered, ordered, largeFunctions / 2, false},
		{"functions moved", moved, ordered, 0, false},
		{"lines moved", ordered, moved, 0, false},
		{"both moved", moved, moved, largeFunctions, false},
	} {
		t.Run(c.what, func(t *testing.T) {
			symbols, subsections := largeModule(c.symbols, c.lines)
			subsections = slices.Insert(subsections, c.files, checksums(1))
			m := &made{machine: 0x8664, page: 4096, names: []string{"a.c"}, textSize: largeFunctions * largeCode}
			m.modules = []madeModule{{name: "small.obj"}, {name: "large.obj", symbols: symbols, lines: bytes.Join(subsections, nil),
				contributions: [][2]uint32{{0, largeFunctions * largeCode}}}}
			data := m.bytes()
			reads := &counted{ReaderAt: bytes.NewReader(data)}
			open := func() *pdb.File {
				f, err := pdb.Open(input.New("large.pdb", reads, int64(len(data))))
				if err != nil {
					t.Fatal(err)
				}
				return f
			}
			f := open()
			for i := 0; i < largeFunctions; i += 97 {
				if i%2 == 0 {
					f = open() // nothing is known yet
				}
				reads.bytes = 0
				s, answer, err := f.Lookup(0x1000 + uint64(i*largeCode) + 9)
				if want := fmt.Sprintf("function%d", i); answer != symbol.Yes || err != nil || s.Name != want || s.File != "a.c" || s.Line != uint32(2*i+1) ||
					s.Start != 0x1000+uint64(i*largeCode) {
					t.Fatalf("%v %v %+v, want %s, line %d", answer, err, s, want, 2*i+1)
				}
				if whole := len(symbols); c.searched && reads.bytes > whole/2 {
					t.Errorf("a lookup read %d bytes; the symbols have %d", reads.bytes, whole)
				}
			}
			// The index, which lists all functions, says the same.
			n := 0
			err := f.Each(func(fn symbol.Function) error {
				if n++; n%500 == 0 {
					s, _, err := open().Lookup(fn.Ranges[0].Start)
					if err != nil || s.Name != fn.Name || s.Line != fn.Lines[0].Line || s.Start != fn.Ranges[0].Start {
						t.Errorf("%+v: %+v (%v)", fn, s, err)
					}
				}
				return nil
			})
			if err != nil || n != largeFunctions {
				t.Errorf("%d functions (%v), want %d", n, err, largeFunctions)
			}
		})
	}
}

// TestInlineesAmongLines: where an inlined function begins is found in whichever subsection it is.
func TestInlineesAmongLines(t *testing.T) {
	symbols, subsections := largeModule([]int{0}, nil)
	symbols = symbols[:0]
	for i := range largeFunctions {
		site := slices.Concat(record(0x114d, func(b *buf) { b.u32(0, 0, uint32(0x1000+i)).u8(12, 4, 8) }), record(0x114e, func(*buf) {}))
		symbols = append(symbols, proc(4+len(symbols), 0x1110, uint32(i*largeCode), largeCode, "f", site)...)
		subsections = append(subsections, lines(uint32(i*largeCode), largeCode, [2]uint32{0, 1}))
	}
	inlinees := func(id, line uint32) []byte {
		var b buf
		b.u32(0xf6, 16).u32(0, id, 0, line)
		return b
	}
	subsections = slices.Insert(subsections, largeFunctions/2, inlinees(0x1000+2000, 700))
	subsections = slices.Concat([][]byte{checksums(1), inlinees(0x1000+1000, 600)}, subsections)
	m := &made{machine: 0x8664, page: 4096, names: []string{"a.c"}, textSize: largeFunctions * largeCode}
	m.modules = []madeModule{{name: "large.obj", symbols: symbols, lines: bytes.Join(subsections, nil), contributions: [][2]uint32{{0, largeFunctions * largeCode}}}}
	f := m.open(t)
	for _, c := range []struct{ function, line uint32 }{{1000, 600}, {2000, 700}} {
		s, _, err := f.Lookup(0x1000 + uint64(c.function)*largeCode + 9)
		if err != nil || len(s.Inlines) != 1 || s.Inlines[0].Line != c.line || s.Inlines[0].File != "a.c" {
			t.Errorf("function %d: %+v (%v), want line %d", c.function, s.Inlines, err, c.line)
		}
	}
}

// TestPageSizes: files of every page size open, also those whose directory has so many pages that
// their list takes several pages.
func TestPageSizes(t *testing.T) {
	for page := 512; page <= 32768; page *= 2 {
		m := simple()
		m.page = page
		// Of 512 bytes a page, one holds the numbers of 128 pages of the directory, those of 16,384
		// pages.
		m.modules = append(m.modules, madeModule{name: "large.obj", oldLines: make([]byte, 9<<20)})
		f := m.open(t)
		s, answer, err := f.Lookup(0x1024)
		if answer != symbol.Yes || err != nil || s.Name != "hot" || s.Line != 2 {
			t.Errorf("page %d: %v %v %+v", page, answer, err, s)
		}
	}
	for _, page := range []int{0, 256, 513, 65536} {
		data := simple().bytes()
		data[32], data[33], data[34] = byte(page), byte(page>>8), byte(page>>16)
		if _, err := pdb.Open(input.FromBytes("a.pdb", data)); err == nil {
			t.Errorf("a page size of %d is not refused", page)
		}
	}
}
