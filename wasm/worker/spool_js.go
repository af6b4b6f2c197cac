package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"syscall/js"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/wasm/jsvalue"
)

// limits returns the limits and means of unpacking in a browser: large unpacked data goes to Blobs,
// and the browser itself unpacks deflate data if it can.
func limits() intake.Limits {
	return intake.Limits{Spool: newSpool, Inflate: inflate, KeepWhole: 16 << 20}
}

// blobSpool is an intake.Spool of Blobs, which the browser keeps outside of the tab's memory, and
// on disk if they are many, and deletes with the worker. The program's own memory would never
// shrink again.
type blobSpool struct {
	sync  js.Value
	parts []any  // Blobs of spoolPart each
	last  []byte // the data after them
}

// spoolPart is the size of a Blob, in bytes.
const spoolPart = 4 << 20

func newSpool() (intake.Spool, error) {
	reader := js.Global().Get("FileReaderSync")
	if reader.IsUndefined() {
		return nil, errors.New("only a worker reads Blobs as they are needed")
	}
	return &blobSpool{sync: reader.New(), last: make([]byte, 0, spoolPart)}, nil
}

// WriteAt implements io.WriterAt for data that follows what was written before. Offset 0 starts
// again.
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
			if len(s.parts) == 0 {
				runtime.GC() // unpacking leaves much garbage; see collectLate
			}
			s.parts = append(s.parts, blobs(jsvalue.ArrayOf(s.last)))
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
			bytes := s.sync.Call("readAsArrayBuffer", s.parts[part].(js.Value).Call("slice", from, to))
			n += js.CopyBytesToGo(p[n:], js.Global().Get("Uint8Array").New(bytes))
		case part == len(s.parts) && from < len(s.last):
			n += copy(p[n:], s.last[from:])
		default:
			return n, io.EOF
		}
	}
	return n, nil
}

// Gather implements intake.Gatherer: it joins the Blobs to one, which can be read like a File, also
// by other workers.
func (s *blobSpool) Gather() (r io.ReaderAt, err error) {
	defer refused(&err)
	whole := blobs(append(s.parts, jsvalue.ArrayOf(s.last))...)
	s.parts, s.last = nil, nil
	f := newFileReader(whole)
	if f.size > 0 {
		f.slice(f.size-1, f.size) // reading fails if the browser could not store the Blob
	}
	return f, nil
}

func blobs(parts ...any) js.Value { return js.Global().Get("Blob").New(parts) }

// refused turns an exception of the browser into an error, for example if it has no room.
func refused(err *error) {
	if why := recover(); why != nil {
		*err = fmt.Errorf("the browser could not store the unpacked data: %v", why)
	}
}

// fileOf returns the File, or the part of one, that a Source is read from; undefined if it has
// none.
func fileOf(src *input.Source) js.Value {
	whole, base := src.Within()
	f, ok := whole.Reader().(*fileReader)
	if !ok || !f.file.Truthy() {
		return js.Undefined()
	}
	return f.file.Call("slice", float64(base), float64(base+src.Size))
}

// inflate is intake.Limits.Inflate for data in a File (web/static/unpack.js). It wraps raw deflate
// data in the header and trailer of a gzip file, so that the browser verifies their checksum.
func inflate(d intake.Deflated) (r io.ReaderAt, n int64, err error) {
	defer refused(&err)
	unpack := scripts().Get("unpack")
	d.Src.Materialize()
	blob := fileOf(d.Src)
	if !blob.Truthy() || !unpack.Truthy() {
		return nil, 0, errors.New("the browser cannot unpack it")
	}
	if d.Raw {
		trailer := binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, d.Sum), uint32(d.Size))
		blob = blobs(jsvalue.ArrayOf([]byte{0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}), blob, jsvalue.ArrayOf(trailer))
	}
	onProgress := js.FuncOf(func(_ js.Value, args []js.Value) any {
		if d.Progress != nil {
			d.Progress(min(int64(args[0].Float()), d.Src.Size))
		}
		return d.Src.Cancelled() == nil
	})
	defer onProgress.Release()
	out, why := jsvalue.Await(unpack.Invoke(blob, float64(d.MaxSize), onProgress))
	if why.Truthy() {
		return nil, 0, errors.New(jsvalue.Problem(why))
	}
	if out.IsNull() {
		return nil, d.MaxSize + 1, nil
	}
	noteRead(d.Src.Size, blob)
	to := newFileReader(out)
	return to, to.size, nil
}
