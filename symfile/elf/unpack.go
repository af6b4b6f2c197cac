package elf

import (
	"compress/zlib"
	"fmt"
	"io"

	"github.com/klauspost/compress/zstd"

	"github.com/crashpane/crashpane/core/input"
)

// wholeSize is the size in bytes up to which a compressed section is unpacked into memory, although
// it could be spooled.
const wholeSize = 16 << 20

// spoolStep is how much is unpacked at a time, in bytes.
const spoolStep = 256 << 10

// opener begins to unpack a stream. What it needs to look back to may take so many bytes of memory.
type opener func(packed io.Reader, memory int64) (io.Reader, error)

func openZlib(packed io.Reader, _ int64) (io.Reader, error) { return zlib.NewReader(packed) }

func openZstd(packed io.Reader, memory int64) (io.Reader, error) {
	window := uint64(min(128<<20, max(memory, zstd.MinWindowSize)))
	return zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(window))
}

// unpack returns the uncompressed bytes of the stream that begins skip bytes after the start of src.
// size is the claimed uncompressed size. If it is large, and there is a spool, the bytes go there as
// far as callers read, else all go into memory at once. Damage at the start is an error here.
func unpack(src *input.Source, part string, skip, size int64, open opener) (*input.Source, error) {
	packed := src.Sub(part, skip, src.Size-skip)
	if err := src.Draw(input.Unpacked, size); err != nil {
		return nil, &input.FormatError{File: part, Have: fmt.Sprintf("a claim of %d bytes of %d", size, packed.Size), Err: err}
	}
	if size > min(wholeSize, src.Left(input.Memory)/4) && src.CanSpool() {
		s := &spooled{packed: packed, size: size, open: open}
		var err error
		if s.to, err = src.NewSpool(); err != nil {
			return nil, err
		}
		if _, err := s.ReadAt(make([]byte, 1), 0); err != nil {
			return nil, err
		}
		return src.Derive(part, s, size), nil
	}
	b, err := inMemory(packed, size, open)
	switch {
	case input.Needs(err):
		return nil, err
	case err == nil && int64(len(b)) < size:
		err = fmt.Errorf("the section ends here, and not after %d bytes", size)
	}
	if err != nil {
		return nil, notUnpacked(part, int64(len(b)), err)
	}
	return src.DeriveBytes(part, b), nil
}

// inMemory unpacks a stream, up to size bytes, which is a claim of the file. So the buffer begins
// with six times the compressed size, which is enough for debug information, and doubles while there
// are more bytes.
func inMemory(packed *input.Source, size int64, open opener) (out []byte, err error) {
	r, err := open(io.NewSectionReader(packed, 0, packed.Size), packed.Left(input.Memory))
	for err == nil && int64(len(out)) < size {
		if len(out) == cap(out) {
			room := min(size, max(64<<10, 6*packed.Size, 2*int64(cap(out))))
			if err := packed.Draw(input.Memory, room-int64(cap(out))); err != nil {
				packed.Return(int64(cap(out)))
				return nil, err
			}
			out = append(make([]byte, 0, room), out...)
		}
		var n int
		n, err = r.Read(out[len(out):cap(out)])
		out = out[:len(out)+n]
	}
	if err != nil && err != io.EOF {
		packed.Return(int64(cap(out)))
		return out, err
	}
	return out, nil
}

// notUnpacked is the error of a compressed section, after so many bytes of it.
func notUnpacked(part string, off int64, err error) error {
	return &input.FormatError{File: part, Offset: off, Want: "compressed bytes", Have: "an error", Err: err}
}

// spooled is a compressed stream that is uncompressed to a spool, storage outside of memory, as far
// as callers read. It never goes back: what has come out is read from the spool.
type spooled struct {
	packed *input.Source
	size   int64
	open   opener
	to     input.Spool
	r      io.Reader
	n      int64 // bytes that came out
	err    error // why there is no more
	buf    []byte
}

// fail keeps an error of decompression for later reads. An *input.NeedError is not kept: the stream
// is uncompressed again from its start when the bytes are there, because a reader of a stream
// cannot go on after an error.
func (s *spooled) fail(off int64, err error) error {
	if input.Needs(err) {
		s.r, s.n = nil, 0 // the stream starts over when they are there
		return err
	}
	s.err = notUnpacked(s.packed.Name, off, err)
	return s.err
}

// ReadAt implements io.ReaderAt for the uncompressed bytes.
func (s *spooled) ReadAt(p []byte, off int64) (int, error) {
	short := off+int64(len(p)) > s.size
	p = p[:max(0, min(int64(len(p)), s.size-off))]
	for s.n < off+int64(len(p)) {
		if err := s.step(); err != nil {
			return 0, err
		}
	}
	n, err := s.to.ReadAt(p, off)
	if n < len(p) {
		return n, err
	}
	if short {
		return n, io.EOF
	}
	return n, nil
}

// step uncompresses up to spoolStep bytes and appends them to the spool.
func (s *spooled) step() error {
	if s.err != nil {
		return s.err
	}
	if s.r == nil {
		r, err := s.open(io.NewSectionReader(s.packed, 0, s.packed.Size), s.packed.Left(input.Memory))
		if err != nil {
			return s.fail(0, err)
		}
		s.r, s.buf = r, make([]byte, spoolStep)
	}
	n, err := io.ReadFull(s.r, s.buf[:min(spoolStep, s.size-s.n)])
	switch {
	case n > 0:
		if _, err := s.to.WriteAt(s.buf[:n], s.n); err != nil {
			return s.fail(s.n, err)
		}
		s.n += int64(n)
		s.packed.GiveUnpacked(int64(n))
	case err == io.EOF:
		return s.fail(s.n, fmt.Errorf("the section ends here, and not after %d bytes", s.size))
	default:
		return s.fail(s.n, err)
	}
	return nil
}
