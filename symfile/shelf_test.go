package symfile

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// TestShelf keeps spans of slices in any order, and compares what the shelf answers with a plain list.
func TestShelf(t *testing.T) {
	const size, count, most = 1 << 10, 40_000, 6 << 20
	rng := rand.New(rand.NewPCG(3, 4))
	bytesOf := func(from, to int64) int64 { return (to - from) * size }
	var h shelf
	filled := map[*block]byte{}
	mine := map[int64]*block{} // slice → who has it, or had
	for round := range 400 {
		// Where there is room around some slices, as lookups ask for it; in the order of the file.
		var spans [][2]int64
		end := int64(0)
		for n := rng.Int64N(300); n < count && len(spans) < 1+round%90; n += 1 + rng.Int64N(400) {
			from, to := h.gap(n, max(end, n-8), min(count, n+8))
			if from > n || to <= n {
				continue
			}
			spans, end = append(spans, [2]int64{from, to}), to
		}
		if len(spans) == 0 {
			continue
		}
		need := int64(0)
		for _, s := range spans {
			need += bytesOf(s[0], s[1])
		}
		h.room(need, most)
		blocks := h.blocksFor(spans, bytesOf, false)
		if round%7 == 3 {
			h.drop(blocks)
			continue
		}
		at := 0
		for _, b := range blocks {
			filled[b] = byte(round)
			for i := range b.data {
				b.data[i] = byte(round)
			}
			joined := b.data[:0]
			for i := range b.stretches {
				st := &b.stretches[i]
				if s := spans[at]; st.from != s[0] || st.end() != s[1] || int64(len(st.data)) != bytesOf(s[0], s[1]) {
					t.Fatalf("round %d: slices %d up to %d where %v was asked for", round, st.from, st.end(), s)
				}
				joined = append(joined, st.data...)
				for n := st.from; n < st.end(); n++ {
					mine[n] = b
				}
				at++
			}
			if len(joined) != len(b.data) || len(b.stretches) > 1 && len(b.data) > blockSize {
				t.Fatalf("round %d: a block of %d bytes, of which %d are used", round, len(b.data), len(joined))
			}
		}
		h.put(blocks)
		held := int64(0)
		for _, b := range h.blocks {
			held += int64(len(b.data))
			if !bytes.Equal(b.data, bytes.Repeat([]byte{filled[b]}, len(b.data))) {
				t.Fatalf("round %d: another block was written over one that is kept", round)
			}
		}
		if held != h.held || held > most {
			t.Fatalf("round %d: %d bytes are counted, %d kept, %d allowed", round, h.held, held, most)
		}
		var asked []int64
		if h.recent != nil {
			asked = append(asked, h.recent.from) // what was found last is found first, unless it made way
		}
		for n := int64(0); n < count; n += 1 + rng.Int64N(30) {
			asked = append(asked, n)
		}
		for _, n := range asked {
			st, b := h.find(n), mine[n]
			if b != nil && b.data == nil {
				b = nil // it made way
			}
			if (st == nil) != (b == nil) || st != nil && (st.block != b || n < st.from || n >= st.end()) {
				t.Fatalf("round %d: slice %d: %v, wanted %v", round, n, st, b)
			}
		}
	}
}

// TestShelfKeeps: what is used stays, what is not makes way, and some of it stays however large the next reading is.
func TestShelfKeeps(t *testing.T) {
	var h shelf
	one := func(n int64) {
		h.room(10, 100)
		h.put(h.blocksFor([][2]int64{{n, n + 1}}, func(int64, int64) int64 { return 10 }, false))
	}
	for n := range int64(60) {
		if one(n); n >= 15 {
			h.find(15).block.used = true
		}
	}
	if h.find(15) == nil || h.find(59) == nil || h.find(14) != nil || h.find(30) != nil || len(h.stretches) != 10 {
		t.Errorf("%d are kept", len(h.stretches))
	}
	if h.room(1000, 100); len(h.stretches) != leastKept {
		t.Errorf("%d are left", len(h.stretches))
	}
}
