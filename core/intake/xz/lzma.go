package xz

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"

	"github.com/ulikunitz/xz/lzma"
)

// NewLZMA2 reads LZMA2 data without a container. bits is the size of the dictionary as a filter's
// property has it (5.3.1): (2 | bits&1) << (bits/2 + 11). Its memory is at most maxDict bytes; the data
// can be read as long as no match reaches further back.
func NewLZMA2(packed io.Reader, bits byte, maxDict int64) (io.Reader, error) {
	l := &lzma2{in: packed}
	return l, l.begin(bits, maxDict)
}

// lzma2 reads streams of LZMA2 data one after the other with one dictionary. The library can read
// one stream, for which it allocates a dictionary. So it is given the chunks of all streams as if
// they were of one: a file of many small streams would otherwise take seconds for their dictionaries.
//
// A chunk is a control byte, two bytes of its unpacked size less one, and its data; if the control byte
// is 0x80 or more, two bytes of its packed size less one and perhaps one of properties come before the
// data, and the control byte's lowest five bits are the highest of the unpacked size. A control byte of 0
// ends a stream.
//
// Source: Linux, lib/xz/xz_dec_lzma2.c.
type lzma2 struct {
	in      io.Reader
	decoder *lzma.Reader2
	dict    int64  // bytes of its dictionary
	head    []byte // of the chunk, not yet read by decoder
	packed  int64  // bytes of the chunk's data, not yet read by decoder
	left    int64  // bytes that the chunk still unpacks to
	first   bool   // no chunk of the stream was read yet
	err     error
}

// begin begins another stream, with a dictionary as in NewLZMA2.
func (l *lzma2) begin(bits byte, maxDict int64) error {
	if bits > 40 {
		return errors.New("xz: a dictionary of more than 4 GiB")
	}
	dict := max(min((2|int64(bits&1))<<(bits/2+11), maxDict, lzma.MaxDictCap), lzma.MinDictCap)
	if dict > l.dict {
		l.decoder, l.dict = nil, dict
	}
	l.first, l.err = true, nil
	return nil
}

// Read implements io.Reader. It returns io.EOF at the end of the stream.
func (l *lzma2) Read(p []byte) (n int, err error) {
	for l.left == 0 && l.err == nil {
		l.err = l.next()
	}
	if l.err != nil {
		return 0, l.err
	}
	n, l.err = l.decoder.Read(p[:min(int64(len(p)), l.left)])
	if l.left -= int64(n); l.err == io.EOF {
		l.err = io.ErrUnexpectedEOF
	}
	return n, l.err
}

// next reads the head of a chunk.
func (l *lzma2) next() error {
	var head [6]byte
	_, err := io.CopyN(io.Discard, l.in, l.packed) // what the decoder did not need
	if err == nil {
		_, err = io.ReadFull(l.in, head[:1])
	}
	control, size := head[0], 3
	switch {
	case err != nil:
		return unexpected(err)
	case control == 0:
		l.packed = 0
		return io.EOF
	case control >= 0xc0: // with properties
		size = 6
	case control >= 0x80:
		size = 5
	}
	if l.first && control != 1 && control < 0xe0 {
		return errors.New("xz: data that refer to what is before them")
	}
	if _, err := io.ReadFull(l.in, head[1:size]); err != nil {
		return unexpected(err)
	}
	l.left = int64(binary.BigEndian.Uint16(head[1:])) + 1
	l.packed = l.left
	if control >= 0x80 {
		l.left += int64(control&31) << 16
		l.packed = int64(binary.BigEndian.Uint16(head[3:])) + 1
	}
	l.head, l.first = head[:size], false
	if l.decoder == nil {
		l.decoder, err = lzma.Reader2Config{DictCap: int(l.dict)}.NewReader2(chunkReader{l})
	}
	return err
}

// chunkReader is what the decoder of an lzma2 reads: the chunk.
type chunkReader struct{ l *lzma2 }

func (c chunkReader) Read(p []byte) (n int, err error) {
	if l := c.l; len(l.head) > 0 {
		n = copy(p, l.head)
		l.head = l.head[n:]
	} else if l.packed > 0 {
		n, err = l.in.Read(p[:min(int64(len(p)), l.packed)])
		l.packed -= int64(n)
	} else {
		err = io.EOF
	}
	return n, err
}

// unexpected returns io.ErrUnexpectedEOF for the end of a file.
func unexpected(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// NewLZMA reads LZMA data without a header, which unpack to size bytes. props are the properties of the
// coder and the dictionary's size, little-endian.
func NewLZMA(packed io.Reader, props [5]byte, size, maxDict int64) (io.Reader, error) {
	dict := min(int64(binary.LittleEndian.Uint32(props[1:])), max(maxDict, lzma.MinDictCap))
	head := binary.LittleEndian.AppendUint32([]byte{props[0]}, uint32(dict))
	head = binary.LittleEndian.AppendUint64(head, uint64(size))
	return lzma.NewReader(io.MultiReader(bytes.NewReader(head), packed))
}
