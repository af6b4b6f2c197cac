package symfile

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/lazy"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// onDemandOf opens a text of any size for lookups in slices, through a reader, as a file is.
func onDemandOf(t testing.TB, name string, text []byte, slice int64) *File {
	t.Helper()
	f, err := openOnDemand(input.New(name, bytes.NewReader(text), int64(len(text))), Options{Slice: slice})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// manyReader is a reader to which many places cost less at once, as a File of a browser.
type manyReader struct{ *bytes.Reader }

// ReadManyAt implements input.ManyReader.
func (m *manyReader) ReadManyAt(parts []input.Part) error {
	for _, p := range parts {
		if _, err := m.ReadAt(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// byBoth opens it as onDemandOf does, and by a reader for which lookups are prefetched.
func byBoth(t testing.TB, name string, text []byte, slice int64) (both [2]*File) {
	t.Helper()
	both[0] = onDemandOf(t, name, text, slice)
	var err error
	many := &manyReader{bytes.NewReader(text)}
	if both[1], err = openOnDemand(input.New(name, many, int64(len(text))), Options{Slice: slice}); err != nil {
		t.Fatal(err)
	}
	return both
}

// lineless takes out of a record what only a reading of the whole file knows, and which of two
// equal records it is.
func lineless(c CFIRecord) CFIRecord {
	c.Line, c.Offset = 0, 0
	for i := range c.Deltas {
		c.Deltas[i].Line = 0
	}
	return c
}

// differs is where two files answer differently about an address; "" if nowhere.
func differs(a, b *File, rva uint64) string {
	s1, ans1, err1 := a.Lookup(rva)
	s2, ans2, err2 := b.Lookup(rva)
	if err1 != nil || err2 != nil || ans1 != ans2 || !reflect.DeepEqual(s1, s2) {
		return fmt.Sprintf("Lookup(0x%x):\n %+v %v %v\n %+v %v %v", rva, s1, ans1, err1, s2, ans2, err2)
	}
	c1, ok1, err1 := a.CFI(rva)
	c2, ok2, err2 := b.CFI(rva)
	if err1 != nil || err2 != nil || ok1 != ok2 || !reflect.DeepEqual(lineless(c1), lineless(c2)) {
		return fmt.Sprintf("CFI(0x%x):\n %+v %v %v\n %+v %v %v", rva, c1, ok1, err1, c2, ok2, err2)
	}
	d1, ans1, err1 := a.FrameData(rva)
	d2, ans2, err2 := b.FrameData(rva)
	d1.Origin.Line, d1.Origin.Offset, d2.Origin.Line, d2.Origin.Offset = 0, 0, 0, 0
	if err1 != nil || err2 != nil || ans1 != ans2 || !reflect.DeepEqual(d1, d2) {
		return fmt.Sprintf("FrameData(0x%x):\n %+v %v %v\n %+v %v %v", rva, d1, ans1, err1, d2, ans2, err2)
	}
	return ""
}

// borders are the addresses at which answers may change, and some at random.
func borders(f *File, rng *rand.Rand) []uint64 {
	var xs []uint64
	top := uint64(1)
	for k := range tablePublics {
		for _, r := range f.tables[k].all() {
			xs = append(xs, r.rva-1, r.rva, r.rva+r.size/2, r.rva+r.size-1, r.rva+r.size)
			top = max(top, r.rva+r.size)
		}
	}
	for _, p := range f.tables[tablePublics].all() {
		xs = append(xs, p.rva-1, p.rva, p.rva+1)
		top = max(top, p.rva+1)
	}
	for range len(xs)/4 + 50 {
		xs = append(xs, rng.Uint64N(top+top/8+16))
	}
	rng.Shuffle(len(xs), func(i, j int) { xs[i], xs[j] = xs[j], xs[i] })
	return xs
}

// inOrder reads a file the plain way: the records of each kind are sorted, as are FUNC and PUBLIC
// together where they mix.
func inOrder(text []byte) bool {
	last := map[string]uint64{}
	end := map[string]uint64{}
	for line := range strings.SplitSeq(string(text), "\n") {
		w := strings.Fields(line)
		if len(w) < 4 {
			continue
		}
		kind, at := w[0], 1
		switch {
		case kind == "FUNC" || kind == "PUBLIC":
			if w[1] == "m" {
				at = 2
			}
		case kind == "STACK" && w[2] == "INIT":
			kind, at = "INIT", 3
		case kind == "STACK" && w[1] == "WIN":
			kind, at = "WIN"+w[2], 3
		default:
			continue
		}
		key, _ := hexOf(w[at])
		if key < last[kind] {
			return false
		}
		last[kind] = key
		if kind == "FUNC" || kind == "INIT" {
			size, _ := hexOf(w[at+1])
			if key+size < end[kind] {
				return false
			}
			end[kind] = key + size
		}
	}
	return true
}

// same compares n of the borders in both, and what is known without an address.
func same(t *testing.T, name string, onDemand, exact *File, n int) {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, uint64(len(name))))
	xs := borders(exact, rng)
	xs = xs[:min(n, len(xs))]
	onDemand.Prefetch(xs, xs)
	for _, x := range xs {
		if d := differs(onDemand, exact, x); d != "" {
			t.Fatalf("%s: %s", name, d)
		}
	}
	if onDemand.Module != exact.Module || onDemand.CodeID != exact.CodeID || onDemand.CodeFile != exact.CodeFile || onDemand.URL != exact.URL ||
		exact.WarningCount == 0 && (onDemand.HasSymbols() != exact.HasSymbols() || onDemand.HasUnwind() != exact.HasUnwind()) {
		t.Errorf("%s: %+v %q %q %v %v", name, onDemand.Module, onDemand.CodeID, onDemand.URL, onDemand.HasSymbols(), onDemand.HasUnwind())
	}
}

// state says which way a file is answered.
func state(f *File) string {
	if f.lazy == nil {
		return "index"
	}
	return fmt.Sprint("searched, indexed: ", f.indexed)
}

// TestOnDemandCorpus compares slices of several sizes with the index, on every file.
func TestOnDemandCorpus(t *testing.T) {
	for _, p := range corpus(t) {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		exact := open(t, filepath.Base(p), text)
		for _, slice := range []int64{1 << 10, 4 << 10, 64 << 10} {
			f := onDemandOf(t, filepath.Base(p), text, slice)
			if inOrder(text) {
				same(t, p, f, exact, probes(4000))
			} else {
				// What is out of order in places that no lookup came to cannot be noticed; but it
				// is told.
				wrong := ""
				xs := borders(exact, rand.New(rand.NewPCG(15, 16)))
				for _, x := range xs[:min(len(xs), probes(4000))] {
					if d := differs(f, exact, x); d != "" {
						wrong = d
					}
				}
				was := state(f)
				if err := f.Complete(nil); err != nil || wrong != "" && !f.Revised() {
					t.Errorf("%s by %d, %s: %v %s", p, slice, was, err, wrong)
				} else if wrong != "" {
					t.Logf("%s by %d, %s: answers differ, and are to be asked for again: %s", filepath.Base(p), slice, was, wrong)
				}
				continue
			}
			t.Logf("%s by %d: %s", filepath.Base(p), slice, state(f))
		}
	}
}

// TestOnDemandLarge does so with the large files.
func TestOnDemandLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short")
	}
	for _, name := range []string{"bigcrash.mozilla.sym.gz", "bigcrash.breakpad.sym.gz"} {
		text := unpack(t, name)
		exact := open(t, name, text)
		for _, slice := range []int64{4 << 10, 64 << 10} {
			f := onDemandOf(t, name, text, slice)
			same(t, name, f, exact, probes(20000))
			t.Logf("%s by %d: %s", name, slice, state(f))
			if f.FullyIndexed() {
				t.Errorf("%s: read as a whole", name)
			}
			if err := f.Complete(nil); err != nil || !f.FullyIndexed() || f.Counts != exact.Counts {
				t.Errorf("%s: completed: %v %+v", name, err, f.Counts)
			}
		}
	}
}

