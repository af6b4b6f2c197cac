// Package unpack has the compressed formats besides gzip, and the archives besides zip, that files
// come in. It is a package of its own because they would make the page's first program too large.
package unpack

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/core/intake/cab"
	"github.com/crashpane/crashpane/core/intake/xz"
)

// maxWindow is how far back zstd data may reach, in bytes: what `zstd --long` makes by default.
const maxWindow = 128 << 20

// readSize is how much is read at a time, in bytes: in a browser a small read costs nearly as much.
const readSize = 512 << 10

// Archives are the archives, for intake.Limits.
var Archives = map[intake.Kind]func(*input.Source, func(string, int64, func() (io.Reader, error)) bool) error{intake.Cab: members}

// members gives the members of a cabinet.
func members(src *input.Source, member func(name string, size int64, open func() (io.Reader, error)) bool) error {
	c, err := cab.Open(src, src.Size)
	if c == nil {
		return err
	}
	for i := range c.Members {
		m := &c.Members[i]
		if !member(m.Name, m.Size, func() (io.Reader, error) { return c.Reader(m) }) {
			break
		}
	}
	return err
}

// Formats are the compressed formats, for intake.Limits.
var Formats = map[intake.Kind]intake.Unpacker{
	intake.Zstd: func(r io.Reader, memory int64) (io.Reader, error) {
		window := uint64(min(maxWindow, max(memory, zstd.MinWindowSize)))
		return zstd.NewReader(bufio.NewReaderSize(r, readSize), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	},
	intake.XZ: func(r io.Reader, memory int64) (io.Reader, error) {
		return xz.NewReader(bufio.NewReaderSize(r, readSize), min(maxWindow, memory))
	},
}
