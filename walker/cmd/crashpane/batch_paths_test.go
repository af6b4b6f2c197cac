package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// TestBatchPaths: a link to a folder, a link to a dump, links that lead round, and a link to nothing; a folder that
// cannot be read is a line, and the others are read.
func TestBatchPaths(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("links and permissions are other there")
	}
	dir := fleet(t, 2)
	for name, to := range map[string]string{"a": dir, "b": filepath.Join(dir, "000.dmp"), "c": filepath.Join(dir, "none"), "d/up": ".."} {
		path := filepath.Join(dir, "links", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, path); err != nil {
			t.Fatal(err)
		}
	}
	closed := filepath.Join(dir, "closed")
	if err := os.Mkdir(closed, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Chmod(closed, 0o755) })
	names := func(from string) (out []string) {
		_, text, _ := crashpane("batch", from)
		for _, l := range batchLines(t, text) {
			name, err := filepath.Rel(from, l.File)
			if err != nil {
				t.Fatal(err)
			}
			if l.Error != "" {
				name += "!"
			}
			out = append(out, name)
		}
		return out
	}
	want := []string{"000.dmp", "001.dmp", "closed!", "links/b", "links/c!", "x.txt!", "y.zip/in0.dmp", "y.zip/in1.dmp"}
	if os.Geteuid() == 0 { // who may read all
		want = slices.Delete(want, 2, 3)
	}
	if got := names(dir); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	if got := names(link); strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("by a link: %q, want %q", got, want)
	}
}
