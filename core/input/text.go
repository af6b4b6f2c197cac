package input

import "bytes"

// Text returns the text at off that a zero byte ends, cut to limit bytes. If the file ends before the
// text does, the error is a *FormatError, and what there is of the text is returned too. Its bytes are
// drawn as Work, since many records may point to one long text.
func (s *Source) Text(off, limit int64) (string, error) {
	var long []byte
	for int64(len(long)) < limit {
		at := off + int64(len(long))
		block, start, err := s.Block(at)
		if err != nil {
			return string(long), err
		}
		block = block[at-start:]
		block = block[:min(int64(len(block)), limit-int64(len(long)))]
		end := bytes.IndexByte(block, 0)
		if end >= 0 {
			block = block[:end]
		}
		if err := s.Draw(Work, 1+int64(len(block))/bytesPerStep); err != nil {
			return string(long), s.Wrap("", at, err)
		}
		if end >= 0 && long == nil {
			return string(block), nil // mostly so
		}
		if long = append(long, block...); end >= 0 {
			break
		}
	}
	return string(long), nil
}
