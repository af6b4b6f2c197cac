package input

const (
	// blockSize is the unit of reading. A slice of a File costs about the same up to this size.
	blockSize = 64 << 10
	// maxBlocks bounds the cache to 4 MiB a file.
	maxBlocks = 64
)

// Blocks keeps the blocks of a file that were used last. An evicted block's bytes are left to the garbage collector and never
// overwritten, so that whoever still holds them (Source.Block) reads the truth.
type Blocks struct {
	size   int64 // of a block in bytes, a power of two
	most   int   // how many blocks are kept
	blocks []keptBlock
}

type keptBlock struct {
	start int64
	data  []byte
}

// NewBlocks makes an empty cache of at most so many blocks of size bytes, which is a power of two.
func NewBlocks(size int64, most int) Blocks { return Blocks{size: size, most: most} }

// At returns the block with the byte at off, which is inside the file of end bytes, and the block's offset. If the block is not kept, read
// fills it.
func (c *Blocks) At(off, end int64, read func(p []byte, off int64) error) (data []byte, start int64, err error) {
	start = off &^ (c.size - 1)
	for i := range c.blocks {
		if c.blocks[i].start != start {
			continue
		}
		b := c.blocks[i]
		if i > 0 { // reading on in the block at the front, the common case, moves nothing
			copy(c.blocks[1:i+1], c.blocks[:i])
			c.blocks[0] = b
		}
		return b.data, b.start, nil
	}
	data = make([]byte, min(c.size, end-start))
	if err := read(data, start); err != nil {
		return nil, 0, err
	}
	if len(c.blocks) < c.most {
		c.blocks = append(c.blocks, keptBlock{})
	}
	copy(c.blocks[1:], c.blocks)
	c.blocks[0] = keptBlock{start, data}
	return data, start, nil
}
