package elf

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// seekable is random access to a zlib stream that is too large to be kept unpacked. On the way through the stream it keeps marks,
// from each of which it can go on; what was unpacked last is kept too. Memory is bounded whatever the stream becomes.
type seekable struct {
	src  *input.Source // the section as it is in the file
	part string
	skip int64 // where in src the DEFLATE stream starts
	size int64

	now    *inflater
	marks  []mark // by place
	every  int64  // the distance of marks
	chunks []chunk
}

// mark is an inflater's state.
type mark struct {
	place   position
	at      int64
	bits    uint64
	count   uint
	history []byte
}

// chunk is a piece of what has been unpacked.
type chunk struct {
	off  int64
	data []byte
}

const (
	// wholeSize is up to what size a compressed section is simply unpacked.
	wholeSize = 16 << 20
	// chunkSize and maxChunks: what a seekable section keeps unpacked, 4 MiB.
	chunkSize, maxChunks = 128 << 10, 32
	// markEvery is the least distance of marks; maxMarks, of 33 KiB each, bounds them to 17 MiB a section.
	markEvery, maxMarks = 1 << 20, 512
	// zlibRatio is more than any DEFLATE stream can grow.
	zlibRatio = 1040
)

// newSeekable looks at the first bytes, so that what is no zlib stream at all is known at once.
func newSeekable(src *input.Source, part string, skip, size int64) (*input.Source, error) {
	s := &seekable{src: src, part: part, skip: skip + 2, size: size, every: max(markEvery, (size+maxMarks-1)/maxMarks)}
	s.every = (s.every + chunkSize - 1) / chunkSize * chunkSize // marks lie between chunks
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

// chunk is the piece that starts at off.
func (s *seekable) chunk(off int64) (chunk, error) {
	for i, c := range s.chunks {
		if c.off == off {
			copy(s.chunks[1:i+1], s.chunks[:i])
			s.chunks[0] = c
			return c, nil
		}
	}
	s.moveTo(off)
	for {
		at := s.now.place.out
		data, err := s.now.step(chunkSize)
		if err != nil {
			s.now = nil
			return chunk{}, s.fail(at, err)
		}
		c := chunk{at, slices.Clone(data)}
		s.keep(c)
		if s.now.place.out-s.lastMark() >= s.every {
			s.mark()
		}
		if at >= off || len(data) < chunkSize {
			if at < off {
				s.now = nil
				return chunk{off: off}, nil
			}
			return c, nil
		}
	}
}

// moveTo puts the inflater where it can reach off soonest: where it is, at a mark, or at the start.
func (s *seekable) moveTo(off int64) {
	i := sort.Search(len(s.marks), func(i int) bool { return s.marks[i].place.out > off }) - 1
	if s.now != nil && s.now.place.out <= off && (i < 0 || s.marks[i].place.out <= s.now.place.out) {
		return
	}
	s.now = &inflater{src: s.src, at: s.skip}
	if i >= 0 {
		m := &s.marks[i]
		s.now.place, s.now.at, s.now.bits, s.now.count = m.place, m.at, m.bits, m.count
		s.now.history = append(make([]byte, 0, windowSize+chunkSize), m.history...)
	}
}

func (s *seekable) lastMark() int64 {
	if len(s.marks) == 0 {
		return 0
	}
	return s.marks[len(s.marks)-1].place.out
}

func (s *seekable) mark() {
	d := s.now
	s.marks = append(s.marks, mark{place: d.place, at: d.at, bits: d.bits, count: d.count,
		history: slices.Clone(d.history[max(0, len(d.history)-windowSize):])})
}

// keep puts a chunk first among those that are kept.
func (s *seekable) keep(c chunk) {
	if len(s.chunks) < maxChunks {
		s.chunks = append(s.chunks, chunk{})
	}
	copy(s.chunks[1:], s.chunks)
	s.chunks[0] = c
}
