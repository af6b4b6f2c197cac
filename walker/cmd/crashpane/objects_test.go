package main

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

// TestDumpsymsObjects: a program with the objects and the library that it was linked from, each alone or
// all in an archive, makes one symbol file; what is missing or of another program is said.
func TestDumpsymsObjects(t *testing.T) {
	packed := testfile.Read(t, "../../../symfile/macho/testdata/objects/arm64-5.tar.gz")
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(r)
		if err := os.WriteFile(path(h.Name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	os.WriteFile(path("all.tar"), packed, 0o644)
	other, _ := os.ReadFile(path("b.o"))
	os.WriteFile(path("other.o"), other, 0o644)

	program := path("arm64-5")
	code, one, stderr := crashpane("dumpsyms", program, path("a.o"), path("b.o"), path("libx.a"))
	if code != exitOK || stderr != "" {
		t.Errorf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"\nFUNC 444 54 0 helper(int)\n", "\nFUNC 39c 50 0 main\nINLINE 0 13 0 0 3a8 10\n", " lib_c\n", "\nSTACK CFI INIT 444 54 "} {
		if !strings.Contains(one, want) {
			t.Errorf("no %q in\n%s", want, one)
		}
	}
	for _, files := range [][]string{{path("all.tar")}, {path("libx.a"), path("other.o"), path("b.o"), path("a.o")}} {
		if code, out, stderr := crashpane(append([]string{"dumpsyms", program}, files...)...); code != exitOK || stderr != "" || out != one {
			t.Errorf("%q: exit %d, %s\n%s", files, code, stderr, out)
		}
	}
	if code, out, stderr := crashpane("dumpsyms", program, path("b.o")); code != exitOK || strings.Contains(out, "FUNC 39c") || !strings.Contains(stderr, "not here: without a dSYM, the objects that it was linked from: a.o, libx.a(lib.o)\n") {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
	if code, _, stderr := crashpane("dumpsyms", program, path("other.o")); code != exitFailed || !strings.Contains(stderr, "other.o does not belong to "+program+", which was not linked from it") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}
