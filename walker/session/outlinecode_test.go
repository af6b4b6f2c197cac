package session_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

// codeOf is the listing of code at an address, as the command prints it.
func codeOf(t *testing.T, o *session.Outline, at uint64, wish session.CodeWish) string {
	t.Helper()
	c, err := o.CodeAt(at, wish)
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := text.WriteCode(&b, o.Report(), c); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestOutlineCode: the instructions of programs of each format and processor without a dump, with their lines and rules, and what
// is said where none are decoded or the file has no code.
func TestOutlineCode(t *testing.T) {
	files := [][]string{{"../../testdata/sample/libtilecodec.so.sym"}, {"../../symfile/dwarf/testdata/gcc5.elf"}, {"../../symfile/pdb/testdata/x64.pdb.gz"},
		{"../../symfile/macho/testdata/m-arm64-fp.dwarf.gz"}, {"../../symfile/macho/testdata/m-x86_64-fp.dylib.gz", "../../symfile/macho/testdata/m-x86_64-fp.dwarf.gz"},
		{"../../symfile/pe/testdata/arm64.dll"}, {"../../symfile/pe/testdata/arm.dll"}}
	targets, err := filepath.Glob("../../symfile/elf/testdata/*.elf")
	if err != nil || len(targets) < 10 {
		t.Fatal(targets, err)
	}
	for _, path := range targets {
		files = append(files, []string{path})
	}
	var b bytes.Buffer
	for _, paths := range files {
		o := openOutline(t, paths, session.Options{})
		largest := report.OutlineRow{}
		for _, r := range list(t, o, session.OutlineWish{Kind: report.OutlineFunctions}, 1<<30).Rows {
			if r.Size > largest.Size || largest.Address == 0 {
				largest = r
			}
		}
		fmt.Fprintf(&b, "== %s\n%s", filepath.Base(paths[0]), codeOf(t, o, largest.Address, session.CodeWish{After: 8}))
		o.Close()
	}
	const path = "testdata/outline/code.txt"
	if updating() {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("differs from %s (rewrite it with -update if that is right):\n%s", path, b.String())
	}
}
