package main

import (
	"archive/tar"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/testfile"
)

// unpackObjects writes a program and what it was linked from to a folder, and returns their archive.
func unpackObjects(t *testing.T, dir string) (packed []byte) {
	packed = testfile.Read(t, "../../../symfile/macho/testdata/objects/arm64-5.tar.gz")
	for r := tar.NewReader(bytes.NewReader(packed)); ; {
		h, err := r.Next()
		if err == io.EOF {
			return packed
		}
		if err != nil {
			t.Fatal(err)
		}
		data, _ := io.ReadAll(r)
		if err := os.WriteFile(filepath.Join(dir, h.Name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDumpsymsObjects: a program with the objects and the library that it was linked from, each alone or
// all in an archive, makes one symbol file; what is missing or belongs to another program is reported.
func TestDumpsymsObjects(t *testing.T) {
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	packed := unpackObjects(t, dir)
	os.WriteFile(path("all.tar"), packed, 0o644)
	other, _ := os.ReadFile(path("b.o"))
	os.WriteFile(path("other.o"), other, 0o644)

	program := path("arm64-5")
	code, one, stderr := crashpane("dumpsyms", program, path("a.o"), path("b.o"), path("libx.a"))
	// Nothing in the program says from what time its objects are.
	const untimed = "the times of its objects are not known"
	if code != exitOK || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, untimed) {
		t.Errorf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"\nFUNC 444 54 0 helper(int)\n", "\nFUNC 39c 50 0 main\nINLINE 0 13 0 0 3a8 10\n", " lib_c\n", "\nSTACK CFI INIT 444 54 "} {
		if !strings.Contains(one, want) {
			t.Errorf("no %q in\n%s", want, one)
		}
	}
	for _, files := range [][]string{{path("all.tar")}, {path("libx.a"), path("other.o"), path("b.o"), path("a.o")}} {
		if code, out, stderr := crashpane(append([]string{"dumpsyms", program}, files...)...); code != exitOK || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, untimed) || out != one {
			t.Errorf("%q: exit %d, %s\n%s", files, code, stderr, out)
		}
	}
	if code, out, stderr := crashpane("dumpsyms", program, path("b.o")); code != exitOK || strings.Contains(out, "FUNC 39c") || !strings.Contains(stderr, "not here: without a dSYM, the objects that it was linked from: a.o, libx.a(lib.o)\n") {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
	if code, _, stderr := crashpane("dumpsyms", program, path("other.o")); code != exitFailed || !strings.Contains(stderr, "other.o does not belong to "+program+", which was not linked from it") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestWalkFolderObjects: of a folder with a program and its objects, those are used that frames need.
func TestWalkFolderObjects(t *testing.T) {
	dir := t.TempDir()
	unpackObjects(t, dir)
	_, sym, _ := crashpane("dumpsyms", "--no-cfi", filepath.Join(dir, "arm64-5"))
	id, _ := hex.DecodeString(strings.Fields(sym)[3][:32])
	const base, sp = 0x100000000, 0x7ff0000
	be := binary.BigEndian
	dump := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUARM64, Platform: dumptest.OSMac}).
		Module(base, 0x8000, "/bin/arm64-5", dumptest.RSDS(be.Uint32(id), be.Uint16(id[4:]), be.Uint16(id[6:]), [8]byte(id[8:]), 0, "arm64-5")).
		Thread(7, dumptest.ARM64(map[string]uint64{"pc": base + 0x460, "sp": sp, "fp": 0, "lr": 0}), sp, make([]byte, 64)).Bytes()
	path := filepath.Join(t.TempDir(), "x.dmp")
	os.WriteFile(path, dump, 0o644)
	if code, out, stderr := crashpane("walk", path, dir); code != exitOK || !strings.Contains(out, "!helper(int) [b.cc : 6 + ") || !strings.HasPrefix(stderr, "arm64-5: the times of its objects are not known") || strings.Count(stderr, "\n") != 1 {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
}
