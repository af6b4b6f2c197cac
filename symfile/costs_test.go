package symfile

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// TestLookupsDrawWork: a lookup that goes through many records draws for it each time, although they are
// in memory since the first: a stack may have thousands of frames in one function.
func TestLookupsDrawWork(t *testing.T) {
	const n, least = 4000, 100
	cfi := "STACK CFI INIT 0 ffff .cfa: $rsp 8 + .ra: .cfa 8 - ^\n" + strings.Repeat("STACK CFI f000 .cfa: $rsp 16 +\n", n)
	for name, c := range map[string]struct {
		text string
		ask  func(f *File, rva uint64) error
	}{
		"inlined calls": {"FUNC 0 ffff 0 f\n" + manyInlines(n), func(f *File, rva uint64) error { _, _, err := f.Lookup(rva); return err }},
		"deltas":        {cfi, func(f *File, rva uint64) error { _, _, err := f.Row(cpu.AMD64, rva); return err }},
		"text of rules": {cfi, func(f *File, rva uint64) error { _, err := f.CFIText(rva); return err }},
		"a program": {"STACK WIN 4 0 ffff 0 0 4 0 0 0 1 " + strings.Repeat("$T0 1 = ", n) + "\n",
			func(f *File, rva uint64) error { _, _, err := f.FrameData(rva); return err }},
		"records inside one": {"STACK WIN 4 0 fffff 0 0 4 0 0 0 0 0\n" + manyWins(n), func(f *File, rva uint64) error { _, _, err := f.FrameData(0xfff00 + rva); return err }},
	} {
		src := sourceOf([]byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 x\n" + c.text))
		src.Budget = &input.Budget{}
		src.Budget.GiveFile(src)
		f, err := Open(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for rva := range uint64(4) {
			before := src.Left(input.Work)
			if err := c.ask(f, 0x10+rva); err != nil {
				t.Fatal(name, err)
			}
			if drawn := before - src.Left(input.Work); drawn < least {
				t.Errorf("%s: lookup %d drew %d steps of work, want %d at least", name, rva, drawn, least)
			}
		}
	}
	// The ranges of an INIT record. Each has its own rules and those of all ranges before it.
	src := sourceOf([]byte("STACK CFI INIT 0 ffff .cfa: $rsp 8 +\n" + strings.Repeat("STACK CFI f000 $r12: 1\n", 3000)))
	src.Budget = &input.Budget{}
	f, err := Open(src, Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := src.Left(input.Work)
	if err := f.CFITable(cpu.AMD64).Each(func(_, _ uint64, _ unwind.Row) error { return nil }); err != nil || before-src.Left(input.Work) < 60000 {
		t.Errorf("a list of rules drew %d steps: %v", before-src.Left(input.Work), err)
	}
}

func manyWins(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "STACK WIN 4 %x 8 0 0 4 0 0 0 0 0\n", 16*i)
	}
	return b.String()
}

// TestLargeRecordsAreFew: lookups do not keep thousands of large records.
func TestLargeRecordsAreFew(t *testing.T) {
	const most = 40
	text := []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 x\nSTACK CFI INIT 0 ffff .cfa: $rsp 8 + .ra: .cfa 8 - ^\n" +
		strings.Repeat("STACK CFI 8 $r12: .cfa 8 - ^\n", 4000) + "STACK CFI INIT 10000 ffff .cfa: $rsp" + strings.Repeat(" $rbp + $rbp -", 500) + "\n")
	for rva := uint64(0x10); rva < 0x30; rva += 0x10 { // with a page's reader, and without
		f, err := Open(input.New("x.sym", &manyReader{bytes.NewReader(text)}, int64(len(text))), Options{})
		if err != nil {
			t.Fatal(err)
		}
		var list []uint64
		for i := range uint64(2 * most) {
			list = append(list, rva+i)
		}
		f.Prefetch(list, nil)
		if n := len(f.cfis.now) + len(f.cfis.old); n > most {
			t.Errorf("%d records of 4,000 lines are kept", n)
		}
	}
	f := open(t, "x.sym", text)
	for i := range uint64(2000) {
		f.Row(cpu.AMD64, 0x10000+i)
	}
	if n := len(f.rows.now) + len(f.rows.old); n > 800 {
		t.Errorf("%d rows of 1,000 operations are kept", n)
	}
}

