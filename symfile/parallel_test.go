package symfile

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// sharedOf reads a text in chunks of a size; joined is false if they depended on each other.
func sharedOf(t testing.TB, text []byte, size int64) (f *File, joined bool) {
	t.Helper()
	src := input.New("x.sym", bytes.NewReader(text), int64(len(text)))
	f = newFile(src, Options{})
	f.reset()
	s := &scanner{f: f}
	opt := Options{Workers: 3}
	err := s.runShared(src, 0, src.Size, opt.indexers(), size, nil)
	if err != nil && !errors.Is(err, ErrIndivisible) {
		t.Fatal(err)
	}
	if err == nil {
		f.finish()
	}
	return f, err == nil
}

// sameIndex compares two indexes to the last warning.
func sameIndex(t *testing.T, name string, a, b *File) {
	t.Helper()
	for _, d := range []struct {
		what string
		a, b any
	}{
		{"module", a.Module, b.Module}, {"code id", a.CodeID + a.CodeFile + a.URL, b.CodeID + b.CodeFile + b.URL},
		{"counts", a.Counts, b.Counts}, {"warning count", a.WarningCount, b.WarningCount}, {"warnings", a.Warnings, b.Warnings},
		{"extras", len(a.extras), len(b.extras)},
	} {
		if !reflect.DeepEqual(d.a, d.b) {
			t.Fatalf("%s: %s:\n%v\n%v", name, d.what, d.a, d.b)
		}
	}
	for k := range a.tables {
		if x, y := a.tables[k].all(), b.tables[k].all(); !slices.Equal(x, y) {
			t.Fatalf("%s: table %d: %d and %d records\n%+v\n%+v", name, k, len(x), len(y), x[:min(20, len(x))], y[:min(20, len(y))])
		}
	}
	if !slices.Equal(a.extras, b.extras) {
		t.Fatalf("%s: extras", name)
	}
}

// TestSharedCorpus reads every file in chunks.
func TestSharedCorpus(t *testing.T) {
	tried, joins := 0, 0
	for _, p := range corpus(t) {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		for _, size := range []int64{300 << 10, 700 << 10} {
			if int64(len(text)) < 2*size {
				continue
			}
			tried++
			if f, joined := sharedOf(t, text, size); joined {
				joins++
				sameIndex(t, p, f, open(t, "x.sym", text))
			}
		}
	}
	if tried == 0 || joins < tried/2 {
		t.Errorf("of %d files only %d were joined from chunks", tried, joins)
	}
}

// TestSharedMixed joins chunks of files with warnings of every kind, and with what makes chunks
// depend on each other.
func TestSharedMixed(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	joins := 0
	for round := range probes(60) {
		text := string(mixed(rng, 1500, []string{"before", "after", "among"}[round%3])) + "FILE 1500 last\nINLINE_ORIGIN 1500 last\n"
		if round%2 == 1 {
			lines := strings.SplitAfter(text, "\n")
			odd := []string{"FUNC zz\n", "FUNC 5 0 0 none\n", "1000 4 1 1\n", "garbage here\n", "STACK CFI 0 .cfa: 1\n", "FILE 3 again\n",
				"\n", "PUBLIC 0 0 zero\n", "INFO CODE_ID other\n", "STACK WIN 9 1 1 0 0 0 0 0 0 0 0\n", "INLINE 0 1 1\n"}
			for range 60 {
				lines[1+rng.IntN(len(lines)-1)] += odd[rng.IntN(len(odd))]
			}
			text = strings.Join(lines, "")
		}
		f, joined := sharedOf(t, []byte(text), 300<<10)
		if joined {
			joins++
			sameIndex(t, "mixed", f, open(t, "x.sym", []byte(text)))
		}
	}
	if joins == 0 {
		t.Error("no file was joined from chunks")
	}
}

// TestSharedFallback: a file whose chunks depend on each other is read by one pass, and an error of
// the reader comes through.
func TestSharedFallback(t *testing.T) {
	text := []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 x\nFUNC 0 ffffff 0 f\n" + manyLines(200000) +
		strings.Repeat("PUBLIC 10 0 p\n", 120000) + manyLines(200000))
	if _, joined := sharedOf(t, text, 1<<20); joined {
		t.Error("lines of a FUNC in another chunk were joined")
	}
	src := input.New("x.sym", bytes.NewReader(text), int64(len(text)))
	f, err := Open(src, Options{Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	sameIndex(t, "fallback", f, open(t, "x.sym", text))
	broken := errors.New("broken")
	if _, err := Open(input.New("x.sym", &flaky{err: broken}, 64<<20), Options{Workers: 3}); !errors.Is(err, broken) {
		t.Errorf("a broken reader: %v", err)
	}
}
