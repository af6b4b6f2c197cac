package worker

import (
	"io"
	"syscall/js"

	"github.com/crashpane/crashpane/core/input"
)

// streamReader reads a part of a File from start to end (web/static/stream.js). The browser reads ahead in other processes while the program works on
// the bytes before.
type streamReader struct {
	file   js.Value
	size   int64
	end    int64 // of the part
	stream js.Value
	chunk  js.Value // Uint8Array: the last chunk
	at, to int64    // the chunk's range in the file
}

const (
	// streamMore is how many bytes are read beyond the part, because the last line of a chunk of a symbol file ends after it. streamRest is read at a
	// time if that is not enough.
	streamMore, streamRest = 4 << 10, 64 << 10
)

func newStreamReader(file js.Value, from, to int64) *streamReader {
	r := &streamReader{file: file, size: int64(file.Get("size").Float())}
	r.open(min(max(from, 0), r.size), to+streamMore)
	return r
}

// Stream implements input.Streamer. A file that is in memory already is not streamed.
func (f *fileReader) Stream(from, to int64) (io.ReaderAt, func()) {
	if f.whole.Truthy() {
		return f, func() {}
	}
	r := newStreamReader(f.file, from, to)
	return r, r.close
}

// open begins to read from another offset.
func (r *streamReader) open(from, to int64) {
	r.close()
	r.at, r.to, r.end = from, from, min(to, r.size)
	r.stream = scripts().Call("stream", r.file, float64(from), float64(r.end))
}

// close ends the reader.
func (r *streamReader) close() {
	if r.stream.Truthy() {
		r.stream.Call("end")
		r.stream = js.Undefined()
	}
}

// ReadAt implements io.ReaderAt. A file that was moved, changed or locked since it was dropped is an error here.
func (r *streamReader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off >= r.size {
		return 0, io.EOF
	}
	for n < len(p) && off+int64(n) < r.size {
		at := off + int64(n)
		if at < r.at || at > r.to || at >= r.end || !r.stream.Truthy() { // outside of the chunk and the stream
			r.open(at, max(r.end, at+streamRest))
		}
		if at == r.to {
			chunk, why := await(r.stream.Call("next"))
			if why.Truthy() {
				r.close()
				return n, unreadable(why.Get("message"))
			}
			r.chunk = chunk
			r.at, r.to = r.to, r.to+int64(chunk.Get("byteLength").Int())
			noteRead(r.to-r.at, r.file)
		}
		n += js.CopyBytesToGo(p[n:], r.chunk.Call("subarray", float64(at-r.at)))
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// sourceOfPart makes a Source for a pass over a part of a File, and a function that ends it.
func sourceOfPart(name string, file js.Value, from, to int64) (*input.Source, func()) {
	r := newStreamReader(file, from, to)
	return input.New(name, r, r.size), r.close
}
