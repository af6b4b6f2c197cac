// Package input gives every parser random access to a named file, and errors that name the file,
// the offset, what was expected and what was found.
//
// Start at Source, a file or a part of one. Parsers of binary formats read a Source with a Cursor,
// whose first error stays, so that they check for errors once at the end. Bytes that a source does
// not have yet are a *NeedError with the ranges, which callers pass on unchanged.
package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
)

// Note is a text about a file, with where it comes from.
type Note struct{ Origin, Key, Value string }

// Source is one file: its name for messages, random access to its bytes, and its size. All parsers
// of a file share one Source. Reads go through a small block cache, because reading from a File in
// the browser costs the same for 4 bytes and for 64 KiB. Several goroutines may read a Source at
// once. Its fields are set before that.
type Source struct {
	// Name is the file's path as the user chose it, after the archive's name if it is a member:
	// "crash.zip/a.dmp". It is untrusted text.
	Name string
	// Size in bytes.
	Size int64
	// Modified is when the file was last changed, in seconds since 1970, or 0 if that is not known.
	Modified int64
	// Slice is the best number of bytes for one read, for readers that may choose; 0 leaves it to
	// them.
	Slice int64
	// Index is what `crashpane index` made of the file, a symbol file, if that is next to it; else
	// nil.
	Index *Source
	// Notes are what the file that this one was in says about it: fields of an upload.
	Notes []Note
	// Spool creates storage outside of memory for what is unpacked from the file. It is nil if
	// there is no such storage.
	Spool func() (Spool, error)
	// MaxUnpacked is how many bytes the user allows to be unpacked from the file; 0 leaves it to the
	// usual limits.
	MaxUnpacked int64
	// Budget is what reading the file may cost; nil for no limit. That of a part is the whole file's.
	Budget *Budget
	// Parallel: several goroutines may use the underlying reader at once, as they may an *os.File.
	Parallel bool
	// OnRead, if it is set, is called for each range that a parser understood, with the part of the
	// file that the range belongs to: for all bytes that a Cursor passes, skipped ones included,
	// and for those reported by NoteRead. It is not called for reads of a Sub.
	OnRead func(part string, off, n int64)

	// mu is held by reads of a whole file that is not in memory.
	mu         sync.Mutex
	r          io.ReaderAt
	data       []byte // the whole file, if it is in memory, else nil
	cache      Blocks
	prefetched *prefetched // see Rounds
	// readTo is where the last read of blocks ended, lastRead how many bytes it read.
	readTo, lastRead int64
	// whole is the Source that this one is a part of, from offset base on, or nil.
	whole *Source
	base  int64
	// held is the memory that was drawn since Hold, or nil.
	held *atomic.Int64
	// refused: see Refused.
	refused atomic.Bool
	// failed is the first read error of r, see Failed.
	failed *FormatError
}

// New makes a Source from a reader. A negative size counts as 0.
func New(name string, r io.ReaderAt, size int64) *Source {
	return &Source{Name: name, Size: max(size, 0), r: r}
}

// FromBytes makes a Source from bytes in memory, which must not change while it is in use.
func FromBytes(name string, data []byte) *Source {
	return &Source{Name: name, Size: int64(len(data)), r: bytes.NewReader(data), data: data}
}

// NoteRead calls OnRead, if it is set, for n bytes at off that a parser understood as part.
func (s *Source) NoteRead(part string, off, n int64) {
	if s.OnRead != nil && n > 0 {
		s.OnRead(part, off, n)
	}
}

// Sub returns a part of a file as a file of its own, for example a member of an archive that is
// stored without compression. The part is clipped to the file. Offsets in its errors count from its
// own start.
func (s *Source) Sub(name string, off, size int64) *Source {
	off = min(max(off, 0), s.Size)
	size = min(max(size, 0), s.Size-off)
	if s.data != nil {
		return s.DeriveBytes(name, s.data[off:off+size])
	}
	// The part needs no cache: its reads end in this Source's.
	sub := New(name, io.NewSectionReader(s, off, size), size)
	sub.whole, sub.base, sub.held = s, off, s.held
	return sub
}

// Derive makes a Source of bytes that were made from this one's: unpacked, or put together. It draws
// from the same Budget.
func (s *Source) Derive(name string, r io.ReaderAt, size int64) *Source {
	d := New(name, r, size)
	whole, _ := s.Within()
	d.Budget, d.Spool, d.held = whole.Budget, whole.Spool, s.held
	return d
}

