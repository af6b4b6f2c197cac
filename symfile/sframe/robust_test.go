package sframe

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// whole are the rows of a sound section, by address.
func whole(t testing.TB, s *madeSection) map[uint64]string {
	rows := map[uint64]string{}
	for line := range strings.Lines(s.want()) {
		var start, end uint64
		fmt.Sscanf(line, "%x-%x", &start, &end)
		_, means, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		for pc := start; pc < end; pc += max(1, (end-start)/13) {
			rows[pc] = means
		}
	}
	return rows
}

// A section that ends early is refused, or what is left of it is read right: no address gets rules
// that are not its own, and none is said to have no rules.
func TestCutOff(t *testing.T) {
	for _, s := range made {
		data, want := s.bytes(), whole(t, s)
		for n := range data {
			table, err := Open(input.FromBytes("cut.so", data[:n]), s.address, Config{})
			var format *input.FormatError
			if err != nil {
				if !errors.As(err, &format) || format.Part != SectionName {
					t.Fatalf("%s, %d bytes: %v", s.name, n, err)
				}
				continue
			}
			if len(table.Warnings()) == 0 {
				t.Errorf("%s, %d bytes of %d: no warning", s.name, n, len(data))
			}
			for pc, means := range want {
				row, ok, err := table.Row(pc)
				switch {
				case err != nil:
					if !errors.As(err, &format) || format.Offset > int64(len(data)) {
						t.Fatalf("%s, %d bytes: %v", s.name, n, err)
					}
				case !ok || row.Describe(archOf(s.abi)) != means:
					t.Fatalf("%s, %d bytes: %x has %v %s", s.name, n, pc, ok, row.Describe(archOf(s.abi)))
				}
			}
			if err := table.Each(func(start, _ uint64, row unwind.Row) error {
				if means := want[start]; means != row.Describe(archOf(s.abi)) {
					t.Errorf("%s, %d bytes: %x is listed with %s", s.name, n, start, row.Describe(archOf(s.abi)))
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// A small section that promises endless work is given up, with a warning that says why.
func TestBoundedWork(t *testing.T) {
	shared := madeSection{order: little, version: 2, abi: 3, ra: -8}
	rows := make([]madeRow, 20000)
	for i := range rows {
		rows[i] = madeRow{at: uint32(i / 100), sp: true, words: []int64{8}}
	}
	for i := range 5000 {
		shared.funcs = append(shared.funcs, madeFunc{start: uint64(0x1000 * i), size: 0x1000, addr: 1})
	}
	shared.funcs = append(shared.funcs, madeFunc{start: 0x4000000, size: 0x1000, addr: 1, rows: rows})
	data := shared.bytes()
	for i := range 5000 { // every function has the rows of the last
		little.AppendUint32(data[:28+20*i+12], uint32(len(rows)))
	}
	endless := madeSection{order: little, version: 2, abi: 3, ra: -8, funcs: []madeFunc{{start: 0x1000, size: 0xffffffff, addr: 1, mask: true, rep: 2,
		rows: []madeRow{{sp: true, words: []int64{8}}, {at: 1, sp: true, words: []int64{16}}}}}}
	for name, tc := range map[string]struct {
		data []byte
		says string
	}{
		"shared rows":    {data, "rows that are used 16 times on average"},
		"endless blocks": {endless.bytes(), "at most 262144 rows of repeated blocks"},
	} {
		began := time.Now()
		table := open(t, "x.so", tc.data, 0, 0)
		n := 0
		if err := table.Each(func(uint64, uint64, unwind.Row) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		if all := strings.Join(table.Warnings(), "\n"); !strings.Contains(all, tc.says) {
			t.Errorf("%s: warnings %q", name, all)
		}
		if took := time.Since(began); took > 20*time.Second {
			t.Errorf("%s: %v for %d ranges", name, took, n)
		}
	}
}

// TestRowsDrawWork: a lookup draws for the rows that it reads, also when they are in memory: a stack may have thousands of
// frames in one function.
func TestRowsDrawWork(t *testing.T) {
	const n = 2000
	rows := make([]madeRow, n)
	for i := range rows {
		rows[i] = madeRow{at: uint32(i / 100), sp: true, words: []int64{8}}
	}
	made := madeSection{order: little, version: 2, abi: 3, ra: -8, funcs: []madeFunc{{start: 0x1000, size: 0x1000, addr: 1, rows: rows}}}
	src := input.FromBytes("made.so", made.bytes())
	src.Budget = &input.Budget{}
	table, err := Open(src, 0, Config{})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		before := src.Left(input.Work)
		if _, ok, err := table.Row(0x1800); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if drawn := before - src.Left(input.Work); drawn < n {
			t.Errorf("%d steps of work for %d rows", drawn, n)
		}
	}
}

// lacking is a reader that has no bytes from an offset on, unless it is -1.
type lacking struct {
	r    *bytes.Reader
	from int64
}

func (l *lacking) ReadAt(p []byte, off int64) (int, error) {
	if l.from >= 0 && off+int64(len(p)) > l.from {
		return 0, &input.NeedError{Name: "made.so", Ranges: []input.Range{{Offset: off, Size: int64(len(p))}}}
	}
	return l.r.ReadAt(p, off)
}

// TestUnsortedLater: if bytes are not there yet when the order of functions is verified, a later lookup verifies it.
func TestUnsortedLater(t *testing.T) {
	made := madeSection{order: little, version: 2, abi: 3, ra: -8, flags: 1}
	row := []madeRow{{sp: true, words: []int64{8}}}
	for i := range 16000 {
		made.funcs = append(made.funcs, madeFunc{start: uint64(0x10000 + 16*i), size: 16, addr: 1, rows: row})
	}
	made.funcs = append(made.funcs, madeFunc{start: 0x100, size: 16, addr: 1, rows: row})
	data := made.bytes()
	r := &lacking{bytes.NewReader(data), 192 << 10}
	table, err := Open(input.New("made.so", r, int64(len(data))), 0, Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, ok, err := table.Row(0x100); ok || !input.Needs(err) {
		t.Errorf("without bytes: %v %v", ok, err)
	}
	r.from = -1
	if _, ok, err := table.Row(0x100); !ok || err != nil {
		t.Errorf("later: %v %v", ok, err)
	}
}

// overlapping: two functions share an address, or the list is not in order because the section is
// not.
func overlapping(t *table) bool {
	last := t.inMemory
	t.sortStarts()
	t.inMemory = true
	defer func() { t.inMemory = last }()
	end := int64(math.MinInt64)
	for i := range t.Functions {
		fn, err := t.nth(i)
		if err != nil || fn.start < end {
			return true
		}
		if end = fn.start + int64(fn.size); end < fn.start {
			return true
		}
	}
	return false
}

// FuzzSFrame: nothing panics or hangs, errors say a place, and the list of all rows gives addresses
// the rules that a lookup gives them, as long as functions do not overlap.
func FuzzSFrame(f *testing.F) {
	for _, s := range made {
		f.Add(s.bytes())
	}
	cut, _ := filepath.Glob(filepath.Join("testdata", "*.sframe"))
	for _, p := range cut {
		data, err := os.ReadFile(p)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		opened, err := Open(input.FromBytes("fuzz.so", data), 0x3000, Config{Base: 0x1000})
		var format *input.FormatError
		if err != nil {
			if !errors.As(err, &format) {
				t.Fatalf("a %T: %v", err, err)
			}
			return
		}
		table := opened.(*table)
		arch := table.arch
		type listed struct {
			start, end uint64
			row        unwind.Row
		}
		var all []listed
		enough := errors.New("enough")
		if err := table.Each(func(start, end uint64, row unwind.Row) error {
			if all = append(all, listed{start, end, row}); len(all) == 2000 {
				return enough
			}
			return nil
		}); err != nil && err != enough {
			t.Fatal(err)
		}
		overlap := overlapping(table)
		for i, l := range all {
			if i > 200 {
				break
			}
			for _, pc := range []uint64{l.start, l.end - 1, l.start - 1, l.end} {
				row, ok, err := table.Row(pc)
				if err != nil && !errors.As(err, &format) {
					t.Fatalf("a %T: %v", err, err)
				}
				if pc >= l.start && pc < l.end && !overlap && ok && (!row.Equal(&l.row) || row.Topmost != l.row.Topmost) {
					t.Fatalf("%x: listed with %v, looked up %v", pc, l.row, row)
				}
				if ok {
					regs := cpu.Regs{Arch: arch}
					regs.Set(regs.Arch.SP, 0x7000)
					row.Apply(&regs, nil, nil)
				}
			}
		}
		table.Warnings()
	})
}
