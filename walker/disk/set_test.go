package disk

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/session"
)

// TestLinkedFolder: symbols and source files are found in a folder that is named by a link to it.
func TestLinkedFolder(t *testing.T) {
	dump, symbols := dumptest.Secretive("x")
	dir := t.TempDir()
	folder, link := filepath.Join(dir, "folder"), filepath.Join(dir, "link")
	for path, data := range map[string][]byte{filepath.Join(dir, "a.dmp"): dump, filepath.Join(folder, "any name"): symbols, filepath.Join(folder, "main.c"): []byte("int x;\n")} {
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(folder, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{folder, link} {
		set, r, err := Open([]string{filepath.Join(dir, "a.dmp"), path}, session.Options{}, Choices{}, os.Stderr)
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Threads[0].Frames[0]; f.Function.Raw == "" {
			t.Errorf("%s: the first frame has no name", path)
		}
		if err := set.AddSources(path); err != nil {
			t.Error(err)
		}
		set.Close()
		library := NewLibrary(os.Stderr)
		if err := library.Add(path); err != nil || !library.Files.HasSymbols() {
			t.Errorf("%s: the library has no symbols: %v", path, err)
		}
		library.Close()
	}
}

// TestArchiveMemory: of an archive with many dumps the one that is shown takes memory, and the others do not.
func TestArchiveMemory(t *testing.T) {
	const dumps, size = 20, 1 << 20
	var z bytes.Buffer
	w := zip.NewWriter(&z)
	for i := range dumps {
		f, err := w.Create(fmt.Sprintf("in/%d.dmp", i))
		if err != nil {
			t.Fatal(err)
		}
		context := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
		f.Write(dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
			Thread(uint32(i+1), context, 0x7000, make([]byte, size)).Bytes())
	}
	w.Close()
	path := filepath.Join(t.TempDir(), "a.zip")
	if err := os.WriteFile(path, z.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	open := func(member string) (*Set, error) {
		set := New(session.Options{}, Choices{}, &bytes.Buffer{})
		set.Member = member
		return set, set.AddAll([]string{path})
	}
	for _, member := range []string{"", "in/7.dmp"} {
		set, err := open(member)
		if err != nil {
			t.Fatal(err)
		}
		if r := set.Dump.Report(); len(r.Threads) != 1 || member != "" && r.Threads[0].ID != 8 {
			t.Errorf("%q: %+v", member, r.Threads)
		}
		b := set.Files.Budget()
		if held := b.Limit(input.Memory) - b.Left(input.Memory); held > 3*size {
			t.Errorf("%q: %d bytes are held", member, held)
		}
		set.Close()
	}
	// The names that there are.
	set, err := open("in/99.dmp")
	if err == nil || !strings.HasSuffix(err.Error(), "holds no dump in/99.dmp; it holds in/0.dmp, in/1.dmp, in/10.dmp and 17 more") {
		t.Errorf("%v", err)
	}
	set.Close()
}
