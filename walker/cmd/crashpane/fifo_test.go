//go:build unix

package main

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// A FIFO is refused at once. To open it would wait for a writer, which never comes.
func TestFIFO(t *testing.T) {
	fifo := filepath.Join(t.TempDir(), "a.dmp")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	dump := "../../../testdata/sample/tilecruncher.dmp"
	for _, args := range [][]string{{"walk", fifo}, {"walk", dump, fifo}, {"dump", fifo}, {"dumpsyms", fifo}, {"rules", fifo}, {"explain", fifo}, {"compare", fifo}, {"index", fifo}} {
		code, _, stderr := crashpane(args...)
		if code == exitOK || !strings.Contains(stderr, "not a file") {
			t.Errorf("%q: exit %d, stderr %q", args, code, stderr)
		}
	}
}
