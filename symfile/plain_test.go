package symfile

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// TestPlain: what is read of whole records eight bytes at a time is what the parsers make of them:
// a tab after each keyword keeps that away, and changes nothing.
func TestPlain(t *testing.T) {
	rng := rand.New(rand.NewPCG(53, 54))
	words := []string{"0", "10", "1000", "1ff0", "2000", "7", "1234567", "12345678", "123456789abcdef01", "fF", "-1", "m", "x", "", "\t", "\x00", "\x80", "1\r", "@", "g", "/", ":", "1\x001"}
	rest := []string{"name", "f(int, char)", ".cfa: $rsp 8 + .ra: .cfa -8 + ^", "m", " ", "\t", "\x00", "a\x80b\n", "", "12 old", strings.Repeat("long ", 30), "\x01\x0b\x8a"}
	heads := []string{"FUNC", "FUNC", "INLINE_ORIGIN", "STACK CFI INIT", "STACK CFI", "STACK CFI", "FILE", "FUNCTION", "STACK CFIX", "INLINE_ORIGINAL", "STACK WIN 4", "INFO"}
	plain := 0
	for range probes(3000) {
		var b strings.Builder
		b.WriteString("MODULE a b c d\n")
		for range 40 {
			head, top := heads[rng.IntN(len(heads))], 7
			if rng.IntN(4) == 0 {
				top = len(words)
			}
			b.WriteString(head)
			for range rng.IntN(2) + strings.Count("FUNC INIT", strings.TrimPrefix(head, "STACK CFI "))*2 {
				b.WriteString(" " + words[rng.IntN(top)])
			}
			if rng.IntN(8) > 0 {
				b.WriteString(" " + rest[rng.IntN(1+rng.IntN(len(rest)))])
			}
			b.WriteString([]string{"\n", "\n", "\n", "\r\n", "\n1000 10 1 1\n"}[rng.IntN(5)])
		}
		text := b.String()
		lines := strings.Split(text, "\n")
		for i, l := range lines {
			lines[i] = strings.Replace(l, " ", "\t", 1)
		}
		slow := strings.Join(lines, "\n")
		x, y := open(t, "x.sym", []byte(text)), open(t, "x.sym", []byte(slow))
		if x.Counts != y.Counts || x.WarningCount != y.WarningCount || !reflect.DeepEqual(x.Warnings, y.Warnings) || !reflect.DeepEqual(x.extras, y.extras) {
			t.Fatalf("%q:\n%+v %v\n%+v %v", text, x.Counts, x.Warnings, y.Counts, y.Warnings)
		}
		for k := range x.tables {
			if a, b := x.tables[k].all(), y.tables[k].all(); !slices.Equal(a, b) {
				t.Fatalf("%q: table %d: %+v %+v", text, k, a, b)
			}
		}
		src := func(text string) *input.Source {
			return input.New("x.sym", strings.NewReader(text), int64(len(text)))
		}
		for _, from := range []int64{1, int64(len(text) / 2)} {
			a, failed := new(Indexer).Index(Chunk{Src: src(text), From: from, To: int64(len(text))})
			b, odd := new(Indexer).Index(Chunk{Src: src(slow), From: from, To: int64(len(text))})
			if !bytes.Equal(a, b) || failed != odd {
				t.Fatalf("%q from %d: %x %v, %x %v", text, from, a, failed, b, odd)
			}
		}
		s := &scanner{f: newFile(nil, Options{}), seg: &segment{}}
		for i, l := range lines {
			if i > 0 && s.plain([]byte(strings.Replace(l, "\t", " ", 1)+"\n"+strings.Repeat(" ", plainRoom)), 0) > 0 {
				plain++
			}
		}
	}
	if plain < 1000 {
		t.Errorf("only %d plain records", plain)
	}
}
