package input

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

// badSector is a reader that cannot read some of its bytes.
type badSector struct {
	io.ReaderAt
	from, to int64
	err      error
}

func (b badSector) ReadAt(p []byte, off int64) (int, error) {
	if off < b.to && off+int64(len(p)) > b.from {
		return 0, b.err
	}
	return b.ReaderAt.ReadAt(p, off)
}

// ReadManyAt implements ManyReader.
func (b badSector) ReadManyAt(parts []Part) error {
	for _, p := range parts {
		if _, err := b.ReadAt(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// TestFailed: what a caller may take for bytes that are not there stays known as an error of the
// reader, whichever way it was read.
func TestFailed(t *testing.T) {
	const size = 4 * blockSize
	for what, read := range map[string]func(s *Source){
		"ReadAt": func(s *Source) { s.ReadAt(make([]byte, 8), 2*blockSize+8) },
		"large":  func(s *Source) { s.ReadAt(make([]byte, size), 0) },
		"Block":  func(s *Source) { s.Block(2*blockSize + 8) },
		"Bytes":  func(s *Source) { s.Bytes(2*blockSize, 16) },
		"a part": func(s *Source) { s.Sub("part", 2*blockSize, 100).Bytes(0, 16) },
		"direct": func(s *Source) { s.ReadDirect(make([]byte, 8), 2*blockSize+8) },
		"direct, by several at once": func(s *Source) {
			s.Parallel = true
			s.ReadDirect(make([]byte, 8), 2*blockSize+8)
		},
		"many":    func(s *Source) { ReadMany(s, []Part{{2*blockSize + 8, make([]byte, 8)}}) },
		"outside": nil,
	} {
		broken := errors.New("the disk is broken")
		s := New("a.dmp", badSector{bytes.NewReader(make([]byte, size)), 2 * blockSize, 3 * blockSize, broken}, size)
		s.Bytes(0, 16)
		s.Bytes(size-8, 16) // beyond the end is not an error of the reader
		s.ReadAt(make([]byte, 16), size)
		if s.Failed() != nil {
			t.Errorf("%s: %v before anything failed", what, s.Failed())
		}
		if read == nil {
			continue
		}
		read(s)
		err := s.Failed()
		if !errors.Is(err, broken) || !strings.HasPrefix(err.Error(), "a.dmp at offset 0x") || s.Sub("part", 0, 8).Failed() != err {
			t.Errorf("%s: %v", what, err)
		}
	}
	s := New("a.dmp", badSector{bytes.NewReader(make([]byte, size)), 0, size, &NeedError{}}, size)
	s.Bytes(0, 16)
	if s.Failed() != nil {
		t.Errorf("bytes that are to be fetched are told as an error: %v", s.Failed())
	}
}
