package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"syscall/js"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/wasm/engine"
	"github.com/crashpane/crashpane/wasm/jsvalue"
	"github.com/crashpane/crashpane/web/protocol"
)

// run handles the page's messages one after the other, until the worker is ended. A panic ends it
// with a message; the page can start another worker. analyze is called first with each message, and
// reports whether it has handled it.
func run(opt engine.Options, analyze func(message js.Value) bool) {
	collectLate()
	l := &loop{self: js.Global(), analyze: analyze, wake: make(chan struct{}, 1)}
	l.makeTurns()
	scripts().Set("receive", js.FuncOf(func(_ js.Value, args []js.Value) any {
		if args[0].Get("cancel").Truthy() {
			l.engine.Cancel()
		}
		l.messages = append(l.messages, args[0])
		l.signal()
		return nil
	}))
	l.post = poster(l.self, func() func(string) string { return l.engine.Text() })
	opt.PostData = func(a protocol.Answer, data []byte) {
		array := jsvalue.ArrayOf(data)
		message := map[string]any{"reply": jsvalue.ArrayOf(protocol.AppendAnswer(nil, a, nil)), "data": array, "memory": memory()}
		l.self.Call("postMessage", message, []any{array.Get("buffer")})
	}
	opt.Session.Beside = func(work, then func()) {
		go func() {
			if l.guarded(work) {
				l.done = append(l.done, then)
				l.signal()
			}
		}()
	}
	if scripts().Get("beside").Truthy() { // not in analyze (web/embed/analyze.js)
		opt.Session.Indexes, opt.Session.Indexers = indexStore{}, newIndexers()
	}
	opt.Pause = l.pause
	opt.Fetched = func() int64 { return fetched }
	l.engine = engine.New(l.post, opt)
	l.self.Call("postMessage", map[string]any{"ready": true})
	l.loop()
}

// loop is the worker's loop.
type loop struct {
	self     js.Value
	analyze  func(message js.Value) bool
	engine   *engine.Engine
	post     func(protocol.Answer)
	messages []js.Value    // that were not handled yet
	done     []func()      // what follows work that has ended outside the loop
	wake     chan struct{} // has an element if there may be something to do
	port     js.Value      // of turn
	turns    []func()      // see turn
	turned   time.Time     // when the browser last delivered messages
}

// loop handles all messages, rests if the engine says so, does a step of background work, and waits
// until it is woken. It ends after a panic.
func (l *loop) loop() {
	resting := false
	rested := js.FuncOf(func(js.Value, []js.Value) any { resting = false; l.turn(l.signal); return nil })
	for {
		l.turned = time.Now()
		for len(l.done)+len(l.messages) > 0 {
			if !l.next() {
				return
			}
		}
		if wait := l.engine.Rest(); wait > 0 {
			if !resting {
				resting = true
				l.self.Call("setTimeout", rested, wait.Milliseconds()+1)
			}
			<-l.wake
			continue
		}
		more := false
		if !l.guarded(func() { more = l.engine.Idle() }) {
			return
		}
		if more {
			l.turn(l.signal) // let the browser deliver pending requests, which go first
		}
		<-l.wake
	}
}

// next does what follows ended work, or handles the next message. It reports whether the engine can
// continue.
func (l *loop) next() bool {
	if len(l.done) > 0 {
		then := l.done[0]
		l.done = l.done[1:]
		return l.guarded(then)
	}
	message := l.messages[0]
	l.messages = l.messages[1:]
	return l.guarded(func() {
		switch {
		case l.analyze(message):
		case message.Get("chunk").Truthy():
			indexChunk(l.self, message)
		default:
			handle(l.engine, l.post, message)
		}
	})
}

// collectLate lets the program allocate mostUncollected bytes before its first garbage collection,
// which would delay a first stack. After that the collector runs often, since WebAssembly memory
// never shrinks: collecting is cheaper than holding the garbage for the rest of the visit.
func collectLate() {
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(mostUncollected)
	runtime.SetFinalizer(new([64]byte), func(*[64]byte) {
		debug.SetGCPercent(50)
		debug.SetMemoryLimit(math.MaxInt64)
	})
}

const mostUncollected = 48 << 20

// makeTurns prepares turn. It uses messages of its own, because a timer takes some milliseconds.
func (l *loop) makeTurns() {
	channel := l.self.Get("MessageChannel").New()
	channel.Get("port1").Set("onmessage", js.FuncOf(func(js.Value, []js.Value) any {
		do := l.turns[0]
		l.turns = l.turns[1:]
		do()
		return nil
	}))
	l.port = channel.Get("port2")
}

// turn calls do after the browser has delivered the pending messages.
func (l *loop) turn(do func()) {
	l.turns = append(l.turns, do)
	l.port.Call("postMessage", js.Null())
}

// mostWithoutTurn is how long work goes on before the browser delivers messages, so that one that
// cancels it is seen soon.
const mostWithoutTurn = 50 * time.Millisecond

// pause lets the browser deliver messages, if it has not for some time. They wait for the loop, but
// that one which cancels the work.
func (l *loop) pause() {
	if time.Since(l.turned) < mostWithoutTurn {
		return
	}
	done := make(chan struct{})
	l.turn(func() { close(done) })
	<-done
	l.turned = time.Now()
	if onPause != nil {
		onPause()
	}
}

