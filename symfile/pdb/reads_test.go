package pdb_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/pdb"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// counted counts the bytes that are read.
type counted struct {
	io.ReaderAt
	bytes int
}

func (c *counted) ReadAt(p []byte, off int64) (int, error) {
	c.bytes += len(p)
	return c.ReaderAt.ReadAt(p, off)
}

// TestReads: of a file with many modules a lookup reads some places of the table that says which
// module code is from, and one module. Opening reads the list of modules.
func TestReads(t *testing.T) {
	const modules, each, size = 1500, 16, 32
	m := &made{machine: 0x8664, page: 4096, names: []string{"a.c"}}
	for i := range modules {
		mod := madeModule{name: fmt.Sprintf("module%d.obj", i), lines: checksums(1)}
		for k := range each { // every module has a part of everything, as with functions in sections of their own
			off := uint32((k*modules + i) * size)
			mod.contributions = append(mod.contributions, [2]uint32{off, size})
			mod.symbols = append(mod.symbols, proc(4+len(mod.symbols), 0x1110, off, size, fmt.Sprintf("f%d_%d", i, k))...)
			mod.lines = append(mod.lines, lines(off, size, [2]uint32{0, uint32(i + 1)})...)
		}
		m.modules = append(m.modules, mod)
	}
	m.textSize = modules * each * size
	data := m.bytes()
	c := &counted{ReaderAt: bytes.NewReader(data)}
	f, err := pdb.Open(input.New("many.pdb", c, int64(len(data))))
	if err != nil {
		t.Fatal(err)
	}
	list := modules * (64 + 2*len("module1000.obj"))
	if c.bytes > 2*list+256<<10 {
		t.Errorf("opening read %d bytes; the list of modules has %d", c.bytes, list)
	}
	c.bytes = 0
	const lookups = 20
	for i := range lookups {
		n := i * modules * each / lookups
		s, ans, err := f.Lookup(0x1000 + uint64(n*size) + 5)
		if want := fmt.Sprintf("f%d_%d", n%modules, n/modules); ans != symbol.Yes || err != nil || s.Name != want || s.Line != uint32(n%modules+1) {
			t.Errorf("%d: %v %v %+v, want %s", i, ans, err, s, want)
		}
	}
	if table := modules * each * 28; c.bytes > table {
		t.Errorf("%d lookups read %d bytes, more than the %d of the table of contributions", lookups, c.bytes, table)
	}
}

// TestLongList: the list of modules is read in chunks, and its entries end anywhere in them. Each
// module's code is found, so each entry was read.
func TestLongList(t *testing.T) {
	const modules, size = 400, 32
	m := &made{machine: 0x8664, page: 4096, names: []string{"a.c"}, textSize: modules * size}
	for i := range modules {
		m.modules = append(m.modules, madeModule{name: strings.Repeat("x", 1+i*7919%9000), contributions: [][2]uint32{{uint32(i * size), size}},
			symbols: proc(4, 0x1110, uint32(i*size), size, fmt.Sprintf("f%d", i))})
	}
	f := m.open(t)
	for i := range modules {
		if s, ans, err := f.Lookup(0x1000 + uint64(i*size) + 5); ans != symbol.Yes || err != nil || s.Name != fmt.Sprintf("f%d", i) {
			t.Errorf("module %d: %v %v %q", i, ans, err, s.Name)
		}
	}
	if w := f.Warnings(); len(w) > 0 {
		t.Error(w)
	}
}

// TestEndlessName: an entry whose name has no end costs the modules from it on, and says so.
func TestEndlessName(t *testing.T) {
	m := &made{machine: 0x8664, page: 4096, names: []string{"a.c"}, textSize: 64}
	for i, name := range []string{"a.obj", strings.Repeat("x", 300<<10)} {
		m.modules = append(m.modules, madeModule{name: name, contributions: [][2]uint32{{uint32(i * 32), 32}}, symbols: proc(4, 0x1110, uint32(i*32), 32, name[:1])})
	}
	f := m.open(t)
	for i, want := range []symbol.Answer{symbol.Yes, symbol.No} {
		if s, ans, err := f.Lookup(0x1000 + uint64(i*32) + 5); ans != want || err != nil {
			t.Errorf("%d: %v %v %q", i, ans, err, s.Name)
		}
	}
	if w := f.Warnings(); len(w) != 1 || !strings.Contains(w[0], "list of modules at offset") {
		t.Errorf("the warnings are %q", w)
	}
}