// TestOnDemandGenerated: a large file that is sorted is never read as a whole.
func TestOnDemandGenerated(t *testing.T) {
	for _, n := range []int{300, 3000} {
		text := generate(n)
		exact := open(t, "big.sym", text)
		for i, f := range byBoth(t, "big.sym", text, 4<<10) {
			same(t, "generated", f, exact, probes(5000))
			if f.FullyIndexed() {
				t.Errorf("%d functions, reader %d: %s", n, i, state(f))
			}
		}
	}
}

// mixed writes a sorted file with every kind of record, functions of all sizes and PUBLIC records
// where the layout puts them.
func mixed(rng *rand.Rand, n int, publics string) []byte {
	var b, pub, cfi, win4, win0 strings.Builder
	b.WriteString("MODULE windows x86 0123456789ABCDEF0123456789ABCDEF1 m.pdb\nINFO CODE_ID 5E6F m.dll\n")
	for i := range n {
		fmt.Fprintf(&b, "FILE %d c:\\src\\%s%d.cc\n", i*(1+rng.IntN(2)*0), strings.Repeat("d", rng.IntN(60)), i)
	}
	for i := range n {
		fmt.Fprintf(&b, "INLINE_ORIGIN %d origin%s%d\n", i, strings.Repeat("<o>", rng.IntN(30)), i)
	}
	addr := 0x1000
	var body strings.Builder
	public := func() {
		out := &pub
		if publics == "among" {
			out = &body
		}
		fmt.Fprintf(out, "PUBLIC %x %x p%x\n", addr, rng.IntN(3)*4, addr)
	}
	for i := range n {
		if rng.IntN(3) == 0 {
			for range 1 + rng.IntN(3) {
				public()
				addr += rng.IntN(3) * 8
			}
			addr += 8
		}
		size := 4 << rng.IntN(9)
		fmt.Fprintf(&body, "FUNC %x %x 0 %s%d\n", addr, size, strings.Repeat("f::", rng.IntN(200)), i)
		for j := range rng.IntN(6) {
			fmt.Fprintf(&body, "INLINE %d %d %d %d %x %x\n", j, i, rng.IntN(n), rng.IntN(n+1), addr+j, size-j)
		}
		for a := 0; a < size; a += 4 {
			fmt.Fprintf(&body, "%x 4 %d %d\n", addr+a, rng.IntN(1000), rng.IntN(n+1))
		}
		if rng.IntN(12) == 0 { // the same function twice
			fmt.Fprintf(&body, "FUNC %x %x 0 twin%d\n%x %x 1 1\n", addr, size, i, addr, size)
		}
		fmt.Fprintf(&cfi, "STACK CFI INIT %x %x .cfa: $esp 4 + .ra: .cfa -4 + ^\nSTACK CFI %x .cfa: $esp 8 +\n", addr, size, addr+1)
		fmt.Fprintf(&win4, "STACK WIN 4 %x %x 0 0 0 0 0 0 1 $T0 $ebp = %d\n", addr, size, i)
		if size > 16 {
			fmt.Fprintf(&win4, "STACK WIN 4 %x %x 0 0 0 0 0 0 1 $T0 $esp = %d\n", addr+3, size-8, i)
		}
		if rng.IntN(4) == 0 {
			fmt.Fprintf(&win0, "STACK WIN 0 %x %x 0 0 4 0 0 0 0 1\n", addr, size+8)
		}
		addr += size + rng.IntN(3)*16
	}
	switch publics {
	case "before":
		b.WriteString(pub.String() + body.String())
	default:
		b.WriteString(body.String() + pub.String())
	}
	b.WriteString(win4.String() + win0.String() + cfi.String())
	if rng.IntN(2) == 0 {
		b.WriteString("INFO URL http://symbols/m.sym\n")
	}
	return []byte(b.String())
}

