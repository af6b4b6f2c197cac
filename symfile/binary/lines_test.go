package binary_test

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestLinesBySymbols: functions that only the symbol table names have lines, and entries that lack
// their linkage name have it from there. llvm-symbolizer says so of each address of the files in
// testdata/lines. The symbol file that we write of them says the same.
func TestLinesBySymbols(t *testing.T) {
	text, err := os.ReadFile("testdata/lines/truth.txt")
	if err != nil {
		t.Fatal(err)
	}
	truth := map[string]map[uint64]string{}
	for _, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		name, rest, _ := strings.Cut(line, " ")
		at, frames, _ := strings.Cut(rest, " ")
		var first, last uint64
		if n, err := fmt.Sscanf(at, "%x-%x", &first, &last); n != 2 || frames == "" {
			t.Fatalf("%q: %v", line, err)
		}
		if truth[name] == nil {
			truth[name] = map[uint64]string{}
		}
		for ; first <= last; first++ {
			truth[name][first] = frames
		}
	}
	files, _ := filepath.Glob("testdata/lines/*.*")
	tested := 0
	for _, file := range files {
		name := path.Base(filepath.ToSlash(file))
		switch path.Ext(name) {
		case ".elf", ".exe", ".o":
		default:
			continue
		}
		tested++
		t.Run(name, func(t *testing.T) {
			var more []string
			if name == "stripped.elf" {
				more = append(more, "testdata/lines/stripped.debug")
			}
			b := open(t, file, more...)
			if len(truth[name]) < 100 {
				t.Fatalf("the truth has %d addresses", len(truth[name]))
			}
			low, high := ^uint64(0), uint64(0)
			for at, want := range truth[name] {
				low, high = min(low, at), max(high, at)
				if got := frames(t, b, at-b.Base()); got != want {
					t.Errorf("%x: %s, want %s", at, got, want)
				}
			}
			// If llvm-symbolizer has no name, code after an inner function is the outer one's, and
			// the rest is between functions.
			for at := low; at < high; at++ {
				if got := frames(t, b, at-b.Base()); truth[name][at] == "" && got != "" && !strings.HasPrefix(got, "outer hand-made.S:2") {
					t.Errorf("%x: %s, between functions", at, got)
				}
			}
			if has := b.Has(); !has.Functions || !has.Lines {
				t.Errorf("%+v", has)
			}
			readBack(t, name, b)
		})
	}
	if tested != len(truth) || tested < 10 {
		t.Errorf("%d files, the truth has %d", tested, len(truth))
	}
}

// frames are the functions and lines at an address, the innermost first, or "" without a line.
func frames(t *testing.T, b *binary.File, rva uint64) string {
	t.Helper()
	s, ans, err := b.Lookup(rva)
	if err != nil {
		t.Fatal(err)
	}
	if ans != symbol.Yes || s.Line == 0 {
		return ""
	}
	var out []string
	for _, in := range append(s.Inlines, symbol.Inline{Name: s.Name, File: s.File, Line: s.Line}) {
		out = append(out, fmt.Sprintf("%s %s:%d", in.Name, path.Base(in.File), in.Line))
	}
	return strings.Join(out, " < ")
}
