// Viewer is the page's program: one binary with two roles. On the page's thread it draws the page (web/app) and parses nothing. In a worker it is
// the engine, which reads files, walks stacks and finds names. The loader compiles the program once for both.
//
// Begin with page_js.go for the page's role. host_js.go implements app.Host, worker_js.go app.Engine.
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