// TestOnDemandMixed: PUBLIC records before, after and among functions, twins, STACK WIN records
// inside one another.
func TestOnDemandMixed(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range probes(60) {
		for _, publics := range []string{"before", "after", "among"} {
			text := mixed(rng, 3+rng.IntN(60), publics)
			if round%3 == 1 {
				text = bytes.ReplaceAll(text, []byte("\n"), []byte("\r\n"))
			}
			exact := open(t, "m.sym", text)
			for _, slice := range []int64{97, 512, 4 << 10, 1 << 20} {
				for i, f := range byBoth(t, "m.sym", text, slice) {
					same(t, fmt.Sprintf("round %d, %s, slices of %d, %s, reader %d", round, publics, slice, state(f), i), f, exact, 1000)
					if err := f.Complete(nil); err != nil {
						t.Fatalf("round %d, %s, slices of %d, reader %d: completed: %v", round, publics, slice, i, err)
					}
				}
			}
		}
	}
}

// TestOnDemandUnsorted breaks the order of a file in one place after the other: what is noticed is
// answered right, what is not, Complete tells.
func TestOnDemandUnsorted(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	noticed, told := 0, 0
	for round := range probes(120) {
		lines := strings.SplitAfter(string(mixed(rng, 100+rng.IntN(100), []string{"before", "after", "among"}[round%3])), "\n")
		// A run of lines goes to another place.
		from := 2 + rng.IntN(len(lines)-3)
		n := 1 + rng.IntN(min(40, len(lines)-from))
		run := append([]string(nil), lines[from:from+n]...)
		rest := append(append([]string(nil), lines[:from]...), lines[from+n:]...)
		at := 2 + rng.IntN(len(rest)-2)
		text := []byte(strings.Join(rest[:at], "") + strings.Join(run, "") + strings.Join(rest[at:], ""))
		exact := open(t, "m.sym", text)
		f := byBoth(t, "m.sym", text, 256)[round%2]
		xs := borders(exact, rng)
		wrong := false
		for _, x := range xs[:min(len(xs), 200)] {
			if differs(f, exact, x) != "" {
				wrong = true
			}
		}
		if f.FullyIndexed() || f.indexed[lazy.CFI] {
			noticed++
		}
		if err := f.Complete(nil); err != nil || wrong && !f.Revised() {
			t.Fatalf("round %d: the lookups are not to be made again: %v", round, err)
		}
		if wrong {
			told++
		}
		for _, x := range xs {
			if d := differs(f, exact, x); d != "" {
				t.Fatalf("round %d: after Complete: %s", round, d)
			}
		}
	}
	if noticed == 0 || told == 0 && probes(120) == 120 { // of few files, none may be out of order in a block that is not read
		t.Errorf("%d noticed, %d told", noticed, told)
	}
	t.Logf("%d files were noticed on the way, of %d answers had changed", noticed, told)
}

