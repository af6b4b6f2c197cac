package pdb_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// typed is a module with functions of types, each 16 bytes long.
func typed(numbers ...uint32) *made {
	mod := madeModule{name: "a.obj", contributions: [][2]uint32{{0, uint32(16 * len(numbers))}}}
	for i, n := range numbers {
		at := 4 + len(mod.symbols)
		make := func(end uint32) []byte {
			return record(0x1110, func(b *buf) { b.u32(0, end, 0, 16, 0, 0, n, uint32(16*i)).u16(1).u8(0).text("f") })
		}
		mod.symbols = append(append(mod.symbols, make(uint32(at+len(make(0))))...), record(6, func(*buf) {})...)
	}
	return &made{machine: 0x8664, modules: []madeModule{mod}}
}

// list is a record of parameters, procedure that of a function with a number of them.
func list(types ...uint32) []byte {
	return record(0x1201, func(b *buf) { b.u32(uint32(len(types))).u32(types...) })
}

func procedure(list uint32) []byte {
	return record(0x1008, func(b *buf) { b.u32(3).u16(0, 1).u32(list) })
}

// TestTypeCosts: names of types that are made of each other, and a table of types that does not say where
// they are, cost no more than a bound.
func TestTypeCosts(t *testing.T) {
	m := typed(0x1003)
	m.types = [][]byte{list(slices.Repeat([]uint32{0x20}, 16000)...), procedure(0x1000), list(slices.Repeat([]uint32{0x1001}, 16000)...), procedure(0x1002)}
	if s, ans, err := m.open(t).Lookup(0x1001); ans != symbol.Yes || err != nil || len(s.Name) > 200<<10 {
		t.Errorf("a name of %d bytes, %v, %v", len(s.Name), ans, err)
	}
	// The only entry of the table is the first record, and each type asked for is one of the last.
	const records = 20000
	numbers := []uint32{}
	for i := range uint32(100) {
		numbers = append(numbers, 0x1000+records-1-i)
	}
	m = typed(numbers...)
	m.typeIndex, m.types = true, slices.Repeat([][]byte{procedure(0x1000)}, records)
	m.types[0] = list(0x74)
	src := input.FromBytes("made.pdb", m.bytes())
	src.Budget = &input.Budget{}
	f, err := pdb.Open(src)
	if err != nil {
		t.Fatal(err)
	}
	before := src.Budget.Left(input.Work)
	for i := range numbers {
		if s, ans, err := f.Lookup(0x1000 + uint64(16*i)); ans != symbol.Yes || err != nil || s.Name != "f(int)" {
			t.Fatalf("%d: %+v, %v, %v", i, s, ans, err)
		}
	}
	if work := before - src.Budget.Left(input.Work); work < records*int64(len(numbers))/2 {
		t.Errorf("%d records were passed %d times for %d steps of work", records, len(numbers), work)
	}
}

