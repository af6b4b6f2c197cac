package gopclntab

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// oneFunction is a program of Go 1.20 on amd64 with one function of 16 bytes for each of some
// ranges, which have lines and inlined calls of their own. parent is the range that has a range's
// call, call is a range's call or -1. All names begin in one long text.
func oneFunction(t *testing.T, n int, call, parent func(i int) int) *Table {
	t.Helper()
	le := binary.LittleEndian
	const names, units, files, tables = 0x100, 0x100 + 1<<15, 0x200 + 1<<15, 0x300 + 1<<15
	size := uint32(16 * n)
	pcs := []byte{0}
	table := func(value func(i int) int) uint32 {
		at, last := uint32(len(pcs)), -1
		for i := range n {
			v := value(i)
			pcs = binary.AppendUvarint(pcs, uint64(uint32((v-last)<<1^(v-last)>>31)))
			pcs = append(pcs, 16)
			last = v
		}
		pcs = append(pcs, 0)
		return at
	}
	once := func() uint32 { // the value 0 everywhere
		at := uint32(len(pcs))
		pcs = binary.AppendUvarint(append(pcs, 2), uint64(size))
		pcs = append(pcs, 0)
		return at
	}
	moved, file := once(), once()
	line, inline := table(func(i int) int { return 1 + i%2 }), table(call)
	b := []byte{0xf1, 0xff, 0xff, 0xff, 0, 0, 1, 8}
	for _, v := range []uint64{1, 1, 0x1000, names, units, files, tables, 0x60} {
		b = le.AppendUint64(b, v)
	}
	put := func(at int, p []byte) { b = append(append(b, make([]byte, at-len(b))...), p...) }
	put(0x60, nil)
	for _, v := range []uint32{0, 0x20, size} { // functab
		b = le.AppendUint32(b, v)
	}
	put(0x80, nil)
	for _, v := range []uint32{0, 0, 0, 0, moved, file, line, 3, 0, 1, 4 << 24, 0, 0, inline, ^uint32(0), ^uint32(0), ^uint32(0), 0x100} {
		b = le.AppendUint32(b, v)
	}
	put(names, []byte(strings.Repeat("n", 1<<15-1)+"\x00"))
	put(units, []byte{0, 0, 0, 0})
	put(files, []byte("/src/a.go\x00"))
	put(tables, pcs)
	var tree []byte
	for i := range n {
		for _, v := range []uint32{0, 1<<15 - 10 - uint32(i%5), uint32(16 * parent(i)), 0} {
			tree = le.AppendUint32(tree, v)
		}
	}
	words := make([]byte, 8*45)
	for i, v := range map[int]uint64{0: madeTable, 1: madeTable + names, 16: madeTable + 0x60, 22: 0x1000, 40: madeTree - 0x100} {
		le.PutUint64(words[8*i:], v)
	}
	const code = 1 << 32 // the tree is at a higher address than the code
	tab, err := Open(input.FromBytes("made", b), madeTable, Config{Arch: cpu.AMD64, File: "made", Code: [][2]uint64{{0x1000, code}},
		Data: []Part{{madeModule, input.FromBytes("made", words)}},
		At:   readMemory(map[uint64][]byte{madeTree: tree, madeModule: words})})
	if err != nil {
		t.Fatal(err)
	}
	return tab
}

// TestGrowth: a function costs in proportion to its tables, whatever they say.
func TestGrowth(t *testing.T) {
	for _, c := range []struct {
		name         string
		call, parent func(n, i int) int
	}{
		{"calls next to each other", func(n, i int) int { return i%2*(i/2+1) - 1 }, func(n, i int) int { return 2 * i % n }},
		{"calls around each other", func(n, i int) int { return i }, func(n, i int) int { return (i + 1) % n }},
		{"calls in the one before", func(n, i int) int { return i }, func(n, i int) int { return max(i-1, 0) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			testfile.Growth(t, 5000, func(n int) func() {
				tab := oneFunction(t, n, func(i int) int { return c.call(n, i) }, func(i int) int { return c.parent(n, i) })
				return func() {
					calls := 0
					if err := tab.Each(func(f symbol.Function) error { calls += len(f.Inlines); return nil }); err != nil || calls == 0 {
						t.Errorf("%d calls of %d (%v, %v)", calls, n, err, tab.Warnings())
					}
				}
			})
		})
	}
}

// TestSharedText: names that share their bytes do not become more text than a table of that size
// has.
func TestSharedText(t *testing.T) {
	tab := oneFunction(t, 20000, func(i int) int { return i%2*(i/2+1) - 1 }, func(i int) int { return 2 * i % 20000 })
	text := 0
	tab.names -= 1<<15 - 100 // every name is the whole text
	tab.Each(func(f symbol.Function) error {
		for _, c := range f.Inlines {
			text += len(c.Name)
		}
		return nil
	})
	if most := int(16*tab.src.Size) + 1<<20; text > most || len(tab.Warnings()) == 0 {
		t.Errorf("%d bytes of names, of at most %d; %v", text, most, tab.Warnings())
	}
}

// TestManyRangesOfCode: a function costs the same in a file of many segments.
func TestManyRangesOfCode(t *testing.T) {
	testfile.Growth(t, 20_000, func(n int) func() {
		var code [][2]uint64
		for i := range uint64(n) {
			at := (i * 7919 % uint64(n)) << 8
			code = append(code, [2]uint64{at, at + 0x80}, [2]uint64{at + 0x40, at + 0xc0})
		}
		return func() {
			tab := Table{cfg: Config{Code: merge(code)}}
			for i := range uint64(n) {
				end, ok := tab.inCode(i<<8 + 0x60)
				if _, gap := tab.inCode(i<<8 + 0xc0); !ok || gap || end != i<<8+0xc0 {
					t.Fatalf("%d: %#x, %v, %v", i, end, ok, gap)
				}
			}
		}
	})
}
