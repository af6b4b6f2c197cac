package symfile

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestInlinesAt: of the inlined calls of a nest level that cover an address, the one that starts
// last counts, of these the shortest, in whatever order they stand; a level that is missing ends
// the list.
func TestInlinesAt(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for round := range 200 {
		fn := &function{}
		for i := range 1 + rng.IntN(60) {
			fn.inlines = append(fn.inlines, fnInline{start: uint64(rng.IntN(100)), size: uint64(1 + rng.IntN(40)), level: uint32(rng.IntN(4)), origin: uint32(i)})
		}
		for rva := range uint64(150) {
			var want []fnInline
			for level := range uint32(4) {
				var best *fnInline
				for i := range fn.inlines {
					in := &fn.inlines[i]
					if in.level == level && in.start <= rva && rva < in.start+in.size &&
						(best == nil || in.start > best.start || in.start == best.start && in.size <= best.size) {
						best = in
					}
				}
				if best == nil {
					break
				}
				want = append(want, *best)
			}
			got := fn.inlinesAt(rva)
			if len(got) != len(want) {
				t.Fatalf("round %d, 0x%x: %d calls, want %d", round, rva, len(got), len(want))
			}
			for i := range got {
				if *got[i] != want[i] {
					t.Fatalf("round %d, 0x%x, level %d: %+v, want %+v", round, rva, i, *got[i], want[i])
				}
			}
		}
	}
}

// TestOneAddress: a function answers the same whichever address it was asked for first, with lines
// in order and out of it.
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
