package worker

import (
	"fmt"
	"io"
	"syscall/js"
)

// aheadReader reads a stretch of a File from its start to its end as a stream: the browser reads in other processes, on other cores, and
// goes on while what has come is worked on. Beside one synchronous read after the other that takes half as long, and of the reader's
// own core a tenth. What has come lies in one buffer outside of the program's memory, which is used again and again.
type aheadReader struct {
	file   js.Value
	size   int64
	end    int64 // of the stretch
	stream js.Value
	byob   bool // the stream fills a buffer of ours
	buffer js.Value
	chunk  js.Value // Uint8Array: what has come and is being read
	at, to int64    // where in the file it lies
}

const (
	aheadBuffer = 1 << 20
	// aheadMore is how much is read beyond the stretch: a piece of a symbol file has the rest of its last line.
	aheadMore = 4 << 10
	// aheadRest is read at a time where that was not enough.
	aheadRest = 64 << 10
)

func newAheadReader(file js.Value, from, to int64) *aheadReader {
	r := &aheadReader{file: file, size: int64(file.Get("size").Float())}
	r.open(min(max(from, 0), r.size), to+aheadMore)
	return r
}

// open begins to read anew.
func (r *aheadReader) open(from, to int64) {
	r.close()
	r.at, r.to, r.end = from, from, min(to, r.size)
	stream := r.file.Call("slice", float64(from), float64(r.end)).Call("stream")
	r.byob = try(func() { r.stream = stream.Call("getReader", map[string]any{"mode": "byob"}) })
	if !r.byob {
		r.stream = stream.Call("getReader")
	} else if r.buffer.IsUndefined() {
		r.buffer = js.Global().Get("ArrayBuffer").New(aheadBuffer)
	}
}

// close lets go of what is still on its way.
func (r *aheadReader) close() {
	if r.stream.Truthy() {
		r.stream.Call("cancel")
		r.stream = js.Undefined()
	}
}

// try reports whether the browser can do something.
func try(do func()) (ok bool) {
	defer func() { ok = recover() == nil }()
	do()
	return
}

// ReadAt implements io.ReaderAt. A file that was moved, changed or locked since it was dropped is an error here.
func (r *aheadReader) ReadAt(p []byte, off int64) (n int, err error) {
	if off < 0 || off >= r.size {
		return 0, io.EOF
	}
	for n < len(p) && off+int64(n) < r.size {
		at := off + int64(n)
		if at < r.at || at > r.to || at >= r.end { // not where the stream is, or behind it
			r.open(at, max(r.end, at+aheadRest))
		}
		if at == r.to {
			if err := r.more(); err != nil {
				return n, err
			}
		}
		n += js.CopyBytesToGo(p[n:], r.chunk.Call("subarray", float64(at-r.at)))
	}
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// more waits for the next part of the stream.
func (r *aheadReader) more() error {
	var promise js.Value
	if r.byob {
		promise = r.stream.Call("read", js.Global().Get("Uint8Array").New(r.buffer))
	} else {
		promise = r.stream.Call("read")
	}
	got, problem := await(promise)
	switch {
	case problem.Truthy():
		r.stream = js.Undefined()
		return fmt.Errorf("the browser cannot read the file any more (%s); was it moved or changed?", problem.Get("message").String())
	case got.Get("done").Bool():
		return fmt.Errorf("the browser gave less of the file than it said there is; was it changed?")
	}
	r.chunk = got.Get("value")
	if r.byob {
		r.buffer = r.chunk.Get("buffer") // it is given back in another object
	}
	r.at, r.to = r.to, r.to+int64(r.chunk.Get("byteLength").Int())
	return nil
}
