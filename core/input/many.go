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

// ManyKeeper is a ManyReader that can leave what it read where it is, since of each place only some bytes will be looked at, and that can read while
// its caller does something else.
type ManyKeeper interface {
	ManyReader
	// KeepManyAt begins to read places, which lie inside the file and in its order; apart, it need not be done before somebody waits.
	KeepManyAt(places []Range, apart bool) (wait func() (Kept, error))
}

// Kept is what was read of places.
type Kept interface {
	// Copy fills p from a byte of the i-th place on. It must have as many.
	Copy(i int, p []byte, from int64) error
	// Release is to be called once, when nothing more is wanted.
	Release()
}

// KeepMany begins to read places of the file, which must be in its order, and leaves what was read where it is; apart, the caller does something
// else until it waits. Nil if the reader cannot, or the Source is a part of another one.
func (s *Source) KeepMany(places []Range, apart bool) (wait func() (Kept, error)) {
	r, ok := s.r.(ManyKeeper)
	if !ok {
		return nil
	}
	for _, p := range places {
		if p.Offset < 0 || p.Size < 0 || p.Size > s.Size-p.Offset {
			err := s.outside(p.Offset, p.Size)
			return func() (Kept, error) { return nil, err }
		}
	}
	return r.KeepManyAt(places, apart)
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

// Streamer is a reader that can read whole stretches of a file side by side, where they have many places that are wanted.
type Streamer interface {
	// StreamAt begins to read stretches, each from and up to, which lie inside the file. What comes of each comes in its order, and
	// begins with so many bytes that came before; nil if it cannot.
	StreamAt(stretches [][2]int64, overlap int64) Stream
}

// Stream is what comes of stretches that are read: one piece of the file after the other.
type Stream interface {
	// Next waits for the next piece, which lies from and up to there; the one before is gone then. io.EOF is an answer when all have come.
	Next() (from, to int64, err error)
	// Copy fills a part that lies in the piece.
	Copy(p Part) error
	// End is to be called once, when nothing more is wanted.
	End()
}

// Stream begins to read stretches of the file, each from and up to, as Streamer says; nil if the reader cannot, or the Source is a part of
// another one.
func (s *Source) Stream(stretches [][2]int64, overlap int64) Stream {
	if r, ok := s.r.(Streamer); ok {
		return r.StreamAt(stretches, overlap)
	}
	return nil
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
