package elf

import (
	"compress/zlib"
	"errors"
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core/input"
)

const (
	// wholeSize is the size in bytes up to which a compressed section is unpacked into memory,
	// although it could be spooled.
	wholeSize = 16 << 20
	// spoolStep is how much is unpacked at a time.
	spoolStep = 256 << 10
	// zlibRatio is more than any DEFLATE stream can grow.
	zlibRatio = 1040
)

// spooled is a zlib stream that is uncompressed to a spool, storage outside of memory, as far as
// callers read. It never goes back: what has come out is read from the spool.
type spooled struct {
	packed *input.Source
	size   int64
	to     input.Spool
	r      io.Reader
	n      int64 // bytes that came out
	err    error // why there is no more
	buf    []byte
}

// newSpooled returns the uncompressed bytes of the zlib stream that begins skip bytes after the
// start of src. size is the claimed uncompressed size. It uncompresses the first step at once, so
// that a section that is no zlib stream is an error here and not in a lookup.
func newSpooled(src *input.Source, part string, skip, size int64) (*input.Source, error) {
	s := &spooled{packed: src.Sub(part, skip, src.Size-skip), size: size}
	if size > s.packed.Size*zlibRatio {
		return nil, s.fail(0, fmt.Errorf("a claim of %d bytes of %d", size, s.packed.Size))
	}
	var err error
	if s.to, err = src.NewSpool(); err != nil {
		return nil, err
	}
	if _, err := s.ReadAt(make([]byte, 1), 0); err != nil {
		return nil, err
	}
	return src.Derive(part, s, size), nil
}

// fail keeps an error of decompression for later reads. An *input.NeedError is not kept: the stream
// is uncompressed again from its start when the bytes are there, because a reader of a stream
// cannot go on after an error.
func (s *spooled) fail(off int64, err error) error {
	var need *input.NeedError
	if errors.As(err, &need) {
		s.r, s.n = nil, 0 // the stream begins anew when they are there
		return need
	}
	s.err = &input.FormatError{File: s.packed.Name, Offset: off, Want: "compressed bytes (zlib)", Have: "an error", Err: err}
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
		z, err := zlib.NewReader(io.NewSectionReader(s.packed, 0, s.packed.Size))
		if err != nil {
			return s.fail(0, err)
		}
		s.r, s.buf = z, make([]byte, spoolStep)
	}
	n, err := io.ReadFull(s.r, s.buf[:min(spoolStep, s.size-s.n)])
	switch {
	case n > 0:
		if _, err := s.to.WriteAt(s.buf[:n], s.n); err != nil {
			return s.fail(s.n, err)
		}
		s.n += int64(n)
	case err == io.EOF:
		return s.fail(s.n, fmt.Errorf("the section ends here, and not after %d bytes", s.size))
	default:
		return s.fail(s.n, err)
	}
	return nil
}
