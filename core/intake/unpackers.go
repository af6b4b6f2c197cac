package intake

import (
	"bufio"
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/crashpane/crashpane/core/intake/xz"
)

// maxWindow is how far back zstd data may reach, in bytes: what `zstd --long` makes by default.
const maxWindow = 128 << 20

// readSize is how much is read at a time, in bytes: in a browser a small read costs nearly as much.
const readSize = 512 << 10

// unpacker makes the reader of a compressed format. What it needs to look back to may take so many
// bytes of memory.
type unpacker func(packed io.Reader, memory int64) (io.Reader, error)

// unpackers are the formats of a file that is compressed or encoded as a whole, besides gzip.
var unpackers = map[Kind]unpacker{
	Zstd: func(r io.Reader, memory int64) (io.Reader, error) {
		window := uint64(min(maxWindow, max(memory, zstd.MinWindowSize)))
		return zstd.NewReader(bufio.NewReaderSize(r, readSize), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
	},
	XZ: func(r io.Reader, memory int64) (io.Reader, error) {
		return xz.NewReader(bufio.NewReaderSize(r, readSize), min(maxWindow, memory))
	},
	UTF16:   noWindow(newUTF16),
	CRLines: noWindow(newCR),
	Apport:  noWindow(newApport),
}

// Unpack returns a reader of the content of a file that is compressed or encoded as a whole, or nil
// for other kinds.
func Unpack(k Kind, packed io.Reader, memory int64) (io.Reader, error) {
	if k == Gzip {
		return gzip.NewReader(packed)
	}
	if open := unpackers[k]; open != nil {
		return open(packed, memory)
	}
	return nil, nil
}

// noWindow makes an unpacker of a reader that does not look back.
func noWindow(open func(packed io.Reader) (io.Reader, error)) unpacker {
	return func(packed io.Reader, _ int64) (io.Reader, error) { return open(packed) }
}
