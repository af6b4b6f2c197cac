package dumptext

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core"
)

const (
	// chunkSize is how many bytes are read at a time.
	chunkSize = 64 << 10
	// maxTextStream is the size in bytes of the largest stream that is printed as text if it is
	// text.
	maxTextStream = 16 << 20
)

// registerBytes formats a register of any width as a number.
func registerBytes(le []byte) scalar {
	be := slices.Clone(le)
	slices.Reverse(be)
	s := "0x" + hex.EncodeToString(be)
	return plain(s)
}

// leftOut prints that private data is omitted, and the option that prints it.
func (w *walk) leftOut(name string, size uint64, option string) {
	s := fmt.Sprintf("left out, %d bytes; %s prints them", size, option)
	w.value(name, plain(s))
}

// raw prints a range of the file's bytes. at is the address or offset of the first.
//
// A range that reaches beyond the end of the file is printed up to there: the dump is truncated,
// and its diagnostics say so.
func (w *walk) raw(name string, loc core.Location, at uint64) {
	if loc.Size == 0 || !loc.In(w.d.Src.Size) && uint64(loc.Off) >= uint64(w.d.Src.Size) {
		return
	}
	off, left := int64(loc.Off), int64(min(loc.Size, uint64(w.d.Src.Size)-uint64(loc.Off)))
	if left > w.budget {
		w.value(name, plain(fmt.Sprintf("left out, %d bytes: the streams overlap, and the output exceeds the file's size", left)))
		return
	}
	w.budget -= left
	var failed error
	w.bytes(name, at, func() []byte {
		n := min(left, chunkSize)
		if n == 0 || failed != nil {
			return nil
		}
		p, err := w.d.Src.Bytes(off, n)
		failed = err
		off, left = off+n, left-n
		return p
	})
	if failed != nil {
		w.value(name+"_error", quoted(failed.Error()))
	}
}

// text prints a range of the file as lines, and returns false if it is not text.
func (w *walk) text(name string, loc core.Location) bool {
	p, ok := w.textBytes(loc)
	if !ok {
		return false
	}
	w.lines(name, strings.FieldsFunc(string(p), func(r rune) bool { return r == '\n' }))
	return true
}

// textBytes reads a range of the file without the zeros at its end. It returns false if the range
// is not in the file, is larger than maxTextStream, is not UTF-8 or has control characters other
// than those of lines and tabs.
func (w *walk) textBytes(loc core.Location) ([]byte, bool) {
	if loc.Size == 0 || loc.Size > maxTextStream || !loc.In(w.d.Src.Size) || int64(loc.Size) > w.budget {
		return nil, false
	}
	p, err := w.d.Src.Bytes(int64(loc.Off), int64(loc.Size))
	if err != nil {
		return nil, false
	}
	p = bytes.TrimRight(p, "\x00")
	if !utf8.Valid(p) {
		return nil, false
	}
	for _, c := range p {
		if c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f {
			return nil, false
		}
	}
	w.budget -= int64(loc.Size)
	return p, true
}

// lines prints a list of texts, without the carriage returns at their ends.
func (w *walk) lines(name string, lines []string) {
	w.open(name, true)
	for _, l := range lines {
		w.value("", quoted(strings.TrimSuffix(l, "\r")))
	}
	w.close()
}

// byteFields has the fields that locate data of an unknown format, whose bytes are printed.
var byteFields = words("Data Native Entries")

// location prints a location, and for byteFields its bytes.
func (w *walk) location(name string, loc core.Location, goName string) {
	if private(goName) {
		w.privateText(name, loc)
		return
	}
	w.open(name, false)
	w.value("offset", hexadecimal(uint64(loc.Off), 0))
	w.value("size", hexadecimal(loc.Size, 0))
	if byteFields[goName] {
		w.raw("bytes", loc, 0)
	}
	w.close()
}

// privateText prints a command line or an environment, whose parts are NUL-terminated, if
// Options.All is set.
//
// The stream of Linux is a copy of /proc/PID/cmdline or /proc/PID/environ: "app\0--flag\0" is
// printed as the two lines "app" and "--flag".
func (w *walk) privateText(name string, loc core.Location) {
	switch {
	case loc.Size == 0:
	case !w.o.All:
		w.leftOut(name, loc.Size, "--all")
	case !loc.In(w.d.Src.Size):
		w.location(name, loc, "")
	case loc.Size > maxTextStream || int64(loc.Size) > w.budget:
		w.raw(name, loc, 0)
	default:
		p, err := w.d.Src.Bytes(int64(loc.Off), int64(loc.Size))
		if err != nil {
			w.value(name+"_error", quoted(err.Error()))
			return
		}
		w.budget -= int64(loc.Size)
		w.lines(name, strings.Split(strings.TrimRight(string(p), "\x00"), "\x00"))
	}
}

// methodValues prints the results of a type's methods Text and Name.
//
// Types of core whose bytes have a meaning have these methods, such as an annotation of Crashpad
// that is text.
func (w *walk) methodValues(v reflect.Value) {
	if v.CanAddr() {
		v = v.Addr()
	}
	if !v.CanInterface() {
		return
	}
	x := v.Interface()
	if n, ok := x.(interface{ Text() (string, bool) }); ok {
		if s, ok := n.Text(); ok {
			w.value("text", quoted(s))
		}
	}
	if n, ok := x.(interface{ Name() string }); ok {
		w.value("name", quoted(n.Name()))
	}
}
