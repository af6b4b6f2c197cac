// Package xz reads xz files of LZMA2 blocks from front to back. The library that decodes LZMA2 would
// allocate the dictionary that a block's header claims; here the caller says how large it may be.
//
// Specification: "The .xz File Format" 1.1.0.
package xz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"io"
)

// Reader is the unpacked content of an xz file, of one or more streams.
type Reader struct {
	in      *counted
	maxDict int64
	data    lzma2  // of the blocks
	check   byte   // of the stream (2.1.1.2)
	sizes   []sums // of the stream's blocks, which its index repeats
	block   *block
	err     error
}

// sums are the sizes of a block: without its padding, and unpacked (4.3).
type sums struct{ packed, plain uint64 }

// block is the block that is being read.
type block struct {
	from  int64 // in the file
	plain uint64
	sum   hash.Hash // nil if its kind is not verified
}

// counted counts what is read.
type counted struct {
	io.Reader
	n int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// NewReader begins to read an xz file. The memory for a dictionary is at most maxDict bytes: a block
// whose header claims a larger one can be read as long as no match reaches further back.
func NewReader(packed io.Reader, maxDict int64) (*Reader, error) {
	r := &Reader{in: &counted{Reader: packed}, maxDict: maxDict}
	r.data.in = r.in
	return r, r.stream()
}

// wrong is an error of the container, at the present offset.
func (r *Reader) wrong(what string) error { return fmt.Errorf("xz: at 0x%x: %s", r.in.n, what) }

// bytes reads n bytes of the container.
func (r *Reader) bytes(n int) ([]byte, error) {
	p := make([]byte, n)
	_, err := io.ReadFull(r.in, p)
	return p, unexpected(err)
}

// stream reads a stream's header (2.1.1): its magic, two bytes of flags, and their CRC-32.
func (r *Reader) stream() error {
	h, err := r.bytes(12)
	if err != nil {
		return err
	}
	if string(h[:6]) != "\xfd7zXZ\x00" || binary.LittleEndian.Uint32(h[8:]) != crc32.ChecksumIEEE(h[6:8]) {
		return r.wrong("no header of an xz stream")
	}
	r.check, r.sizes = h[7], nil
	return nil
}

// Read implements io.Reader.
func (r *Reader) Read(p []byte) (n int, err error) {
	for n == 0 && r.err == nil && len(p) > 0 {
		if r.block == nil {
			if r.err = r.next(); r.err != nil {
				break
			}
		}
		n, r.err = r.data.Read(p)
		r.block.plain += uint64(n)
		if r.block.sum != nil {
			r.block.sum.Write(p[:n])
		}
		if r.err == io.EOF {
			r.err = r.endBlock()
		}
	}
	return n, r.err
}

// checkSizes are the sizes of checksums by their number in the stream's flags (2.1.1.2).
var checkSizes = [16]int{0, 4, 4, 4, 8, 8, 8, 16, 16, 16, 32, 32, 32, 64, 64, 64}

// next begins the next block, of this stream or of one that follows it.
func (r *Reader) next() error {
	from := r.in.n
	first, err := r.bytes(1)
	for ; err == nil && first[0] == 0; first, err = r.bytes(1) {
		if err := r.endStream(); err != nil {
			return err
		}
		from = r.in.n
	}
	if err != nil {
		return err
	}
	// A block's header (3.1): its size in words less one, flags, sizes if flagged, filters, padding,
	// CRC-32. The one filter is LZMA2 (5.3.1): its number, the size of its properties, and the
	// dictionary's size.
	rest, err := r.bytes((int(first[0])+1)*4 - 1)
	if err != nil {
		return err
	}
	h := append(first, rest...)
	if end := len(h) - 4; binary.LittleEndian.Uint32(h[end:]) != crc32.ChecksumIEEE(h[:end]) {
		return r.wrong("a damaged header of a block")
	}
	fields := bytes.NewReader(h[2 : len(h)-4])
	for _, flag := range []byte{0x40, 0x80} {
		if h[1]&flag != 0 {
			if _, err := binary.ReadUvarint(fields); err != nil {
				return r.wrong("a size that does not end")
			}
		}
	}
	var filter [3]byte
	if _, err := io.ReadFull(fields, filter[:]); err != nil || h[1]&3 != 0 || filter[0] != 0x21 || filter[1] != 1 || filter[2] > 40 {
		return r.wrong("a block that has other filters than LZMA2")
	}
	r.block = &block{from: from, sum: newSum(r.check)}
	return r.data.begin(filter[2], r.maxDict)
}

// newSum returns the checksum of a number, or nil for one that is not verified.
func newSum(check byte) hash.Hash {
	switch check {
	case 1:
		return crc32.NewIEEE()
	case 4:
		return crc64.New(crc64.MakeTable(crc64.ECMA))
	}
	return nil
}

// endBlock reads what follows a block's data: padding to 4 bytes, and the checksum.
func (r *Reader) endBlock() error {
	packed := r.in.n - r.block.from
	if _, err := r.bytes(int(-packed & 3)); err != nil {
		return err
	}
	sum, err := r.bytes(checkSizes[r.check&15])
	if err != nil {
		return err
	}
	if s := r.block.sum; s != nil {
		have := s.Sum(nil) // big-endian, and the file is not
		for i := range have {
			if have[i] != sum[len(sum)-1-i] {
				return r.wrong("a checksum that does not match its block")
			}
		}
	}
	r.sizes = append(r.sizes, sums{uint64(packed) + uint64(len(sum)), r.block.plain})
	r.block = nil
	return nil
}

// endStream reads the index (4), whose first byte was read, and the footer (2.1.2). Then the file
// ends, or zeros and another stream follow.
func (r *Reader) endStream() error {
	from := r.in.n - 1
	number := func() (v uint64, err error) { return binary.ReadUvarint(oneByOne{r.in}) }
	count, err := number()
	if err != nil || count != uint64(len(r.sizes)) {
		return r.wrong("an index that does not fit its blocks")
	}
	for _, want := range r.sizes {
		packed, err := number()
		plain, err2 := number()
		if err != nil || err2 != nil || packed != want.packed || plain != want.plain {
			return r.wrong("an index that does not fit its blocks")
		}
	}
	if _, err := r.bytes(int(-(r.in.n-from)&3) + 4); err != nil { // padding and CRC-32
		return err
	}
	if f, err := r.bytes(12); err != nil {
		return err
	} else if string(f[10:]) != "YZ" {
		return r.wrong("no footer of an xz stream")
	}
	for {
		h, err := r.bytes(4)
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			return io.EOF
		case err != nil:
			return err
		case string(h) != "\x00\x00\x00\x00":
			r.in.Reader, r.in.n = io.MultiReader(bytes.NewReader(h), r.in.Reader), r.in.n-4
			return r.stream()
		}
	}
}

// oneByOne is an io.ByteReader.
type oneByOne struct{ io.Reader }

func (o oneByOne) ReadByte() (byte, error) {
	var b [1]byte
	_, err := io.ReadFull(o.Reader, b[:])
	return b[0], err
}
