package core

import (
	"bytes"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// corpusDir is the corpus of other projects' dumps next to the module's root. It is not part of this
// repository.
const corpusDir = "../../shared/corpus"

// corpusDumps are the corpus' dumps; the test is skipped if there is no corpus.
func corpusDumps(t testing.TB) (dumps []string) {
	for _, pattern := range []string{"*/dumps/*.dmp", "chromium/*.dmp", "large/*.dmp", "other/*/*.dmp", "other/*/*/*.dmp"} {
		found, _ := filepath.Glob(filepath.Join(corpusDir, pattern))
		for _, f := range found {
			if !strings.HasPrefix(filepath.Base(f), "microdump-") { // those are texts
				dumps = append(dumps, f)
			}
		}
	}
	if len(dumps) == 0 {
		t.Skip("SKIPPED: no corpus at " + corpusDir + " (next to the repository): nothing is opened")
	}
	return dumps
}

func openFile(t testing.TB, path string) (*Dump, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return Open(input.New(filepath.Base(path), bytes.NewReader(data), int64(len(data))))
}

// TestCorpusOpens opens everything and reads every context and stack; what is wrong in a dump is
// listed with -v.
func TestCorpusOpens(t *testing.T) {
	paths := corpusDumps(t)
	sort.Strings(paths)
	opened, contexts, refused := 0, 0, 0
	for _, p := range paths {
		d, err := openFile(t, p)
		if err != nil {
			t.Logf("%v", err)
			continue
		}
		opened++
		for _, diag := range d.Diags {
			t.Logf("%d %v", diag.Severity, diag.Err)
		}
		for i := range d.Threads {
			if _, err := d.ThreadContext(i); err != nil {
				refused++
				t.Logf("%v", err)
			} else {
				contexts++
			}
			if d.ThreadStack(i) == nil {
				t.Logf("%s: thread %d has no stack", p, i)
			}
		}
	}
	t.Logf("%d of %d dumps opened, %d thread contexts read, %d refused", opened, len(paths), contexts, refused)
	if opened < 50 || contexts < 140 {
		t.Errorf("only %d dumps were opened, with %d contexts", opened, contexts)
	}
}
