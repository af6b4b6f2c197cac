package dwarf

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// differences counts how the answers of two files differ, with a few examples of each kind.
type differences struct {
	asked, both int
	count       map[string]int
	examples    map[string][]string
}

func (d *differences) add(kind, format string, args ...any) {
	d.count[kind]++
	if text := fmt.Sprintf(format, args...); len(d.examples[kind]) < 12 && !slices.Contains(d.examples[kind], text) {
		d.examples[kind] = append(d.examples[kind], text)
	}
}

func (d *differences) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d addresses, %d in functions of both\n", d.asked, d.both)
	for kind, n := range d.count {
		fmt.Fprintf(&b, "%s: %d\n", kind, n)
		for _, e := range d.examples[kind] {
			fmt.Fprintf(&b, "    %s\n", e)
		}
	}
	return b.String()
}

func readable(name string) string {
	return demangle.Name(name)
}

// compare asks both for addresses. What the .sym file says by its PUBLIC records is left out.
func compare(t testing.TB, data *Data, sym *symfile.File, addrs []uint64) *differences {
	d := &differences{count: map[string]int{}, examples: map[string][]string{}}
	for _, rva := range addrs {
		d.asked++
		want, ans, err := sym.Lookup(rva)
		if err != nil {
			t.Fatal(err)
		}
		hasWant := ans == symbol.Yes && !want.Public
		got, ans, err := data.Lookup(rva)
		if err != nil {
			t.Fatal(err)
		}
		switch hasGot := ans == symbol.Yes; {
		case !hasGot && !hasWant:
			continue
		case !hasGot:
			d.add("function only there", "%x: %s %x+%x", rva, want.Name, want.Start, want.Size)
			continue
		case !hasWant:
			d.add("function only here", "%x: %s %x+%x", rva, got.Name, got.Start, got.Size)
			continue
		}
		d.both++
		if got.Start != want.Start || got.Size != want.Size {
			d.add("range", "%x: %x+%x, there %x+%x %s", rva, got.Start, got.Size, want.Start, want.Size, got.Name)
			continue
		}
		if g, w := readable(got.Name), readable(want.Name); g != w {
			d.add("name", "%s, there %s", g, w)
		}
		if sym.Counts.Inlines == 0 { // made without them: lines are those of the outermost calls
			got.Inlines = nil
		}
		if len(got.Inlines) != len(want.Inlines) {
			d.add("number of inlined calls", "%x: %v %s:%d\n      there %v %s:%d", rva, got.Inlines, got.File, got.Line, want.Inlines, want.File, want.Line)
			continue
		}
		if got.HasLine != want.HasLine {
			d.add("has a line", "%x: %v %s:%d there %v %s:%d", rva, got.HasLine, got.File, got.Line, want.HasLine, want.File, want.Line)
			continue
		}
		if got.Line != want.Line {
			d.add("line", "%x: %s:%d there %s:%d", rva, got.File, got.Line, want.File, want.Line)
		} else if got.File != want.File {
			d.add("file", "%x: %s there %s", rva, got.File, want.File)
		}
		for i := range got.Inlines {
			g, w := got.Inlines[i], want.Inlines[i]
			if gn, wn := readable(g.Name), readable(w.Name); gn != wn {
				d.add("name of an inlined call", "%s, there %s", gn, wn)
			}
			switch {
			case g.Line != w.Line || g.HasLine != w.HasLine:
				d.add("line in an inlined call", "%x: %s:%d there %s:%d", rva, g.File, g.Line, w.File, w.Line)
			case g.File != w.File:
				d.add("file in an inlined call", "%x: %s there %s", rva, g.File, w.File)
			case g.Start != w.Start:
				d.add("start of an inlined call", "%x: %x there %x", rva, g.Start, w.Start)
			}
		}
	}
	return d
}

func openSym(t testing.TB, path string) *symfile.File {
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f, err := symfile.Open(input.FromBytes(path, b), symfile.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}
