// Viewer is the page's program: one binary with two roles. On the page's thread it draws the page
// (web/app) and parses nothing. In a worker it is the engine, which reads files, walks stacks and
// finds names. The loader compiles the program once for both.
//
//	page_js.go                    the page's role: begin here
//	host_js.go, sources_js.go     app.Host
//	worker_js.go, maker_js.go,    app.Engine
//	indexers_js.go
//	events_js.go, drop_js.go,     the user's input
//	split_js.go
//	control_js.go                 the host page
//	warmup_js.go, redraw_js.go    what the start screen does before the first dump arrives
//	protocol_js.go                the object that this program shares with the page's scripts
package main

import (
	"syscall/js"

	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/wasm/viewer/engine"
	"github.com/crashpane/crashpane/wasm/viewer/worker"
)

func main() {
	if js.Global().Get("document").IsUndefined() {
		worker.Run(engine.Options{Session: session.Options{Limits: worker.Limits()}})
		return
	}
	runPage()
}