// TestOnDemandEvil: files made to be slow or wrong are at worst read as a whole.
func TestOnDemandEvil(t *testing.T) {
	const head = "MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 x\n"
	for name, body := range map[string]string{
		"one function":   "FUNC 10 ffffff 0 f\n" + manyLines(30000),
		"no records":     strings.Repeat("\n", 200000),
		"one long line":  "FUNC 10 10 0 " + strings.Repeat("n", 300000) + "\nFUNC 20 10 0 g\n",
		"long numbers":   "FUNC " + strings.Repeat(" ", 2000) + "10 10 0 f\nFUNC 30 10 0 g\n",
		"same address":   strings.Repeat("FUNC 10 10 0 f\n", 20000),
		"huge first":     "FUNC 10 ffffffff 0 f\n" + generateFuncs(3000),
		"no module":      "INFO x\n" + generateFuncs(3000),
		"growing keys":   exponential(2000),
		"other stack":    strings.Repeat("STACK WIN 2 10 10 0 0 0 0 0 0 0\n", 9000),
		"only deltas":    strings.Repeat("STACK CFI 10 .cfa: $rsp 8 +\n", 9000),
		"only lines":     manyLines(20000),
		"publics hide":   strings.Repeat("PUBLIC 10 0 p\n", 20000) + "FUNC 5 100 0 f\n" + strings.Repeat("PUBLIC 20 0 p\n", 20000),
		"empty":          "",
		"last address":   "FUNC fffffffffffffff0 ff 0 f\nFUNC fffffffffffffff0 f 0 g\nPUBLIC ffffffffffffffff 0 p\n",
		"nested windows": nestedWin(3000),
	} {
		text := []byte(head + body)
		if name == "no module" {
			text = []byte(body)
		}
		exact := open(t, "x.sym", text)
		for _, slice := range []int64{256, 4 << 10, 64 << 10} {
			for i, f := range byBoth(t, "x.sym", text, slice) {
				wrong := false
				for _, x := range []uint64{0, 1, 0x10, 0x15, 0x1f, 0x20, 0x2f, 0x30, 0x1234, 0xffffff, 1 << 40, 1<<64 - 9, 1<<64 - 1} {
					if d := differs(f, exact, x); d != "" && name == "publics hide" { // what is between the blocks that are read
						wrong = true
					} else if d != "" {
						t.Errorf("%s by %d, reader %d, %s: %.600s", name, slice, i, state(f), d)
					}
				}
				if err := f.Complete(nil); wrong && !f.Revised() || err != nil {
					t.Errorf("%s by %d, reader %d: answers differ, and need not be asked for again: %v", name, slice, i, err)
				}
			}
		}
	}
	f := onDemandOf(t, "0.sym", nil, 0)
	if f.HasModule || !f.FullyIndexed() {
		t.Error("an empty file")
	}
}

