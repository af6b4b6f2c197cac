package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/disk"
)

// TestMaxUnpacked: what unpacks to more than is allowed is refused with a message that names the
// flag, and read with it.
func TestMaxUnpacked(t *testing.T) {
	dump := filepath.Join(sample, "tilecruncher.dmp")
	dir := t.TempDir()
	pack := func(name string, data []byte) string {
		var b bytes.Buffer
		w := gzip.NewWriter(&b)
		w.Write(data)
		w.Write(make([]byte, 70<<20))
		w.Close()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	packed := pack("a.dmp.gz", testfile.Read(t, dump))
	for _, args := range [][]string{{"walk"}, {"explain"}, {"compare"}, {"dump"}} {
		_, want, _ := crashpane(append(args, dump)...)
		args = append(args, packed)
		if code, _, stderr := crashpane(args...); code != exitFailed || !strings.Contains(stderr, "implausibly") || !strings.Contains(stderr, "--max-unpacked SIZE allows more") {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
		args = append(args, "--max-unpacked", "100M")
		code, got, stderr := crashpane(args...)
		got = strings.ReplaceAll(got, packed, dump) // the folder's name has a random length
		if code != exitOK || len(got) < len(want) {
			t.Errorf("%q: exit %d, %s, %d bytes of output; that of the dump itself has %d", args, code, stderr, len(got), len(want))
		}
	}
}

func TestParseSize(t *testing.T) {
	for text, want := range map[string]int64{
		"20000000": 20000000, "500M": 500 << 20, "20g": 20 << 30, "20GB": 20 << 30, "3kb": 3 << 10, "2T": 2 << 40,
		"": 0, "0": 0, "-1": 0, "1.5G": 0, "G": 0, "9000000T": 0, "1X": 0, "99999999999999999999": 0,
	} {
		if got, err := disk.ParseSize(text); got != want || (err == nil) != (want > 0) {
			t.Errorf("%q: %d, %v; want %d", text, got, err, want)
		}
	}
}
