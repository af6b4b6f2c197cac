package symfile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

const (
	win4 = "STACK WIN 4 1230 10 0 0 0 0 0 0 1 $T0 $ebp =\n"
	win0 = "STACK WIN 0 1230 10 0 0 4 8 0 0 0 1\n"
)

// boundedOf opens a file whose sections have no borders after that.
func boundedOf(t *testing.T, text []byte) (*File, *manyReader) {
	t.Helper()
	r := &manyReader{Reader: bytes.NewReader(text)}
	return boundedBy(t, r, text), r
}

func boundedBy(t *testing.T, r input.ManyReader, text []byte) *File {
	t.Helper()
	f, err := openSparse(input.New("m.sym", r, int64(len(text))), Options{Slice: 256, stretch: 16})
	if err != nil {
		t.Fatal(err)
	}
	if f.sparse == nil || !f.sparse.bounded {
		t.Fatal("its sections have borders already")
	}
	return f
}

// hidden is a file with something between two of its sections, or among its functions, that is too short for the places which are looked at
// when a file is opened.
func hidden(t *testing.T, before, what string) []byte {
	t.Helper()
	text, _ := uneven(12_000, 0x1000)
	at := bytes.Index(text[len(text)*40/100:], []byte("\n"+before)) + len(text)*40/100 + 1
	if before == "STACK CFI INIT " {
		at = bytes.Index(text, []byte("\n"+before)) + 1
	}
	if strings.Contains(what, "%x") { // the address of the next function
		rest, _ := keyword(text[at:], "FUNC")
		next, _ := parseFunc(trimEOL(rest[:bytes.IndexByte(rest, '\n')]))
		what = fmt.Sprintf(what, next.rva-1)
	}
	return append(append(append([]byte{}, text[:at]...), what...), text[at:]...)
}

// TestBoundedAnswers: a file is opened by one reading of many places. What it answers is right wherever an address lies, at the borders too, and
// where there are records of which those places show nothing.
func TestBoundedAnswers(t *testing.T) {
	const inside = 0x1234
	for what, text := range map[string][]byte{
		"functions and publics":   hidden(t, "STACK CFI INIT ", ""),
		"STACK WIN":               hidden(t, "STACK CFI INIT ", win4+win0),
		"STACK WIN of Mozilla's":  hidden(t, "STACK CFI INIT ", win0+win4),
		"PUBLIC among functions":  hidden(t, "FUNC ", "PUBLIC %x 0 here\n"),
		"a PUBLIC out of order":   hidden(t, "FUNC ", "PUBLIC fff00000 0 far\n"),
		"a section in a section":  hidden(t, "FUNC ", "STACK CFI INIT 1234 1 .cfa: $rsp 8 +\n"),
		"files among functions":   hidden(t, "FUNC ", "FILE 70000 odd.cc\n"),
		"a function out of order": hidden(t, "FUNC ", "FUNC 1230 10 0 early\n1230 10 7 1\n"),
	} {
		exact := open(t, "m.sym", text)
		xs := borders(exact, rand.New(rand.NewPCG(3, uint64(len(what)))))
		xs = append([]uint64{inside, 0, 0xfff, 0x1000, 0x1001, 1 << 40}, xs[:400]...)
		for _, prepared := range []int{0, 1, 60, 200} {
			f, _ := boundedOf(t, text)
			wrong := ""
			for i, x := range xs {
				if prepared > 0 && i%prepared == 0 {
					some := xs[i:min(i+prepared, len(xs))]
					f.Prepare(some, some).All()
				}
				if d := differs(f, exact, x); d != "" && wrong == "" {
					wrong = d
				}
			}
			changed, err := f.Complete(nil)
			if err != nil || wrong != "" && !changed || wrong != "" && !strings.HasPrefix(what, "a ") && what != "files among functions" {
				t.Errorf("%s, %d prepared at a time: completed %v %v after %s", what, prepared, changed, err, wrong)
			}
		}
	}
}

