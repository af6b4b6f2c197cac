package store

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestCollectIndexes: the index of a symbol file that is gone is removed, and a program whose own name ends like that
// of an index is not.
func TestCollectIndexes(t *testing.T) {
	dir := t.TempDir()
	s, err := Open(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	program, index := filepath.Join(dir, "word.index", "5A9832E5287241C1838ED98914E9B7FF1", "word.index"), filepath.Join(dir, "a.pdb", "5A9832E5287241C1838ED98914E9B7FF1", "a.sym.index")
	for _, path := range []string{program, index} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte("x"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Collect(time.Time{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(program); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(index); err == nil {
		t.Error("the index of a file that is gone is still there")
	}
}
