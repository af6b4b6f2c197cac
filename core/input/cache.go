package input

const (
	// blockSize is the unit of reading. A slice of a File costs about the same up to this size.
	blockSize = 64 << 10
	// maxBlocks is how many blocks are kept of a file: 4 MiB of those of a Source.
	maxBlocks = 64
)

// Blocks keeps the blocks of a file that were used last, at most maxBlocks. An evicted block's bytes are left to the garbage collector and
// never overwritten, so that whoever still holds them (Source.Block) reads the truth.
type Blocks struct {
	blocks []keptBlock // most recently used first
}

type keptBlock struct {
	start int64
	data  []byte
}

// Get returns the block with the byte at off and the block's offset, or nil if it is not kept.
func (c *Blocks) Get(off int64) (data []byte, start int64) {
	for i := range c.blocks {
		b := c.blocks[i]
		if at := off - b.start; at < 0 || at >= int64(len(b.data)) {
			continue
		}
		if i > 0 { // reading on in the block at the front, the common case, moves nothing
			copy(c.blocks[1:i+1], c.blocks[:i])
			c.blocks[0] = b
		}
		return b.data, b.start
	}
	return nil, 0
}

// Put keeps a block. None that is kept may overlap it.
func (c *Blocks) Put(data []byte, start int64) {
	if len(c.blocks) < maxBlocks {
		c.blocks = append(c.blocks, keptBlock{})
	}
	copy(c.blocks[1:], c.blocks)
	c.blocks[0] = keptBlock{start, data}
}
