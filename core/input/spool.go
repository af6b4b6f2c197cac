package input

import (
	"errors"
	"io"
)

// Spool is where unpacked bytes are put and read again. They are put in order, from offset 0 on anew.
type Spool interface {
	io.ReaderAt
	io.WriterAt
}

// CanSpool reports whether there is a place outside of memory for what is unpacked of the file.
func (s *Source) CanSpool() bool {
	whole, _ := s.Within()
	return whole.Spool != nil
}

// NewSpool makes such a place.
func (s *Source) NewSpool() (Spool, error) {
	whole, _ := s.Within()
	if whole.Spool == nil {
		return nil, errors.New("there is no place outside of memory")
	}
	return whole.Spool()
}
