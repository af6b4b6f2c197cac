package elf

import (
	"errors"
	"fmt"
	"io"
	"sort"

	"github.com/crashpane/crashpane/core/inflate"
	"github.com/crashpane/crashpane/core/input"
)

// seekable is random access to a zlib stream that is too large to keep uncompressed. While it decompresses, it keeps restart points:
// the state of the decompressor at about every megabyte. A read decompresses from the nearest point before it. The last chunks
// are cached. Its memory is limited, however large the stream becomes.
type seekable struct {
	part string
	size int64

	reader  *inflate.Reader
	points  []inflate.Point // sorted by offset
	spacing int64           // least distance between points in bytes
	chunks  []chunk         // the most recently used first
}

// chunk is a cached part of the uncompressed bytes.
type chunk struct {
	off  int64
	data []byte
}

const (
	// wholeSize is the size in bytes up to which a compressed section is uncompressed as a whole.
	wholeSize = 16 << 20
	// chunkSize and maxChunks limit the cache of a section to 4 MiB.
	chunkSize, maxChunks = 128 << 10, 32
	// pointEvery is the least distance between points in bytes. A point takes 32 KiB, so maxPoints limits them to 16 MiB a section.
	pointEvery, maxPoints = 1 << 20, 512
	// zlibRatio is above the largest compression ratio of DEFLATE, 1032.
	zlibRatio = 1040
)

// newSeekable makes a seekable. It reads the first bytes, so that data that is not a zlib stream is an error at once.
func newSeekable(src *input.Source, part string, skip, size int64) (*input.Source, error) {
	s := &seekable{part: part, size: size, spacing: max(pointEvery, (size+maxPoints-1)/maxPoints)}
	head, err := src.Bytes(skip, 2)
	if err != nil {
		return nil, err
	}
	// RFC 1950: method 8, a window of at most 32 KiB, a check, and no preset dictionary.
	if head[0]&15 != 8 || head[0]>>4 > 7 || (int(head[0])<<8|int(head[1]))%31 != 0 || head[1]&0x20 != 0 {
		return nil, s.fail(0, fmt.Errorf("the first bytes are % x", head))
	}
	if size > (src.Size-skip)*zlibRatio {
		return nil, s.fail(0, fmt.Errorf("a claim of %d bytes of %d", size, src.Size-skip))
	}
	s.reader = inflate.New(src.Sub(part, skip+2, src.Size-skip-2), false)
	s.reader.OnBlock = func(now []byte) {
		// After a jump back the Reader passes points that exist already.
		at, last := s.reader.Out()+int64(len(now)), int64(0)
		if n := len(s.points); n > 0 {
			last = s.points[n-1].Out
		}
		if at-last >= s.spacing && len(s.points) < maxPoints {
			s.points = append(s.points, s.reader.Here(now))
		}
	}
	if _, err := s.ReadAt(make([]byte, 1), 0); err != nil {
		return nil, err
	}
	return input.New(part, s, size), nil
}

func (s *seekable) fail(off int64, err error) error {
	var need *input.NeedError
	if errors.As(err, &need) {
		return need
	}
	return &input.FormatError{File: s.part, Offset: off, Want: "compressed bytes (zlib)", Have: "an error", Err: err}
}

// ReadAt is io.ReaderAt over the unpacked bytes.
func (s *seekable) ReadAt(p []byte, off int64) (int, error) {
	done := 0
	for done < len(p) && off+int64(done) < s.size {
		c, err := s.chunk((off + int64(done)) / chunkSize * chunkSize)
		if err != nil {
			return done, err
		}
		from := off + int64(done) - c.off
		if from >= int64(len(c.data)) {
			return done, s.fail(c.off+int64(len(c.data)), fmt.Errorf("the section ends here, and not after %d bytes", s.size))
		}
		done += copy(p[done:], c.data[from:])
	}
	if done < len(p) {
		return done, io.EOF
	}
	return done, nil
}

// chunk returns the chunk that starts at off, from the cache or by decompression.
func (s *seekable) chunk(off int64) (chunk, error) {
	for i, c := range s.chunks {
		if c.off == off {
			copy(s.chunks[1:i+1], s.chunks[:i])
			s.chunks[0] = c
			return c, nil
		}
	}
	if err := s.moveTo(off); err != nil {
		return chunk{}, s.fail(off, err)
	}
	for {
		// A point is inside a chunk: read to the end of that chunk first.
		at := s.reader.Out()
		data := make([]byte, chunkSize-at%chunkSize)
		n := 0
		var err error
		for n < len(data) && err == nil {
			var k int
			k, err = s.reader.Read(data[n:])
			n += k
		}
		if err != nil && err != io.EOF {
			return chunk{}, s.fail(at, err)
		}
		switch c := (chunk{at, data[:n]}); {
		case at == off:
			s.cacheChunk(c)
			return c, nil
		case n < len(data):
			return chunk{off: off}, nil // the stream ends before off
		case at%chunkSize == 0:
			s.cacheChunk(c)
		}
	}
}

// moveTo moves the Reader to the best position from which to read up to off: where it is, a point, or the start.
func (s *seekable) moveTo(off int64) error {
	i := sort.Search(len(s.points), func(i int) bool { return s.points[i].Out > off }) - 1
	var p inflate.Point
	if i >= 0 {
		p = s.points[i]
	}
	if at := s.reader.Out(); s.reader.Err() == nil && at <= off && p.Out <= at && (at%chunkSize == 0 || at != off) {
		return nil
	}
	return s.reader.Begin(p)
}

// cacheChunk puts a chunk at the front of the cache, and evicts the last one if the cache is full.
func (s *seekable) cacheChunk(c chunk) {
	if len(s.chunks) < maxChunks {
		s.chunks = append(s.chunks, chunk{})
	}
	copy(s.chunks[1:], s.chunks)
	s.chunks[0] = c
}
