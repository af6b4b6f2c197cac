package main

import (
	"fmt"
	"syscall/js"

	"github.com/crashpane/crashpane/wasm/jsvalue"
	"github.com/crashpane/crashpane/web/app"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// workerEngine implements host.Engine with a worker. The loader makes the workers, and gives them
// the engine's program.
type workerEngine struct {
	viewer  js.Value // the loader's object: makeWorker(), program, first
	worker  js.Value
	program func(js.Value) // is called with the state of the engine's program (protocol_js.go)
	answer  func(a protocol.Answer)
	stopped func(string)
	// vanished is called if the worker has ended without a message or an event.
	vanished func()
	// making and made are called about the file that the maker writes; download gives it to the
	// browser.
	making   func(protocol.Progress)
	made     func(name, problem string)
	download func(name string, blob js.Value)
	maker    *maker
	later    func(func())
}

// start makes a worker, or takes the one that the loader has made. The worker keeps messages until
// its program listens, so Send may follow at once.
func (w *workerEngine) start() {
	made := w.viewer.Get("first")
	if !made.Truthy() {
		made = w.viewer.Call("makeWorker")
	}
	w.viewer.Set("first", js.Undefined())
	w.worker = made
	w.listen(made, giveLock(made))
}

// giveLock has a worker hold a lock, and returns its name. The worker says when it holds it.
func giveLock(worker js.Value) (lock string) {
	lock = fmt.Sprint("crashpane ", js.Global().Get("Math").Call("random").Float())
	worker.Call("postMessage", map[string]any{"lock": lock})
	return lock
}

// watch calls ended when a worker no longer holds its lock, after its last messages. If the browser
// has no locks, as on a page without https, no worker says that it holds one, and nothing is noticed.
func (w *workerEngine) watch(lock string, ended func()) {
	free := once(func([]js.Value) { w.later(ended) })
	js.Global().Get("navigator").Get("locks").Call("request", lock, free)
}

// listen handles the messages of a worker.
func (w *workerEngine) listen(made js.Value, lock string) {
	// Messages of a worker that was replaced may still arrive.
	current := func() bool { return w.worker.Equal(made) }
	on := func(event string, do func(js.Value)) {
		f := js.FuncOf(func(_ js.Value, args []js.Value) any {
			defer recoverPanic()
			if current() {
				do(args[0])
			}
			return nil
		})
		made.Call("addEventListener", event, f)
	}
	on("message", func(e js.Value) {
		data := e.Get("data")
		if s := data.Get("stopped"); s.Type() == js.TypeString {
			w.end(s.String())
			return
		}
		if p := data.Get("program"); p.Truthy() {
			w.program(p)
			return
		}
		if data.Get("locked").Truthy() {
			w.watch(lock, func() {
				if current() { // no message says why it ended
					w.terminate()
					w.vanished()
				}
			})
			return
		}
		message := data.Get("reply")
		if !message.Truthy() {
			return
		}
		a, err := protocol.ReadAnswer(jsvalue.BytesOf(message))
		if err != nil {
			w.end("its answer could not be read: " + err.Error())
			return
		}
		w.answer(a)
	})
	on("error", func(e js.Value) {
		e.Call("preventDefault")
		why := "the worker could not run"
		if m := e.Get("message"); m.Type() == js.TypeString && m.String() != "" {
			why = m.String()
		}
		w.end(why)
	})
	on("messageerror", func(js.Value) { w.end("its answer could not be read") })
}

// end stops the worker and tells the page.
func (w *workerEngine) end(why string) {
	w.terminate()
	w.stopped(why)
}

func (w *workerEngine) terminate() {
	if w.worker.Truthy() {
		w.worker.Call("terminate")
		w.viewer.Get("memory").Call("delete", w.worker)
	}
	w.worker = js.Undefined()
	// The handlers are not released: messages of the worker may still arrive.
}

// Send implements host.Engine.
func (w *workerEngine) Send(c protocol.Call, file host.File) {
	if w.worker.Truthy() {
		postCall(w.worker, c, file)
	}
}

// postCall sends a worker a call with a file: the File of an Add, which may be a Parcel, or nil.
func postCall(worker js.Value, c protocol.Call, file host.File) {
	message := map[string]any{"request": jsvalue.ArrayOf(protocol.AppendCall(nil, c))}
	if _, ok := c.Request.(*protocol.LeaveOut); ok {
		message["cancel"] = true
	}
	if f, ok := file.(*jsFile); ok && f.remote {
		message["remote"] = f.value
	} else if file != nil {
		files := []any{}
		for _, f := range app.Members(file) {
			files = append(files, f.(*jsFile).value)
		}
		message["dropped"] = files
	}
	worker.Call("postMessage", message)
}

// Restart implements host.Engine.
func (w *workerEngine) Restart() {
	w.terminate()
	w.start()
}

// jsFile implements host.File: a File of the browser with its path in the drop, or what stands in
// for one.
type jsFile struct {
	value  js.Value
	name   string
	size   int64 // -1 until Size is called
	remote bool  // value describes how to read parts of a file on a server (symbols.js)
}

func newFile(value js.Value, name string) *jsFile {
	if name == "" {
		name = value.Get("name").String()
	}
	return &jsFile{value: value, name: name, size: -1}
}

// Remote reports whether the file is on a server.
func (f *jsFile) Remote() bool { return f.remote }

// Name implements host.File.
func (f *jsFile) Name() string { return f.name }

// Size implements host.File. The first call makes the browser look at the file, which may take a
// while.
func (f *jsFile) Size() int64 {
	if f.size < 0 {
		f.size = int64(f.value.Get("size").Float())
	}
	return f.size
}
