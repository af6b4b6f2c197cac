package symfile

import (
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// shelf has what was read of a file, until what is read next needs the room: in blocks, of stretches that were read together.
type shelf struct {
	stretches []*stretch // by from; what was read while it was on its way stands here twice, and either will do
	recent    *stretch   // the one that was found last
	blocks    []*block
	hand      int   // the block to be looked at next when room is made
	held      int64 // bytes of all blocks, and of those to come
	spare     [][]byte
}

// block is the memory of stretches that were read together, one behind the other.
type block struct {
	data      []byte // nil if what was read is kept elsewhere
	kept      *kept
	size      int64
	stretches []stretch
	used      bool
}

// kept is what was read for some blocks where the Source can keep it outside of the program's memory: of each slice the bytes are copied
// when it is looked at.
type kept struct {
	input.Kept
	blocks int // that are still in use
}

func (k *kept) drop() {
	if k.blocks--; k.blocks == 0 {
		k.Release()
	}
}

// stretch is a run of slices that was read at once.
type stretch struct {
	from   int64    // its first slice
	data   []byte   // nil if it is kept elsewhere, as
	place  int      // that place
	slices []*slice // nil where not looked at yet
	block  *block
}

// end is the slice behind it.
func (st *stretch) end() int64 { return st.from + int64(len(st.slices)) }

const (
	// leastKept stretches stay in any case: a lookup goes back and forth between some.
	leastKept = 8
	// blockSize is the size of a block in bytes where as much is read at once: all of one size, they fit into each other's memory.
	blockSize = 1 << 20
)

// after is the index of the first stretch that begins behind slice n.
func (h *shelf) after(n int64) int {
	i, _ := slices.BinarySearchFunc(h.stretches, n, func(st *stretch, n int64) int {
		if st.from <= n {
			return -1
		}
		return 1
	})
	return i
}

// find is the stretch that has slice n, nil if none does.
func (h *shelf) find(n int64) *stretch {
	if st := h.recent; st != nil && n >= st.from && n < st.end() {
		return st
	}
	if i := h.after(n); i > 0 && n < h.stretches[i-1].end() {
		h.recent = h.stretches[i-1]
		return h.recent
	}
	return nil
}

// known calls yield for each slice that was looked at, in their order.
func (h *shelf) known(yield func(*slice) bool) {
	for _, st := range h.stretches {
		for _, sl := range st.slices {
			if sl != nil && !yield(sl) {
				return
			}
		}
	}
}

// gap are the slices around n, from and up to, that no stretch has, of those in [from, to).
func (h *shelf) gap(n, from, to int64) (int64, int64) {
	i := h.after(n)
	if i > 0 {
		from = max(from, h.stretches[i-1].end())
	}
	if i < len(h.stretches) {
		to = min(to, h.stretches[i].from)
	}
	return from, to
}

// room has blocks that were not used for long make way for need bytes, so that no more than most are held. Whoever still has a slice of
// such a block looks at its marks, not at its bytes.
func (h *shelf) room(need, most int64) {
	for left := len(h.stretches); h.held+need > most && len(h.blocks) > 0; {
		h.hand %= len(h.blocks)
		old := h.blocks[h.hand]
		if left -= len(old.stretches); left < leastKept {
			return
		}
		if old.used {
			left += len(old.stretches)
			old.used = false
			h.hand++
			continue
		}
		h.blocks = slices.Delete(h.blocks, h.hand, h.hand+1)
		h.held -= old.size
		if h.recent = nil; old.kept != nil {
			old.kept.drop()
		} else {
			h.spare = append(h.spare, old.data[:0])
			old.data = nil
		}
		for i := range old.stretches {
			h.remove(&old.stretches[i])
		}
	}
}

// remove takes a stretch off. Which one that is is looked for, and what stands behind it moved at once: a look at each of a thousand others
// costs more than reading a slice.
func (h *shelf) remove(st *stretch) {
	i := h.after(st.from) - 1
	for h.stretches[i] != st {
		i--
	}
	h.stretches = slices.Delete(h.stretches, i, i+1)
}

// blocksFor are blocks for spans of slices, from and up to, in their order; bytes says how many a span has. They count as held. They have no memory
// of their own if what is read for them is kept.
func (h *shelf) blocksFor(spans [][2]int64, bytes func(from, to int64) int64, kept bool) []*block {
	var blocks []*block
	for len(spans) > 0 {
		n, size := 0, int64(0)
		for n < len(spans) {
			more := bytes(spans[n][0], spans[n][1])
			if n > 0 && size+more > blockSize {
				break
			}
			n, size = n+1, size+more
		}
		blocks = append(blocks, h.blockFor(spans[:n], size, bytes, kept))
		spans = spans[n:]
	}
	return blocks
}

func (h *shelf) blockFor(spans [][2]int64, size int64, bytes func(from, to int64) int64, kept bool) *block {
	b := &block{size: size, stretches: make([]stretch, len(spans))}
	if !kept {
		b.data = h.memory(size)
	}
	h.held += size
	count := int64(0)
	for _, span := range spans {
		count += span[1] - span[0]
	}
	known := make([]*slice, count)
	at := int64(0)
	for i, span := range spans {
		size, n := bytes(span[0], span[1]), span[1]-span[0]
		b.stretches[i] = stretch{from: span[0], slices: known[:n:n], block: b}
		if !kept {
			b.stretches[i].data = b.data[at : at+size]
		}
		at, known = at+size, known[n:]
	}
	return b
}

// memory is room for a block: that of one that made way, if it is not too large for it.
func (h *shelf) memory(size int64) []byte {
	for i, p := range h.spare {
		if have := int64(cap(p)); have >= size && have <= 2*size {
			last := len(h.spare) - 1
			h.spare[i], h.spare[last] = h.spare[last], nil
			h.spare = h.spare[:last]
			return p[:size]
		}
	}
	if size > blockSize/2 && size < blockSize {
		return make([]byte, blockSize)[:size]
	}
	return make([]byte, size)
}

// put has blocks that were read stand on the shelf.
func (h *shelf) put(blocks []*block) {
	clear(h.spare)
	h.spare = h.spare[:0]
	h.blocks = append(h.blocks, blocks...)
	for _, b := range blocks {
		b.used = true
		for i := range b.stretches {
			st := &b.stretches[i]
			h.stretches = insert(h.stretches, h.after(st.from), st)
		}
	}
}

// drop gives up blocks that could not be read.
func (h *shelf) drop(blocks []*block) {
	for _, b := range blocks {
		h.held -= b.size
	}
}
