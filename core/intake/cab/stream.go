package cab

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
)

// The methods of folders (2.2), in the lowest four bits; LZX and Quantum have parameters above
// them.
const (
	methodStored = iota
	methodMSZIP
	methodQuantum
	methodLZX
)

// stream is a folder's unpacked bytes.
type stream struct {
	c      *Cabinet
	method uint16
	at     int64 // of the next block in the cabinet
	left   int   // blocks
	out    int64 // how many bytes were read
	err    error

	inflater io.ReadCloser // of MSZIP
	block    []byte        // what the last block unpacked to: the next one may refer to it, and to those before as far as they fit
	window   []byte        // the bytes before the next block, up to maxBlock
	unread   []byte        // of block
}

func (c *Cabinet) stream(f folder) (*stream, error) {
	s := &stream{c: c, method: f.method & 15, at: f.offset, left: f.blocks}
	switch s.method {
	case methodStored:
	case methodMSZIP:
		s.inflater = flate.NewReader(bytes.NewReader(nil))
	case methodQuantum:
		return nil, &MethodError{"Quantum"}
	case methodLZX:
		return nil, &MethodError{"LZX"}
	default:
		return nil, &MethodError{fmt.Sprintf("method %d", s.method)}
	}
	return s, nil
}

// Read implements io.Reader.
func (s *stream) Read(p []byte) (int, error) {
	for len(s.unread) == 0 && s.err == nil && len(p) > 0 {
		if s.left == 0 {
			s.err = io.EOF
		} else {
			s.err = s.next()
		}
	}
	if len(s.unread) == 0 {
		return 0, s.err
	}
	n := copy(p, s.unread)
	s.unread = s.unread[n:]
	s.out += int64(n)
	return n, nil
}

// next unpacks a block.
//
//	CFDATA  0 checksum u32 · 4 packed bytes u16 · 6 unpacked bytes u16 · reserved · the packed bytes
func (s *stream) next() error {
	h, err := s.c.bytes(s.at, blockSize, "a block")
	if err != nil {
		return err
	}
	sum, packed, unpacked := little.Uint32(h), int(little.Uint16(h[4:])), int(little.Uint16(h[6:]))
	if unpacked == 0 {
		return ErrSplit
	}
	if unpacked > maxBlock {
		return &FormatError{s.at + 6, fmt.Sprintf("a block of %d bytes, where %d are the most", unpacked, maxBlock), nil}
	}
	data := s.at + blockSize + s.c.reserved
	b, err := s.c.bytes(data, packed, "a block's data")
	if err != nil {
		return err
	}
	if sum != 0 && sum != checksum(h[4:8], checksum(b, 0)) {
		return &FormatError{s.at, "a block whose checksum does not match", nil}
	}
	s.block = s.block[:0]
	switch s.method {
	case methodStored:
		if packed != unpacked {
			return &FormatError{s.at + 6, fmt.Sprintf("a stored block of %d bytes that unpacks to %d", packed, unpacked), nil}
		}
		s.block = append(s.block, b...)
	case methodMSZIP:
		// [MS-MCI] 2.2: "CK", then deflate data (RFC 1951) that end in the block and may refer to
		// the bytes before it.
		if len(b) < 2 || b[0] != 'C' || b[1] != 'K' {
			return &FormatError{data, "a block that does not begin with CK", nil}
		}
		if err := s.inflater.(flate.Resetter).Reset(bytes.NewReader(b[2:]), s.window); err != nil {
			return err
		}
		s.block = append(s.block, make([]byte, unpacked)...)
		if _, err := io.ReadFull(s.inflater, s.block); err != nil {
			s.block = nil
			return &FormatError{data, "damaged deflate data", err}
		}
		if n, _ := s.inflater.Read(make([]byte, 1)); n > 0 {
			return &FormatError{data, fmt.Sprintf("a block that unpacks to more than its %d bytes", unpacked), nil}
		}
		s.window = append(s.window, s.block...)
		if more := len(s.window) - maxBlock; more > 0 {
			s.window = append(s.window[:0], s.window[more:]...)
		}
	}
	s.unread = s.block
	s.at = data + int64(packed)
	s.left--
	return nil
}

// checksum is that of a block (2.4): its words joined by exclusive or, the bytes of the last one in
// reverse.
func checksum(b []byte, sum uint32) uint32 {
	for ; len(b) >= 4; b = b[4:] {
		sum ^= little.Uint32(b)
	}
	last := uint32(0)
	for _, c := range b {
		last = last<<8 | uint32(c)
	}
	return sum ^ last
}
