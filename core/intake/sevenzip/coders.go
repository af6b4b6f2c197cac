package sevenzip

import (
	"bufio"
	"compress/bzip2"
	"compress/flate"
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core/intake/xz"
)

// Methods of coders (Methods.txt).
const (
	methodCopy     = 0
	methodDelta    = 3
	methodBCJ      = 4
	methodARM64    = 0xa
	methodLZMA2    = 0x21
	methodLZMA     = 0x030101
	methodX86      = 0x03030103
	methodBCJ2     = 0x0303011b
	methodDeflate  = 0x040108
	methodZstd     = 0x04f71101
	methodPPMd     = 0x030401
	methodBzip2    = 0x040202
	methodAES      = 0x06f10701
	methodDeflat64 = 0x040109
)

// names are the methods that are not unpacked here.
var names = map[uint64]string{methodPPMd: "PPMd", methodAES: "encryption", methodDeflat64: "Deflate64"}

// MethodError is of a member that is compressed in a way that is not unpacked here.
type MethodError struct{ Method string }

func (e *MethodError) Error() string {
	return "compressed with " + e.Method + ", which is not supported; unpack the archive, and add its files"
}

// readSize is how much is read of a packed stream at a time, in bytes.
const readSize = 256 << 10

// folder returns the reader of a folder.
func (a *Archive) folder(f *folder) (io.Reader, error) {
	r, err := a.coder(f, f.main, 0)
	if err != nil {
		return nil, err
	}
	return io.LimitReader(r, f.size()), nil
}

// coder returns the reader of a coder's output. depth counts coders, since they may be connected to a
// circle.
func (a *Archive) coder(f *folder, n, depth int) (io.Reader, error) {
	c := &f.coders[n]
	if depth >= len(f.coders) {
		return nil, wrong("coders that are connected to a circle")
	}
	inputs := make([]io.Reader, c.in)
	for i := range inputs {
		switch in := c.first + i; {
		case f.from[in] >= 0:
			r, err := a.coder(f, f.from[in], depth+1)
			if err != nil {
				return nil, err
			}
			inputs[i] = r
		default:
			p := f.places[f.packed[in]]
			if p.offset < 0 || p.size > a.size-p.offset {
				return nil, &FormatError{p.offset, fmt.Sprintf("a packed stream of %d bytes, behind the end of the file at 0x%x", p.size, a.size), io.ErrUnexpectedEOF}
			}
			inputs[i] = bufio.NewReaderSize(io.NewSectionReader(a.src, p.offset, p.size), int(min(readSize, max(16, p.size))))
		}
	}
	if c.in != 1 && (c.method != methodBCJ2 || c.in != 4) {
		return nil, wrong("a coder of method 0x%x with %d inputs", c.method, c.in)
	}
	return a.decode(c, f.sizes[n], inputs)
}

// decode returns the reader of a coder whose output has a size.
func (a *Archive) decode(c *coder, size int64, in []io.Reader) (io.Reader, error) {
	switch c.method {
	case methodCopy:
		return io.LimitReader(in[0], size), nil
	case methodLZMA:
		if len(c.props) != 5 {
			return nil, wrong("properties of LZMA of %d bytes", len(c.props))
		}
		return xz.NewLZMA(in[0], [5]byte(c.props), size, min(a.memory(), size))
	case methodLZMA2:
		if len(c.props) != 1 {
			return nil, wrong("properties of LZMA2 of %d bytes", len(c.props))
		}
		return xz.NewLZMA2(in[0], c.props[0], min(a.memory(), max(size, 1)))
	case methodDeflate:
		return io.LimitReader(flate.NewReader(in[0]), size), nil
	case methodBzip2:
		return io.LimitReader(bzip2.NewReader(in[0]), size), nil
	case methodZstd:
		r, err := a.zstd(in[0], a.memory())
		if err != nil {
			return nil, err
		}
		return io.LimitReader(r, size), nil
	case methodDelta:
		if len(c.props) != 1 {
			return nil, wrong("properties of delta of %d bytes", len(c.props))
		}
		return &delta{r: io.LimitReader(in[0], size), distance: int(c.props[0]) + 1}, nil
	case methodX86, methodBCJ:
		return &filter{r: in[0], left: size, convert: (&x86{}).convert}, nil
	case methodARM64:
		return &filter{r: in[0], left: size, convert: arm64}, nil
	case methodBCJ2:
		if len(in) != 4 {
			return nil, wrong("a filter BCJ2 with %d inputs", len(in))
		}
		return newBCJ2(in, size)
	}
	if name := names[c.method]; name != "" {
		return nil, &MethodError{name}
	}
	return nil, &MethodError{fmt.Sprintf("method 0x%x", c.method)}
}
