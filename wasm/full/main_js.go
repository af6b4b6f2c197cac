// Full is the engine with all readers, as a program of its own: it takes the place of the viewer's engine when a file is dropped
// that needs one of them. It is fetched only then, so that nobody waits for it who has a dump and symbol files.
package main

import (
	"github.com/crashpane/crashpane/wasm/viewer/engine"
	"github.com/crashpane/crashpane/wasm/viewer/worker"
)

func main() {
	worker.Run(engine.Options{})
}
