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
	// ReadManyAt fills all parts, which are in the order of the file, or says why not.
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

// ReadMany fills all parts, which must be in the order of the file, past the cache. Errors are those of ReadDirect.
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

// Stretcher is a reader that can read a stretch of the file ahead of whoever goes over it from its start to its end, where that costs
// less than one read after the other.
type Stretcher interface {
	// Stretch answers a reader of the same file for that, nil if it is not worth it, and what ends it.
	Stretch(from, to int64) (r io.ReaderAt, end func())
}

// Stretch is the same file for a pass over a part of it, after which end is to be called. Others may read the file meanwhile.
func (s *Source) Stretch(from, to int64) (src *Source, end func()) {
	if st, ok := s.r.(Stretcher); ok {
		if r, end := st.Stretch(from, to); r != nil {
			return New(s.Name, r, s.Size), end
		}
	}
	return s, func() {}
}

// within are parts of this Source as parts of the one that it is a part of.
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
