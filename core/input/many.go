package input

import "io"

// Part is a range that ReadMany reads: len(Data) bytes at Off. It must be inside the file.
type Part struct {
	Off  int64
	Data []byte
}

// ManyReader is a reader for which one read of several ranges is cheaper than several reads, such
// as a File in a browser, where each read passes through three processes.
type ManyReader interface {
	io.ReaderAt
	// ReadManyAt fills all parts, which are sorted by offset, or returns an error.
	ReadManyAt(parts []Part) error
}

// ReadsMany reports whether ReadMany is cheaper than one read for each part.
func (s *Source) ReadsMany() bool {
	if s.whole != nil {
		return s.whole.ReadsMany()
	}
	_, many := s.r.(ManyReader)
	return many
}

// ReadMany fills all parts, which must be sorted by offset, without the cache. Errors are those of
// ReadDirect.
func (s *Source) ReadMany(parts []Part) error {
	whole, moved, err := s.within(parts)
	if err != nil {
		return err
	}
	if many, ok := whole.r.(ManyReader); ok {
		return many.ReadManyAt(moved)
	}
	for _, p := range parts {
		if _, err := s.ReadDirect(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}

// within translates parts of this Source into parts of the whole file.
func (s *Source) within(parts []Part) (whole *Source, moved []Part, err error) {
	whole, base := s.Within()
	moved = parts
	if base != 0 {
		moved = make([]Part, len(parts))
	}
	for i, p := range parts {
		if p.Off < 0 || int64(len(p.Data)) > s.Size-p.Off {
			return whole, nil, s.outside(p.Off, int64(len(p.Data)))
		}
		moved[i] = Part{base + p.Off, p.Data}
	}
	return whole, moved, nil
}
