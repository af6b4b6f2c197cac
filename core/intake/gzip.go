package intake

import (
	"compress/flate"
	"errors"
	"hash/crc32"
	"io"
)

// errNotGzip says that no gzip header is where one should be: at the file's start, or after a
// member.
var errNotGzip = errors.New("no gzip header")

// The bits of a gzip header's flags (RFC 1952, section 2.3.1).
const (
	gzipHeaderSum = 1 << (iota + 1)
	gzipExtra
	gzipName
	gzipComment
)

// members unpacks a gzip file, which may have several members (RFC 1952, section 2.2). Anything
// after the last one is errNotGzip.
//
// compress/gzip is not used: its Header holds a time.Time, with which the linker keeps the
// formatting of times. That is 60 KB of the page's program.
type members struct {
	in     *countedReader
	data   io.Reader // of the member that is being read; nil between two
	sum    uint32    // CRC-32 of what came out of it
	size   uint32    // and its bytes, modulo 2^32
	header uint32    // CRC-32 of its header so far
}

func (m *members) Read(p []byte) (n int, err error) {
	if m.data == nil {
		if err := m.open(); err != nil {
			return 0, err
		}
	}
	n, err = m.data.Read(p)
	m.sum, m.size = crc32.Update(m.sum, crc32.IEEETable, p[:n]), m.size+uint32(n)
	if err != io.EOF {
		return n, err
	}
	var trailer [8]byte
	if _, err := io.ReadFull(m.in, trailer[:]); err != nil {
		return n, cutOff(err)
	}
	if little.Uint32(trailer[:]) != m.sum || little.Uint32(trailer[4:]) != m.size {
		return n, ErrChecksum
	}
	m.data = nil
	if next, _ := m.in.Peek(2); len(next) > 0 && string(next) != "\x1f\x8b" {
		return n, errNotGzip
	} else if len(next) > 0 {
		return n, nil
	}
	return n, io.EOF
}

// open reads a member's header.
func (m *members) open() error {
	m.header = 0
	var fixed [10]byte
	if err := m.take(fixed[:]); err != nil {
		return err
	}
	if string(fixed[:3]) != "\x1f\x8b\x08" {
		return errNotGzip
	}
	flags := fixed[3]
	if flags&gzipExtra != 0 {
		var size [2]byte
		if err := m.take(size[:]); err != nil {
			return err
		}
		if err := m.take(make([]byte, little.Uint16(size[:]))); err != nil {
			return err
		}
	}
	for _, text := range []byte{gzipName, gzipComment} { // each ends with a 0
		for last := [1]byte{1}; flags&text != 0 && last[0] != 0; {
			if err := m.take(last[:]); err != nil {
				return err
			}
		}
	}
	if flags&gzipHeaderSum != 0 {
		want, sum := uint16(m.header), [2]byte{}
		if err := m.take(sum[:]); err != nil {
			return err
		}
		if little.Uint16(sum[:]) != want {
			return errNotGzip
		}
	}
	m.sum, m.size = 0, 0
	m.data = flate.NewReader(m.in)
	return nil
}

// take reads bytes of the header.
func (m *members) take(p []byte) error {
	_, err := io.ReadFull(m.in, p)
	m.header = crc32.Update(m.header, crc32.IEEETable, p)
	return cutOff(err)
}

// cutOff returns io.ErrUnexpectedEOF for an end within a header or a trailer.
func cutOff(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}
