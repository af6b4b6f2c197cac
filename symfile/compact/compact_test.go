package compact

import (
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile/macho"
	"github.com/crashpane/crashpane/symfile/unwind"
)

const files = "../macho/testdata/"

// open opens the section of a file of macho's test data.
func open(t testing.TB, name string) *table {
	t.Helper()
	m, err := macho.Open(input.FromBytes(name, testfile.Read(t, files+name+".dylib.gz")))
	if err != nil {
		t.Fatal(err)
	}
	starts, err := m.Starts()
	if err != nil {
		t.Fatal(err)
	}
	src, err := m.Data(m.Section(SectionName))
	if err != nil {
		t.Fatal(err)
	}
	got, err := Open(src, Config{Arch: m.Arch, Order: m.Order, File: name, Bounds: starts.Piece,
		Code: func(rva uint64, n int64) ([]byte, error) { return m.At(m.Base+rva, n) }})
	if err != nil {
		t.Fatal(err)
	}
	return got.(*table)
}

// TestEntries: the words of all functions are those that llvm-objdump prints.
func TestEntries(t *testing.T) {
	entry := regexp.MustCompile(`\[\d+\]: function offset=0x([0-9a-f]+), encoding(?:\[\d+\])?=0x([0-9a-f]+)`)
	for _, name := range []string{"m-arm64-fp", "m-arm64-nofp", "m-x86_64-fp", "m-x86_64-nofp"} {
		printed, err := os.ReadFile(files + name + ".unwind.txt")
		if err != nil {
			t.Fatal(err)
		}
		tab := open(t, name)
		all := entry.FindAllStringSubmatch(string(printed), -1)
		if len(all) < 3 {
			t.Errorf("%s: %d entries are printed", name, len(all))
		}
		for _, m := range all {
			rva, _ := strconv.ParseUint(m[1], 16, 64)
			for _, at := range []uint64{rva, rva + 3} {
				e, ok, err := tab.find(at)
				if got := fmt.Sprintf("%08x", e.word); !ok || err != nil || e.start != rva || got != m[2] {
					t.Errorf("%s at 0x%x: %x with the word %s, want %s: %v", name, at, e.start, got, m[2], err)
				}
			}
		}
		first, _ := strconv.ParseUint(all[0][1], 16, 64)
		for _, at := range []uint64{0, first - 1, 1 << 20, 1 << 40} {
			if e, ok, err := tab.find(at); ok || err != nil {
				t.Errorf("%s at 0x%x: %+v, %v", name, at, e, err)
			}
		}
		if w := tab.Warnings(); len(w) > 0 {
			t.Errorf("%s: %q", name, w)
		}
	}
}

// TestRows: rules of each kind of frame, worked out by hand from the words and the code.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		file string
		rva  uint64
		want string
	}{
		{"m-arm64-fp", 0x3a0, "cfa = $fp + 16, ra = [cfa − 8], $fp = [cfa − 16], $x19 = [cfa − 24], $x20 = [cfa − 32], $x21 = [cfa − 40], $x22 = [cfa − 48], $x23 = [cfa − 56], $x24 = [cfa − 64]"},
		{"m-x86_64-nofp", 0x3e8, "cfa = $rsp + 64, ra = [cfa − 8], $rbx = [cfa − 56], $r12 = [cfa − 48], $r13 = [cfa − 40], $r14 = [cfa − 32], $r15 = [cfa − 24], $rbp = [cfa − 16]"},
	} {
		row, ok, err := open(t, c.file).Row(c.rva)
		m := cpu.AMD64
		if strings.Contains(c.file, "arm64") {
			m = cpu.ARM64
		}
		if got := row.Describe(m); !ok || err != nil || got != c.want {
			t.Errorf("%s at 0x%x: %v %v\n%s\nwant\n%s", c.file, c.rva, ok, err, got, c.want)
		}
	}
}

// words makes a section with one regular page of functions that begin 0x100 apart at 0x1000.
func words(all ...uint32) []byte {
	le := binary.LittleEndian
	var b []byte
	put := func(v ...uint32) {
		for _, x := range v {
			b = le.AppendUint32(b, x)
		}
	}
	put(1, 28, 0, 28, 0, 28, 2)
	put(0x1000, 52, 52, 0x1000+0x100*uint32(len(all)), 0, 52)
	put(regularPage, 8|uint32(len(all))<<16)
	for i, w := range all {
		put(0x1000+0x100*uint32(i), w)
	}
	return b
}

