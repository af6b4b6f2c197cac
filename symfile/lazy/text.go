package lazy

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// ErrMissing is the error of a lookup in a Batch that lacks a block.
var ErrMissing = errors.New("a block was not read yet")

const (
	// overlap is how far a block goes on beyond where the next one begins: at the front of a line
	// are the fields that it is searched by.
	overlap = 256
	// cacheSize limits the bytes of the blocks in the cache, maxLine what is read of a line.
	cacheSize = 16 << 20
	maxLine   = 1 << 20
	// readAhead is how much of a record's text is read at once, in bytes.
	readAhead = 64 << 10
	// maxRounds limits the rounds of a batch: a record may be longer than all blocks that the cache
	// holds.
	maxRounds = 256
	// slack is how many bytes of capacity a block's slice has after its end, for parsers that read
	// eight bytes at a time.
	slack = 16
)

// Text reads a file in blocks and caches those that were used last. It is not safe for use by
// several goroutines at once.
type Text struct {
	src    *input.Source
	size   int64 // of a block
	step   int64 // from one block to the next
	most   int   // of blocks that are kept
	blocks map[int64]*block
	clock  int64
	free   [][]byte // memory of blocks that are not kept any more
	// came, if it is set, is called with the blocks that were read.
	came    func(blocks []*block) error
	missing map[int64]bool // in a batch: blocks that are lacking
	round   int            // of a batch
	// Beside, if it is set, is another file, whose blocks a Batch reads in the same rounds.
	Beside *Text
}

// NewText makes a Text and reads nothing. blockSize is in bytes.
func NewText(src *input.Source, blockSize int64) *Text {
	t := &Text{src: src, size: max(blockSize, 4*overlap), blocks: map[int64]*block{}}
	t.step = t.size - overlap
	t.most = int(max(cacheSize/t.size, 2*probes))
	return t
}

// Lines calls fn with the lines that begin in [off, end), without their ends and cut at 1 MiB,
// until fn returns false. An end of 0 means that the caller does not know it; Lines then reads
// block by block instead of ahead. The errors are the reader's, and in a Batch ErrMissing.
//
// A line that the end of a block cuts is collected in carry. off is always the file offset of the
// next byte, so a line may go on through any number of blocks.
func (t *Text) Lines(off, end int64, fn func(line []byte) bool) error {
	known := end > 0
	if !known {
		end = t.src.Size
	}
	var carry []byte
	for more := false; off < t.src.Size && (off < end || more); {
		if known && t.blocks[off/t.step] == nil {
			if err := t.ahead(off, end); err != nil {
				return err
			}
		}
		b, err := t.block(off / t.step)
		if err != nil {
			return err
		}
		base := b.n * t.step
		data := b.data[off-base:]
		at := 0
		for more = false; at < len(data) && (off < end || carry != nil); {
			stop := Newline(data, at)
			line := data[at:stop]
			if stop == len(data) && off+int64(len(line)) < t.src.Size {
				if len(carry) < maxLine {
					carry = append(carry, line...)
				}
				off, more = off+int64(len(line)), true
				break
			}
			if carry != nil {
				line, carry = append(carry, line...), nil
			}
			if !fn(line[:min(len(line), maxLine)]) {
				return nil
			}
			off += int64(stop + 1 - at)
			at = stop + 1
		}
	}
	return nil
}

// Batch runs n lookups in rounds. A lookup that needs a block that is not in the cache fails with
// ErrMissing; at the end of the round all blocks that were missing are read by one call, and those
// lookups run again. Other errors of a lookup are dropped: the caller makes the lookup again and
// gets them. The error is the reader's.
//
// A round stops collecting when the missing blocks would fill half of the cache, so that they are
// all still there in the next round.
func (t *Text) Batch(n int, lookup func(i int) error) error {
	texts := []*Text{t}
	if t.Beside != nil {
		texts = append(texts, t.Beside)
	}
	left := make([]int, n)
	for i := range left {
		left[i] = i
	}
	defer func() {
		for _, x := range texts {
			x.missing, x.round = nil, 0
		}
	}()
	for round := 0; len(left) > 0 && round < maxRounds; round++ {
		for _, x := range texts {
			x.missing, x.round = map[int64]bool{}, round
		}
		again := left[:0]
		for _, i := range left {
			full := false // what is read now must still be there when it is looked at
			for _, x := range texts {
				full = full || len(x.missing) >= x.most/2
			}
			if full {
				again = append(again, i)
			} else if err := lookup(i); errors.Is(err, ErrMissing) {
				again = append(again, i)
			}
		}
		lacked := 0
		for _, x := range texts {
			list := make([]int64, 0, len(x.missing))
			for n := range x.missing {
				list = append(list, n)
			}
			slices.Sort(list)
			x.missing = nil
			if err := x.read(list); err != nil {
				return err
			}
			lacked += len(list)
		}
		if lacked == 0 {
			return nil
		}
		left = again
	}
	return nil
}

