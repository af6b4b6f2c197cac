package lazy

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// classify is a grammar for tests: "F key", "O key", "C key size" are records, each of a section of
// its own; other lines belong to the record before or to none. A head without a number is a bad
// one.
func classify(line []byte) Line {
	var l Line
	w := strings.Fields(string(line))
	if len(w) == 0 {
		return l
	}
	switch w[0] {
	case "F":
		l.Section = Files
	case "O":
		l.Section = Origins
	case "C":
		l.Section = CFI
	default:
		return l
	}
	_, err := fmt.Sscanf(strings.Join(w[1:], " "), "%x %x", &l.Key, &l.Size)
	if err != nil && l.Section != CFI {
		_, err = fmt.Sscanf(strings.Join(w[1:], " "), "%x", &l.Key)
	}
	l.Head = err == nil
	l.Bad = err != nil
	return l
}

// made is a text of three sections with n records each, and the records; shuffled sections have
// theirs in another order.
func made(n int, rng *rand.Rand, shuffled ...Section) (text []byte, recs [numSections][]Entry) {
	var b bytes.Buffer
	b.WriteString("head\n\n")
	for _, s := range []Section{Files, Origins, CFI} {
		key := uint64(rng.IntN(5))
		for range n {
			size := uint64(0)
			if s == CFI {
				size = 1 + rng.Uint64N(20)
			}
			recs[s] = append(recs[s], Entry{Key: key, Size: size})
			key += max(size, 1) + rng.Uint64N(1+rng.Uint64N(300))
		}
		for _, is := range shuffled {
			if is == s {
				rng.Shuffle(n, func(i, j int) { recs[s][i], recs[s][j] = recs[s][j], recs[s][i] })
			}
		}
		for i := range recs[s] {
			e := &recs[s][i]
			e.Off = int64(b.Len())
			switch s {
			case CFI:
				fmt.Fprintf(&b, "C %x %x %s\n", e.Key, e.Size, strings.Repeat("x", rng.IntN(40)))
			default:
				fmt.Fprintf(&b, "%c %x %s\n", "?FO"[s], e.Key, strings.Repeat("y", rng.IntN(60)))
			}
			for range rng.IntN(3) {
				b.WriteString("  more of it\n")
			}
		}
		sort.Slice(recs[s], func(i, j int) bool { return recs[s][i].Key < recs[s][j].Key })
	}
	return b.Bytes(), recs
}

func sourceOf(text []byte) *input.Source {
	return input.New("a.sym", bytes.NewReader(text), int64(len(text)))
}

// plainly is the last record at or below a key.
func plainly(recs []Entry, key uint64) (Entry, bool) {
	i := sort.Search(len(recs), func(i int) bool { return recs[i].Key > key })
	if i == 0 {
		return Entry{}, false
	}
	return recs[i-1], true
}

// TestFind: a search finds what is there, of records of any density and blocks of any size, alone
// and many at once. In a section that is not sorted it says so and finds nothing; the other
// sections are searched all the same.
func TestFind(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{0, 1, 2, 50, 3000} {
		for _, shuffled := range [][]Section{nil, {CFI}, {Files, CFI}} {
			for _, size := range []int64{1 << 10, 4 << 10, 64 << 10} {
				text, recs := made(n, rng, shuffled...)
				f, err := Open(sourceOf(text), size, classify)
				if err != nil {
					t.Fatal(n, shuffled, size, err)
				}
				var keys []uint64
				var of []Section
				for range 200 {
					s := []Section{Files, Origins, CFI}[rng.IntN(3)]
					key := rng.Uint64N(40)
					if n > 0 {
						key = recs[s][rng.IntN(n)].Key + rng.Uint64N(30)
					}
					keys, of = append(keys, key), append(of, s)
				}
				check := func(i int) error {
					e, ok, err := f.Find(of[i], keys[i])
					if errors.Is(err, ErrMissing) {
						return err
					}
					var u Unsorted
					if errors.As(err, &u) && n > 1 && len(shuffled) > 0 && u.Section == of[i] {
						return nil
					}
					want, has := plainly(recs[of[i]], keys[i])
					if err != nil || ok != has || ok && e != want {
						t.Fatalf("%d records, blocks of %d, unsorted %v: section %d, key %x: %+v %v %v, want %+v %v", n, size, shuffled, of[i], keys[i], e, ok, err, want, has)
					}
					return nil
				}
				for i := range 100 {
					check(i)
				}
				if err := f.Batch(len(keys), check); err != nil {
					t.Fatal(err)
				}
				for i := range keys {
					check(i)
				}
			}
		}
	}
}

