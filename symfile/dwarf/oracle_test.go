package dwarf

import (
	stdwarf "debug/dwarf"
	"debug/elf"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestStandardLibrary holds functions and lines to what the standard library's reader makes of the
// same files.
func TestStandardLibrary(t *testing.T) {
	for _, v := range variants {
		if v.split != "" || v.alt != "" || v.name == "gcc4-dwz1" { // it reads no other files, and no partial units' lines
			continue
		}
		t.Run(v.String(), func(t *testing.T) {
			against(t, filepath.Join("testdata", v.name+".elf"), v.open(t))
		})
	}
}

// against compares all functions' ranges, and the line at each address of them.
func against(t *testing.T, path string, d *Data) {
	f, err := elf.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	std, err := f.DWARF()
	if err != nil {
		t.Fatal(err)
	}
	base := d.main.s.Base
	functions := map[symbol.Range]int{}
	lines := map[uint64]string{}
	r := std.Reader()
	for {
		e, err := r.Next()
		if err != nil {
			t.Skipf("the standard library cannot read the file: %v", err)
		}
		if e == nil {
			break
		}
		switch e.Tag {
		case stdwarf.TagCompileUnit:
			stdLines(t, std, e, base, lines)
		case stdwarf.TagSubprogram:
			spans, err := std.Ranges(e)
			if err != nil {
				t.Skipf("the standard library cannot read the file: %v", err)
			}
			for _, s := range spans {
				if s[0] > 1 && s[0] < s[1] && s[0] < 1<<31 {
					functions[symbol.Range{Start: s[0] - base, Size: s[1] - s[0]}]++
				}
			}
		}
	}
	if len(functions) == 0 || len(lines) == 0 {
		t.Fatalf("the standard library finds %d functions and %d addresses with lines", len(functions), len(lines))
	}
	asked := 0
	if err := d.Each(func(f symbol.Function) error {
		for _, r := range f.Ranges {
			if functions[r] == 0 {
				t.Errorf("%s: the standard library has no range %x+%x", f.Name, r.Start, r.Size)
			}
			delete(functions, r)
			at := r.Start
			for _, l := range f.Lines {
				if l.Start < r.Start || l.Start >= r.Start+r.Size {
					continue
				}
				for ; at < l.Start; at++ {
					if want, ok := lines[at]; ok {
						t.Errorf("%x: no line, want %s", at, want)
					}
				}
				for ; at < l.Start+l.Size; at++ {
					asked++
					if got := fmt.Sprintf("%s:%d", filepath.Base(l.File), l.Line); got != lines[at] {
						t.Fatalf("%x: %s, want %s", at, got, lines[at])
					}
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for r := range functions {
		t.Errorf("no function at %x+%x", r.Start, r.Size)
	}
	t.Logf("%d addresses", asked)
}

// stdLines notes the line of each address of a unit.
func stdLines(t *testing.T, std *stdwarf.Data, unit *stdwarf.Entry, base uint64, lines map[uint64]string) {
	lr, err := std.LineReader(unit)
	if err != nil || lr == nil {
		t.Fatal(err)
	}
	var last, e stdwarf.LineEntry
	open := false
	for lr.Next(&e) == nil {
		if open && last.Address >= base && last.Address > 1 && e.Address-last.Address < 1<<20 {
			for at := last.Address; at < e.Address; at++ {
				lines[at-base] = fmt.Sprintf("%s:%d", filepath.Base(last.File.Name), last.Line)
			}
		}
		last, open = e, !e.EndSequence
	}
}
