// Package dumptext prints the whole content of a dump, as text or as JSON: every stream, decoded or
// as bytes. It analyzes nothing.
//
// Each line of the text has its full path, so that grep can search it:
//
//	thread[3].id = 0x1234
//	thread[3].context.rip = 0x00007ff6a1b21c04
//	header.time = 0x523a284a 2013-09-18T22:25:14Z
//	stream[12].bytes 0x00000010: 73 6f 00 00 …  |so..|
//
// Names are those of core's fields, as some_field. Numbers are hexadecimal, except counts and the
// like. Text is quoted as in Go. JSON has the same names; its hexadecimal numbers are strings,
// because JSON readers lose digits of 64-bit numbers. The text after a number has a key of its own
// in JSON (time_utc, flags_names).
//
// Start at Write in this file. sections.go is the table of what is printed, reflect.go finds the
// fields of core's types by reflection, so that new fields are printed without a change here. The
// tables in forms.go say what a field means: a time, flags, private data.
package dumptext

import (
	"bufio"
	"io"
	"reflect"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/jsonwriter"
)

// Options say which private data is printed.
type Options struct {
	// All prints the command line and the environment. Without it only their sizes are printed.
	All bool
	// Memory prints the bytes of the process' memory.
	Memory bool
}

// Write prints a dump as text. It returns the writer's error.
func Write(w io.Writer, d *core.Dump, o Options) error {
	b := bufio.NewWriter(w)
	p := &textPrinter{b: b}
	printDump(p, d.AsRead(), o)
	return b.Flush()
}

// WriteJSON prints a dump as one JSON object and a newline.
//
//	{
//	  "file": "app.dmp",
//	  "header": {"time": "0x523a284a", "time_utc": "2013-09-18T22:25:14Z", …},
//	  "thread": [{"id": "0x1234", "context": {"rip": "0x00007ff6a1b21c04", …}, …}],
//	  …
//	}
func WriteJSON(w io.Writer, d *core.Dump, o Options) error {
	p := &jsonPrinter{w: jsonwriter.New(w, jsonwriter.Pretty)}
	p.open("", false)
	printDump(p, d.AsRead(), o)
	p.close()
	if err := p.w.Flush(); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// printer is one output format. Calls between open and close print the members of an object or the
// elements of a list.
//
// The same calls make both formats: open("thread", true), open("", false), value("id", …) is
// "thread[0].id = 0x1234" as text and {"thread": [{"id": "0x1234"}]} as JSON.
type printer interface {
	// open begins an object, or a list. name is "" for an element of a list.
	open(name string, list bool)
	// close ends what open began last.
	close()
	// value prints one value; name is "" for a list's element.
	value(name string, s scalar)
	// bytes prints raw bytes. at is the address or offset of the first. next returns the next
	// bytes, or none at the end.
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

// scalar is a value to print, with a remark.
type scalar struct {
	text string // for text output
	// kind says what the value is in JSON: a string, which is value, or a number or a bool, which
	// is number.
	kind   scalarKind
	value  string
	number uint64
	// remark explains the value: a time as text, the name of a flag. remarkName is the suffix of
	// its key in JSON.
	remark     string
	remarks    []string // several remarks, instead of remark
	remarkName string
}

// walk is one pass over a dump.
type walk struct {
	printer
	d *core.Dump
	o Options
	// budget is how many raw bytes may still be printed. In a real file streams and memory ranges
	// do not overlap, so they are smaller than the file together. In a crafted file each could be
	// the whole file.
	budget int64
	names  map[string]string // what fieldName returned
}

// printDump prints the sections in the order of their table. Fields of core.Dump are found by
// reflection, so that a new one is printed without a line here.
func printDump(p printer, d *core.Dump, o Options) {
	w := &walk{printer: p, d: d, o: o, budget: d.Src.Size + 1<<20, names: map[string]string{}}
	w.value("file", quoted(d.Src.Name))
	w.value("file_size", decimal(d.Src.Size))
	if len(d.Src.Notes) > 0 { // what was sent with the dump
		w.any("upload", reflect.ValueOf(d.Src.Notes), "")
	}
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
	// Print fields of core.Dump that the table lacks.
	for i := range v.NumField() {
		if f := v.Type().Field(i); f.IsExported() && !done[f.Name] && !v.Field(i).IsZero() {
			w.any(fieldName(f.Name), v.Field(i), "")
		}
	}
}
