package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestStore: files come into the layouts of symbol servers, once each; what is wrong is found; what is left over
// is removed.
func TestStore(t *testing.T) {
	dir := t.TempDir()
	sample := filepath.Join("..", "..", "..", "testdata")
	files := []string{filepath.Join(sample, "sample", "libtilecodec.so.sym"), filepath.Join(sample, "windows")}
	want := []string{"app.exe/167A5EAB6000/app.exe", "app.pdb/A855514E410DD0664C4C44205044422E1/app.pdb", "libtilecodec.so/B19F54F3834E401B9A6B97A1CCACE8B90/libtilecodec.so.sym"}
	add := func() (int, string, string) {
		return crashpane(append([]string{"store", "add", dir}, files...)...)
	}
	code, out, stderr := add()
	if code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	for _, path := range want {
		if _, err := os.Stat(filepath.Join(dir, path)); err != nil || !strings.Contains(out, path+"\n") {
			t.Errorf("%v; output:\n%s", err, out)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, want[2]+".index")); err != nil {
		t.Error(err)
	}
	count := func() (n int) {
		contents, err := os.ReadDir(filepath.Join(dir, ".content"))
		if err != nil {
			t.Fatal(err)
		}
		return len(contents)
	}
	before := count()
	if code, out, _ := add(); code != exitOK || strings.Count(out, "(had it)") != strings.Count(out, "\n") || count() != before {
		t.Errorf("once more: exit %d, %d contents of %d\n%s", code, count(), before, out)
	}
	if code, out, _ := crashpane("store", "check", dir); code != exitOK || !strings.Contains(out, "no problem") {
		t.Errorf("check: exit %d\n%s", code, out)
	}

	// Another file of the same id.
	other := filepath.Join(t.TempDir(), "libtilecodec.so.sym")
	b, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, append(b, "PUBLIC fffff0 0 more\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := crashpane("store", "add", dir, other); code != exitFailed || !strings.Contains(stderr, "--replace") {
		t.Errorf("another file: exit %d: %s", code, stderr)
	}
	if code, _, stderr := crashpane("store", "--replace", "add", dir, other); code != exitOK {
		t.Errorf("--replace: exit %d: %s", code, stderr)
	}
	if got, err := os.ReadFile(filepath.Join(dir, want[2])); err != nil || len(got) == len(b) {
		t.Errorf("%d bytes as before, %v", len(got), err)
	}

	// A file in a wrong place, and one that has changed.
	wrong := filepath.Join(dir, "app.exe", "000000001000")
	if err := os.MkdirAll(wrong, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(filepath.Join(dir, want[0]), filepath.Join(wrong, "app.exe")); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(dir, want[1]), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 4000); err != nil {
		t.Fatal(err)
	}
	f.Close()
	code, out, _ = crashpane("store", "check", dir)
	if code != exitFailed || !strings.Contains(out, "app.exe/000000001000/app.exe: by its ids it belongs to "+want[0]) || !strings.Contains(out, "its content has changed") {
		t.Errorf("check: exit %d\n%s", code, out)
	}

	// Old names go, and what then has none.
	past := time.Now().Add(-100 * 24 * time.Hour)
	err = filepath.Walk(dir, func(path string, _ os.FileInfo, err error) error {
		if err == nil {
			err = os.Chtimes(path, past, past)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if code, out, stderr := crashpane("store", "--older-than", "90d", "gc", dir); code != exitOK {
		t.Errorf("gc: exit %d: %s%s", code, out, stderr)
	}
	left := 0
	_ = filepath.Walk(dir, func(path string, st os.FileInfo, err error) error {
		if err == nil && !st.IsDir() {
			left++
		}
		return nil
	})
	if left != 0 && runtime.GOOS != "js" { // where nothing says how many names a file has, contents stay
		t.Errorf("%d files are left", left)
	}
}

// TestStoreForms: pointers, two tiers, and what has no place.
func TestStoreForms(t *testing.T) {
	dir := t.TempDir()
	windows := filepath.Join("..", "..", "..", "testdata", "windows")
	if code, out, stderr := crashpane("store", "--two-tier", "--pointer", "add", dir, filepath.Join(windows, "app.exe")); code != exitOK || out != "ap/app.exe/167A5EAB6000/file.ptr\n" {
		t.Fatalf("exit %d: %s%s", code, out, stderr)
	}
	b, err := os.ReadFile(filepath.Join(dir, "ap", "app.exe", "167A5EAB6000", "file.ptr"))
	if err != nil || !strings.HasPrefix(string(b), "PATH:") || !filepath.IsAbs(strings.TrimPrefix(string(b), "PATH:")) {
		t.Errorf("%q, %v", b, err)
	}
	if code, _, stderr := crashpane("store", "add", dir, "store_test.go"); code != exitFailed || !strings.Contains(stderr, "no layout") {
		t.Errorf("a text: exit %d: %s", code, stderr)
	}
	for _, args := range [][]string{{"store"}, {"store", "add"}, {"store", "add", dir}, {"store", "check", dir, dir}, {"store", "sweep", dir}, {"store", "--older-than", "x", "gc", dir},
		{"store", "--older-than", "213504d", "gc", dir}, {"store", "--older-than=-5h", "gc", dir}} {
		if code, _, _ := crashpane(args...); code != exitUsage {
			t.Errorf("%v: exit %d", args, code)
		}
	}
}

// TestStoreWriters: several writers that add the same files at once end with one store.
func TestStoreWriters(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join("..", "..", "..", "testdata", "sample", "libtilecodec.so.sym")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if code, _, stderr := crashpane("store", "add", dir, file); code != exitOK {
				t.Errorf("exit %d: %s", code, stderr)
			}
		})
	}
	all.Wait()
	if code, out, _ := crashpane("store", "check", dir); code != exitOK {
		t.Errorf("exit %d\n%s", code, out)
	}
	if contents, err := os.ReadDir(filepath.Join(dir, ".content")); err != nil || len(contents) != 1 {
		t.Errorf("%d contents, %v", len(contents), err)
	}
}
