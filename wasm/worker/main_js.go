// Worker is the program of the page's workers: the engine, which reads files, walks stacks and finds
// names. It passes the page's messages to the engine and the engine's answers to the page, and reads
// the browser's files (file_js.go), files on servers (remote_js.go) and Blobs (spool_js.go) for it.
// Begin with run in worker_js.go, which is the worker's loop. analyze_js.go is the function of the
// npm package.
package main

import (
	"io"

	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
	"github.com/crashpane/crashpane/wasm/engine"
)

func main() {
	opt := session.Options{Limits: limits()}
	readers.Add(&opt)
	run(engine.Options{WriteSym: writeSym, Demangle: msvc.Name, Session: opt}, analyze)
}

// writeSym is engine.Options.WriteSym.
func writeSym(w io.Writer, b symbols.Binary, id string) error {
	return readers.WriteSym(w, b, binary.SymOptions{ID: id, Demangle: msvc.Name, Spool: limits().Spool})
}
