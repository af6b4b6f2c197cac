package input

const (
	// blockSize is the unit of reading. A slice of a File costs about the same up to this size.
	blockSize = 64 << 10
	// maxBlocks bounds the cache to 4 MiB a file.
	maxBlocks = 64
)

// blockCache keeps the blocks that were used last. An evicted block's bytes are left to the garbage collector and never
// overwritten, so that whoever still holds them (Source.Block) reads the truth.
type blockCache struct {
	blocks []cachedBlock // most recently used first
}

type cachedBlock struct {
	start int64
	data  []byte
}

// get is the block that holds off, which lies inside the file.
func (c *blockCache) get(s *Source, off int64) ([]byte, int64, error) {
	start := off &^ (blockSize - 1)
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
	data := make([]byte, min(blockSize, s.Size-start))
	if _, err := s.full(data, start); err != nil {
		return nil, 0, s.Wrap("", start, err)
	}
	if len(c.blocks) < maxBlocks {
		c.blocks = append(c.blocks, cachedBlock{})
	}
	copy(c.blocks[1:], c.blocks)
	c.blocks[0] = cachedBlock{start, data}
	return data, start, nil
}
