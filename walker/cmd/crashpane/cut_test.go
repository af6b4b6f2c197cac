package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCutBinary: the command warns about a binary whose download stopped half way.
func TestCutBinary(t *testing.T) {
	whole, err := os.ReadFile("../../../symfile/elf/testdata/aarch64-linux-gnu.elf")
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{64, len(whole) / 2, len(whole)} {
		file := filepath.Join(t.TempDir(), "libcut.so")
		if err := os.WriteFile(file, whole[:n], 0o600); err != nil {
			t.Fatal(err)
		}
		var stdout, stderr bytes.Buffer
		if code := run([]string{"walk", "../../../testdata/sample/tilecruncher.dmp", file}, &stdout, &stderr); code != exitOK {
			t.Fatalf("%d: %s", code, stderr.String())
		}
		if said := strings.Contains(stderr.String(), "libcut.so") && strings.Contains(stderr.String(), "truncated"); said != (n < len(whole)) {
			t.Errorf("%d of %d bytes: %q", n, len(whole), stderr.String())
		}
	}
}
