package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// TestStoreMends: what an interrupted writer left out is made by the next, a damaged file is replaced if that is asked for, and
// commands that only read make no folder.
func TestStoreMends(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join("..", "..", "..", "testdata", "sample", "libtilecodec.so.sym")
	const sym = "libtilecodec.so/B19F54F3834E401B9A6B97A1CCACE8B90/libtilecodec.so.sym"
	index := filepath.Join(dir, sym+".index")
	run := func(want int, args ...string) string {
		t.Helper()
		code, out, stderr := crashpane(append([]string{"store"}, args...)...)
		if code != want {
			t.Errorf("%v: exit %d: %s%s", args, code, out, stderr)
		}
		return out + stderr
	}
	run(exitOK, "add", dir, file)
	good, err := os.ReadFile(index)
	if err != nil {
		t.Fatal(err)
	}

	if err := os.Remove(index); err != nil {
		t.Fatal(err)
	}
	if out := run(exitFailed, "check", dir); !strings.Contains(out, sym+": it has no index") {
		t.Error(out)
	}
	for _, content := range []string{"", "the index of another file"} {
		if content != "" {
			if err := os.WriteFile(index, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		run(exitOK, "add", dir, file)
		if b, err := os.ReadFile(index); err != nil || string(b) != string(good) {
			t.Errorf("index of %d bytes, %v", len(b), err)
		}
	}

	f, err := os.OpenFile(filepath.Join(dir, sym), os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteAt([]byte("x"), 400); err != nil {
		t.Fatal(err)
	}
	f.Close()
	run(exitFailed, "check", dir)
	run(exitOK, "--replace", "add", dir, file)
	run(exitOK, "check", dir)

	// A file that was added again keeps its index, too, however old that is.
	past := time.Now().Add(-100 * 24 * time.Hour)
	if err := os.Chtimes(index, past, past); err != nil {
		t.Fatal(err)
	}
	run(exitOK, "--older-than", "90d", "gc", dir)
	if _, err := os.Stat(index); err != nil {
		t.Error(err)
	}

	none := filepath.Join(t.TempDir(), "none")
	for _, command := range []string{"check", "gc"} {
		run(exitFailed, command, none)
		run(exitFailed, command, file)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("check has made a folder")
	}
}

// TestStoreTiers: a store with files in one tier is not made one of two.
func TestStoreTiers(t *testing.T) {
	dir := t.TempDir()
	data := filepath.Join("..", "..", "..", "testdata")
	for _, file := range []string{"sample/libtilecodec.so.sym", "windows/app.exe"} { // the first has one place in both
		if code, _, stderr := crashpane("store", "add", dir, filepath.Join(data, filepath.FromSlash(file))); code != exitOK {
			t.Errorf("exit %d: %s", code, stderr)
		}
	}
	if code, _, stderr := crashpane("store", "--two-tier", "add", dir, filepath.Join(data, "windows", "app.pdb")); code != exitFailed || !strings.Contains(stderr, "one tier (app.exe/") {
		t.Errorf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(dir, "index2.txt")); err == nil {
		t.Error("it is marked as one of two tiers")
	}
}

// TestStoreFolders: files come from a folder that a link leads to, and what cannot be read does not keep the others out.
func TestStoreFolders(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "js" {
		t.Skip("links are other there")
	}
	from := t.TempDir()
	writeFile(t, filepath.Join(from, "z.sym"), []byte("MODULE Linux x86_64 000000010002000304000000000000001 app\nFUNC 0 20 0 first\n"))
	if err := os.Symlink("none", filepath.Join(from, "a.sym")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(from, link); err != nil {
		t.Fatal(err)
	}
	code, out, stderr := crashpane("store", "add", t.TempDir(), link)
	if code != exitFailed || !strings.Contains(stderr, "a.sym") || !strings.HasPrefix(out, "app/000000010002000304000000000000001/app.sym") {
		t.Errorf("exit %d: %s%s", code, out, stderr)
	}
}
