package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"

	"github.com/klauspost/compress/zstd"
	"github.com/ulikunitz/xz"
)

// TestPackedSymbols: symbol files in .zst and .xz give the same stacks as in .gz, by name and in
// a folder.
func TestPackedSymbols(t *testing.T) {
	dump := filepath.Join(sample, "tilecruncher.dmp")
	_, want, _ := crashpane("walk", dump, filepath.Join(sample, "tilecruncher.sym.gz"))
	text := testfile.Read(t, filepath.Join(sample, "tilecruncher.sym.gz"))
	for ext, pack := range map[string]func(w io.Writer) (io.WriteCloser, error){
		".zst": func(w io.Writer) (io.WriteCloser, error) { return zstd.NewWriter(w) },
		".xz":  func(w io.Writer) (io.WriteCloser, error) { return xz.NewWriter(w) },
	} {
		var b bytes.Buffer
		w, err := pack(&b)
		if err != nil {
			t.Fatal(err)
		}
		w.Write(text)
		w.Close()
		path := filepath.Join(t.TempDir(), "t.sym"+ext)
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		code, got, stderr := crashpane("walk", dump, path)
		if code != exitOK || got != want || stderr != "" {
			t.Errorf("%s: exit %d, %s, %d bytes of output, want %d", ext, code, stderr, len(got), len(want))
		}
		if code, got, stderr := crashpane("walk", dump, filepath.Dir(path)); code != exitOK || got != want || stderr != "" {
			t.Errorf("a folder with %s: exit %d, %s, %d bytes of output, want %d", ext, code, stderr, len(got), len(want))
		}
		if err := os.WriteFile(path, b.Bytes()[:b.Len()/2], 0o644); err != nil {
			t.Fatal(err)
		}
		if code, _, stderr := crashpane("walk", dump, path); code != exitOK || stderr == "" {
			t.Errorf("%s cut in two: exit %d, nothing is said", ext, code)
		}
	}
}
