package symfile

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// corpusRoot is a folder of real dumps and symbol files that is next to the module and is not
// part of it.
const corpusRoot = "../../shared/corpus"

// corpus lists every .sym file of the corpus, or skips the test.
func corpus(t testing.TB) []string {
	var all []string
	filepath.WalkDir(corpusRoot, func(p string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(p, ".sym") {
			all = append(all, p)
		}
		return nil
	})
	if len(all) == 0 {
		t.Skip("SKIPPED: there is no corpus of symbol files at " + corpusRoot)
	}
	return all
}

// probes cuts a number of comparisons down where they cost twenty times as much.
func probes(n int) int {
	if runtime.GOARCH == "wasm" {
		return n / 10
	}
	return n
}

func open(t testing.TB, name string, text []byte) *File {
	t.Helper()
	f, err := Open(input.FromBytes(name, text), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestCorpusAgainstReference looks every interesting address of every file up, and compares with
// the plain reading.
func TestCorpusAgainstReference(t *testing.T) {
	for _, p := range corpus(t) {
		text, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(string(text), "\xff\xfe") {
			continue // UTF-16, which core/intake converts
		}
		f := open(t, filepath.Base(p), text)
		if !f.HasModule {
			t.Errorf("%s: no module", p)
		}
		if f.Counts.Unknown > 0 {
			t.Errorf("%s: %d unknown records: %v", p, f.Counts.Unknown, f.Warnings)
		}
		compare(t, p, f, newReference(string(text)), probes(600))
	}
}

// TestCorpusLarge reads the two large files and compares a spread of addresses.
func TestCorpusLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("SKIPPED: -short")
	}
	text := unpack(t, "bigcrash.mozilla.sym.gz")
	f := open(t, "bigcrash.sym", text)
	want := Counts{Lines: 2625168, Files: f.Counts.Files, Origins: 116414, Funcs: 39891, Publics: f.Counts.Publics, LineRecords: 1438929,
		Inlines: 663763, CFIInits: f.Counts.CFIInits, CFIDeltas: 364464 - f.Counts.CFIInits, Infos: f.Counts.Infos}
	if f.Counts != want {
		t.Errorf("counts %+v, want %+v", f.Counts, want)
	}
	if runtime.GOARCH == "wasm" {
		t.Log("counts only: the plain reading of 80 MB takes minutes here")
		return
	}
	compare(t, "bigcrash", f, newReference(string(text)), 60)
}
