package engine

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
	"github.com/crashpane/crashpane/web/protocol"
)

// sym writes the symbol file of a binary, which it finds by its item's name.
func (e *Engine) sym(name string) (*protocol.SymWritten, error) {
	r := &protocol.SymWritten{}
	for _, it := range e.files.Items() {
		if it.Name != name {
			continue
		}
		var err error
		id := e.files.IDInUse(it.ID)
		if e.files.WithBinary(it.ID, func(b symbols.Binary) { r, err = e.writeSym(name, b, id) }) {
			return r, err
		}
	}
	return r, fmt.Errorf("there is no binary called %q", rows.Clean(name))
}

// writeSym writes the symbol file of a binary, with a debug id.
func (e *Engine) writeSym(name string, b symbols.Binary, id string) (*protocol.SymWritten, error) {
	r := &protocol.SymWritten{}
	if e.opt.WriteSym == nil || e.opt.PostData == nil {
		return r, fmt.Errorf("this program does not write symbol files")
	}
	w := &chunks{e: e, name: name}
	if err := e.opt.WriteSym(w, b, id); err != nil {
		return r, err
	}
	w.flush()
	r.FileName = symName(b)
	r.Problem = rows.Clean(strings.Join(b.Warnings(), "; ")) // the file lacks what these are about
	return r, nil
}

// symName returns the name of a binary's symbol file in a symbol store.
func symName(b symbols.Binary) string {
	id := b.Identity()
	path := report.StorePath(id.Name, id.DebugID)
	if path == "" {
		return fileName(id.Name) + ".sym"
	}
	return fileName(report.BaseName(path))
}

// chunkSize is how much text goes to the page at once.
const chunkSize = 1 << 20

// chunks is a writer that posts the text in chunks, with progress.
type chunks struct {
	e       *Engine
	name    string
	piece   []byte
	written int64
}

// Write implements io.Writer.
func (c *chunks) Write(p []byte) (int, error) {
	c.piece = append(c.piece, p...)
	c.written += int64(len(p))
	if len(c.piece) >= chunkSize {
		c.flush()
	}
	return len(p), nil
}

func (c *chunks) flush() {
	if len(c.piece) == 0 {
		return
	}
	c.e.opt.PostData(protocol.Answer{ID: c.e.id, Reply: &protocol.SymText{}}, c.piece)
	c.e.progress(session.Progress{Stage: "writing symbols", Name: c.name, Done: c.written})
	c.piece = c.piece[:0] // what was sent is a copy
}
