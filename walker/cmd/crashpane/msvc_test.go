package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

// TestMicrosoftNames: a name that Microsoft's compilers decorated, as it is in PUBLIC records, is
// readable in JSON, and as it is in what Breakpad prints.
func TestMicrosoftNames(t *testing.T) {
	sym := testfile.Read(t, filepath.Join(sample, "tilecruncher.sym.gz"))
	sym = bytes.Replace(sym, []byte("PUBLIC 22e0 0 _start\n"), []byte("PUBLIC 22e0 0 ?start@App@@QEAAXH@Z\n"), 1)
	file := filepath.Join(t.TempDir(), "tilecruncher.sym")
	writeFile(t, file, sym)
	args := []string{filepath.Join(sample, "tilecruncher.dmp"), file, filepath.Join(sample, "libc.so.6.sym.gz")}
	_, js, _ := crashpane(append([]string{"walk", "--format", "json"}, args...)...)
	for _, want := range []string{`"function": "?start@App@@QEAAXH@Z"`, `"demangled": "App::start(int)"`} {
		if !strings.Contains(js, want) {
			t.Errorf("no %s in\n%s", want, js)
		}
	}
	if _, text, _ := crashpane(append([]string{"walk"}, args...)...); !strings.Contains(text, "!?start@App@@QEAAXH@Z") {
		t.Errorf("the name is another one in\n%s", text)
	}
}
