package input

const (
	// blockSize is the size of one read, in bytes. In a browser a read of a File costs about the
	// same up to this size.
	blockSize = 64 << 10
	// roundBlock is that size while Rounds run. What is read then is in many places, and all reads are one:
	// what is around each of them is not read for nothing.
	roundBlock = 16 << 10
	// maxBlocks is how many blocks of a file are cached. Those of a Source are 4 MiB.
	maxBlocks = 64
)

// Blocks is an LRU cache of a file's blocks, at most maxBlocks. The bytes of an evicted block are
// never reused, because callers of Source.Block may still hold them.
type Blocks struct {
	blocks []cachedBlock // most recently used first
}

type cachedBlock struct {
	start int64
	data  []byte
}

// Get returns the block that contains the byte at off, and the block's offset. The block is nil if
// it is not cached.
func (c *Blocks) Get(off int64) (data []byte, start int64) {
	for i := range c.blocks {
		b := c.blocks[i]
		if at := off - b.start; at < 0 || at >= int64(len(b.data)) {
			continue
		}
		if i > 0 { // mostly the block is the first already, and nothing moves
			copy(c.blocks[1:i+1], c.blocks[:i])
			c.blocks[0] = b
		}
		return b.data, b.start
	}
	return nil, 0
}

// Put caches a block. If it overlaps cached ones, these need not have the same bounds, but the same bytes.
func (c *Blocks) Put(data []byte, start int64) {
	if len(c.blocks) < maxBlocks {
		c.blocks = append(c.blocks, cachedBlock{})
	}
	copy(c.blocks[1:], c.blocks)
	c.blocks[0] = cachedBlock{start, data}
}