// TestBoundedUnsorted: rules that are not sorted are indexed, or all is where the sections are not as expected either, when a lookup meets them.
func TestBoundedUnsorted(t *testing.T) {
	for _, c := range []struct {
		what, more string
		all        bool
	}{
		{"rules out of order", "", false},
		{"rules out of order, STACK WIN of Mozilla's", win0 + win4, true},
	} {
		text := hidden(t, "STACK CFI INIT ", c.more)
		record := func(at int) int { // the first from there on
			return at + bytes.Index(text[at:], []byte("\nSTACK CFI INIT ")) + 1
		}
		// A run that is too short for the places which are looked at when a file is opened stands behind others.
		from := record(len(text) * 97 / 100)
		to := record(from + 3<<10)
		behind := record(to + 9<<10)
		text = slices.Concat(text[:from], text[to:behind], text[from:to], text[behind:])
		f, _ := boundedOf(t, text)
		exact := open(t, "m.sym", text)
		_, all := uneven(12_000, 0x1000)
		for _, x := range all[len(all)/2:] {
			f.CFI(x)
		}
		if f.Exact() != c.all || !c.all && !f.sparse.exact[groupStack] {
			t.Fatalf("%s were not noticed, or more was read than them: %s", c.what, state(f))
		}
		for _, x := range all[len(all)/2:] {
			if d := differs(f, exact, x); d != "" {
				t.Fatalf("%s: %s", c.what, d)
			}
		}
	}
}

// TestBoundedContradicts: two places that lie between the same two which were looked at when the file was opened show that sections are not in
// order.
func TestBoundedContradicts(t *testing.T) {
	text, all := uneven(12_000, 0x1000)
	rules := bytes.Index(text, []byte("\nSTACK CFI INIT ")) + 1
	few := rules + 4<<10
	few += bytes.Index(text[few:], []byte("\nSTACK CFI INIT ")) + 1
	last := bytes.LastIndex(text[:rules-8<<10], []byte("\nFUNC ")) + 1
	text = slices.Concat(text[:last], text[rules:few], text[last:rules], text[few:]) // the first rules before the last functions
	for _, order := range [][2]int{{last + few - rules - 1<<10, last + few - rules + 6<<10}, {last + few - rules + 6<<10, last + few - rules - 1<<10}} {
		f, _ := boundedOf(t, text)
		_, first := f.sparse.load(int64(order[0]) / f.sparse.step)
		_, second := f.sparse.load(int64(order[1]) / f.sparse.step)
		if first != nil || !errors.As(second, &disorder{}) {
			t.Errorf("rules stand before functions, and these were met without a notice: %v, %v", first, second)
		}
	}
	// By lookups: of what stands before all rules that were seen it is not said that there are none, and then functions behind it are noticed.
	exact := open(t, "m.sym", text)
	f, _ := boundedOf(t, text)
	if _, ok, err := f.CFI(all[20]); err != nil || !ok {
		t.Errorf("the first rules: %v %v, %s", ok, err, state(f))
	}
	if _, _, err := f.Lookup(all[len(all)-1]); err != nil || !f.Exact() {
		t.Errorf("it was not noticed that functions stand behind rules: %v, %s", err, state(f))
	}
	for _, x := range []uint64{all[20], all[len(all)-1]} {
		if d := differs(f, exact, x); d != "" {
			t.Error(d)
		}
	}
}

// TestBoundedStays: for functions, their names and their rules no borders are looked for.
func TestBoundedStays(t *testing.T) {
	text, all := uneven(30_000, 0x1000)
	exact := open(t, "m.sym", text)
	f, r := boundedOf(t, text)
	if r.many != 1 || r.single != 0 {
		t.Errorf("opened by %d readings of many places and %d of one", r.many, r.single)
	}
	if !f.HasSymbols() || !f.HasUnwind() || !f.HasLines() || !f.HasInlines() {
		t.Error("it does not say what it has")
	}
	some := make([]uint64, 0, 60)
	for i := range 60 {
		some = append(some, all[1500+i*450])
	}
	f.Prepare(some, some).All()
	for _, x := range some {
		s, _, err := f.Lookup(x)
		want, _, _ := exact.Lookup(x)
		if _, ok, cfiErr := f.CFI(x); err != nil || cfiErr != nil || !ok || s.Name != want.Name || s.File != want.File {
			t.Fatalf("%#x: %+v, not %+v, %v %v", x, s, want, err, cfiErr)
		}
	}
	if !f.sparse.bounded {
		t.Error("the borders were looked for")
	}
	if _, ans, err := f.FrameData(some[0]); err != nil || ans != symbol.No || f.sparse.bounded {
		t.Errorf("STACK WIN records were answered for (%v, %v) without knowing that there are none", ans, err)
	}
}

