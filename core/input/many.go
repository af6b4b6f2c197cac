package input

import "io"

// Part is a run of bytes that ReadMany reads: len(Data) bytes at Off. It must lie inside the file.
type Part struct {
	Off  int64
	Data []byte
}

// ManyReader is a reader to which several places cost less when they are read at once than one after the other: a File in a
// browser, where each read goes through three processes.
type ManyReader interface {
	io.ReaderAt
	// ReadManyAt fills all parts, or says why not.
	ReadManyAt(parts []Part) error
}

// ReadsMany reports whether ReadMany is cheaper than as many reads.
func (s *Source) ReadsMany() bool {
	if s.whole != nil {
		return s.whole.ReadsMany()
	}
	_, many := s.r.(ManyReader)
	return many
}

// ReadMany fills all parts past the cache. Errors are those of ReadDirect.
func (s *Source) ReadMany(parts []Part) error {
	many, ok := s.r.(ManyReader)
	switch {
	case s.whole != nil && s.whole.ReadsMany():
		moved := make([]Part, len(parts))
		for i, p := range parts {
			if p.Off < 0 || int64(len(p.Data)) > s.Size-p.Off {
				return s.outside(p.Off, int64(len(p.Data)))
			}
			moved[i] = Part{s.base + p.Off, p.Data}
		}
		return s.whole.ReadMany(moved)
	case !ok:
		for _, p := range parts {
			if _, err := s.ReadDirect(p.Data, p.Off); err != nil {
				return err
			}
		}
		return nil
	}
	for _, p := range parts {
		if p.Off < 0 || int64(len(p.Data)) > s.Size-p.Off {
			return s.outside(p.Off, int64(len(p.Data)))
		}
	}
	return many.ReadManyAt(parts)
}
