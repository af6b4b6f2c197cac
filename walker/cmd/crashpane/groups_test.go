//go:build !js

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestDatabase: equal dumps are in it once, what is in it is not read again, what is new is added, and
// its groups are printed.
func TestDatabase(t *testing.T) {
	dir := fleet(t, 40)
	sym := filepath.Join(t.TempDir(), "app.sym")
	writeFile(t, sym, []byte("MODULE Linux x86_64 000000010002000304000000000000001 app\nFUNC 0 18 0 a<b>::first\nFUNC 20 100 0 second\n"))
	db := filepath.Join(t.TempDir(), "f.db")
	for _, want := range []string{"42 files added to " + db + "; 0 were in it before\n", "0 files added to " + db + "; 42 were in it before\n"} {
		if _, text, stderr := crashpane("batch", "--db", db, dir, sym); text != want {
			t.Errorf("%q, want %q; %s", text, want, stderr)
		}
	}
	if err := os.Rename(filepath.Join(dir, "005.dmp"), filepath.Join(dir, "z.dmp")); err != nil {
		t.Fatal(err)
	}
	crashpane("batch", "--db", db, dir, sym) // an equal dump under another name
	code, text, stderr := crashpane("groups", db)
	if want := "40 dumps in 3 groups; 1 file is not a dump or cannot be read\n"; code != exitOK || !strings.HasPrefix(text, want) || strings.Count(text, "\n") != 6 ||
		!strings.Contains(text, "  a<T>::first\n") || !strings.Contains(text, "  second\n") {
		t.Errorf("exit %d, %s\n%s", code, stderr, text)
	}
	if _, text, _ = crashpane("groups", "--html", db); !strings.Contains(text, "a&lt;T&gt;::first") || strings.Contains(text, "<T>") || strings.Contains(text, "<script") {
		t.Error(text)
	}
	other := filepath.Join(t.TempDir(), "other.db")
	writeFile(t, other, []byte("nothing"))
	for _, args := range [][]string{{"groups", filepath.Join(dir, "none")}, {"groups", other}, {"batch", "--db", other, dir}} {
		if code, _, stderr := crashpane(args...); code != exitFailed || !strings.Contains(stderr, args[len(args)-1]) && !strings.Contains(stderr, other) {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
	if code, _, _ := crashpane("groups"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

// TestDatabaseKilled: a run that was killed leaves a file that the next one goes on with, without loss
// and without a dump twice.
func TestDatabaseKilled(t *testing.T) {
	if os.Getenv("CRASHPANE_BATCH") != "" {
		os.Exit(run(strings.Split(os.Getenv("CRASHPANE_BATCH"), "\n"), os.Stdout, os.Stderr))
	}
	const dumps = 1500
	dir := fleet(t, dumps)
	db := filepath.Join(t.TempDir(), "f.db")
	for _, after := range []time.Duration{50, 150, 300} {
		c := exec.Command(os.Args[0], "-test.run=^TestDatabaseKilled$")
		c.Env = append(os.Environ(), "CRASHPANE_BATCH=batch\n--db\n"+db+"\n"+dir)
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		time.Sleep(after * time.Millisecond)
		c.Process.Kill()
		c.Wait()
	}
	crashpane("batch", "--db", db, dir)
	if _, text, stderr := crashpane("groups", db); !strings.HasPrefix(text, "1,500 dumps in 1 group; 1 file is not a dump") {
		t.Errorf("%s\n%s", text, stderr)
	}
}
