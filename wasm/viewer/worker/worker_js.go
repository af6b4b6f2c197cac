// Package worker is a program's role in a worker: messages of the page go to an engine, its answers go back. Every program that
// is an engine runs the same; what they link differs.
package worker

import (
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"syscall/js"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/wasm/viewer/engine"
	"github.com/crashpane/crashpane/web/protocol"
)

// Run is the worker's role: messages {request, file} come in one after the other, {reply} goes out. A panic ends
// the worker with a message; the page starts another.
func Run(opt engine.Options) { RunWith(opt, nil) }

// RunWith is Run with another reader of messages, which is asked first and answers whether a message was for it.
func RunWith(opt engine.Options, own func(message js.Value) bool) {
	debug.SetGCPercent(percent)
	self := js.Global()
	var queue []js.Value
	asked := false
	wake := make(chan struct{}, 1)
	self.Set("crashpaneReceive", js.FuncOf(func(_ js.Value, args []js.Value) any {
		queue = append(queue, args[0])
		select {
		case wake <- struct{}{}:
		default:
		}
		return nil
	}))
	var e *engine.Engine
	post := poster(self, func() func(string) string { return e.Text() })
	opt.PostData = func(a protocol.Answer, data []byte) {
		array := ArrayOf(data)
		message := map[string]any{"reply": ArrayOf(protocol.AppendAnswer(nil, a, nil)), "data": array, "memory": memory(self)}
		self.Call("postMessage", message, []any{array.Get("buffer")})
	}
	opt.PostFile = func(a protocol.Answer, src *input.Source) bool {
		blob := fileOf(src)
		if !blob.Truthy() {
			return false
		}
		named := self.Get("File").New([]any{blob}, src.Name)
		self.Call("postMessage", map[string]any{"reply": ArrayOf(protocol.AppendAnswer(nil, a, nil)), "file": named, "memory": memory(self)})
		return true
	}
	opt.Fetched = func() int64 { return fetched }
	e = engine.New(post, opt)
	self.Call("postMessage", map[string]any{"ready": true})
	turn := turns(wake)
	resting := false
	rested := js.FuncOf(func(js.Value, []js.Value) any { resting = false; turn(); return nil })
	for {
		for len(queue) > 0 {
			message := queue[0]
			queue = queue[1:]
			if !asked {
				debug.SetGCPercent(percentAtFirst)
				debug.SetMemoryLimit(mostAtFirst)
				self.Call("setTimeout", js.FuncOf(func(js.Value, []js.Value) any { thrifty(); return nil }), percentAfter)
			}
			if file := message.Get("file"); message.Get("remote").Truthy() || file.Truthy() && readWhole(file) {
				thrifty()
			}
			asked = true
			if !guarded(self, func() {
				if own == nil || !own(message) {
					handle(e, post, message)
				}
			}) {
				return
			}
		}
		if wait := e.Rest(); wait > 0 {
			if !resting {
				resting = true
				self.Call("setTimeout", rested, wait.Milliseconds()+1)
			}
			<-wake
			continue
		}
		more := false
		if !guarded(self, func() { more = e.Idle() }) {
			return
		}
		if more {
			turn() // requests that have come meanwhile are first
		}
		<-wake
	}
}

const (
	// percent is how much may be allocated before the program collects what nobody needs, in hundredths of what is needed. wasm memory never
	// shrinks: collecting more often is cheaper than what would be held for the rest of the visit. But all that is allocated until the first
	// stack is there are some megabytes, and a collection in the midst of it takes a part of the time, and has the browser compile the
	// collector for speed. So it is more at first, for percentAfter milliseconds or up to mostAtFirst bytes in all; not for files of more
	// than smallAtFirst bytes that are not searched where they lie.
	percent        = 50
	percentAtFirst = 400
	percentAfter   = 2000
	mostAtFirst    = 48 << 20
	smallAtFirst   = 8 << 20
)

// turns makes a function that has wake receive when the browser has handed over the messages that wait. Timers would let
// some milliseconds pass each time.
func turns(wake chan struct{}) func() {
	channel := js.Global().Get("MessageChannel").New()
	channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		select {
		case wake <- struct{}{}:
		default:
		}
		return nil
	}))
	port := channel.Get("port2")
	return func() { port.Call("postMessage", js.Null()) }
}