// TestUnsorted: a shuffled section of many records is noticed, and its range has all of them.
func TestUnsorted(t *testing.T) {
	text, recs := made(5000, rand.New(rand.NewPCG(5, 6)), CFI)
	f, err := Open(sourceOf(text), 1<<10, classify)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := f.Find(CFI, recs[CFI][100].Key); !errors.Is(err, Unsorted{CFI}) {
		t.Fatalf("a shuffled section: %v", err)
	}
	from, to, err := f.Range(CFI)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range recs[CFI] {
		if e.Off < from || e.Off >= to {
			t.Fatalf("the record at %d is not in [%d, %d)", e.Off, from, to)
		}
	}
	// Sections in another order than all writers': nothing can be found.
	half := len(text) / 2
	half += bytes.IndexByte(text[half:], '\n') + 1
	if f, err := Open(sourceOf(append(bytes.Clone(text[half:]), text[:half]...)), 1<<10, classify); !errors.Is(err, Unsorted{All}) {
		t.Errorf("sections in another order: %v %v", f, err)
	}
}

// TestTruncated: a file that ends anywhere is searched as far as it goes.
func TestTruncated(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	whole, all := made(300, rng)
	for cut := 0; cut < len(whole); cut += 1 + rng.IntN(97) {
		f, err := Open(sourceOf(whole[:cut]), 1<<10, classify)
		if errors.As(err, new(Unsorted)) {
			continue // the last record is cut in its fields
		}
		if err != nil {
			t.Fatal(cut, err)
		}
		for _, s := range []Section{Files, Origins, CFI} {
			var recs []Entry
			for _, e := range all[s] {
				if e.Off+30 < int64(cut) {
					recs = append(recs, e)
				}
			}
			for range 5 {
				if len(recs) == 0 {
					break
				}
				want := recs[rng.IntN(len(recs))]
				if e, ok, err := f.Find(s, want.Key); errors.As(err, new(Unsorted)) {
					break // the last record's number is cut, so that it is too low
				} else if err != nil || !ok || e != want {
					t.Fatalf("cut at %d, section %d: %+v %v %v, want %+v", cut, s, e, ok, err, want)
				}
			}
		}
	}
}

// TestLines: the lines of a text are those that splitting it gives, from any of them on, up to any
// of them.
func TestLines(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 1))
	for _, end := range []string{"\n", ""} {
		var text []byte
		var starts []int64
		var lines []string
		for i := range 400 {
			line := strings.Repeat(string(rune('a'+i%26)), rng.IntN(1+rng.IntN(3000)))
			starts, lines = append(starts, int64(len(text))), append(lines, line)
			text = append(append(text, line...), '\n')
		}
		text = append(text[:len(text)-1], end...)
		if lines[399] == "" && end == "" {
			lines, starts = lines[:399], starts[:399]
		}
		x := NewText(sourceOf(text), 1<<10)
		for from := 0; from < len(lines); from += 1 + rng.IntN(20) {
			to := from + rng.IntN(len(lines)-from+1)
			until := int64(0)
			if to < len(lines) {
				until = starts[to]
			}
			if to == from || until == 0 {
				to, until = len(lines), 0
			}
			var got []string
			if err := x.Lines(starts[from], until, func(b []byte) bool { got = append(got, string(b)); return true }); err != nil {
				t.Fatal(err)
			}
			if strings.Join(got, "\n") != strings.Join(lines[from:to], "\n") {
				t.Fatalf("lines %d to %d: %d lines", from, to, len(got))
			}
		}
	}
	long := append(bytes.Repeat([]byte("z"), maxLine+5000), "\nnext\n"...)
	var got []int
	NewText(sourceOf(long), 4<<10).Lines(0, 0, func(b []byte) bool { got = append(got, len(b)); return true })
	if fmt.Sprint(got) != fmt.Sprint([]int{maxLine, 4}) {
		t.Errorf("a line of more than 1 MiB: lengths %v", got)
	}
}

