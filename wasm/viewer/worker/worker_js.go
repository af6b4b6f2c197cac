// Package worker is a program's role in a worker: messages of the page go to an engine, its answers go back. Every program that
// is an engine runs the same; what they link differs.
package worker

import (
	"fmt"
	"io"
	"syscall/js"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/wasm/viewer/engine"
	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/wire"
)

// Run is the worker's role: messages {request, file} come in one after the other, {reply} goes out. A panic ends
// the worker with a message; the page starts another.
func Run(opt engine.Options) {
	self := js.Global()
	var queue []js.Value
	wake := make(chan struct{}, 1)
	self.Set("crashpaneReceive", js.FuncOf(func(_ js.Value, args []js.Value) any {
		queue = append(queue, args[0])
		select {
		case wake <- struct{}{}:
		default:
		}
		return nil
	}))
	post := poster(self)
	e := engine.New(post, opt)
	self.Call("postMessage", map[string]any{"ready": true})
	for {
		for len(queue) > 0 {
			message := queue[0]
			queue = queue[1:]
			if !handle(self, e, message) {
				return
			}
		}
		<-wake
	}
}

// poster sends Replies. Progress is sent ten times a second at most: a message costs more than what it reports.
func poster(self js.Value) func(app.Reply) {
	var last time.Time
	return func(r app.Reply) {
		if r.Progress != nil {
			if time.Since(last) < 100*time.Millisecond {
				return
			}
			last = time.Now()
		}
		self.Call("postMessage", map[string]any{"reply": ArrayOf(wire.Append(nil, r))})
	}
}

// handle answers one message and reports whether the engine is still fit for another.
func handle(self js.Value, e *engine.Engine, message js.Value) (fit bool) {
	defer func() {
		if p := recover(); p != nil {
			self.Call("postMessage", map[string]any{"stopped": fmt.Sprint(p)})
			fit = false
		}
	}()
	var req app.Request
	if err := wire.Read(BytesOf(message.Get("request")), &req); err != nil {
		panic(fmt.Errorf("a request could not be read: %w", err))
	}
	var src *input.Source
	if file := message.Get("file"); file.Truthy() {
		r := newFileReader(file)
		src = input.New(req.Name, r, r.size)
	}
	e.Handle(req, src)
	return true
}

// fileReader reads slices of a File, synchronously as only a worker may.
type fileReader struct {
	file, sync js.Value
	size       int64
}

func newFileReader(file js.Value) *fileReader {
	return &fileReader{file: file, sync: js.Global().Get("FileReaderSync").New(), size: int64(file.Get("size").Float())}
}

// ReadAt implements io.ReaderAt. A file that was moved, changed or locked since it was dropped is an error here.
func (f *fileReader) ReadAt(p []byte, off int64) (n int, err error) {
	defer func() {
		if e := recover(); e != nil {
			n, err = 0, fmt.Errorf("the browser cannot read the file any more (%v); was it moved or changed?", e)
		}
	}()
	if off < 0 || off >= f.size {
		return 0, io.EOF
	}
	end := min(off+int64(len(p)), f.size)
	slice := f.file.Call("slice", float64(off), float64(end))
	bytes := js.Global().Get("Uint8Array").New(f.sync.Call("readAsArrayBuffer", slice))
	n = js.CopyBytesToGo(p, bytes)
	if n < len(p) {
		err = io.EOF
	}
	return n, err
}

// ArrayOf and BytesOf carry a message over the edge of the program.
func ArrayOf(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

// BytesOf copies what a Uint8Array holds.
func BytesOf(array js.Value) []byte {
	b := make([]byte, array.Get("byteLength").Int())
	js.CopyBytesToGo(b, array)
	return b
}
