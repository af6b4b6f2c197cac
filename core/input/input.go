// Package input is how every reader here gets at bytes: random access to a named file, with errors that say where.
package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
)

// Source is one file: a name to speak of it, random access to its bytes, and its size. Readers share one Source; reads go
// through a small block cache, because a slice of a File in the browser costs the same for 4 or 64 KiB. It is not for use
// by several goroutines at once.
type Source struct {
	// Name is the file's path as it was given (with the archive's name in front: "crash.zip/a.dmp"). Untrusted text.
	Name string
	// Size in bytes.
	Size int64
	// Slice is how many bytes are best read at a time, for readers that may choose; 0 leaves it to them.
	Slice int64
	// Spool makes a place outside of memory for what is unpacked of the file; nil if there is none.
	Spool func() (Spool, error)
	// Parallel: the reader bears to be read by several goroutines at once, as an *os.File does.
	Parallel bool
	// Watch, if it is set, is told which bytes are read as what: those that Cursors go over, skipped ones too, and those that
	// readers report by Saw. Parts made by Sub are not watched.
	Watch func(part string, off, n int64)

	r     io.ReaderAt
	data  []byte // all of it, if it is in memory anyway
	cache Blocks
	// whole is the Source that this one is a part of, from base on; nil if it is none.
	whole *Source
	base  int64
	// failed is the first error of r.
	failed *FormatError
}

// New makes a Source of a reader. A size below 0 counts as 0.
func New(name string, r io.ReaderAt, size int64) *Source {
	return &Source{Name: name, Size: max(size, 0), r: r}
}

// FromBytes makes a Source of bytes that are in memory; they must not change while it is in use.
func FromBytes(name string, data []byte) *Source {
	return &Source{Name: name, Size: int64(len(data)), r: bytes.NewReader(data), data: data}
}

// Saw tells Watch, if there is one, that n bytes at off were understood as part.
func (s *Source) Saw(part string, off, n int64) {
	if s.Watch != nil && n > 0 {
		s.Watch(part, off, n)
	}
}

// Sub is a part of a file as a file of its own: a member stored without compression in an archive, say. The part is cut to
// what the file has; offsets in its errors count from its own start.
func (s *Source) Sub(name string, off, size int64) *Source {
	off = min(max(off, 0), s.Size)
	size = min(max(size, 0), s.Size-off)
	if s.data != nil {
		return FromBytes(name, s.data[off:off+size])
	}
	// No cache of its own: the reads end in this Source's cache.
	sub := New(name, io.NewSectionReader(s, off, size), size)
	sub.whole, sub.base = s, off
	return sub
}

// Settler is a reader to which it costs much to give anything but its beginning, a member of an archive: it unpacks all of it then.
type Settler interface {
	// Settle does so, and answers a reader of the same bytes that is to be asked in its place; nil if there is none.
	Settle() io.ReaderAt
}

// Settle is for whoever is about to read here and there in the file.
func (s *Source) Settle() {
	if s.whole != nil {
		s.whole.Settle()
	} else if r, ok := s.r.(Settler); ok {
		if now := r.Settle(); now != nil {
			s.r = now
		}
	}
}

// Within is the Source that this one is a part of, itself if of none, and where in it the part begins.
func (s *Source) Within() (whole *Source, base int64) {
	if s.whole != nil {
		whole, base = s.whole.Within()
		return whole, base + s.base
	}
	return s, 0
}

// Reader is what gives the bytes of a Source that is no part of another one.
func (s *Source) Reader() io.ReaderAt { return s.r }