// Bytes returns n bytes at an offset, which must be inside the file. They are valid until the next
// read. The errors are those of Lines.
func (t *Text) Bytes(off, n int64) (all []byte, err error) {
	for end := off + n; off < end; {
		if err := t.ahead(off, end); err != nil {
			return nil, err
		}
		b, err := t.block(off / t.step)
		if err != nil {
			return nil, err
		}
		data := b.data[off-b.n*t.step:]
		data = data[:min(int64(len(data)), end-off)]
		if int64(len(data)) == n {
			return data, nil
		}
		all = append(all, data...)
		off += int64(len(data))
	}
	return all, nil
}

// block returns a block of the file, from the cache or by a read. In a batch it does not read, but
// notes the block in missing and returns ErrMissing.
func (t *Text) block(n int64) (*block, error) {
	b := t.blocks[n]
	if b == nil && t.missing != nil {
		t.missing[n] = true
		return nil, ErrMissing
	}
	if b == nil {
		if err := t.read([]int64{n}); err != nil {
			return nil, err
		}
		b = t.blocks[n]
	}
	t.clock++
	b.used = t.clock
	return b, nil
}

// ahead reads the blocks of [off, end) with one call, at most readAhead bytes of them.
func (t *Text) ahead(off, end int64) error {
	var list []int64
	lacking := false
	for n := off / t.step; n*t.step < min(end, t.src.Size, off+readAhead); n++ {
		if t.blocks[n] == nil && t.missing != nil {
			t.missing[n], lacking = true, true
		} else if t.blocks[n] == nil {
			list = append(list, n)
		}
	}
	if lacking {
		return ErrMissing
	}
	return t.read(list)
}

// read reads blocks, which must be in the order of the file, by one call.
func (t *Text) read(list []int64) error {
	parts := make([]input.Part, len(list))
	for i, n := range list {
		off := n * t.step
		parts[i] = input.Part{Off: off, Data: t.buffer(min(t.size, t.src.Size-off))}
	}
	if len(list) == 0 {
		return nil
	}
	if err := input.ReadMany(t.src, parts); err != nil && err != io.EOF {
		return t.src.Wrap("symbol file", parts[0].Off, err)
	}
	blocks := make([]*block, len(list))
	for i, n := range list {
		blocks[i] = &block{n: n, data: parts[i].Data}
		t.keep(blocks[i])
	}
	if t.came == nil {
		return nil
	}
	return t.came(blocks)
}

// buffer returns memory for n bytes of a block, from the free list if it has some.
func (t *Text) buffer(n int64) []byte {
	if last := len(t.free) - 1; last >= 0 {
		b := t.free[last]
		t.free = t.free[:last]
		return b[:n]
	}
	return make([]byte, n, t.size+slack)
}

// keep adds a block to the cache. If the cache is full, keep first evicts the half that was used
// longest ago, whose memory goes to the free list: slices of evicted blocks are invalid.
func (t *Text) keep(b *block) {
	if len(t.blocks) >= t.most { // the older half goes, so that few are looked at to find which
		var uses []int64
		for _, k := range t.blocks {
			uses = append(uses, k.used)
		}
		slices.Sort(uses)
		for n, k := range t.blocks {
			if k.used < uses[len(uses)/2] {
				t.free = append(t.free, k.data)
				delete(t.blocks, n)
			}
		}
	}
	t.clock++
	b.used = t.clock
	t.blocks[b.n] = b
}

// Newline returns the index of the next newline in b from i on, or len(b).
func Newline(b []byte, i int) int {
	if k := bytes.IndexByte(b[i:], '\n'); k >= 0 {
		return i + k
	}
	return len(b)
}
