// Package dumptext prints all that a dump says: every stream, decoded or as bytes, as lines of text or as JSON. It draws no
// conclusions.
//
// In the text each line has its whole context, so that it can be searched with grep:
//
//	thread[3].id = 0x1234
//	thread[3].context.rip = 0x00007ff6a1b21c04
//	header.time = 0x523a284a 2013-09-18T22:25:14Z
//	stream[12].bytes 0x00000010: 73 6f 00 00 …  |so..|
//
// The names are those of core's fields, in the form some_field; numbers are hexadecimal except for counts and the like; text is quoted as
// in Go. JSON has the same names. Its hexadecimal numbers are strings, since numbers of 64 bits lose digits in JSON; what the text has
// behind a number (time_utc, flags_names) has a key of its own.
//
// The fields are found by reflection, so that what is added to core is printed without a change here; what each means (a time, a
// flag word, something private) stands in the tables of forms.go.
package dumptext

import (
	"bufio"
	"io"
	"reflect"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/jsonwriter"
)

// Options say what is printed of that which may be private.
type Options struct {
	// All prints the command line and the environment too. Without it their sizes are printed.
	All bool
	// Memory prints the bytes of the process' memory.
	Memory bool
}

// Write prints a dump as text. The error is the writer's.
func Write(w io.Writer, d *core.Dump, o Options) error {
	b := bufio.NewWriter(w)
	p := &textPrinter{b: b}
	printDump(p, d, o)
	return b.Flush()
}

// WriteJSON prints a dump as one JSON object, with an end of line behind it.
func WriteJSON(w io.Writer, d *core.Dump, o Options) error {
	p := &jsonPrinter{w: jsonwriter.New(w, jsonwriter.Pretty)}
	p.open("", false)
	printDump(p, d, o)
	p.close()
	if err := p.w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// printer is one form of output. Between open and close lie the members of an object or the elements of a list.
type printer interface {
	// open begins an object, or a list; name is "" for a list's element.
	open(name string, list bool)
	// close ends what open began last.
	close()
	// value prints one value; name is "" for a list's element.
	value(name string, s scalar)
	// bytes prints raw bytes. at gives the address, or offset, of the first. next gives them chunk by chunk until it gives none.
	bytes(name string, at uint64, next func() []byte)
}

// scalarKind is what a value is in JSON.
type scalarKind uint8

const (
	isText scalarKind = iota
	isSigned
	isUnsigned
	isBool
)

// scalar is a value and what there is to say of it.
type scalar struct {
	text string // as the text has it
	// kind says which of the others JSON has.
	kind   scalarKind
	value  string
	number uint64
	// remark is the value in other words: a time as text, flags by name; remarkName is the end of its key in JSON.
	remark     string
	remarks    []string // instead of remark: several
	remarkName string
}

// walk is one run over a dump.
type walk struct {
	printer
	d *core.Dump
	o Options
	// budget is how many raw bytes are still printed. Streams and ranges of memory of a sound file do not lie on each other, so all of
	// them together are smaller than the file; those of a crafted one could be the whole file each.
	budget int64
}

func printDump(p printer, d *core.Dump, o Options) {
	w := &walk{printer: p, d: d, o: o, budget: d.Src.Size + 1<<20}
	w.value("file", quoted(d.Src.Name))
	w.value("file_size", decimal(d.Src.Size))
	v := reflect.ValueOf(d).Elem()
	done := map[string]bool{}
	for i := range sections {
		s := &sections[i]
		done[s.field] = true
		f := v.FieldByName(s.field)
		if f.IsValid() {
			s.print(w, f)
		}
	}
	// The fields of core.Dump that have no row in the table, so that none is left out.
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !done[f.Name] && !v.Field(i).IsZero() {
			w.any(fieldName(f.Name), v.Field(i), "")
		}
	}
}
