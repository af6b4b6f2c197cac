package symfile

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// probe asks a file everything about an address.
func probe(f *File, rva uint64) {
	f.Lookup(rva)
	f.CFI(rva)
	f.Row(cpu.AMD64, rva)
	f.FrameData(rva)
}

// TestTruncation cuts a file after every byte. What is left must read like a file that was written
// so.
func TestTruncation(t *testing.T) {
	for n := range len(sample) {
		text := sample[:n]
		f := open(t, "cut.sym", []byte(text))
		r := newReference(text)
		// The reference takes a number that is cut in two as it stands, like the reader, so the two
		// must agree everywhere.
		compare(t, fmt.Sprintf("cut at %d", n), f, r, 1000)
	}
}

// TestAnyOrder shuffles the records of a file, leaving lines, INLINEs and deltas after some record
// that owns them.
func TestAnyOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for round := range 300 {
		var b strings.Builder
		for range 40 {
			a, n := 0x1000+rng.IntN(64)*8, rng.IntN(5)*8
			switch rng.IntN(12) {
			case 0, 1:
				fmt.Fprintf(&b, "FUNC %x %x 0 f%d\n", a, n*4, b.Len())
			case 2, 3, 4:
				fmt.Fprintf(&b, "%x %x %d %d\n", a, n, rng.IntN(50), rng.IntN(6))
			case 5, 6:
				fmt.Fprintf(&b, "INLINE %d %d %d %d %x %x %x %x\n", rng.IntN(3), rng.IntN(50), rng.IntN(6), rng.IntN(6), a, n*2, a+64, n)
			case 7:
				fmt.Fprintf(&b, "FILE %d file%d\nINLINE_ORIGIN %d origin%d\n", rng.IntN(6), b.Len(), rng.IntN(6), b.Len())
			case 8:
				fmt.Fprintf(&b, "PUBLIC %x 0 p%d\n", a, b.Len())
			case 9:
				fmt.Fprintf(&b, "STACK CFI INIT %x %x .cfa: $rsp %d + .ra: .cfa ^\n", a, n*4, b.Len())
			case 10:
				fmt.Fprintf(&b, "STACK CFI %x .cfa: $rsp %d +\n", a, b.Len())
			case 11:
				fmt.Fprintf(&b, "STACK WIN %d %x %x 0 0 0 0 0 0 1 p%d\n", rng.IntN(2)*4, a, n*4, b.Len())
			}
			if rng.IntN(9) == 0 {
				b.WriteByte('\n')
			}
		}
		compare(t, fmt.Sprintf("round %d\n%s", round, b.String()), open(t, "x.sym", []byte(b.String())), newReference(b.String()), 1<<20)
		if t.Failed() {
			break
		}
	}
}

// TestChunks puts records of all kinds across the boundary between two chunks.
func TestChunks(t *testing.T) {
	for _, pad := range []int{0, 1, 2, 17, 40, 80, 200, 300, 500, 900, len(sample) - 1, len(sample)} {
		// Blank lines move the sample over the boundary byte by byte; the answers must not change.
		text := strings.Repeat("\n", readSize-len(sample)+pad) + sample
		f, err := Open(input.New("my.sym", strings.NewReader(text), int64(len(text))), Options{})
		if err != nil {
			t.Fatal(err)
		}
		checkSample(t, f)
		if t.Failed() {
			t.Fatalf("pad %d", pad)
		}
	}
}

// TestLongLines: a line longer than one read is one line, its start counts, and what follows is
// right.
func TestLongLines(t *testing.T) {
	for _, n := range []int{readSize - 40, readSize - 14, readSize - 13, readSize, readSize + 1, 3*readSize + 5} {
		long := strings.Repeat("n", n)
		text := "FUNC 10 10 0 " + long + "\nFILE 1 a\nFUNC 20 10 0 g\n20 10 5 1\nPUBLIC 40 0 " + long + "\nPUBLIC 50 0 p"
		f, err := Open(input.New("x.sym", strings.NewReader(text), int64(len(text))), Options{})
		if err != nil {
			t.Fatal(err)
		}
		if f.Counts.Lines != 6 || f.Counts.Funcs != 2 || f.Counts.Publics != 2 {
			t.Errorf("%d: %+v", n, f.Counts)
		}
		s, _, _ := f.Lookup(0x10)
		if want := long[:min(n, readSize-13)]; s.Name != want && s.Name != want+"n" {
			t.Errorf("%d: a name of %d bytes, want %d", n, len(s.Name), len(want))
		}
		s, _, _ = f.Lookup(0x20)
		if s.Name != "g" || s.File != "a" || s.Line != 5 {
			t.Errorf("%d: %+v", n, s)
		}
		if s, _, _ = f.Lookup(0x40); len(s.Name) < min(n, readSize-20) {
			t.Errorf("%d: a name of %d bytes", n, len(s.Name))
		}
		if s, _, _ = f.Lookup(0x50); s.Name != "p" {
			t.Errorf("%d: %.50s", n, s.Name)
		}
	}
}

