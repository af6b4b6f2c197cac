// Package readers gives a session what reads binaries: the command's and the page's engine read the same
// files.
package readers

import (
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Add sets the readers in a session's options.
func Add(opt *session.Options) {
	opt.OpenBinary, opt.OpenImage = Open, Image
	opt.WriteSym = func(w io.Writer, b symbols.Binary) error {
		return WriteSym(w, b, binary.SymOptions{NoCFI: true, Spool: opt.Limits.Spool})
	}
}

// Open is session.Options.OpenBinary.
func Open(src *input.Source) (symbols.Binary, error) {
	if !binary.Is(src) {
		return nil, fmt.Errorf("%s: %w", src.Name, symbols.ErrFormat)
	}
	b, err := binary.Open(src)
	if err != nil {
		return nil, err // not b: a nil pointer in the interface would not be nil
	}
	return b, nil
}

// Image is session.Options.OpenImage: it reads a module's program from the dump's memory.
func Image(d *core.Dump, module int) symbols.Binary {
	m := &d.Modules[module]
	b, err := binary.OpenImage("memory of "+core.FileName(m.Name), d.Memory.Read, m.Base, m.Size)
	if err != nil {
		return nil
	}
	return b
}

// WriteSym writes what Open returned as a symbol file.
func WriteSym(w io.Writer, b symbols.Binary, opt binary.SymOptions) error {
	f, ok := b.(*binary.File)
	if !ok {
		return fmt.Errorf("no symbol file can be made from %s", b.Identity().Name)
	}
	_, err := f.WriteSym(w, opt)
	return err
}