// TestIndexClaims: no memory is taken for blocks that an index claims and has no bytes for.
func TestIndexClaims(t *testing.T) {
	const n = 1 << 20
	text := []byte(sample)
	p := packer{b: []byte(storedMagic)}
	p.unsigned(storedVersion)
	p.b = append(p.b, 0, 0, 0, 0)
	for _, v := range []int{0, len(text), len(text), 1, 0, 0} {
		p.unsigned(uint64(v))
	}
	for k := range numTables {
		p.unsigned(n)
		p.unsigned(map[bool]uint64{true: n}[k == 0])
	}
	binary.LittleEndian.PutUint32(p.b[storedStart-4:], uint32(len(p.b)+4))
	p.b = binary.LittleEndian.AppendUint32(p.b, crc32.ChecksumIEEE(p.b))
	index := input.FromBytes("x.sym.index", append(p.b, make([]byte, n)...))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := OpenIndexed(sourceOf(text), index, Options{})
	runtime.ReadMemStats(&after)
	var fe *input.FormatError
	if got := after.TotalAlloc - before.TotalAlloc; !errors.As(err, &fe) || got > 8<<20 {
		t.Errorf("%v, with %d bytes of memory", err, got)
	}
}

// TestExtentByDamagedIndex: a damaged block of an index next to a file is never an error of a lookup, which then
// goes on without the index.
func TestExtentByDamagedIndex(t *testing.T) {
	// The record that both the name and the address are in is in the first block, and neither's own.
	var b strings.Builder
	b.WriteString("MODULE windows x86 0123456789ABCDEF0123456789ABCDEF0 x\nPUBLIC 1100 0 p\nSTACK WIN 4 1000 ff000 0 0 0 0 0 0 0 0\n")
	for i := range 2 * blockLen {
		fmt.Fprintf(&b, "STACK WIN 4 %x %x 0 0 0 0 0 0 0 0\n", 0x1001+i, 0xe00-i)
	}
	b.WriteString("STACK WIN 4 3000 5d000 0 0 0 0 0 0 0 0\n")
	text := []byte(b.String())
	whole := open(t, "x.sym", text)
	index, err := whole.Index()
	if err != nil {
		t.Fatal(err)
	}
	beside := func() *File {
		f, err := OpenIndexed(sourceOf(text), input.FromBytes("x.sym.index", index), Options{})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	index[beside().tables[tableWin4].base] ^= 0x55
	f := beside()
	if d := differs(f, whole, 0x50000); d != "" || !f.Revised() {
		t.Error("the damage was not noticed, or: ", d)
	}
}

// TestCancelledWithIndex: a lookup that is cancelled is not the index's fault, which is used again.
func TestCancelledWithIndex(t *testing.T) {
	text := generate(9000)
	whole := open(t, "x.sym", text)
	index, err := whole.Index()
	if err != nil {
		t.Fatal(err)
	}
	src := indexBeside(text, index, false)
	src.Budget = &input.Budget{}
	src.Budget.GiveFile(src)
	src.Index.Budget = src.Budget
	why := errors.New("cancelled by the user")
	src.Budget.Cancel(why)
	if _, err := openOnDemand(src, Options{Slice: 4 << 10}); !errors.Is(err, why) || src.Index == nil {
		t.Error("the index is not used any more: ", err)
	}
	src.Budget.Resume()
	f, err := openOnDemand(src, Options{Slice: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	rva := whole.tables[tableFuncs].all()[5000].rva
	src.Budget.Cancel(why)
	if _, _, err := f.Lookup(rva); !errors.Is(err, why) {
		t.Error(err)
	}
	src.Budget.Resume()
	if d := differs(f, whole, rva); d != "" || f.Revised() || src.Index == nil || f.WarningCount != whole.WarningCount {
		t.Error("the index is not used any more ", d)
	}
}
