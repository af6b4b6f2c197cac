package main

import (
	"os"
	"path/filepath"
	"testing"
)

// TestSameBytes: benchmarks need the same file in each run, of about the requested size.
func TestSameBytes(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		if err := write(dir, "", 2<<20, 3, 10); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"big.sym", "big.dmp"} {
		x, err := os.ReadFile(filepath.Join(a, name))
		if err != nil {
			t.Fatal(err)
		}
		y, err := os.ReadFile(filepath.Join(b, name))
		if err != nil {
			t.Fatal(err)
		}
		if string(x) != string(y) {
			t.Errorf("%s differs from run to run", name)
		}
		if name == "big.sym" && (len(x) < 1<<20 || len(x) > 3<<20) {
			t.Errorf("%d bytes of symbols, 2 MB were asked for", len(x))
		}
	}
	if _, err := parseSize("12X"); err == nil {
		t.Error("12X is a size")
	}
}
