// Viewer is the page's program: one binary with two roles. On the page's thread it draws (Vugu) and holds no parser; in a
// worker it is the engine, which reads, walks and names. The loader compiles it once for both.
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
