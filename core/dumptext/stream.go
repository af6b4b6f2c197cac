package dumptext

import (
	"bufio"
	"io"
	"reflect"

	"github.com/crashpane/crashpane/core"
)

// WriteStream prints the sections with the content of streams of a type. It prints nothing and
// returns false if no section has it: then the stream's text or bytes are all there is.
//
// The page shows it for a stream that the user selects. The error is that of w.
func WriteStream(w io.Writer, d *core.Dump, t core.StreamType, o Options) (bool, error) {
	b := bufio.NewWriter(w)
	found := printStream(&textPrinter{b: b}, d.AsRead(), t, o)
	return found, b.Flush()
}

// Field is a value of a stream. Path is its name behind those of what it is a part of, with dots.
type Field struct{ Path, Text string }

// Fields returns the values of the content of streams of a type, without bytes.
func Fields(d *core.Dump, t core.StreamType) []Field {
	p := &fieldPrinter{}
	printStream(p, d.AsRead(), t, Options{})
	return p.fields
}

// fieldPrinter keeps the values that it is given.
type fieldPrinter struct {
	textPrinter
	fields []Field
}

func (p *fieldPrinter) value(name string, s scalar) {
	p.fields = append(p.fields, Field{p.path(name), s.remarked()})
}

func (p *fieldPrinter) bytes(string, uint64, func() []byte) {}

// printStream prints the sections of a type of stream, and reports whether there are any.
func printStream(to printer, d *core.Dump, t core.StreamType, o Options) (found bool) {
	p := &walk{printer: to, d: d, o: o, budget: d.Src.Size + 1<<20, names: map[string]string{}}
	v := reflect.ValueOf(d).Elem()
	for i := range sections {
		for _, s := range sections[i].streams {
			if f := v.FieldByName(sections[i].field); s == t && f.IsValid() {
				found = true
				sections[i].print(p, f)
			}
		}
	}
	return found
}
