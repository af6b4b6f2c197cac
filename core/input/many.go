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
func ReadsMany(src *Source) bool {
	whole, _ := src.Within()
	_, many := whole.Reader().(ManyReader)
	return many
}

// ReadMany fills all parts, which must be sorted by offset, without the Source's cache. The error is
// the reader's, or io.ErrUnexpectedEOF if a part is not inside the file.
func ReadMany(src *Source, parts []Part) error {
	whole, base := src.Within()
	moved := make([]Part, len(parts))
	bytes := int64(0)
	for i, p := range parts {
		if p.Off < 0 || int64(len(p.Data)) > src.Size-p.Off {
			return io.ErrUnexpectedEOF
		}
		moved[i] = Part{base + p.Off, p.Data}
		bytes += int64(len(p.Data))
	}
	if many, ok := whole.Reader().(ManyReader); ok {
		if err := src.Draw(Work, bytes); err != nil {
			return err
		}
		err := many.ReadManyAt(moved)
		if err != nil && len(moved) > 0 {
			whole.mu.Lock()
			defer whole.mu.Unlock()
			whole.fail(moved[0].Off, err)
		}
		return err
	}
	for _, p := range parts {
		if _, err := src.ReadDirect(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}