// poster sends Replies; text is asked what becomes of the texts in them. Progress is sent ten times a second at most: a message costs more than what it reports.
func poster(self js.Value, text func() func(string) string) func(protocol.Answer) {
	var last time.Time
	return func(a protocol.Answer) {
		if _, ok := a.Reply.(*protocol.Progress); ok {
			if time.Since(last) < 100*time.Millisecond {
				return
			}
			last = time.Now()
		}
		self.Call("postMessage", map[string]any{"reply": ArrayOf(protocol.AppendAnswer(nil, a, text())), "memory": memory(self)})
	}
}

// guarded does a piece of work and reports whether the engine is still fit for another.
func guarded(self js.Value, do func()) (fit bool) {
	defer func() {
		if p := recover(); p != nil {
			self.Call("postMessage", map[string]any{"stopped": fmt.Sprint(p)})
			fit = false
		}
	}()
	do()
	return true
}

// handle answers one message.
func handle(e *engine.Engine, post func(protocol.Answer), message js.Value) {
	call, err := protocol.ReadCall(BytesOf(message.Get("request")))
	if err != nil {
		panic(fmt.Errorf("a request could not be read: %w", err))
	}
	var src *input.Source
	name := ""
	progress := func(g protocol.Progress) { post(protocol.Answer{ID: call.ID, Reply: &g}) }
	switch q := call.Request.(type) {
	case *protocol.Add:
		name = q.Name
	case *protocol.IndexChunk:
		if file := message.Get("file"); file.Truthy() {
			part, end := sourceOfPart(q.Name, file, q.From-1, q.To)
			defer end()
			src = part
		}
		name = q.Name
	case *protocol.WriteSym:
		// Most of the time goes into reading, of which nobody else tells.
		from := bytesRead
		onRead = func() { progress(protocol.Progress{Stage: "reading", Name: q.Name, Done: bytesRead - from}) }
		defer func() { onRead = nil }()
	}
	if file := message.Get("file"); file.Truthy() && src == nil {
		r := readerOf(file)
		src = input.New(name, r, r.size)
	}
	if remote := message.Get("remote"); remote.Truthy() {
		r := newRemoteReader(remote, post)
		src = input.New(name, r, r.size)
		src.Slice = remoteSlice
	}
	if _, ok := call.Request.(*protocol.IndexChunk); !ok {
		from := fetched
		onFetch = func(name string) {
			progress(protocol.Progress{Stage: "fetching parts of", Name: name, Done: fetched - from})
		}
		defer func() { onFetch = nil }()
	}
	var data func([]byte) []byte
	if array := message.Get("data"); array.Truthy() {
		data = func(into []byte) []byte { return bytesInto(into, array) }
	}
	e.HandleWith(call, src, data)
}

// memory is the size of the program's memory in bytes, which never shrinks; nil where nobody says.
func memory(self js.Value) any {
	if f := self.Get("crashpaneMemory"); f.Type() == js.TypeFunction {
		return f.Invoke()
	}
	return nil
}

// bytesRead and slicesRead are how much of all files was read; onRead, if set, is called at each slice.
var (
	bytesRead  int64
	slicesRead int64
	onRead     func()
)

// ArrayOf and BytesOf carry a message over the edge of the program.
func ArrayOf(b []byte) js.Value {
	array := js.Global().Get("Uint8Array").New(len(b))
	js.CopyBytesToJS(array, b)
	return array
}

// BytesOf copies what a Uint8Array holds.
func BytesOf(array js.Value) []byte { return bytesInto(nil, array) }

// bytesInto is BytesOf into what is there, if that is long enough.
func bytesInto(b []byte, array js.Value) []byte {
	n := array.Get("byteLength").Int()
	if cap(b) < n {
		b = make([]byte, n)
	}
	b = b[:n]
	js.CopyBytesToGo(b, array)
	return b
}

// thrifty has the program collect as it does but at first.
func thrifty() {
	debug.SetGCPercent(percent)
	debug.SetMemoryLimit(math.MaxInt64)
}

// readWhole reports whether a file is large and will be read from its beginning to its end, by its name.
func readWhole(file js.Value) bool {
	return file.Get("size").Float() > smallAtFirst && !strings.HasSuffix(strings.ToLower(file.Get("name").String()), ".sym")
}
