package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/symfile"
)

// TestIndex: the index that the command writes is one that the file is opened with.
func TestIndex(t *testing.T) {
	text := testfile.Read(t, filepath.Join(sample, "tilecruncher.sym.gz"))
	dir := t.TempDir()
	path := filepath.Join(dir, "a.sym")
	writeFile(t, path, text)
	if code, stdout, stderr := crashpane("index", path); code != exitOK || stdout != "" || stderr != "" {
		t.Fatalf("exit %d, %q, %q", code, stdout, stderr)
	}
	index, err := os.ReadFile(path + ".index")
	if err != nil {
		t.Fatal(err)
	}
	f, err := symfile.OpenIndexed(input.FromBytes(path, text), input.FromBytes(path+".index", index), symfile.Options{})
	if err != nil || f.Counts.Funcs == 0 {
		t.Fatalf("%v, %d functions", err, f.Counts.Funcs)
	}
	if s, _, err := f.Lookup(8960); err != nil || s.Name != "_start" {
		t.Errorf("%+v %v", s, err)
	}
	other := filepath.Join(dir, "other")
	if code, _, stderr := crashpane("index", "-o", other, path); code != exitOK {
		t.Errorf("-o: exit %d, %q", code, stderr)
	}
	again, err := os.ReadFile(other)
	_, out, _ := crashpane("index", path, "-o", "-")
	if err != nil || !bytes.Equal(again, index) || out != string(index) {
		t.Errorf("-o: %v, %d and %d bytes for %d", err, len(again), len(out), len(index))
	}
	for _, c := range []struct {
		args []string
		code int
		says string
	}{
		{[]string{"index"}, exitUsage, "name one symbol file"},
		{[]string{"index", path, path}, exitUsage, "name one symbol file"},
		{[]string{"index", path + ".index"}, exitFailed, "is not a symbol file: it is the index of a symbol file"},
		{[]string{"index", filepath.Join(sample, "tilecruncher.dmp")}, exitFailed, "is not a symbol file: it is a minidump"},
		{[]string{"index", filepath.Join(dir, "nothing")}, exitFailed, "nothing"},
		{[]string{"index", "-o", filepath.Join(dir, "no", "folder"), path}, exitFailed, "folder"},
	} {
		if code, _, stderr := crashpane(c.args...); code != c.code || !strings.Contains(stderr, c.says) {
			t.Errorf("%q: exit %d, %q", c.args, code, stderr)
		}
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 3 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
}
