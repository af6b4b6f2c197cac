package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

// TestStoreIsServed: what store add writes is what fetch asks a server for that knows nothing of symbols, in each layout.
func TestStoreIsServed(t *testing.T) {
	data := filepath.Join("..", "..", "..", "testdata")
	build := t.TempDir()
	writeFile(t, filepath.Join(build, "tilecruncher.sym"), testfile.Read(t, filepath.Join(data, "sample", "tilecruncher.sym.gz")))
	stores := map[string]string{}
	for _, form := range []string{"", "--two-tier"} {
		dir := t.TempDir()
		stores[form] = dir
		args := []string{"store", "add", dir, build, filepath.Join(data, "sample", "libtilecodec.so.sym"), filepath.Join(data, "windows"), filepath.Join(data, "core", "crash"), filepath.Join(data, "core", "crash.debug")}
		if form != "" {
			args = append([]string{"store", form}, args[1:]...)
		}
		if code, _, stderr := crashpane(args...); code != exitOK {
			t.Fatalf("exit %d: %s", code, stderr)
		}
	}
	for _, c := range []struct{ layout, store, dump, want string }{
		{"breakpad+", "", "sample/tilecruncher.dmp", "libtilecodec.so|edge_offset|"},
		{"breakpad+", "--two-tier", "sample/tilecruncher.dmp", "libtilecodec.so|edge_offset|"},
		{"microsoft+", "", "windows/app.dmp", "app.exe|"},
		{"two-tier+", "--two-tier", "windows/app.dmp", "app.exe|"},
		{"debuginfod+", "", "core/core.crash.zst", "crash|sum|"},
		{"debuginfod+", "--two-tier", "core/core.crash.zst", "crash|sum|"},
		{"", "", "core/core.crash.zst", "crash|sum|"},
	} {
		server := httptest.NewServer(http.FileServer(http.Dir(stores[c.store])))
		to := filepath.Join(t.TempDir(), "got")
		dump := filepath.Join(data, filepath.FromSlash(c.dump))
		code, out, stderr := crashpane("fetch", "--from", c.layout+server.URL, "--to", to, dump)
		server.Close()
		if code != exitOK || !strings.HasPrefix(out, "Fetched ") {
			t.Errorf("%s%s, %s: exit %d: %s%s", c.layout, c.store, c.dump, code, out, stderr)
			continue
		}
		_, named, _ := crashpane("walk", "--format", "machine", dump, to)
		if !strings.Contains(named, c.want) || strings.Contains(c.layout, "t") && strings.Contains(named, "0|0|app.exe||") {
			t.Errorf("%s%s, %s: %s", c.layout, c.store, c.dump, named)
		}
	}
	// Two of the three layouts are the same in a store of two tiers.
	for _, path := range []string{"ap/app.exe/167A5EAB6000/app.exe", "index2.txt"} {
		if _, err := os.Stat(filepath.Join(stores["--two-tier"], filepath.FromSlash(path))); err != nil {
			t.Error(err)
		}
	}
}