// DeriveBytes is Derive for bytes in memory, which the caller has drawn from the Budget.
func (s *Source) DeriveBytes(name string, data []byte) *Source {
	d := s.Derive(name, bytes.NewReader(data), int64(len(data)))
	d.data = data
	return d
}

// Holder is a reader that may have its bytes in memory. Then the Source has no copies of them.
type Holder interface {
	// Held returns bytes that contain the one at off, and the offset of the first, or nil. They are
	// never overwritten.
	Held(off int64) (block []byte, start int64)
}

// Materializer is a reader for which random access is costly, such as a compressed member of an
// archive, which is unpacked from its start.
type Materializer interface {
	// Materialize unpacks everything and returns a reader of the same bytes that replaces this one,
	// or nil.
	Materialize() io.ReaderAt
}

// Materialize prepares a file for random access. Without it, each read that goes back may unpack
// the file from its start again.
func (s *Source) Materialize() {
	if s.whole != nil {
		s.whole.Materialize()
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, ok := s.r.(Materializer); ok {
		if now := r.Materialize(); now != nil {
			s.r = now
		}
	}
}

// Forgetter is a reader that holds what it has read or unpacked, and can do it again.
type Forgetter interface{ Forget() }

// Forget gives back what is held of a file in memory and can be had again by the next read. A part of a file
// forgets nothing, since others may be read.
func (s *Source) Forget() {
	if s.whole != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cache = Blocks{}
	if f, ok := s.r.(Forgetter); ok {
		f.Forget()
	}
}

// Within returns the Source that this one is a part of, and the part's offset in it. For a whole
// file these are the file itself and 0.
func (s *Source) Within() (whole *Source, base int64) {
	if s.whole != nil {
		whole, base = s.whole.Within()
		return whole, base + s.base
	}
	return s, 0
}

// Reader returns the underlying reader of a Source that is not a part of another one.
func (s *Source) Reader() io.ReaderAt { return s.r }

// Memory returns the whole file if it is in memory, else nil. The caller must not change it.
func (s *Source) Memory() []byte { return s.data }

// ReadAt implements io.ReaderAt: if fewer than len(p) bytes are left, the error is io.EOF. Errors
// of the underlying reader, including a *NeedError, are returned unchanged.
func (s *Source) ReadAt(p []byte, off int64) (int, error) { return s.readBy((*Source).read, p, off) }

// ReadDirect is ReadAt without the cache, for readers that have a cache of their own or read
// everything once.
func (s *Source) ReadDirect(p []byte, off int64) (int, error) {
	return s.readBy((*Source).readDirect, p, off)
}

// readBy calls read for the part of p that is inside the file.
func (s *Source) readBy(read func(s *Source, p []byte, off int64) (int, error), p []byte, off int64) (int, error) {
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
	n, err := read(s, p, off)
	if err == nil && short {
		err = io.EOF
	}
	return n, err
}

// readDirect fills p without the cache. The range must be inside the file.
func (s *Source) readDirect(p []byte, off int64) (int, error) {
	switch {
	case s.data != nil:
		return copy(p, s.data[off:]), nil
	case s.whole != nil:
		return s.whole.ReadDirect(p, s.base+off)
	}
	if err := s.Budget.Draw(Work, int64(len(p))); err != nil {
		return 0, err
	}
	if s.Parallel {
		n, err := readFull(s.r, p, off)
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.fail(off, err)
		}
		return n, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.fill(p, off)
}

// read fills p through the cache. The range must be inside the file.
func (s *Source) read(p []byte, off int64) (int, error) {
	if s.data != nil {
		return copy(p, s.data[off:]), nil
	}
	if s.whole != nil {
		return readFull(s.r, p, off)
	}
	if len(p) > blockSize {
		s.mu.Lock()
		defer s.mu.Unlock()
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

// full draws what a read costs, and fills p. The caller holds mu.
func (s *Source) full(p []byte, off int64) (int, error) {
	if err := s.Budget.Draw(Work, int64(len(p))); err != nil {
		return 0, err
	}
	return s.fill(p, off)
}

// fill fills p with what Rounds have read, or from the reader. The caller holds mu.
func (s *Source) fill(p []byte, off int64) (int, error) {
	if ok, err := s.prefetched.fill(p, off); ok {
		return len(p), nil
	} else if err != nil {
		return 0, err
	}
	n, err := readFull(s.r, p, off)
	s.fail(off, err)
	return n, err
}

// fail records the first error of a read for Failed. The caller holds mu.
func (s *Source) fail(off int64, err error) {
	if err != nil && s.failed == nil && !Needs(err) {
		s.failed = &FormatError{File: s.Name, Offset: off, Have: "a read error", Err: err}
	}
}

// Failed returns the first error of the underlying reader that is not a *NeedError, or nil. A
// report mentions it: most parsers treat bytes that cannot be read like bytes that the file lacks,
// so their results may be incomplete without any other sign.
func (s *Source) Failed() *FormatError {
	if s.whole != nil {
		return s.whole.Failed()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.failed
}

// Block returns a block of the file that contains the byte at off, and the block's offset. It is
// the fastest way to read many small values that are close together. The bytes belong to the
// Source: the caller must not change them, and may keep them, because they are never overwritten.
func (s *Source) Block(off int64) (block []byte, start int64, err error) {
	if off < 0 || off >= s.Size {
		return nil, 0, s.outside(off, 1)
	}
	if s.data != nil {
		return s.data, 0, nil
	}
	if s.whole != nil { // the whole file's cached block, clipped to this part
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
	s.mu.Lock()
	defer s.mu.Unlock()
	if h, ok := s.r.(Holder); ok {
		if block, start = h.Held(off); block != nil {
			return block[:min(int64(len(block)), s.Size-start)], start, nil
		}
	}
	if block, start = s.cache.Get(off); block == nil {
		if block, start, err = s.readBlock(off); err != nil {
			return nil, 0, s.Wrap("", start, err)
		}
	}
	return block, start, nil
}

// readBlock reads the block that contains the byte at off into the cache. A pass over the file reads
// more and more blocks at once, up to 1 MiB. The caller holds mu.
func (s *Source) readBlock(off int64) (block []byte, start int64, err error) {
	n := int64(blockSize)
	if s.prefetched != nil {
		n = roundBlock
	}
	start = off &^ (n - 1)
	if s.prefetched == nil && s.lastRead > 0 && start == s.readTo {
		n = min(2*s.lastRead, maxBlocks/4*blockSize)
	}
	n = min(n, s.Size-start)
	if err := s.Want(start, n); err != nil {
		return nil, start, err // before memory is taken for it
	}
	all := make([]byte, n)
	if _, err := s.full(all, start); err != nil {
		return nil, start, err
	}
	s.readTo, s.lastRead = start+int64(len(all)), max(int64(len(all)), blockSize)
	for at := int64(len(all)-1) &^ (blockSize - 1); at >= 0; at -= blockSize {
		block = all[at:min(at+blockSize, int64(len(all)))]
		s.cache.Put(block, start+at)
	}
	return block, start, nil
}

// Bytes reads n bytes at off into a new slice. If the file has fewer, the error is a *FormatError
// and nothing is allocated, however large n is.
func (s *Source) Bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > s.Size || n > s.Size-off {
		return nil, s.outside(off, n)
	}
	if err := s.Draw(Work, 1+n/bytesPerStep); err != nil {
		return nil, s.Wrap("", off, err)
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

// Needs reports whether an error is or wraps a *NeedError, which says that bytes have to be fetched
// first.
func Needs(err error) bool {
	var need *NeedError
	return errors.As(err, &need)
}

// Wrap adds a position to a reader's error. It returns a *NeedError or a *FormatError unchanged.
func (s *Source) Wrap(part string, off int64, err error) error {
	var format *FormatError
	if err == nil || Needs(err) || errors.As(err, &format) {
		return err
	}
	return &FormatError{File: s.Name, Part: part, Offset: off, Have: "a read error", Err: err}
}

// readFull fills p or returns an error. A reader that ends before the Source's size is an error, as
// a file is that became shorter while it was open.
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
	Offset int64  // file offset in bytes, or -1 if unknown
	Line   int    // line of a text file, counted from 1, or 0
	Want   string // what was expected, in words ("room for 108 bytes")
	Have   string // what was found
	Err    error  // the cause, or nil
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

// NeedError is the error of a reader that has only parts of a file, such as one that fetches ranges
// by HTTP. It names the ranges that are needed before the read can succeed. It is not a failure:
// the caller passes it on, fetches the ranges and tries again.
type NeedError struct {
	Name   string
	Ranges []Range
}

// Range is a part of a file, in bytes.
type Range struct{ Offset, Size int64 }

func (e *NeedError) Error() string {
	return fmt.Sprintf("%s: %d parts of the file are needed first", e.Name, len(e.Ranges))
}
