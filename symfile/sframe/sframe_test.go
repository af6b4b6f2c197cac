package sframe

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/unwind"
)

var update = flag.Bool("update", false, "rewrite testdata: sections, and what their rows mean, both as the writer has them")

// open opens bytes as a section; base is the address that module-relative ones count from.
func open(t testing.TB, name string, data []byte, address, base uint64) unwind.Table {
	t.Helper()
	table, err := Open(input.FromBytes(name, data), address, Config{Base: base, File: name})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// listed are all rows of a table, a range a line.
func listed(t testing.TB, table unwind.Table, arch *cpu.Arch) string {
	t.Helper()
	var b strings.Builder
	if err := table.Each(func(start, end uint64, row unwind.Row) error {
		if row.Start != start {
			t.Errorf("the row of %x says that it starts at %x", start, row.Start)
		}
		b.WriteString(rangeText(start, end, row.Describe(arch)))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func archOf(abi byte) *cpu.Arch {
	return map[byte]*cpu.Arch{1: cpu.ARM64, 2: cpu.ARM64, 3: cpu.AMD64, 4: cpu.S390X}[abi]
}

// TestMade reads the sections of testdata, all rows in a row and each address alone, loaded at 0
// and elsewhere.
func TestMade(t *testing.T) {
	for _, s := range made {
		t.Run(s.name, func(t *testing.T) {
			file, golden := filepath.Join("testdata", s.name+".sframe"), filepath.Join("testdata", s.name+".rows")
			if *update {
				if err := os.MkdirAll("testdata", 0o777); err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(os.WriteFile(file, s.bytes(), 0o666), os.WriteFile(golden, []byte("# "+s.says+fmt.Sprintf("; loaded at %#x\n", s.address)+s.want()), 0o666)); err != nil {
					t.Fatal(err)
				}
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(data, s.bytes()) {
				t.Error("the file is not what the writer writes; run the test with -update")
			}
			text, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			_, want, _ := strings.Cut(string(text), "\n")
			arch := archOf(s.abi)
			table := open(t, s.name, data, s.address, 0)
			if got := listed(t, table, arch); got != want {
				t.Errorf("rows are\n%swant\n%s", got, want)
			}
			s.checkWarnings(t, table)
			s.checkEachAddress(t, data, want, 0)
			s.checkEachAddress(t, data, want, 0x800)
		})
	}
}

// TestMadeReadelf compares what the made sections say with what binutils' readelf reads in them.
func TestMadeReadelf(t *testing.T) {
	texts, _ := filepath.Glob(filepath.Join("testdata", "*.readelf.txt"))
	if len(texts) < 10 {
		t.Errorf("only %d texts", len(texts))
	}
	for _, path := range texts {
		s := section(strings.TrimSuffix(filepath.Base(path), ".readelf.txt"))
		t.Run(s.name, func(t *testing.T) { checkReadelf(t, open(t, s.name, s.bytes(), s.address, 0), path) })
	}
}

func (s *madeSection) checkWarnings(t *testing.T, table unwind.Table) {
	t.Helper()
	all := strings.Join(table.Warnings(), "\n")
	if len(table.Warnings()) != len(s.warnings) {
		t.Errorf("%d warnings, want %d:\n%s", len(table.Warnings()), len(s.warnings), all)
	}
	for _, w := range s.warnings {
		if !strings.Contains(all, w) {
			t.Errorf("no warning says %q:\n%s", w, all)
		}
	}
}

// checkEachAddress asks a fresh table for the rules at every address.
func (s *madeSection) checkEachAddress(t *testing.T, data []byte, want string, base uint64) {
	t.Helper()
	table := open(t, s.name, data, s.address, base)
	for line := range strings.Lines(want) {
		var start, end uint64
		fmt.Sscanf(line, "%x-%x", &start, &end)
		_, means, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		step := max(1, (end-start)/97) // of long ranges, some
		for pc := start; pc < end; pc += step {
			row, ok, err := table.Row(pc - base)
			if err != nil || !ok || row.Describe(archOf(s.abi)) != means {
				t.Fatalf("%x: %v %v %s\nwant %s", pc, ok, err, row.Describe(archOf(s.abi)), means)
			}
			if row.Origin.File != s.name || row.Origin.Part != ".sframe" || row.Origin.Offset == 0 {
				t.Fatalf("%x: its origin is %+v", pc, row.Origin)
			}
			if at := row.Start + base; at > pc || at < start {
				t.Fatalf("%x: said to hold from %x on", pc, at)
			}
		}
	}
	for pc, means := range s.others {
		row, ok, err := table.Row(pc - base)
		if got := row.Describe(archOf(s.abi)); err != nil || ok != (means != "") || ok && got != means {
			t.Errorf("%x, in no function: %v %v %s\nwant %s", pc, ok, err, got, means)
		}
	}
}

// A header says what the section is.
func TestHeader(t *testing.T) {
	s := section("auxiliary")
	h, err := ReadHeader(input.FromBytes("a", s.bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if h.Version != 2 || h.Flags != Sorted|StartFromField || h.ABI != AMD64Little || h.Order != little || h.FixedRA != -8 || h.FixedFP != 0 ||
		h.AuxSize != 12 || h.Functions != 2 || h.Rows != 2 || h.RowBytes != 6 || h.FunctionsAt != 40 || h.RowsAt != 86 {
		t.Errorf("%+v", h)
	}
}

func section(name string) *madeSection {
	for _, s := range made {
		if s.name == name {
			c := *s
			return &c
		}
	}
	panic("there is no section " + name)
}

// Sections that cannot be used are refused with the section, the offset and what is there.
func TestRefused(t *testing.T) {
	edit := func(name string, at int, b ...byte) []byte {
		data := section(name).bytes()
		copy(data[at:], b)
		return data
	}
	for _, tc := range []struct {
		name string
		data []byte
		arch *cpu.Arch
		says string
	}{
		{"nothing", nil, nil, "x.so: .sframe at offset 0x0: expected 2 more bytes"},
		{"no magic", edit("unsorted", 0, 0x7f, 'E'), nil, "at offset 0x0: expected SFrame's magic number 0xdee2 in either byte order, found 0x457f"},
		{"version 4", edit("unsorted", 2, 4), nil, "at offset 0x2: expected SFrame version 1, 2 or 3, found version 4"},
		{"version 0", edit("unsorted", 2, 0), nil, "found version 0"},
		{"ABI 9", edit("unsorted", 4, 9), nil, "at offset 0x4: expected ABI 1 or 2 (arm64), 3 (amd64) or 4 (s390x), found ABI 9"},
		{"another CPU", section("unsorted").bytes(), cpu.ARM64, "expected an ABI of arm64, found ABI 3, which is amd64's"},
		{"too many functions", edit("unsorted", 8, 0xff, 0xff, 0xff, 0xff), nil, "at offset 0x1c: expected room for 4294967295 functions of 20 bytes each, found"},
		{"functions beyond the section", edit("unsorted", 20, 0xff, 0xff, 0xff, 0xff), nil, "found 0 bytes to the end of the section"},
		{"rows within functions", edit("unsorted", 24, 4, 0, 0, 0), nil, "found rows from offset 0x20 on"},
		{"no auxiliary header", edit("unsorted", 7, 255), nil, "expected 255 more bytes"},
	} {
		table, err := Open(input.FromBytes("x.so", tc.data), 0, Config{Arch: tc.arch})
		if err == nil || !strings.Contains(err.Error(), tc.says) {
			t.Errorf("%s: %v, %v\nwant %s", tc.name, table, err, tc.says)
		}
		var format *input.FormatError
		if !errors.As(err, &format) {
			t.Errorf("%s: the error is a %T", tc.name, err)
		}
	}
}

// A function or row that cannot be read is an error where it is asked for, a warning in a list of
// all, and no obstacle to others.
func TestBadEntries(t *testing.T) {
	row := func(at uint32) madeRow { return madeRow{at: at, sp: true, words: []int64{8}, means: "."} }
	good := madeFunc{start: 0x1020, size: 0x10, addr: 1, rows: []madeRow{row(0)}}
	base := madeSection{order: little, version: 2, flags: 1, abi: 3, ra: -8}
	for _, tc := range []struct {
		name    string
		version byte
		bad     madeFunc
		edit    func(b []byte)
		says    string // the error, or with ok false the note
		note    bool
	}{
		{"row type", 2, madeFunc{addr: 1, extra: 7, rows: []madeRow{row(0)}}, nil, "expected rows of type 0, 1 or 2, found type 7", false},
		{"word size", 2, madeFunc{addr: 1, rows: []madeRow{row(0)}}, func(b []byte) { b[28+40+1] |= 0x60 }, "offset 0x45: expected words of 1, 2 or 4 bytes, found size 3", false},
		{"no rows", 2, madeFunc{addr: 1}, nil, "the function has no rows", true},
		{"late rows", 2, madeFunc{addr: 1, rows: []madeRow{row(8)}}, nil, "the function's rows begin after the address", true},
		{"falling rows", 2, madeFunc{addr: 1, rows: []madeRow{row(2), row(1)}}, nil, "expected a row that starts at 0x2 or after, found one that starts at 0x1", false},
		{"block of nothing", 2, madeFunc{addr: 1, mask: true, rows: []madeRow{row(0)}}, nil, "the function repeats a block of 0 bytes", true},
		{"version 1 block", 1, madeFunc{addr: 1, mask: true, rows: []madeRow{row(0)}}, nil, "version 1 does not say of what size", true},
		{"rows outside", 2, madeFunc{addr: 1, rows: []madeRow{row(0)}}, func(b []byte) { b[28+8] = 0xff }, "bytes to the end of the rows", false},
		{"rows cut off", 2, madeFunc{addr: 4, rows: []madeRow{row(0)}}, func(b []byte) { b[28+8] = 6; b[28+12] = 2 }, "bytes to the end of the rows", false},
		{"attributes outside", 3, madeFunc{addr: 1, rows: []madeRow{row(0)}}, func(b []byte) { b[28+12] = 0xff }, "bytes to the end of the rows", false},
		{"function type", 3, madeFunc{addr: 1, rows: []madeRow{row(0)}}, func(b []byte) { b[28+32+3] = 9 }, "expected a function of type 0 (default) or 1 (flexible), found type 9", false},
		{"CFA from itself", 3, madeFunc{addr: 1, flex: true, rows: []madeRow{{words: []int64{2, 8}}}}, nil, "expected a CFA relative to a register, found control word 0x2", false},
		{"half a pair", 3, madeFunc{addr: 1, flex: true, rows: []madeRow{{words: []int64{57}}}}, nil, "expected an offset after each control word", false},
	} {
		s := base
		s.version = tc.version
		tc.bad.start, tc.bad.size = 0x1000, 0x10
		s.funcs = []madeFunc{tc.bad, good}
		data := s.bytes()
		if tc.edit != nil {
			tc.edit(data)
		}
		table := open(t, "x.so", data, 0, 0)
		got, ok, err := table.Row(0x1004)
		if tc.note && (ok || err != nil || !strings.Contains(got.Origin.Note, tc.says)) || !tc.note && (err == nil || !strings.Contains(err.Error(), tc.says)) {
			t.Errorf("%s: %v %v %q\nwant %s", tc.name, ok, err, got.Origin.Note, tc.says)
		}
		if err != nil && !strings.Contains(err.Error(), "x.so: .sframe at offset 0x") {
			t.Errorf("%s: the error says no place: %v", tc.name, err)
		}
		if _, ok, err := table.Row(0x1024); !ok || err != nil {
			t.Errorf("%s: the good function is lost: %v", tc.name, err)
		}
		lines := listed(t, table, cpu.AMD64)
		if !strings.Contains(lines, "1020-1030 cfa = $rsp + 8,") {
			t.Errorf("%s: the good function is not listed:\n%s", tc.name, lines)
		}
		if all := strings.Join(table.Warnings(), "\n"); !tc.note && !strings.Contains(all, tc.says) {
			t.Errorf("%s: no warning in %q", tc.name, all)
		}
	}
}

// A section that calls itself sorted and is not is noticed and sorted.
func TestFalselySorted(t *testing.T) {
	s := section("unsorted")
	s.flags |= 1
	table := open(t, "x.so", s.bytes(), s.address, 0)
	for line := range strings.Lines(s.want()) {
		var start, end uint64
		fmt.Sscanf(line, "%x-%x", &start, &end)
		for pc := start; pc < end; pc++ {
			if row, ok, err := table.Row(pc); !ok || err != nil || !strings.Contains(line, row.Describe(cpu.AMD64)) {
				t.Fatalf("%x: %v %v", pc, ok, err)
			}
		}
	}
	if all := table.Warnings(); len(all) != 1 || !strings.Contains(all[0], "the functions are not sorted, although the header says so") {
		t.Errorf("warnings %q", all)
	}
}

// Functions without a byte, which linkers leave behind, hide no others.
func TestEmptyFunctions(t *testing.T) {
	s := madeSection{order: little, version: 2, flags: 1, abi: 3, ra: -8, funcs: []madeFunc{
		{start: 0x1000, size: 0x10, addr: 1, rows: []madeRow{{sp: true, words: []int64{8}}}},
		{start: 0x1000, addr: 1}, {start: 0x1004, addr: 1}}}
	if row, ok, err := open(t, "x.so", s.bytes(), 0, 0).Row(0x1008); !ok || err != nil || row.CFA.Offset != 8 {
		t.Errorf("%v %v %+v", ok, err, row)
	}
}

// What f answers ends the list.
func TestEachStops(t *testing.T) {
	s := section("wide")
	table := open(t, "x.so", s.bytes(), s.address, 0)
	enough := errors.New("enough")
	n := 0
	err := table.Each(func(uint64, uint64, unwind.Row) error {
		if n++; n == 3 {
			return enough
		}
		return nil
	})
	if err != enough || n != 3 {
		t.Errorf("%v after %d", err, n)
	}
}

// A file that is not there yet is asked for, not called broken.
func TestNeeds(t *testing.T) {
	s := section("wide")
	r := &partly{data: s.bytes(), have: 28}
	table, err := Open(input.New("far.so", r, int64(len(r.data))), s.address, Config{})
	var need *input.NeedError
	if !errors.As(err, &need) {
		t.Fatalf("%v, %v", table, err)
	}
	r.have = len(r.data)
	if table, err = Open(input.New("far.so", r, int64(len(r.data))), s.address, Config{}); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := table.Row(0x1000); !ok || err != nil {
		t.Error(ok, err)
	}
}

// partly has the first bytes of a file.
type partly struct {
	data []byte
	have int
}

func (p *partly) ReadAt(b []byte, off int64) (int, error) {
	if int(off)+len(b) > p.have {
		return 0, &input.NeedError{Name: "far.so", Ranges: []input.Range{{Offset: off, Size: int64(len(b))}}}
	}
	return copy(b, p.data[off:]), nil
}
