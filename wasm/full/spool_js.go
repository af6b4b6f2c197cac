package main

import (
	"errors"
	"fmt"
	"io"
	"syscall/js"

	"github.com/crashpane/crashpane/core/intake"
)

// blobSpool is an intake.Spool of the browser: what was unpacked is handed over as Blobs, which a browser keeps outside of the tab's
// memory, on the disk if they are many, and forgets with the worker. The program's own memory would never shrink again.
type blobSpool struct {
	sync  js.Value
	parts []js.Value // Blobs of spoolPart each
	last  []byte     // what comes behind them
}

// spoolPart is how much goes into a Blob, in bytes.
const spoolPart = 4 << 20

func newSpool() (intake.Spool, error) {
	reader := js.Global().Get("FileReaderSync")
	if reader.IsUndefined() {
		return nil, errors.New("only a worker reads Blobs as they are needed")
	}
	return &blobSpool{sync: reader.New(), last: make([]byte, 0, spoolPart)}, nil
}

// WriteAt implements io.WriterAt for what follows what was written before; from offset 0 on it begins anew.
func (s *blobSpool) WriteAt(p []byte, off int64) (n int, err error) {
	defer refused(&err)
	if off == 0 {
		s.parts, s.last = nil, s.last[:0]
	}
	if off != int64(len(s.parts))*spoolPart+int64(len(s.last)) {
		return 0, fmt.Errorf("there is a gap before offset %d", off)
	}
	for n < len(p) {
		k := min(len(p)-n, spoolPart-len(s.last))
		s.last = append(s.last, p[n:n+k]...)
		n += k
		if len(s.last) == spoolPart {
			array := js.Global().Get("Uint8Array").New(spoolPart)
			js.CopyBytesToJS(array, s.last)
			s.parts = append(s.parts, js.Global().Get("Blob").New([]any{array}))
			s.last = s.last[:0]
		}
	}
	return n, nil
}

// ReadAt implements io.ReaderAt.
func (s *blobSpool) ReadAt(p []byte, off int64) (n int, err error) {
	defer refused(&err)
	for n < len(p) {
		at := off + int64(n)
		part, from := int(at/spoolPart), int(at%spoolPart)
		switch {
		case part < len(s.parts):
			to := min(spoolPart, from+len(p)-n)
			bytes := s.sync.Call("readAsArrayBuffer", s.parts[part].Call("slice", from, to))
			n += js.CopyBytesToGo(p[n:], js.Global().Get("Uint8Array").New(bytes))
		case part == len(s.parts) && from < len(s.last):
			n += copy(p[n:], s.last[from:])
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

// refused makes an error of what the browser throws, if it has no room for instance.
func refused(err *error) {
	if why := recover(); why != nil {
		*err = fmt.Errorf("the browser does not keep what was unpacked: %v", why)
	}
}