// TestForgotten: blocks that are not kept any more are read again, and a batch that needs more than
// are kept ends.
func TestForgotten(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcde\n"), 3<<16)
	x := NewText(sourceOf(text), 1<<10)
	x.most = 4
	lookup := func(i int) error {
		n := 0
		err := x.Lines(int64(i)*16, int64(i+1000)*16, func(b []byte) bool {
			if n++; string(b) != "0123456789abcde" {
				t.Errorf("%q", b)
			}
			return true
		})
		if err == nil && n != 1000 {
			t.Errorf("%d lines", n)
		}
		return err
	}
	if err := x.Batch(20, func(i int) error { return lookup(i * 9000) }); err != nil {
		t.Error(err)
	}
	for i := range 20 {
		if err := lookup(i * 9000); err != nil {
			t.Error(err)
		}
	}
}

// failing is a reader whose second half cannot be read.
type failing struct {
	*bytes.Reader
	from int64
}

func (f failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.from {
		return 0, io.ErrClosedPipe
	}
	return f.Reader.ReadAt(p, off)
}

// TestReaderFails: an error of the reader comes through, from opening and from a lookup.
func TestReaderFails(t *testing.T) {
	text, recs := made(3000, rand.New(rand.NewPCG(1, 1)))
	broken := &failing{bytes.NewReader(text), int64(len(text)) / 2}
	if _, err := Open(input.New("a.sym", broken, int64(len(text))), 1<<10, classify); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("opening: %v", err)
	}
	broken.from = int64(len(text))
	f, err := Open(input.New("a.sym", broken, int64(len(text))), 1<<10, classify)
	if err != nil {
		t.Fatal(err)
	}
	broken.from = 0
	failed := false
	for _, e := range recs[Origins] {
		switch got, _, err := f.Find(Origins, e.Key); {
		case err != nil && !errors.Is(err, io.ErrClosedPipe):
			t.Fatal(err)
		case err != nil:
			failed = true
		case got != e:
			t.Fatalf("%+v, want %+v", got, e)
		}
	}
	if !failed {
		t.Error("nothing had to be read")
	}
}

// FuzzFind: any bytes are searched to an end, and what is found is a record of the section that
// stands there.
func FuzzFind(f *testing.F) {
	text, _ := made(40, rand.New(rand.NewPCG(2, 2)))
	f.Add(text, uint64(100))
	f.Add([]byte("C 1 1\nF 1\nO 2\nC ffffffffffffffff ffffffffffffffff\n"), uint64(1<<63))
	f.Add(bytes.Repeat([]byte("C 5 5\n"), 1000), uint64(7))
	f.Fuzz(func(t *testing.T, text []byte, key uint64) {
		s, err := Open(sourceOf(text), 1<<10, classify)
		if err != nil {
			return
		}
		for _, of := range []Section{Files, Origins, CFI, Win} {
			e, ok, err := s.Find(of, key)
			if err != nil || !ok {
				continue
			}
			line, _, _ := bytes.Cut(text[e.Off:], []byte("\n"))
			if l := classify(line); l.Section != of || l.Key != e.Key || e.Key > key {
				t.Errorf("section %d, key %x: %+v is %q", of, key, e, line)
			}
		}
	})
}