// ReadAt fills p from off on, as io.ReaderAt asks: if fewer than len(p) bytes are left, the error is io.EOF. Errors of the
// reader below (a *NeedError among them) come through unchanged.
func (s *Source) ReadAt(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.Size {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	short := false
	if left := s.Size - off; int64(len(p)) > left {
		p, short = p[:left], true
	}
	n, err := s.read(p, off)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// ReadDirect is ReadAt past the cache, for readers that know what they will read again. Several goroutines may use it at
// once if they may so use the reader below (an *os.File, bytes in memory).
func (s *Source) ReadDirect(p []byte, off int64) (int, error) {
	if off < 0 || off >= s.Size {
		if len(p) == 0 {
			return 0, nil
		}
		return 0, io.EOF
	}
	short := false
	if left := s.Size - off; int64(len(p)) > left {
		p, short = p[:left], true
	}
	n, err := 0, error(nil)
	switch {
	case s.data != nil:
		n = copy(p, s.data[off:])
	case s.whole != nil:
		n, err = s.whole.ReadDirect(p, s.base+off)
	default:
		n, err = readFull(s.r, p, off)
	}
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// read fills p, which lies inside the file.
func (s *Source) read(p []byte, off int64) (int, error) {
	if s.data != nil {
		return copy(p, s.data[off:]), nil
	}
	if s.whole != nil || len(p) >= blockSize {
		return s.full(p, off)
	}
	done := 0
	for done < len(p) {
		block, start, err := s.Block(off + int64(done))
		if err != nil {
			return done, err
		}
		done += copy(p[done:], block[off+int64(done)-start:])
	}
	return done, nil
}

// full is readFull, which notes the first error.
func (s *Source) full(p []byte, off int64) (int, error) {
	n, err := readFull(s.r, p, off)
	if err != nil && s.whole == nil && s.failed == nil && !Needs(err) {
		s.failed = &FormatError{File: s.Name, Offset: off, Have: "a read error", Err: err}
	}
	return n, err
}

// Failed is the first error of the reader below, other than of bytes that are not here yet; nil if there was none. It is for those who say
// of an answer how far it is to be believed: many who read take bytes that cannot be read for bytes that are not there.
func (s *Source) Failed() *FormatError {
	if s.whole != nil {
		return s.whole.Failed()
	}
	return s.failed
}

// Block is a piece of the file that holds the byte at off, and the offset at which the piece starts: the fastest way to
// look at many small things close to each other. The bytes belong to the Source and must not be changed; they stay what
// they are for as long as somebody keeps them.
func (s *Source) Block(off int64) (block []byte, start int64, err error) {
	if off < 0 || off >= s.Size {
		return nil, 0, s.outside(off, 1)
	}
	if s.data != nil {
		return s.data, 0, nil
	}
	if s.whole != nil { // the piece of the whole file, which keeps it, cut to this part
		block, start, err = s.whole.Block(s.base + off)
		if err != nil {
			return nil, 0, err
		}
		start -= s.base
		if start < 0 {
			block, start = block[-start:], 0
		}
		return block[:min(int64(len(block)), s.Size-start)], start, nil
	}
	block, start = s.cache.Get(off)
	if block == nil {
		start = off &^ (blockSize - 1)
		block = make([]byte, min(blockSize, s.Size-start))
		if _, err := s.full(block, start); err != nil {
			return nil, 0, s.Wrap("", start, err)
		}
		s.cache.Put(block, start)
	}
	return block, start, nil
}

// Bytes reads n bytes at off into a new slice. A request that the file cannot fulfil is a *FormatError and allocates
// nothing, whatever n is.
func (s *Source) Bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > s.Size || n > s.Size-off {
		return nil, s.outside(off, n)
	}
	p := make([]byte, n)
	if _, err := s.read(p, off); err != nil {
		return nil, s.Wrap("", off, err)
	}
	return p, nil
}

func (s *Source) outside(off, n int64) error {
	have := fmt.Sprintf("only %d bytes to the end of the file", max(0, s.Size-max(off, 0)))
	if off < 0 || off > s.Size {
		have = fmt.Sprintf("a file of %d bytes", s.Size)
	}
	return &FormatError{File: s.Name, Offset: off, Want: fmt.Sprintf("%d bytes", n), Have: have}
}

// Needs reports whether an error only says that bytes have to be fetched first: a *NeedError, however wrapped.
func Needs(err error) bool {
	var need *NeedError
	return errors.As(err, &need)
}

// Wrap makes a positioned error of a reader's error. A *NeedError and a *FormatError are handed on as they are.
func (s *Source) Wrap(part string, off int64, err error) error {
	var format *FormatError
	if err == nil || Needs(err) || errors.As(err, &format) {
		return err
	}
	return &FormatError{File: s.Name, Part: part, Offset: off, Have: "a read error", Err: err}
}

// readFull fills p or says why not; a reader that has less than the Source's size promises is an error.
func readFull(r io.ReaderAt, p []byte, off int64) (int, error) {
	n, err := r.ReadAt(p, off)
	if n == len(p) {
		return n, nil
	}
	if err == nil || err == io.EOF {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

// FormatError says what is wrong with a file and where.
type FormatError struct {
	File   string // the file's name
	Part   string // the stream, section or record ("ModuleList stream", "FUNC record")
	Offset int64  // file offset in bytes, or -1
	Line   int    // line of a text file, counted from 1, or 0
	Want   string // what was expected, in words ("room for 108 bytes")
	Have   string // what was there
	Err    error  // the cause, if there is one below
}

func (e *FormatError) Error() string {
	s := e.File
	if e.Part != "" {
		s += ": " + e.Part
	}
	if e.Line > 0 {
		s += fmt.Sprintf(" at line %d", e.Line)
	} else if e.Offset >= 0 {
		s += fmt.Sprintf(" at offset 0x%x", e.Offset)
	}
	switch {
	case e.Want != "" && e.Have != "":
		s += ": expected " + e.Want + ", found " + e.Have
	case e.Have != "":
		s += ": " + e.Have
	case e.Want != "":
		s += ": expected " + e.Want
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *FormatError) Unwrap() error { return e.Err }

// NeedError is the error of a reader that has only parts of a file (an HTTP range source, say): which bytes it needs
// before the read can be answered. It is a value to hand on, not a failure.
type NeedError struct {
	Name   string
	Ranges []Range
}

// Range is a part of a file, in bytes.
type Range struct{ Offset, Size int64 }

func (e *NeedError) Error() string {
	return fmt.Sprintf("%s: %d parts of the file are needed first", e.Name, len(e.Ranges))
}
