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
	if bits > 40 {
		return nil, errors.New("xz: a dictionary of more than 4 GiB")
	}
	dict := min((2|int64(bits&1))<<(bits/2+11), maxDict, lzma.MaxDictCap)
	return lzma.Reader2Config{DictCap: int(max(dict, lzma.MinDictCap))}.NewReader2(packed)
}

// NewLZMA reads LZMA data without a header, which unpack to size bytes. props are the properties of the
// coder and the dictionary's size, little-endian.
func NewLZMA(packed io.Reader, props [5]byte, size, maxDict int64) (io.Reader, error) {
	dict := min(int64(binary.LittleEndian.Uint32(props[1:])), max(maxDict, lzma.MinDictCap))
	head := binary.LittleEndian.AppendUint32([]byte{props[0]}, uint32(dict))
	head = binary.LittleEndian.AppendUint64(head, uint64(size))
	return lzma.NewReader(io.MultiReader(bytes.NewReader(head), packed))
}
