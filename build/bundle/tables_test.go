package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// TestTablesFirst: if the compiler makes the table by a function, each start of the engine takes 23 ms
// longer.
func TestTablesFirst(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("starts go")
	}
	flag, err := tablesFirst(filepath.Join("..", ".."), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "decoder.o")
	build := exec.Command("go", "build", flag, "-o", to, archModule+"/"+filepath.ToSlash(filepath.Dir(archTables)))
	build.Dir = filepath.Join("..", "..")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	symbols, err := exec.Command("go", "tool", "nm", "-size", to).CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, symbols)
	}
	for line := range strings.Lines(string(symbols)) {
		if f := strings.Fields(line); len(f) == 4 && strings.HasSuffix(f[3], "ppc64asm.init") && len(f[1]) > 4 {
			t.Errorf("the table is made by a function of %s bytes", f[1])
		}
	}
	if _, err := tablesFirst(t.TempDir(), t.TempDir()); err == nil {
		t.Error("a folder that is no module: no error")
	}
	if _, err := os.Stat(to); err != nil {
		t.Error(err)
	}
}
