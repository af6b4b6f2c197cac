package text

import (
	"bufio"
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core/visible"
)

// printer is the one way out of this package. The format of printf is ours, and its line ends end lines; texts among the arguments come
// from files, and cannot: what is hidden in them is made visible (see package visible).
type printer struct{ b *bufio.Writer }

func newPrinter(w io.Writer) *printer { return &printer{bufio.NewWriter(w)} }

func (p *printer) printf(format string, args ...any) {
	for i, a := range args {
		if s, ok := a.(string); ok {
			if shown := visible.Text(s); shown != s {
				args[i] = shown
			}
		}
	}
	fmt.Fprintf(p.b, format, args...) // the error sticks; flush answers it
}

func (p *printer) flush() error { return p.b.Flush() }