// TestWords: every mode of every processor. The rules are those of compact_unwind_encoding.h.
func TestWords(t *testing.T) {
	code := func(rva uint64, n int64) ([]byte, error) { // "sub $0x12340, %rsp" at 4 bytes
		return binary.LittleEndian.AppendUint32(nil, uint32(0x12340+rva&0xf)), nil
	}
	for _, c := range []struct {
		arch *cpu.Arch
		word uint32
		want string // of rules; else the note
	}{
		{cpu.AMD64, 0, ""},
		{cpu.AMD64, 0x01000000, "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16]"},
		{cpu.AMD64, 0x41020011, "cfa = $rbp + 16, ra = [cfa − 8], $rbp = [cfa − 16], $rbx = [cfa − 32], $r12 = [cfa − 24]"},
		{cpu.AMD64, 0x01010007, "unwind word 0x01010007 of an unknown mode"},
		{cpu.AMD64, 0x02010000, "cfa = $rsp + 8, ra = [cfa − 8]"},
		{cpu.AMD64, 0x02040807, "cfa = $rsp + 32, ra = [cfa − 8], $r12 = [cfa − 24], $r14 = [cfa − 16]"},
		{cpu.AMD64, 0x02080400, "cfa = $rsp + 64, ra = [cfa − 8], $rbx = [cfa − 16]"},
		{cpu.AMD64, 0x0304d400, "cfa = $rsp + 74612, ra = [cfa − 8], $rbx = [cfa − 48], $r12 = [cfa − 40], $r13 = [cfa − 32], $r14 = [cfa − 24], $r15 = [cfa − 16]"},
		{cpu.AMD64, 0x02081fff, "unwind word 0x02081fff with an order of registers that does not exist"},
		{cpu.AMD64, 0x04000123, "described in __eh_frame"},
		{cpu.AMD64, 0x07000000, "unwind word 0x07000000 of an unknown mode"},
		{cpu.X86, 0x01010005, "cfa = $ebp + 8, ra = [cfa − 4], $ebp = [cfa − 8], $esi = [cfa − 12]"},
		{cpu.X86, 0x02070400, "cfa = $esp + 28, ra = [cfa − 4], $ebx = [cfa − 8]"},
		{cpu.ARM64, 0x04000101, "cfa = $fp + 16, ra = [cfa − 8], $fp = [cfa − 16], $x19 = [cfa − 24], $x20 = [cfa − 32]"},
		{cpu.ARM64, 0x02002000, "cfa = $sp + 32, ra = $lr (topmost frame only)"},
		{cpu.ARM64, 0x03000010, "described in __eh_frame"},
		{cpu.ARM, 0x01400003, "cfa = $r7 + 12, ra = [cfa − 8], $r7 = [cfa − 12], $r5 = [cfa − 16], $r4 = [cfa − 20]"},
		{cpu.ARM, 0x04000000, "described in __eh_frame"},
	} {
		tab, err := Open(input.FromBytes("a", words(0, c.word)), Config{Arch: c.arch, Order: binary.LittleEndian, File: "a", Code: code})
		if err != nil {
			t.Fatal(err)
		}
		row, ok, err := tab.Row(0x1150)
		got := row.Origin.Note
		if ok {
			got = row.Describe(c.arch)
		}
		if err != nil || got != c.want || ok && row.Start != 0x1100 {
			t.Errorf("%s 0x%08x: %q, %v\nwant %q", c.arch.Name, c.word, got, err, c.want)
		}
	}
}

// TestPermuted: each order of registers has a number of its own.
func TestPermuted(t *testing.T) {
	for count, orders := range []int{1, 6, 30, 120, 360, 720, 720} {
		seen := map[string]bool{}
		for n := range orders {
			out, ok := permuted(count, n)
			sorted := slices.Sorted(slices.Values(out))
			if !ok || len(out) != count || len(slices.Compact(sorted)) != count || seen[fmt.Sprint(out)] {
				t.Fatalf("%d registers, order %d: %v %v", count, n, out, ok)
			}
			seen[fmt.Sprint(out)] = true
		}
		if _, ok := permuted(count, orders); ok && count > 0 {
			t.Errorf("%d registers have more than %d orders", count, orders)
		}
	}
}

