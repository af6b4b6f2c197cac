package text

import (
	"bufio"
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core/visible"
)

// printer writes all output of this package. The format of printf is trusted. Strings among its
// arguments come from files: printf makes control characters in them visible (see package visible),
// so that they cannot start a line or control a terminal.
type printer struct {
	b   *bufio.Writer
	err error // the first of writing; nothing is formatted after it
}

func newPrinter(w io.Writer) *printer { return &printer{b: bufio.NewWriter(w)} }

// printf makes all texts among its arguments safe to show.
func (p *printer) printf(format string, args ...any) {
	if p.err != nil {
		return
	}
	for i, a := range args {
		if s, ok := a.(string); ok {
			if shown := visible.Text(s); shown != s {
				args[i] = shown
			}
		}
	}
	_, p.err = fmt.Fprintf(p.b, format, args...) // flush returns the error, too
}

func (p *printer) flush() error { return p.b.Flush() }
