//go:build linux

package main

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
)

// TestUnreadable: a list says which file and which folder could not be read.
func TestUnreadable(t *testing.T) {
	dir := folderOf(t, map[string][]byte{"a.dmp": deep(3), "b.dmp": deep(3), "sub/c.dmp": deep(3)})
	for dir := dir; dir != os.TempDir() && len(dir) > 1; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o755)
	}
	os.Chmod(filepath.Join(dir, "b.dmp"), 0)
	os.Chmod(filepath.Join(dir, "sub"), 0)
	defer os.Chmod(filepath.Join(dir, "sub"), 0o755)
	s, err := newServer(options{folders: []string{dir}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	if os.Geteuid() == 0 { // root may read all; this thread is another user's for a while
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		if err := syscall.Setfsuid(65534); err != nil {
			t.Fatal(err)
		}
		defer syscall.Setfsuid(0)
	}
	a, err := s.list(context.Background(), &listQuestion{})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(a.body), `"dump":`); n != 1 || len(a.notes) != 1 || a.notes[0] != `"dumps/b.dmp" cannot be read: permission denied (and 1 more)` {
		t.Errorf("%s, %q", a.body, a.notes)
	}
}
