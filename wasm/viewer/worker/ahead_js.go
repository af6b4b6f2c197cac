package worker

import (
	"fmt"
	"io"
	"syscall/js"

	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/wire"
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
	// nearEnd is called once when the last part of the stretch is asked for.
	nearEnd func()

	asked         bool // the next part is on its way
	came, problem js.Value
	settled       chan struct{} // receives when it has come, or a problem has
	yes, no       js.Func
}

const (
	// aheadBuffer is how much is asked for at a time. Chromium reads some two megabytes ahead.
	aheadBuffer = 2 << 20
	// aheadMore is how much is read beyond the stretch: a piece of a symbol file has the rest of its last line.
	aheadMore = 4 << 10
	// aheadRest is read at a time where that was not enough.
	aheadRest = 64 << 10
)

func newAheadReader(file js.Value, from, to int64) *aheadReader {
	r := &aheadReader{file: file, size: int64(file.Get("size").Float()), settled: make(chan struct{}, 1)}
	settle := func(to *js.Value) js.Func {
		return js.FuncOf(func(_ js.Value, args []js.Value) any {
			*to = args[0]
			r.settled <- struct{}{}
			return nil
		})
	}
	r.yes, r.no = settle(&r.came), settle(&r.problem)
	r.open(min(max(from, 0), r.size), to+aheadMore)
	return r
}

// open begins to read anew.
func (r *aheadReader) open(from, to int64) {
	r.cancel()
	r.at, r.to, r.end = from, from, min(to, r.size)
	stream := r.file.Call("slice", float64(from), float64(r.end)).Call("stream")
	r.byob = try(func() { r.stream = stream.Call("getReader", map[string]any{"mode": "byob"}) })
	if !r.byob {
		r.stream = stream.Call("getReader")
	} else if r.buffer.IsUndefined() {
		r.buffer = js.Global().Get("ArrayBuffer").New(aheadBuffer)
	}
}

// cancel lets go of what is still on its way.
func (r *aheadReader) cancel() {
	if r.stream.Truthy() {
		r.stream.Call("cancel")
		r.stream = js.Undefined()
	}
	if r.asked {
		<-r.settled
		r.asked, r.buffer = false, js.Undefined() // the stream has kept it
	}
}

// close ends the reader.
func (r *aheadReader) close() {
	r.cancel()
	r.yes.Release()
	r.no.Release()
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
		if at < r.at || at > r.to || at >= r.end || !r.stream.Truthy() { // not where the stream is, or behind it
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

// ask asks for the next part of the stream, of which there must be one.
func (r *aheadReader) ask() {
	if r.asked {
		return
	}
	r.asked = true
	r.came, r.problem = js.Undefined(), js.Undefined()
	var promise js.Value
	if r.byob {
		// All that there is room for: each answer costs a way through the event loop. Where min is not known, it is what is there.
		n := min(r.end-r.to, aheadBuffer)
		promise = r.stream.Call("read", js.Global().Get("Uint8Array").New(r.buffer, 0, n), map[string]any{"min": n})
	} else {
		promise = r.stream.Call("read")
	}
	promise.Call("then", r.yes, r.no)
}

// more waits for the next part of the stream.
func (r *aheadReader) more() error {
	if r.nearEnd != nil && r.end-r.to <= aheadBuffer {
		r.nearEnd()
		r.nearEnd = nil
	}
	r.ask()
	<-r.settled
	r.asked = false
	switch {
	case r.problem.Truthy():
		r.stream, r.buffer = js.Undefined(), js.Undefined()
		return fmt.Errorf("the browser cannot read the file any more (%s); was it moved or changed?", r.problem.Get("message").String())
	case r.came.Get("done").Bool():
		r.stream, r.buffer = js.Undefined(), js.Undefined()
		return fmt.Errorf("the browser gave less of the file than it said there is; was it changed?")
	}
	r.chunk = r.came.Get("value")
	if r.byob {
		r.buffer = r.chunk.Get("buffer") // it is given back in another object
	}
	r.at, r.to = r.to, r.to+int64(r.chunk.Get("byteLength").Int())
	return nil
}

// stretches reads one stretch of a file after the other, each for a request.
type stretches struct {
	queued func() []js.Value // the messages that wait
	next   *aheadReader      // of the first that waits, if its part is being read already
	of     js.Value          // that message
}

// reader is for the stretch that a request is for.
func (s *stretches) reader(message js.Value, req app.Request) *aheadReader {
	r := s.next
	if s.next = nil; r != nil && !s.of.Equal(message) {
		r.close()
		r = nil
	}
	if r == nil {
		r = newAheadReader(message.Get("file"), req.From-1, req.To)
	}
	r.nearEnd = s.begin
	return r
}

// begin begins to read for the message that waits, so that its first part is there when it comes to it.
func (s *stretches) begin() {
	queue := s.queued()
	if len(queue) == 0 {
		return
	}
	var req app.Request
	s.of = queue[0]
	if file := s.of.Get("file"); file.Truthy() && wire.Read(BytesOf(s.of.Get("request")), &req) == nil && req.Op == app.OpIndex {
		s.next = newAheadReader(file, req.From-1, req.To)
		s.next.ask()
	}
}
