// Package unpack has the compressed formats besides gzip that files come in. They stand apart because the page's first program has no
// room for them.
package unpack

import (
	"bufio"
	"io"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"

	"github.com/crashpane/crashpane/core/intake"
)

// maxWindow is how far back zstd data may reach, in bytes: what `zstd --long` makes by default.
const maxWindow = 128 << 20

// readSize is how much is read at a time, in bytes: in a browser a small read costs nearly as much.
const readSize = 512 << 10

// Formats are all of them, for intake.Limits.
var Formats = map[intake.Kind]func(io.Reader) (io.Reader, error){
	intake.Zstd: func(r io.Reader) (io.Reader, error) {
		return zstd.NewReader(bufio.NewReaderSize(r, readSize), zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxWindow))
	},
	intake.XZ: func(r io.Reader) (io.Reader, error) { return xz.NewReader(bufio.NewReaderSize(r, readSize)) },
}
