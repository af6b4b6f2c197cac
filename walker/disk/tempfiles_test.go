package disk

import (
	"errors"
	"os"
	"testing"
)

// TestTempFiles: closing a file closes and removes what was unpacked from it.
func TestTempFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"TMPDIR", "TMP"} {
		t.Setenv(name, dir)
	}
	files, err := OpenSources([]string{"tempfiles_test.go"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	spool, err := files[0].NewSpool()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := spool.WriteAt([]byte("unpacked"), 0); err != nil {
		t.Fatal(err)
	}
	if err := files[0].Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := spool.WriteAt([]byte("unpacked"), 0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("the temporary file is still open: %v", err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("temporary files are left: %v %v", left, err)
	}
}