// TestNamesOverEachOther: names of streams that have no end cost in proportion to the file.
func TestNamesOverEachOther(t *testing.T) {
	testfile.Growth(t, 1<<14, func(n int) func() {
		var info buf
		info.u32(20000404, 1, 3).u32(1).u16(2, 3).u8(1, 2, 3, 4, 5, 6, 7, 8).u32(uint32(n))
		info = append(info, strings.Repeat("x", n)...)
		count := n / 32 * 32 / 8
		info.u32(uint32(count), uint32(count), uint32(count/32)).u32(slices.Repeat([]uint32{0xffffffff}, count/32)...).u32(0)
		for i := range uint32(count) {
			info.u32(i, 9)
		}
		data := msf(4096, [][]byte{nil, info, nil, nil})
		return func() {
			for range 4 {
				if _, err := pdb.Open(input.FromBytes("x.pdb", data)); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}

// TestManySeparated: functions with parts that were moved away cost in proportion to their number, also
// if all parts are the same code, which is listed once.
func TestManySeparated(t *testing.T) {
	for _, overlaid := range []bool{false, true} {
		testfile.Growth(t, 1000, func(n int) func() {
			mod := madeModule{name: "a.obj", contributions: [][2]uint32{{0, uint32(n * 64)}}, lines: checksums(1)}
			var moved []byte
			for i := range uint32(n) {
				mod.symbols = append(mod.symbols, proc(4+len(mod.symbols), 0x1110, i*64, 32, "f")...)
				at, of, size := i*64+32, i*64, uint32(32)
				if overlaid {
					at, of, size = i, 0, uint32(n*64)
				}
				moved = append(moved, record(0x1132, func(b *buf) { b.u32(0, 0, size, 0, at, of).u16(1, 1) })...)
				moved = append(moved, record(6, func(*buf) {})...)
				mod.lines = append(mod.lines, lines(i*64, 64, [2]uint32{0, 1}, [2]uint32{32, 2})...)
			}
			mod.symbols = append(mod.symbols, moved...)
			m := &made{machine: 0x8664, page: 4096, names: []string{"a.c"}, modules: []madeModule{mod}, textSize: uint32(n * 64)}
			data := m.bytes()
			return func() {
				f, err := pdb.Open(input.FromBytes("x.pdb", data))
				if err != nil {
					t.Fatal(err)
				}
				functions, found := 0, 0
				if err := f.Each(func(fn symbol.Function) error { functions, found = functions+1, found+len(fn.Lines); return nil }); err != nil {
					t.Fatal(err)
				}
				if functions != n || found < 2*n || found > 4*n {
					t.Fatalf("%d functions, %d lines", functions, found)
				}
			}
		})
	}
}

// TestOneAddress: of the thousands of names of one address, which functions with the same code have, a
// lookup reads a few.
func TestOneAddress(t *testing.T) {
	m := &made{machine: 0x8664, page: 4096, modules: []madeModule{{name: "a.obj", contributions: [][2]uint32{{0, 64}}}}}
	for i := range 20000 {
		m.publics = append(m.publics, [2]any{0, fmt.Sprintf("?f%d@@YAXXZ", i)})
	}
	data := m.bytes()
	c := &counted{ReaderAt: bytes.NewReader(data)}
	f, err := pdb.Open(input.New("x.pdb", c, int64(len(data))))
	if err != nil {
		t.Fatal(err)
	}
	c.bytes = 0
	if s, ans, err := f.Lookup(0x1004); ans != symbol.Yes || err != nil || s.Name != "?f0@@YAXXZ" {
		t.Errorf("%+v, %v, %v", s, ans, err)
	}
	if c.bytes > len(data)/3 {
		t.Errorf("a lookup read %d bytes of %d", c.bytes, len(data))
	}
}

// part is a reader that lacks a range of bytes.
type part struct {
	io.ReaderAt
	from, to int64
}

func (p *part) ReadAt(b []byte, off int64) (int, error) {
	if from, to := max(off, p.from), min(off+int64(len(b)), p.to); from < to {
		return 0, &input.NeedError{Name: "x.pdb", Ranges: []input.Range{{Offset: from, Size: to - from}}}
	}
	return p.ReaderAt.ReadAt(b, off)
}

// TestRepeated: memory that is drawn for what lacks bytes is given back, so that it is drawn once in the
// end, and names that lack bytes are not left out.
func TestRepeated(t *testing.T) {
	mod := madeModule{name: "a.obj", contributions: [][2]uint32{{0, 0x4000}}}
	// The first function is the last by address, so that no search finds the others.
	for i := range uint32(4000) {
		mod.symbols = append(mod.symbols, proc(4+len(mod.symbols), 0x1110, 0x3ff0-i*4, 2, "f")...)
	}
	m := &made{machine: 0x8664, page: 512, modules: []madeModule{mod}, named: map[string]string{"srcsrv": strings.Repeat("x", 5000)}}
	for i := range 3 {
		m.publics = append(m.publics, [2]any{0x1000 * i, fmt.Sprintf("f%d", i)})
	}
	// Entries up to the end of the last page of the table.
	for i := range uint32(200) {
		m.toSource, m.fromSource = append(m.toSource, [2]uint32{0x1000 + i*16, 0x1000 + i*16}), append(m.fromSource, [2]uint32{0x1000 + i*16, 0x1000 + i*16})
	}
	data := m.bytes()
	for _, c := range []struct {
		name string
		ask  func(f *pdb.File) error
	}{
		{"functions", func(f *pdb.File) error { _, _, err := f.Lookup(0x1003); return err }},
		{"links", func(f *pdb.File) error { _, err := f.SourceLink("/x.c"); return err }},
		{"names", func(f *pdb.File) error {
			n := 0
			_, err := f.PublicNames(0, 1<<20, func(uint64, string) { n++ })
			if err == nil && n != 3 {
				t.Errorf("%d names", n)
			}
			return err
		}},
	} {
		drawn := func(step int64) int64 {
			size := int64(len(data))
			r := &part{ReaderAt: bytes.NewReader(data)}
			src := input.New("x.pdb", r, size)
			src.Budget = &input.Budget{}
			f, err := pdb.Open(src)
			if err != nil {
				t.Fatal(err)
			}
			if _, _, err := f.Has(); err != nil { // the list of modules
				t.Fatal(err)
			}
			f.Lookup(0x6000) // the tables that lead to a module, but none of its streams
			left := src.Budget.Left(input.Memory)
			for n := step; ; n += step {
				r.from, r.to = n, size
				if step < 0 { // the pages of a stream are in reverse order here
					r.from, r.to = 0, size+n
				}
				err := c.ask(f)
				var need *input.NeedError
				if err == nil {
					break
				}
				if !errors.As(err, &need) {
					t.Fatalf("%s: %v", c.name, err)
				}
			}
			return left - src.Budget.Left(input.Memory)
		}
		once := drawn(int64(len(data)))
		for _, step := range []int64{1024, -1024} {
			if often := drawn(step); once != often {
				t.Errorf("%s: %d bytes of memory, %d if the file comes in parts", c.name, once, often)
			}
		}
	}
}

// TestManyImports: calls of functions of other modules, as where the linker generates code, cost in
// proportion to their number.
func TestManyImports(t *testing.T) {
	testfile.Growth(t, 500, func(n int) func() {
		size := uint32(8 * n)
		var ids, exports []uint32
		var sites [][]byte
		for i := range uint32(n) {
			ids, exports = append(ids, 0x1000+i), append(exports, 0x1000+i, 0x2000+i)
			sites = append(sites, record(0x114d, func(b *buf) {
				b.u32(0, 0, 0x80000000|i).u8(12, 4, 0xc0|byte(8*i>>24), byte(8*i>>16), byte(8*i>>8), byte(8*i))
			}), record(0x114e, func(*buf) {}))
		}
		m := &made{machine: 0x8664, page: 4096, names: []string{"a.c", "b.obj"}, textSize: size, modules: []madeModule{
			{name: "a.obj", contributions: [][2]uint32{{0, size}}, symbols: proc(4, 0x1110, 0, size, "f", sites...),
				lines: slices.Concat(checksums(1), *new(buf).u32(0xf7, uint32(8+4*n), 5, uint32(n)).u32(ids...), lines(0, size, [2]uint32{0, 1}))},
			{name: "B.obj", lines: *new(buf).u32(0xf8, uint32(8*n)).u32(exports...)},
		}}
		data := m.bytes()
		return func() {
			f, err := pdb.Open(input.FromBytes("x.pdb", data))
			if err != nil {
				t.Fatal(err)
			}
			calls := 0
			if err := f.Each(func(fn symbol.Function) error { calls += len(fn.Inlines); return nil }); err != nil || calls != n || len(f.Warnings()) > 0 {
				t.Fatalf("%d calls, %v, %q", calls, err, f.Warnings())
			}
		}
	})
}

// TestCancelled: a lookup that was cancelled leaves nothing half done: the next one finds what it is to.
func TestCancelled(t *testing.T) {
	mod := madeModule{name: "a.obj", contributions: [][2]uint32{{0, 0x8000}}, lines: checksums(1)}
	for i := range uint32(4000) { // in reverse order, so that no search finds them
		at := 0x7ff0 - i*8
		mod.symbols = append(mod.symbols, proc(4+len(mod.symbols), 0x1110, at, 4, "f")...)
		mod.lines = append(mod.lines, lines(at, 4, [2]uint32{0, 7})...)
	}
	data := (&made{machine: 0x8664, page: 4096, names: []string{"a.c"}, modules: []madeModule{mod}}).bytes()
	const last = 0x1000 + 0x7ff0 - 3999*8
	cancelled := 0
	for n := 1; ; n++ {
		src := input.FromBytes("x.pdb", data)
		pauses := 0
		src.Budget = &input.Budget{}
		src.Budget.Pause = func() {
			if pauses++; pauses == n {
				src.Budget.Cancel(context.Canceled)
			}
		}
		f, err := pdb.Open(src)
		if err == nil {
			_, _, err = f.Lookup(last)
		}
		if pauses < n {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("pause %d: %v", n, err)
		}
		src.Budget.Resume()
		if f == nil {
			continue
		}
		cancelled++
		if s, ans, err := f.Lookup(last); ans != symbol.Yes || err != nil || s.Name != "f" || s.Line != 7 || len(f.Warnings()) > 0 {
			t.Errorf("after pause %d: %+v, %v, %v, %q", n, s, ans, err, f.Warnings())
		}
	}
	if cancelled == 0 {
		t.Error("no lookup was cancelled")
	}
}
