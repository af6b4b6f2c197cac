// Full is the full engine: the program for the worker that also reads binaries, .zst, .xz and .cab
// files. It replaces the viewer's engine when the user drops such a file, and is fetched only then,
// so that a user with a dump and symbol files need not wait for it.
package main

import (
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis/arm64text"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake/unpack"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/symfile/dumpsyms"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
	"github.com/crashpane/crashpane/wasm/viewer/engine"
	"github.com/crashpane/crashpane/wasm/viewer/worker"
)

func main() {
	limits := worker.Limits()
	limits.Unpackers, limits.Archives = unpack.Formats, unpack.Archives
	worker.RunWith(engine.Options{WriteSym: writeSym, Demangle: msvc.Name, Session: session.Options{OpenBinary: open, OpenImage: openImage, InstructionAt: arm64text.At, Limits: limits}}, analyze)
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
	_, err := f.WriteSym(w, binary.SymOptions{ID: id, Demangle: msvc.Name, Spool: worker.Limits().Spool})
	return err
}
