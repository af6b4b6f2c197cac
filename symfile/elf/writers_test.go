package elf

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/elf/elftest"
)

// writerFile is a file that writers of dumps give different ids.
type writerFile struct {
	name string
	file *elftest.File
}

// writerFiles are programs in which writers look for ids in different places.
func writerFiles() []writerFile {
	code := make([]byte, 5000)
	for i, x := 0, uint32(1); i < len(code); i++ { // no pattern, since patterns cancel out
		x = x*1664525 + 1013904223
		code[i] = byte(x >> 24)
	}
	id := []byte("abcdefghijklmnopqrst")
	var out []writerFile
	// add adds a program of the sections, with those that segments names in note segments.
	add := func(name string, f *elftest.File, segments ...string) {
		f.Machine, f.Type = 62, 3
		if f.Class == 32 {
			f.Machine = 40
		}
		f.Add(elftest.Section{Name: ".data", Type: 1, Flags: 3, Address: 0x4000, Data: code[77:], Align: 1})
		for _, first := range segments {
			f.Segments = append(f.Segments, elftest.Segment{Type: segNote, Flags: 4, First: first, Align: 4})
		}
		out = append(out, writerFile{name, f})
	}
	program := func(class int, big bool) *elftest.File {
		f := &elftest.File{Class: class, Big: big}
		f.Add(elftest.Section{Name: ".init", Type: 1, Flags: 6, Address: 0x1000, Data: code[1000:1027], Align: 4})
		return f.Add(elftest.Section{Name: ".text", Type: 1, Flags: 6, Address: 0x2000, Data: code[:4011], Align: 16})
	}
	note := func(f *elftest.File, section, name string, data []byte) *elftest.File {
		return f.Add(elftest.Section{Name: section, Type: 7, Flags: 2, Align: 4, Data: f.Note(name, 3, data)})
	}
	for _, class := range []int{64, 32} {
		for _, big := range []bool{false, true} {
			kind := fmt.Sprintf("-%d-%v", class, big)
			add("no-id"+kind, program(class, big))
			add("build-id"+kind, program(class, big).BuildID(id), ".note.gnu.build-id")
			// As Go's linker does it from 1.24 on.
			f := program(class, big).BuildID(id)
			f.Add(elftest.Section{Name: ".note.go.buildid", Type: 7, Flags: 2, Align: 4, Data: f.Note("Go\x00", 4, []byte("go's own"))})
			add("not-loaded"+kind, f, ".note.go.buildid")
		}
	}
	f := program(64, false)
	add("other-note", note(f, ".note.xen", "Xen", id), ".note.xen")
	f = program(64, false)
	add("other-note-first", note(f, ".note.xen", "Xen", id[3:]).BuildID(id), ".note.xen", ".note.gnu.build-id")
	f = program(64, false)
	add("other-note-bare", note(f, ".note.xen", "Xen", id[3:]).BuildID(id), ".note.xen", ".note.gnu.build-id")
	f.Bare = true
	f = program(64, false)
	add("other-note-in-its-section", note(f, ".note.gnu.build-id", "Xen", id))
	f = program(64, false)
	add("two", note(f, ".note.a", "GNU", id[4:]).BuildID(id), ".note.gnu.build-id", ".note.a")
	add("short", program(64, false).BuildID(id[:8]), ".note.gnu.build-id")
	add("long", program(64, false).BuildID(append(id, id...)), ".note.gnu.build-id")
	f = &elftest.File{Class: 64}
	f.Add(elftest.Section{Name: "text", Type: 1, Flags: 6, Address: 0x2000, Data: code[:300], Align: 16})
	add("text-without-dot", f)
	f = &elftest.File{Class: 64}
	f.Add(elftest.Section{Name: "CODE", Type: 1, Flags: 6, Address: 0x2000, Data: code[:300], Align: 16})
	add("other-name", f)
	link := append([]byte("app.debug\x00\x00\x00"), 0x78, 0x56, 0x34, 0x12)
	add("debug-link", program(64, false).Add(elftest.Section{Name: ".gnu_debuglink", Type: 1, Data: link, Align: 4}))
	return out
}

// TestWriters: a file answers to each id that a writer of dumps gives it. testdata/writers.txt has
// what the writers say about the files of writerFiles, which
//
//	CRASHPANE_WRITERS=DIR go test -run TestWriters ./symfile/elf
//
// writes into a directory. minidump-writer's answers are those of build/real/writer ("cargo run
// --bin ids DIR/*"), Breakpad's of its FileID::ElfFileIdentifier (src/common/linux/file_id.cc), LLDB's
// of "target modules list -u".
func TestWriters(t *testing.T) {
	files := map[string]*elftest.File{}
	for _, w := range writerFiles() {
		files[w.name] = w.file
		if dir := os.Getenv("CRASHPANE_WRITERS"); dir != "" {
			if err := os.WriteFile(filepath.Join(dir, w.name), w.file.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	recorded, err := os.ReadFile("testdata/writers.txt")
	if err != nil {
		t.Fatal(err)
	}
	answers := map[string]int{}
	for _, line := range strings.Split(strings.TrimSpace(string(recorded)), "\n") {
		w := strings.Fields(line) // writer, file, id
		if len(w) != 3 || files[w[1]] == nil {
			t.Fatalf("%q", line)
		}
		answers[w[1]]++
		id, err := hex.DecodeString(w[2])
		if w[2] == "-" {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		e := open(t, files[w[1]].Bytes())
		sum, err := e.ChecksumID()
		if err != nil {
			t.Error(err)
		}
		if ids := append(e.OtherIDs, e.DebugID(), sum); !slices.Contains(ids, debugID(id)) {
			t.Errorf("%s: %s says %s; the file has %q", w[1], w[0], debugID(id), ids)
		}
		// If a writer does not find the build id, it counts as one that may be missed.
		if debugID(id) != e.DebugID() && e.IDLoaded {
			t.Errorf("%s: %s does not find its build id", w[1], w[0])
		}
	}
	for name := range files {
		if answers[name] == 0 {
			t.Errorf("nothing is recorded of %s", name)
		}
	}
}
