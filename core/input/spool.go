package input

import (
	"errors"
	"io"
)

// Spool stores unpacked bytes outside of memory: in a temporary file, or in the browser's storage.
// They are written in order, from offset 0 on each time the file is unpacked.
type Spool interface {
	io.ReaderAt
	io.WriterAt
}

// CanSpool reports whether NewSpool can create storage.
func (s *Source) CanSpool() bool {
	whole, _ := s.Within()
	return whole.Spool != nil
}

// NewSpool creates storage for what is unpacked from the file.
func (s *Source) NewSpool() (Spool, error) {
	whole, _ := s.Within()
	if whole.Spool == nil {
		return nil, errors.New("there is no place outside of memory")
	}
	return whole.Spool()
}