// gone is a manyReader of which nothing can be read while it is gone.
type gone struct {
	manyReader
	now bool
}

func (g *gone) ReadAt(p []byte, off int64) (int, error) {
	if g.now {
		return 0, errors.New("the file is gone")
	}
	return g.manyReader.ReadAt(p, off)
}

func (g *gone) ReadManyAt(parts []input.Part) error {
	if g.now {
		return errors.New("the file is gone")
	}
	return g.manyReader.ReadManyAt(parts)
}

// TestBoundedFails: an error of the reader while borders are looked for is that lookup's, and the next one looks for them again.
func TestBoundedFails(t *testing.T) {
	text, _ := uneven(12_000, 0x1000)
	r := &gone{manyReader: manyReader{Reader: bytes.NewReader(text)}}
	f, err := openSparse(input.New("m.sym", r, int64(len(text))), Options{Slice: 256, stretch: 16})
	if err != nil {
		t.Fatal(err)
	}
	exact := open(t, "m.sym", text)
	r.now = true
	if _, _, err := f.FrameData(0x1234); err == nil {
		t.Error("no error where nothing can be read")
	}
	if f.Prepare(nil, []uint64{0, 0x1234}).All(); !f.sparse.bounded {
		t.Error("borders were found where nothing can be read")
	}
	if err := f.makeExact(groupStack); err == nil || f.sparse.exact[groupStack] {
		t.Errorf("rules were indexed where nothing can be read: %v", err)
	}
	r.now = false
	for _, x := range []uint64{0x1234, 0, 1 << 40} {
		if d := differs(f, exact, x); d != "" {
			t.Error(d)
		}
	}
	if got := fmt.Sprint(f.sparse.bounded, f.sparse.surveyed, f.sparse.preparing); got != "false true false" {
		t.Error(got)
	}
}

// stretcher is a manyReader of which a stretch can be read ahead.
type stretcher struct {
	manyReader
	ahead       *manyReader
	from, to    int64
	begun, over int
}

func (s *stretcher) Stretch(from, to int64) (io.ReaderAt, func()) {
	s.ahead = &manyReader{Reader: s.Reader}
	s.from, s.to = from, to
	s.begun++
	return s.ahead, func() { s.over++ }
}

// TestStretch: a section that is not sorted is read as a whole ahead of the pass over it, and nothing of it in another way.
func TestStretch(t *testing.T) {
	text, all := uneven(6_000, 0x1000)
	at := bytes.Index(text, []byte("STACK CFI INIT "))
	half := at + (len(text)-at)/2
	half += bytes.Index(text[half:], []byte("\nSTACK CFI INIT ")) + 1
	text = append(append(append([]byte{}, text[:at]...), text[half:]...), text[at:half]...) // the second half of the rules first
	exact := open(t, "m.sym", text)
	r := &stretcher{manyReader: manyReader{Reader: bytes.NewReader(text)}}
	f, err := openSparse(input.New("m.sym", r, int64(len(text))), Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(all); i += 50 {
		if d := differs(f, exact, all[i]); d != "" {
			t.Fatal(d)
		}
	}
	if f.Exact() || !f.sparse.exact[groupStack] {
		t.Fatal(state(f))
	}
	if r.begun != 1 || r.over != 1 || r.from > int64(at) || r.to != int64(len(text)) || r.ahead.single == 0 {
		t.Errorf("%d stretches were begun and %d ended, the last from %d to %d by %d reads; the rules begin at %d", r.begun, r.over, r.from, r.to, r.ahead.single, at)
	}
}
