// Worker is the program of the page's workers: the engine, which reads files, walks stacks and finds
// names. It passes the page's messages to the engine and the engine's answers to the page, and reads
// the browser's files (file_js.go), files on servers (remote_js.go) and Blobs (spool_js.go) for it.
// Begin with run in worker_js.go, which is the worker's loop. analyze_js.go is the function of the
// npm package.
package main

import (
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis/arm64text"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
	"github.com/crashpane/crashpane/wasm/engine"
)

func main() {
	run(engine.Options{WriteSym: writeSym, Demangle: msvc.Name, Session: session.Options{OpenBinary: open, OpenImage: openImage, InstructionAt: arm64text.At, Limits: limits()}}, analyze)
}

// symWriter is a binary from which a symbol file can be made. All binaries that open and openImage
// return are one, so the compiler refuses a reader that cannot do it.
type symWriter interface {
	symbols.Binary
	WriteSym(w io.Writer, opt binary.SymOptions) (dumpsyms.Counts, error)
}

// open is session.Options.OpenBinary.
func open(src *input.Source) (symbols.Binary, error) { return opened(binary.Open(src)) }

// opened returns the binary as the session knows it: nil with an error, and not an interface that
// holds a nil pointer.
func opened(f symWriter, err error) (symbols.Binary, error) {
	if err != nil {
		return nil, err
	}
	return f, nil
}

// openImage is session.Options.OpenImage: it reads a Windows module from the dump's memory.
func openImage(d *core.Dump, module int) symbols.Binary {
	m := &d.Modules[module]
	if d.OS() == core.Windows {
		if b, err := opened(binary.OpenImage("memory of "+core.FileName(m.Name), d.Memory.Read, m.Base, m.Size)); err == nil {
			return b
		}
	}
	return nil
}

// writeSym is engine.Options.WriteSym.
func writeSym(w io.Writer, b symbols.Binary, id string) error {
	f, ok := b.(symWriter)
	if !ok {
		return fmt.Errorf("%s is no file of which a symbol file can be made", b.Identity().Name)
	}
	_, err := f.WriteSym(w, binary.SymOptions{ID: id, Demangle: msvc.Name, Spool: limits().Spool})
	return err
}
