package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestOnDemandLarge walks a dump with 82 MB of symbols both ways: searched where they lie, and read
// as a whole.
func TestOnDemandLarge(t *testing.T) {
	const large = "../../../../shared/corpus/large"
	packed, err := os.Open(filepath.Join(large, "bigcrash.mozilla.sym.gz"))
	if err != nil {
		t.Skip("SKIPPED: there is no corpus with large symbol files: ", err)
	}
	defer packed.Close()
	z, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	sym := filepath.Join(t.TempDir(), "bigcrash.sym")
	out, err := os.Create(sym)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.Copy(out, z); err != nil {
		t.Fatal(err)
	}
	if err := out.Close(); err != nil {
		t.Fatal(err)
	}
	walk := func(args ...string) string {
		var stdout, stderr bytes.Buffer
		args = append([]string{"walk"}, append(args, filepath.Join(large, "bigcrash.dmp"), sym, filepath.Join(large, "libs"))...)
		if code := run(args, &stdout, &stderr); code != exitOK || stderr.Len() > 0 {
			t.Fatalf("%v: %d %s", args, code, stderr.String())
		}
		return stdout.String()
	}
	onDemand, exact := walk("--format", "machine"), walk("--format", "machine", "--exact")
	if onDemand != exact || strings.Count(onDemand, "\n") < 10000 {
		t.Errorf("the stacks differ: %d and %d bytes", len(onDemand), len(exact))
	}
	const key = `"symbols_exact": false`
	if n := strings.Count(walk("--format", "json"), key); n != 1 {
		t.Errorf("%d modules were searched, want the large one", n)
	}
	if n := strings.Count(walk("--format", "json", "--exact"), key); n != 0 {
		t.Errorf("%d modules were not read as a whole", n)
	}
}