// TestHostileMemory: what a file claims must not be believed, and what it repeats must not pile up.
func TestHostileMemory(t *testing.T) {
	for name, text := range map[string]string{
		"file numbers":   "FILE 4000000000 a\nINLINE_ORIGIN 4294967294 b\n" + strings.Repeat("FILE 99999999 x\n", 100),
		"mistakes":       strings.Repeat("FUNC zz\n", 20000),
		"orphans":        strings.Repeat("10 10 1 1\n", 20000),
		"unknown files":  "FUNC 0 ffffffff 0 f\n" + manyLines(20000),
		"nested inlines": "FUNC 0 ffffffff 0 f\n" + manyInlines(20000),
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		f := open(t, name, []byte(text))
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > uint64(readSize)+3*uint64(len(text)) {
			t.Errorf("%s: %d bytes allocated for %d", name, got, len(text))
		}
		if len(f.Warnings) > int(numKinds)*keepWarnings {
			t.Errorf("%s: %d warnings kept", name, len(f.Warnings))
		}
		probe(f, 0x100)
	}
}

func manyLines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%x 1 1 %d\n", i, i)
	}
	return b.String()
}

func manyInlines(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "INLINE %d 1 1 1 0 ffff\n", i)
	}
	return b.String()
}

// TestSweep: what is read eight bytes at a time is what the parsers make of it: a blank at the end
// of each line keeps the sweep away, and changes nothing.
func TestSweep(t *testing.T) {
	rng := rand.New(rand.NewPCG(51, 52))
	words := []string{"0", "1", "7", "12", "a0", "1fff", "2fff", "3fff", "40", "9999", "63", "64", "1234567", "12345678", "-1", "fF", "FF", "@", "g", "`", "/", ":",
		"\x00", "\x80", "\xff1", "", " ", "\t", "1\x001", "1\r", "\r1", "4294967295", "99999999999"}
	swept := 0
	for range probes(3000) {
		var b strings.Builder
		b.WriteString("MODULE a b c d\n")
		for i := range 70 {
			fmt.Fprintf(&b, "FILE %d f%d\nINLINE_ORIGIN %d o%d\n", i, i, i, i)
		}
		b.WriteString("FUNC 1000 3000 0 f\n")
		for range 30 {
			n, top := 4, 1+rng.IntN(len(words))
			if rng.IntN(3) == 0 {
				b.WriteString("INLINE ")
				n = 5 + rng.IntN(5)
			}
			if rng.IntN(4) > 0 {
				top = 12
			}
			for i := range n {
				switch {
				case i > 0:
					b.WriteByte(' ')
					fallthrough
				default:
					if i == 0 && n == 4 && rng.IntN(3) > 0 {
						fmt.Fprintf(&b, "%x", 0x1000+rng.IntN(0x3001))
						continue
					}
					b.WriteString(words[rng.IntN(top)])
				}
			}
			b.WriteString([]string{"\n", "\n", "\n", "\r\n"}[rng.IntN(4)])
		}
		b.WriteString("FUNC 9000 10 0 g\n9000 10 1 1\n9000 10 1 1\n9000 10 1 1\n9000 10 1 1\n")
		text := b.String()
		slow := strings.ReplaceAll(strings.ReplaceAll(text, "\r\n", "\n"), "\n", " \n")
		x, y := open(t, "x.sym", []byte(text)), open(t, "x.sym", []byte(slow))
		if x.Counts != y.Counts || x.WarningCount != y.WarningCount || !reflect.DeepEqual(x.Warnings, y.Warnings) {
			t.Fatalf("%q:\n%+v %v\n%+v %v", text[strings.Index(text, "FUNC"):], x.Counts, x.Warnings, y.Counts, y.Warnings)
		}
		for range 30 {
			if d := differs(x, y, 0x1000+uint64(rng.IntN(0x3001))); d != "" {
				t.Fatalf("%q: %s", text[strings.Index(text, "FUNC"):], d)
			}
		}
		s := &scanner{f: newFile(nil, Options{}), fn: &rec{rva: 0x1000, size: 0x3000}, fnEnd: new(int64)}
		body := text[strings.Index(text, "FUNC 1000")+len("FUNC 1000 3000 0 f\n"):]
		s.seg = &segment{}
		if s.sweep([]byte(body), 0) > 0 {
			swept++
		}
	}
	if swept < 10 {
		t.Errorf("only %d runs were swept", swept)
	}
}

