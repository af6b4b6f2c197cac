package main

import (
	"syscall/js"

	"github.com/crashpane/crashpane/wasm/jsvalue"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// maker is a worker that makes a file for the user to download. It reads files, and sends the new
// file in chunks.
type maker struct {
	worker js.Value
	pieces js.Value // an Array of Blobs, the chunks, which the browser may store on disk
}

// Make implements host.Engine. The worker runs the same program as the engine.
func (w *workerEngine) Make(files []host.File, req protocol.Request) {
	w.StopMaking()
	m := &maker{worker: w.viewer.Call("makeWorker"), pieces: js.Global().Get("Array").New()}
	w.maker = m
	lock := giveLock(m.worker)
	end := func(name, problem string) {
		w.StopMaking()
		w.made(name, problem)
	}
	handler := js.FuncOf(func(_ js.Value, args []js.Value) any {
		defer recoverPanic()
		if w.maker != m {
			return nil
		}
		data := args[0].Get("data")
		if args[0].Get("type").String() == "error" {
			args[0].Call("preventDefault")
			end("", "the worker could not run")
		} else if s := data.Get("stopped"); s.Type() == js.TypeString {
			end("", "the worker stopped: "+s.String())
		} else if data.Get("locked").Truthy() {
			w.watch(lock, func() {
				if w.maker == m {
					end("", "its worker has ended, and nothing says why")
				}
			})
		} else if message := data.Get("reply"); message.Truthy() {
			a, err := protocol.ReadAnswer(jsvalue.BytesOf(message))
			if err != nil {
				end("", "its answer could not be read: "+err.Error())
				return nil
			}
			switch r := a.Reply.(type) {
			case *protocol.Progress:
				w.making(*r)
			case *protocol.SymText:
				m.pieces.Call("push", js.Global().Get("Blob").New([]any{data.Get("data")}))
			case *protocol.SymWritten:
				if a.Error == "" {
					w.download(r.FileName, js.Global().Get("Blob").New(m.pieces, map[string]any{"type": "text/plain;charset=utf-8"}))
				}
				end(r.FileName, a.Error+r.Problem) // one of the two
			}
		}
		return nil
	})
	m.worker.Call("addEventListener", "message", handler)
	m.worker.Call("addEventListener", "error", handler)
	// All files, because a binary needs its debug files; the worker's engine matches them by their
	// ids.
	for _, f := range files {
		postCall(m.worker, protocol.Call{Request: &protocol.Add{Names: []string{f.Name()}}}, f)
	}
	postCall(m.worker, protocol.Call{Request: req}, nil)
}

// StopMaking implements host.Engine. It does not release the handler: messages of the worker may still
// arrive.
func (w *workerEngine) StopMaking() {
	if w.maker != nil {
		w.maker.worker.Call("terminate")
		w.viewer.Get("memory").Call("delete", w.maker.worker)
	}
	w.maker = nil
}
