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

// spooled is a zlib stream that is unpacked to storage outside of memory, as far as callers read.
type spooled struct {
	packed *input.Source
	size   int64
	to     input.Spool
	r      io.Reader
	n      int64 // bytes that came out
	err    error // why there is no more
	buf    []byte
}

// newSpooled looks at the first bytes, so that what is no zlib stream at all is known at once.
// Without a Spool it is unpacked into memory.
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
	return input.New(part, s, size), nil
}

// fail keeps an error of unpacking for later reads; bytes that are still to be fetched are none.
func (s *spooled) fail(off int64, err error) error {
	var need *input.NeedError
	if errors.As(err, &need) {
		s.r, s.n = nil, 0 // the stream begins anew when they are there
		return need
	}
	s.err = &input.FormatError{File: s.packed.Name, Offset: off, Want: "compressed bytes (zlib)", Have: "an error", Err: err}
	return s.err
}

// ReadAt is io.ReaderAt over the unpacked bytes.
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

// step unpacks some more.
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
