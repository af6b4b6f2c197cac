package symfile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestInlinesAt: the inlined calls at an address are the same whether they are looked for one by one or sorted before.
func TestInlinesAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		fn := &function{whole: true}
		for i := range 1 + rng.IntN(60) {
			fn.inlines = append(fn.inlines, fnInline{start: uint64(rng.IntN(100)), size: uint64(1 + rng.IntN(40)), level: uint32(rng.IntN(4)), origin: uint32(i)})
		}
		sorted := &function{whole: true, inlines: slices.Clone(fn.inlines), asked: sortedFrom - 1}
		for rva := range uint64(150) {
			fn.asked = 0
			var a, b decoded
			few, many := fn.inlinesAt(rva, &a), sorted.inlinesAt(rva, &b)
			if len(few) != len(many) {
				t.Fatalf("round %d, 0x%x: %d calls, sorted %d", round, rva, len(few), len(many))
			}
			for i := range few {
				if few[i].origin != many[i].origin {
					t.Fatalf("round %d, 0x%x, level %d: %+v, sorted %+v", round, rva, i, *few[i], *many[i])
				}
			}
		}
	}
}

// TestPlainFields: what is read eight bytes at a time is what the parsers of any record read, or left to them.
func TestPlainFields(t *testing.T) {
	for _, behind := range []string{"\n" + strings.Repeat("7", slack), strings.Repeat(" ", slack), "\r\n" + strings.Repeat("x", slack), ""} {
		for text, plain := range map[string]bool{
			"1000 10 5 3": true, "12345678 abcdef01 1234567 7654321": true, "0 1 0 0": true, "FFFF AB 1 1": true,
			"123456789 10 5 3": false, "1000  10 5 3": false, "1000 10 5": false, "1000 10 5 3 4": false, "1000 10 5 3 ": false,
			"1000 10 5 -1": false, "1000 10 5 12345678": false, "1g00 10 5 3": false, "1000 10 a 3": false, "": false, "1": false, "1000\t10 5 3": false,
		} {
			b := []byte(text + behind)[:len(text)]
			r, ok := plainLine(b)
			want, good := parseLine(b)
			if ok && (!good || r != want) || ok && !plain || !ok && plain && behind != "" {
				t.Errorf("%q before %q: %+v %v, want %+v %v", text, behind, r, ok, want, good)
			}
		}
		for _, text := range []string{"0 12 3 4 1000 10", "0 12 3 4 1000 10 2000 20 12345678 ffffffff", "1 2 3 1000 10", "1 2 3 4", "1 2 -1 4 1000 10", "1 2 3 4 1000",
			"1 2 3 4 1000 10 x 1", "1 2 3 4 1000 0", "12345678 1 2 3 1000 10", "1 2 3 4  1000 10", "1 2 3 4 1000 10 ", "", "1 2 3 4 123456789 10"} {
			b := []byte(text + behind)[:len(text)]
			fast, slow := &function{whole: true}, &function{whole: true}
			slow.addInline(b)
			if ok := fast.plainInline(b); ok && !slices.Equal(fast.inlines, slow.inlines) || !ok && len(fast.inlines) > 0 {
				t.Errorf("%q before %q: %v %v, want %v", text, behind, fast.inlines, ok, slow.inlines)
			}
		}
	}
}

// TestOneAddress: a function decoded for one address answers as one that is decoded whole, with lines in order and out of it.
func TestOneAddress(t *testing.T) {
	for _, lines := range []string{"1000 10 1 0\n1010 10 2 0\n1020 10 3 0\n", "1010 10 2 0\n1000 10 1 0\n1020 10 3 0\n", "1000 18 1 0\n1010 10 2 0\n1018 4 3 0\n1020 10 4 0\n"} {
		text := "MODULE Linux x86_64 000 a\nFILE 0 a.c\nINLINE_ORIGIN 0 f\nINLINE_ORIGIN 1 g\nFUNC 1000 30 0 main\nINLINE 0 7 0 0 1008 10\nINLINE 1 8 0 1 100c 4 1014 2\n" + lines
		for rva := uint64(0x1000); rva < 0x1030; rva++ {
			once, again := open(t, "a.sym", []byte(text)), open(t, "a.sym", []byte(text))
			again.Lookup(rva ^ 1)
			a, _, err := once.Lookup(rva)
			b, _, err2 := again.Lookup(rva)
			if err != nil || err2 != nil || fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("0x%x: %v, asked again %v (%v, %v)\n%s", rva, a, b, err, err2, lines)
			}
		}
	}
}