// TestEach: what Each gives for a function is what Row gives inside of it.
func TestEach(t *testing.T) {
	for _, name := range []string{"m-arm64-nofp", "m-x86_64-nofp"} {
		tab := open(t, name)
		n := 0
		err := tab.Each(func(start, end uint64, row unwind.Row) error {
			n++
			for _, at := range []uint64{start, (start + end) / 2, end - 1} {
				if got, ok, err := tab.Row(at); !ok || err != nil || got.Describe(tab.cfg.Arch) != row.Describe(tab.cfg.Arch) {
					t.Errorf("%s at 0x%x: %s, %v", name, at, got.Describe(tab.cfg.Arch), err)
				}
			}
			return nil
		})
		if err != nil || n == 0 {
			t.Errorf("%s: %d functions, %v", name, n, err)
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(words(0x01000000, 0x0304d400, 0x04000010))
	for _, name := range []string{"m-arm64-fp", "m-x86_64-nofp"} {
		m, err := macho.Open(input.FromBytes(name, testfile.Read(f, files+name+".dylib.gz")))
		if err != nil {
			f.Fatal(err)
		}
		src, _ := m.Data(m.Section(SectionName))
		b, _ := src.Bytes(0, src.Size)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, a := range []*cpu.Arch{cpu.AMD64, cpu.ARM64, cpu.ARM} {
			tab, err := Open(input.FromBytes("a", b), Config{Arch: a, Order: binary.LittleEndian, File: "a"})
			if err != nil {
				continue
			}
			for rva := uint64(0); rva < 0x2000; rva += 0x7f {
				tab.Row(rva)
			}
			n := 0
			tab.Each(func(uint64, uint64, unwind.Row) error {
				if n++; n > 1000 {
					return fmt.Errorf("enough")
				}
				return nil
			})
		}
	})
}

// TestSamePage: of pages that several entries of the index share, each ends where the entry after its own begins, and
// reading them again draws work.
func TestSamePage(t *testing.T) {
	const n = 500
	one := words(0x01000000, 0x01000000)
	le := binary.LittleEndian
	index := one[:28]
	le.PutUint32(index[24:], n+1)
	page := one[52:]
	for i := range uint32(n + 1) {
		index = append(index[:28+12*i:28+12*i], words(0)[28:40]...)
		le.PutUint32(index[28+12*i:], 0x1000)
		le.PutUint32(index[28+12*i+4:], 28+12*(n+1))
	}
	le.PutUint32(index[28+12*n:], 0x1200)
	src := input.FromBytes("a", append(index, page...))
	src.Budget = &input.Budget{}
	tab, err := Open(src, Config{Arch: cpu.AMD64, Order: le, File: "a"})
	if err != nil {
		t.Fatal(err)
	}
	ends := map[uint64]int{}
	before := src.Left(input.Work)
	if err := tab.Each(func(_, end uint64, _ unwind.Row) error { ends[end]++; return nil }); err != nil {
		t.Fatal(err)
	}
	if ends[0x1200] != 1 || ends[0x1100] != n {
		t.Errorf("%v", ends)
	}
	if drawn := before - src.Left(input.Work); drawn < 2*n {
		t.Errorf("%d steps of work for %d entries", drawn, 2*n)
	}
}

// TestCosts: a lookup is a search, and all rules take time in proportion to their number.
func TestCosts(t *testing.T) {
	testfile.Growth(t, 4000, func(size int) func() {
		all := make([]uint32, size)
		for i := range all {
			all[i] = 0x01000000
		}
		starts := make(macho.Starts, 16*size)
		for i := range starts {
			starts[i] = uint32(0x1000 + 16*i)
		}
		tab, err := Open(input.FromBytes("a", words(all...)), Config{Arch: cpu.AMD64, Order: binary.LittleEndian, File: "a", Bounds: starts.Piece})
		if err != nil {
			t.Fatal(err)
		}
		return func() {
			n := 0
			err := tab.Each(func(uint64, uint64, unwind.Row) error { n++; return nil })
			if err != nil || n != 16*size {
				t.Errorf("%d rows of %d: %v", n, 16*size, err)
			}
		}
	})
}
