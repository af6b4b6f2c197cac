package session

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// TestSourceFor: a source file is found by the end of its path, and only then read; its lines end in LF,
// CR LF or CR; what is doubtful about it is reported.
func TestSourceFor(t *testing.T) {
	fs := NewFiles(Options{})
	add := func(name, text string) []Item { return fs.Add(input.FromBytes(name, []byte(text))) }
	add("proj/src/unix.c", "one\ntwo\n\nfour")
	add("proj/src/dos.c", "one\r\ntwo\r\n")
	add("proj/src/mac.c", "one\rtwo\r")
	add("proj/src/wide.c", "\xff\xfeo\x00n\x00e\x00\n\x00\xe9\x00")
	add("proj/a/same.h", "a")
	items := add("proj/b/same.h", "b")
	if len(items) != 1 || items[0].Kind != KindSources || items[0].Count != 6 || items[0].Name != "proj/" || len(fs.Items()) != 1 {
		t.Fatalf("%+v, %d items", items, len(fs.Items()))
	}
	for path, want := range map[string]string{
		"/b/src/unix.c": "one|two||four", `C:\x\src\DOS.C`: "one|two", "/b/src/mac.c": "one|two", "src/wide.c": "one|é",
	} {
		s := fs.SourceFor(path, symbol.Sum{})
		if s == nil || s.Doubt() != "" {
			t.Fatalf("%s: %+v", path, s)
		}
		var lines []string
		for i := range s.Count() {
			lines = append(lines, s.Line(i+1))
		}
		if got := strings.Join(lines, "|"); got != want || s.Line(0) != "" || s.Line(99) != "" {
			t.Errorf("%s: %q", path, got)
		}
	}
	if s := fs.SourceFor("/b/c/same.h", symbol.Sum{}); s == nil || !strings.Contains(s.Doubt(), "2 files fit") {
		t.Errorf("%+v", s)
	}
	if s := fs.SourceFor("/other/unix.c", symbol.Sum{}); s == nil || !strings.Contains(s.Doubt(), "name") {
		t.Errorf("%+v", s)
	}
	// What only seems to be the file is not among the lines of a listing, or is said to be doubtful.
	if s := fs.AnySource("/other/unix.c"); s != nil {
		t.Errorf("%+v", s)
	}
	add("proj/deep/src/lib.rs", "x")
	if s := fs.AnySource("/registry/other-1.0/src/lib.rs"); s == nil || !strings.Contains(s.Doubt(), "only the last 2 parts") {
		t.Errorf("%+v", s)
	}
	if s := fs.SourceFor("/b/none.c", symbol.Sum{}); s != nil {
		t.Errorf("%+v", s)
	}
	fs.Remove([]int{items[0].ID})
	if s := fs.SourceFor("/b/src/unix.c", symbol.Sum{}); s != nil || len(fs.Items()) != 0 {
		t.Errorf("after removing: %+v", s)
	}
	if items := add("proj/src/unix.c", "again"); items[0].Count != 1 || fs.SourceFor("src/unix.c", symbol.Sum{}).Line(1) != "again" {
		t.Errorf("%+v", items)
	}
}

// TestSourceRevision: a checksum tells another revision, ignores how lines end, and chooses among files
// whose paths fit equally.
func TestSourceRevision(t *testing.T) {
	fs := NewFiles(Options{})
	for name, text := range map[string]string{"a/x/f.c": "first\n", "a/y/f.c": "second\r\n", "a/z/f.c": "third\n", "a/only.c": "old\n"} {
		fs.Add(input.FromBytes(name, []byte(text)))
	}
	second := symbol.Sum{Kind: "MD5", Hex: fmt.Sprintf("%x", md5.Sum([]byte("second\n")))}
	if s := fs.SourceFor("/b/f.c", second); s == nil || s.Name != "a/y/f.c" || s.Doubt() != "" || s.Line(1) != "second" {
		t.Errorf("%+v", s)
	}
	third := symbol.Sum{Kind: "SHA-256", Hex: fmt.Sprintf("%x", sha256.Sum256([]byte("third\n")))}
	if s := fs.SourceFor("/b/f.c", third); s == nil || s.Name != "a/z/f.c" || s.Doubt() != "" {
		t.Errorf("%+v", s)
	}
	other := symbol.Sum{Kind: "SHA-1", Hex: fmt.Sprintf("%x", sha1.Sum([]byte("new\n")))}
	if s := fs.SourceFor("/b/only.c", other); s == nil || !strings.Contains(s.Doubt(), "another revision") || s.Line(1) != "old" {
		t.Errorf("%+v", s)
	}
}

// TestSourceMemory: the texts that are kept are counted with the list of their lines, which may be larger than they are.
func TestSourceMemory(t *testing.T) {
	fs := NewFiles(Options{})
	for i := range 4 {
		name := fmt.Sprintf("p/%d.c", i)
		fs.Add(input.FromBytes(name, bytes.Repeat([]byte("\n"), maxSourceBytes/12)))
		if s := fs.SourceFor(name, symbol.Sum{}); s.Count() != maxSourceBytes/12 {
			t.Fatalf("%d lines", s.Count())
		}
	}
	if n := len(fs.sources.texts); n != 1 {
		t.Errorf("%d texts are kept", n)
	}
}
