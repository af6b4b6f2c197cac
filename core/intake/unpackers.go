package intake

import (
	"bufio"
	"compress/gzip"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake/cab"
	"github.com/crashpane/crashpane/core/intake/sevenzip"
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

// serial are the archives whose members are unpacked in their order. Each function calls member for
// every member in turn, until it returns false. member reads the result of open before it returns. An
// error says which part could not be read.
var serial = map[Kind]func(src *input.Source, member takeMember) error{Cab: cabinet, SevenZip: sevenZip}

// takeMember takes a member of an archive. modified is in seconds since 1970, or 0.
type takeMember func(name string, size, modified int64, open func() (io.Reader, error)) bool

func sevenZip(src *input.Source, member takeMember) error {
	memory := func() int64 { return min(maxWindow, src.Budget.Left(input.Memory)) }
	a, err := sevenzip.Open(src, src.Size, memory)
	if a == nil {
		return err
	}
	for i := range a.Members {
		m := &a.Members[i]
		if !member(m.Name, m.Size, m.Modified, func() (io.Reader, error) { return a.Reader(m) }) {
			break
		}
	}
	return err
}

func cabinet(src *input.Source, member takeMember) error {
	c, err := cab.Open(src, src.Size)
	if c == nil {
		return err
	}
	for i := range c.Members {
		m := &c.Members[i]
		if !member(m.Name, m.Size, 0, func() (io.Reader, error) { return c.Reader(m) }) {
			break
		}
	}
	return err
}
