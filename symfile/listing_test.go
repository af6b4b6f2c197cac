package symfile

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestLinesOfFunction: the lines of a function are its own, and not those of functions after it, however the
// file was opened; also of a function that the index left out, since another one covers its code.
func TestLinesOfFunction(t *testing.T) {
	text := []byte("MODULE Linux x86_64 0123456789ABCDEF0123456789ABCDEF0 x\nFILE 0 a\nFILE 1 b\n" +
		"FUNC 1000 10 0 f\n1000 8 1 0\nINFO in between\n1008 8 2 0\nFILE 2 c\n1004 4 9 0\n" +
		"FUNC 1008 10 0 inside f\n1008 4 7 1\n100c 4 8 1\n" +
		"FUNC 2000 10 0 g\n2000 8 3 0\n2008 8 4 0\n")
	exact := open(t, "x.sym", text)
	index, err := exact.Index()
	if err != nil {
		t.Fatal(err)
	}
	stored, err := OpenIndexed(sourceOf(text), input.FromBytes("x.sym.index", index), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var entries []Entry
	scan := NewScan(sourceOf(text))
	if err := scan.Step(1<<20, Visit{Code: func(e Entry, _ []byte) { entries = append(entries, e) }}); err != nil || len(entries) != 3 {
		t.Fatal(entries, err)
	}
	for name, f := range map[string]*File{"indexed": exact, "stored": stored, "searched": onDemandOf(t, "x.sym", text, 4<<10)} {
		for i, want := range []string{"[{4096 8} {4104 8}]", "[{4104 4} {4108 4}]", "[{8192 8} {8200 8}]"} {
			lines, err := f.Lines(entries[i])
			if got := fmt.Sprint(lines); err != nil || got != want {
				t.Errorf("%s: lines of 0x%x: %s, %v, want %s", name, entries[i].RVA, got, err, want)
			}
		}
		for i, want := range []symbol.Symbol{{Name: "f", File: "a", Line: 2}, {Name: "inside f", File: "b", Line: 7}} {
			s, err := f.In(entries[i], 0x1008)
			if err != nil || s.Name != want.Name || s.File != want.File || s.Line != want.Line {
				t.Errorf("%s: in 0x%x: %+v, %v", name, entries[i].RVA, s, err)
			}
		}
		if s, _, err := f.Lookup(0x1008); err != nil || s.Name != "f" || s.Line != 2 {
			t.Errorf("%s: %+v, %v", name, s, err)
		}
	}
}

// TestListingOfBOM: a byte order mark before the first record does not move it.
func TestListingOfBOM(t *testing.T) {
	text := []byte("\xef\xbb\xbfFUNC 1000 10 0 f\n1000 8 1 0\n")
	f := open(t, "x.sym", text)
	if err := NewScan(sourceOf(text)).Step(1<<20, Visit{Code: func(e Entry, name []byte) {
		s, err := f.Described(e)
		lines, failed := f.Lines(e)
		if err != nil || failed != nil || s.Name != "f" || len(lines) != 1 {
			t.Errorf("%+v: %+v %v, %v %v", e, s, err, lines, failed)
		}
	}}); err != nil {
		t.Error(err)
	}
}