// flaky is a reader that can be told to lack bytes.
type flaky struct {
	r   *bytes.Reader
	err error
}

func (f *flaky) ReadAt(p []byte, off int64) (int, error) {
	if f.err != nil {
		return 0, f.err
	}
	return f.r.ReadAt(p, off)
}

// TestReaderErrors: an error of the reader comes through every lookup, and the next try answers
// right.
func TestReaderErrors(t *testing.T) {
	text := []byte(sample + strings.Repeat("\n", 2*readSize))
	need := &input.NeedError{Name: "my.sym", Ranges: []input.Range{{Offset: 5, Size: 6}}}
	broken := errors.New("broken")
	for _, cause := range []error{need, broken} {
		r := &flaky{r: bytes.NewReader(text)}
		src := input.New("my.sym", r, int64(len(text)))
		r.err = cause
		if _, err := Open(src, Options{}); !errors.Is(err, cause) {
			t.Errorf("Open: %v", err)
		}
		r.err = nil
		f, err := Open(src, Options{})
		if err != nil {
			t.Fatal(err)
		}
		want := symbol.No
		if cause == need {
			want = symbol.Needs
		}
		r.err = cause
		for range 2 {
			for _, rva := range []uint64{0x1020, 0x3000} {
				if s, ans, err := f.Lookup(rva); !errors.Is(err, cause) || ans != want || s.Name != "" {
					t.Errorf("Lookup: %+v %v %v", s, ans, err)
				}
			}
			if _, ok, err := f.CFI(0x1001); !errors.Is(err, cause) || ok {
				t.Errorf("CFI: %v", err)
			}
			if _, ans, err := f.Row(cpu.AMD64, 0x1001); !errors.Is(err, cause) || ans != want {
				t.Errorf("Row: %v %v", ans, err)
			}
			if _, ans, err := f.FrameData(0x2000); !errors.Is(err, cause) || ans != want {
				t.Errorf("FrameData: %v %v", ans, err)
			}
			// What is not there needs no bytes.
			if _, ans, err := f.Lookup(0x20); ans != symbol.No || err != nil {
				t.Errorf("Lookup of nothing: %v %v", ans, err)
			}
		}
		r.err = nil
		checkSample(t, f)
	}
}

func TestProgress(t *testing.T) {
	text := bytes.Repeat([]byte("INFO x\n"), readSize)
	var calls int
	var last int64
	_, err := Open(input.FromBytes("x.sym", text), Options{Progress: func(done, total int64) {
		if calls++; done <= last || total != int64(len(text)) {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
	}})
	if err != nil || last != int64(len(text)) || calls < 7 {
		t.Error(err, last, calls)
	}
}

// FuzzSym: nothing panics or hangs, and a file reads the same through a reader as from memory.
func FuzzSym(f *testing.F) {
	f.Add([]byte(sample))
	f.Add([]byte(strings.ReplaceAll(sample, "\n", "\r\n")))
	for _, name := range []string{"breakpad-module1.sym", "breakpad-solaris-dump_syms_regtest.sym", "mozdump-linux-basic.full.inlines.sym"} {
		if text, err := os.ReadFile(filepath.Join(corpusRoot, "sym-samples", name)); err == nil && len(text) < 8192 {
			f.Add(text)
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a := open(t, "a.sym", text)
		b, err := Open(input.New("a.sym", bytes.NewReader(text), int64(len(text))), Options{})
		if err != nil || a.Counts != b.Counts || a.WarningCount != b.WarningCount {
			t.Fatalf("%v: %+v %+v", err, a.Counts, b.Counts)
		}
		for k := range tablePublics {
			for _, r := range a.tables[k].all() {
				for _, rva := range []uint64{r.rva, r.rva - 1, r.rva + r.size/2, r.rva + r.size} {
					probe(a, rva)
				}
			}
		}
		for _, p := range a.tables[tablePublics].all() {
			probe(a, p.rva)
		}
		for _, r := range a.tables[tableFuncs].all() {
			fn, err := a.decode(&r)
			if err != nil {
				t.Fatal(err)
			}
			for _, l := range fn.lines {
				probe(a, l.start)
			}
			for _, in := range fn.inlines {
				probe(a, in.start)
			}
		}
	})
}