// signal wakes the loop, unless it has been woken already.
func (l *loop) signal() {
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// poster makes the function that sends answers. text returns the function that replaces their texts
// (Engine.Text). Progress is sent at most ten times a second, because a message costs more than the
// work that it reports.
func poster(self js.Value, text func() func(string) string) func(protocol.Answer) {
	var last time.Time
	return func(a protocol.Answer) {
		if _, ok := a.Reply.(*protocol.Progress); ok {
			if time.Since(last) < 100*time.Millisecond {
				return
			}
			last = time.Now()
		}
		self.Call("postMessage", map[string]any{"reply": jsvalue.ArrayOf(protocol.AppendAnswer(nil, a, text())), "memory": memory()})
	}
}

// guarded calls do, and reports whether the engine can continue. After a panic it cannot, and the
// page gets the message.
func (l *loop) guarded(do func()) (fit bool) {
	defer func() {
		if p := recover(); p != nil {
			l.self.Call("postMessage", map[string]any{"stopped": fmt.Sprint(p)})
			fit = false
		}
	}()
	do()
	return true
}

// handle answers one message.
func handle(e *engine.Engine, post func(protocol.Answer), message js.Value) {
	call, err := protocol.ReadCall(jsvalue.BytesOf(message.Get("request")))
	if err != nil {
		panic(fmt.Errorf("a request could not be read: %w", err))
	}
	var sources []*input.Source
	var names []string
	progress := func(g protocol.Progress) { post(protocol.Answer{ID: call.ID, Reply: &g}) }
	switch q := call.Request.(type) {
	case *protocol.Add:
		names = q.Names
	case *protocol.WriteSym:
		// Reading the binary takes most of the time, and the engine does not report it.
		from := bytesRead
		onRead = func(js.Value) { progress(protocol.Progress{Stage: "reading", Name: q.Name, Done: bytesRead - from}) }
		defer func() { onRead = nil }()
	case *protocol.Query:
		// A walk takes a moment, but a hostile file can hold it up. Work that the page shows can be
		// cancelled.
		began, last := time.Now(), js.Undefined()
		onPause = func() {
			if time.Since(began) > longQuery {
				progress(protocol.Progress{Stage: "reading", Name: nameOf(last)})
			}
		}
		onRead = func(file js.Value) {
			last = file
			onPause()
		}
		defer func() { onRead, onPause = nil, nil }()
	}
	if files := message.Get("dropped"); files.Truthy() {
		readers := readersOf(files)
		for i, r := range readers {
			sources = append(sources, r.source(names[i]))
		}
		defer dropBeginnings(readers)
	}
	if remote := message.Get("remote"); remote.Truthy() {
		url := remote.Get("url").String()
		r := newRemoteReader(remote, func(err error, changed bool) {
			post(protocol.Answer{Error: err.Error(), Reply: &protocol.RemoteFailed{URL: url, Changed: changed}})
		})
		src := input.New(names[0], r, r.size)
		src.Slice = remoteSlice
		if index := remote.Get("index"); index.Truthy() {
			r := newRemoteReader(index, func(error, bool) {}) // without it the file is searched
			src.Index = input.New(names[0]+".index", r, r.size)
		}
		sources = append(sources, src)
	}
	from := fetched
	onFetch = func(name string) {
		progress(protocol.Progress{Stage: "fetching parts of", Name: name, Done: fetched - from})
	}
	defer func() { onFetch = nil }()
	e.Handle(call, sources...)
}

// memory returns the size of the program's memory and of that of its indexers in bytes, or nil if
// it is unknown.
func memory() any {
	f := scripts().Get("memory")
	if f.Type() != js.TypeFunction {
		return nil
	}
	all := f.Invoke().Int()
	for _, x := range beside {
		all += x.memory
	}
	return all
}

// indexStore implements session.IndexStore with the browser's database (web/static/kept.js).
type indexStore struct{}

// Load implements session.IndexStore.
func (indexStore) Load(key string) []byte {
	found, why := jsvalue.Await(scripts().Get("kept").Call("get", key))
	if why.Truthy() || !found.Truthy() {
		return nil
	}
	return jsvalue.BytesOf(found)
}

// Store implements session.IndexStore. What the browser refuses is not there at the next visit.
func (indexStore) Store(key string, index []byte) {
	jsvalue.Await(scripts().Get("kept").Call("put", key, jsvalue.ArrayOf(index)))
}

// longQuery is how long a query takes before the page says so.
const longQuery = time.Second

// bytesRead and slicesRead count what was read of all files; onRead, if set, is called with the
// file at each read, and onPause when work goes on: bytes that are in memory can keep it busy, too.
var (
	bytesRead  int64
	slicesRead int64
	onRead     func(file js.Value)
	onPause    func()
)

// nameOf is the name of a File, "" of another Blob.
func nameOf(file js.Value) string {
	if !file.Truthy() { // nothing was read
		return ""
	}
	if name := file.Get("name"); name.Type() == js.TypeString {
		return name.String()
	}
	return ""
}
