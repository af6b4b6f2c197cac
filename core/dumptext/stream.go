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
	d = d.AsRead()
	b := bufio.NewWriter(w)
	p := &walk{printer: &textPrinter{b: b}, d: d, o: o, budget: d.Src.Size + 1<<20}
	found := false
	v := reflect.ValueOf(d).Elem()
	for i := range sections {
		for _, s := range sections[i].streams {
			if f := v.FieldByName(sections[i].field); s == t && f.IsValid() {
				found = true
				sections[i].print(p, f)
			}
		}
	}
	return found, b.Flush()
}
