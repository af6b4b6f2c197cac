package intake

import (
	"compress/gzip"
	"errors"
	"io"
)

// errNotGzip says that no gzip header is where one should be: at the file's start, or after a
// member.
var errNotGzip = errors.New("no gzip header")

// members unpacks a gzip file, which may have several members (RFC 1952, section 2.2). Anything
// after the last one is errNotGzip, also if it is shorter than a header.
type members struct {
	in   *countedReader
	zip  gzip.Reader
	open bool  // a member is being read
	end  error // why no other follows
}

func (m *members) Read(p []byte) (n int, err error) {
	if m.end != nil {
		return 0, m.end
	}
	if !m.open {
		if err = m.zip.Reset(m.in); err != nil {
			return 0, cutOff(ofGzip(err))
		}
		m.zip.Multistream(false)
		m.open = true
	}
	if n, err = m.zip.Read(p); err != io.EOF {
		return n, ofGzip(err)
	}
	m.open = false
	switch next, _ := m.in.Peek(2); {
	case len(next) == 0:
		m.end = io.EOF
	case string(next) != "\x1f\x8b":
		m.end = errNotGzip
	}
	return n, m.end
}

// ofGzip returns this package's error for one of compress/gzip.
func ofGzip(err error) error {
	switch err {
	case gzip.ErrHeader:
		return errNotGzip
	case gzip.ErrChecksum:
		return ErrChecksum
	}
	return err
}

// cutOff returns io.ErrUnexpectedEOF for an end within a header or a trailer.
func cutOff(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