func generateFuncs(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "FUNC %x 8 0 f%d\n", 0x1000+16*i, i)
	}
	return b.String()
}

func exponential(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "FUNC %x 1 0 f%d\n", uint64(1)<<(i*62/n)+uint64(i), i)
	}
	return b.String()
}

func nestedWin(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "STACK WIN 4 %x %x 0 0 0 0 0 0 1 p%d\n", 0x10+i, 3*n-2*i, i)
	}
	return b.String()
}

// TestOnDemandReaderErrors: what the reader lacks comes through, and the next try answers right.
func TestOnDemandReaderErrors(t *testing.T) {
	text := generate(3000)
	exact := open(t, "big.sym", text)
	need := &input.NeedError{Name: "big.sym", Ranges: []input.Range{{Offset: 5, Size: 6}}}
	r := &flaky{r: bytes.NewReader(text), err: need}
	src := input.New("big.sym", r, int64(len(text)))
	if _, err := openOnDemand(src, Options{}); err != need {
		t.Errorf("open: %v", err)
	}
	r.err = nil
	f, err := openOnDemand(src, Options{Slice: 4 << 10})
	if err != nil {
		t.Fatal(err)
	}
	rva := exact.tables[tableFuncs].all()[1234].rva
	r.err = need
	if _, ans, err := f.Lookup(rva); ans != symbol.Needs || err != need {
		t.Errorf("Lookup: %v %v", ans, err)
	}
	if _, ans, err := f.Row(cpu.AMD64, rva); ans != symbol.Needs || err != need {
		t.Errorf("Row: %v %v", ans, err)
	}
	if err := f.Complete(nil); err != need || f.Revised() || f.FullyIndexed() {
		t.Errorf("Complete: %v", err)
	}
	r.err = nil
	if d := differs(f, exact, rva); d != "" {
		t.Error(d)
	}
}

// FuzzOnDemand: nothing panics or hangs; what is answered from slices is what the index says,
// unless a part of the file that was not read breaks its order, which Complete tells.
func FuzzOnDemand(f *testing.F) {
	rng := rand.New(rand.NewPCG(31, 32))
	f.Add([]byte(sample), uint8(0))
	for i, publics := range []string{"before", "after", "among"} {
		f.Add(mixed(rng, 8, publics), uint8(i))
	}
	f.Add([]byte("MODULE a b c d\nFUNC 10 10 0 f\n10 10 1 1\nPUBLIC 15 0 p\nFUNC 12 2 0 g\nSTACK CFI INIT 10 10 x\nSTACK CFI 12 y\n"), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, size uint8) {
		if len(text) > 64<<10 {
			return
		}
		exact := open(t, "a.sym", text)
		slice := int64(64) << (size % 5)
		a := byBoth(t, "a.sym", text, slice)[size>>7]
		xs := borders(exact, rand.New(rand.NewPCG(1, uint64(len(text)))))
		xs = xs[:min(len(xs), 300)]
		a.Prefetch(xs, xs)
		wrong := false
		for _, x := range xs {
			wrong = differs(a, exact, x) != "" || wrong
		}
		if err := a.Complete(nil); err != nil || wrong && !a.Revised() {
			t.Fatalf("answers differ, and need not be asked for again: %v", err)
		}
		for _, x := range xs {
			if d := differs(a, exact, x); d != "" {
				t.Fatal(d)
			}
		}
	})
}

// TestSectionAnnounced: how much of a file the pass over an unsorted section reads is known before
// it is read.
func TestSectionAnnounced(t *testing.T) {
	text := linked(rand.New(rand.NewPCG(91, 92)), 9000, false)
	var calls [][2]int64
	src := input.New("x.sym", bytes.NewReader(text), int64(len(text)))
	f, err := openOnDemand(src, Options{Slice: 4 << 10, Progress: func(done, total int64) { calls = append(calls, [2]int64{done, total}) }})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.CFI(0x1004); err != nil || f.FullyIndexed() {
		t.Fatalf("%v; the file was read as a whole", err)
	}
	if len(calls) < 2 || calls[0][0] != 0 || calls[0][1] <= 0 || calls[0][1] >= src.Size || calls[len(calls)-1][0] < calls[0][1]*9/10 {
		t.Errorf("progress of %d bytes in a file of %d", calls, src.Size)
	}
}
