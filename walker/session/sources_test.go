package session

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
)

// TestSourceFor: a source file is found by the end of its path, and only then read; its lines end in LF,
// CR LF or CR; what is doubtful about it is said.
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
		s := fs.SourceFor(path)
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
	if s := fs.SourceFor("/b/c/same.h"); s == nil || !strings.Contains(s.Doubt(), "2 files fit") {
		t.Errorf("%+v", s)
	}
	if s := fs.SourceFor("/other/unix.c"); s == nil || !strings.Contains(s.Doubt(), "name") {
		t.Errorf("%+v", s)
	}
	if s := fs.SourceFor("/b/none.c"); s != nil {
		t.Errorf("%+v", s)
	}
	fs.Remove([]int{items[0].ID})
	if s := fs.SourceFor("/b/src/unix.c"); s != nil || len(fs.Items()) != 0 {
		t.Errorf("after removing: %+v", s)
	}
	if items := add("proj/src/unix.c", "again"); items[0].Count != 1 || fs.SourceFor("src/unix.c").Line(1) != "again" {
		t.Errorf("%+v", items)
	}
}
