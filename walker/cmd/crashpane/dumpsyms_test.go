package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const corpusRoot = "../../../../shared/corpus/other"

// corpusFiles are paths in the corpus; the test is skipped where there is none.
func corpusFiles(t *testing.T, names ...string) []string {
	t.Helper()
	var out []string
	for _, n := range names {
		path := filepath.Join(corpusRoot, n)
		if _, err := os.Stat(path); err != nil {
			t.Skip("*** SKIPPED: the corpus of other projects' files is not here: " + corpusRoot)
		}
		out = append(out, path)
	}
	return out
}

func TestDumpsyms(t *testing.T) {
	const moz = "mozilla+dump_syms/test_data/linux/"
	f := corpusFiles(t, moz+"basic.full", moz+"basic.stripped", moz+"basic.dbg", "made-here/core2md/mt", "made-here/core2md/mt-core2md.dmp")
	full, stripped, debug, other, dump := f[0], f[1], f[2], f[3], f[4]
	code, whole, stderr := crashpane("dumpsyms", full)
	if code != exitOK || stderr != "" || !strings.HasPrefix(whole, "MODULE Linux x86_64 20AD60B0B4C68177552708AA192E77390 basic.full\nINFO CODE_ID B060AD20C6B47781552708AA192E7739FAC7C84A\nFILE 0 ") ||
		!strings.Contains(whole, "\nFUNC 11e4 d9 0 foo(int)\nINLINE 0 26 0 ") || !strings.Contains(whole, "\nSTACK CFI INIT 11e4 d9 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n") {
		t.Fatalf("exit %d, %q:\n%s", code, stderr, whole)
	}
	if _, out, _ := crashpane("dumpsyms", "--mangled", full); !strings.Contains(out, "\nFUNC 11e4 d9 0 _Z3fooi\n") {
		t.Errorf("--mangled:\n%s", out)
	}
	if _, out, _ := crashpane("dumpsyms", full, "--no-cfi"); strings.Contains(out, "STACK") || !strings.Contains(out, "FUNC") {
		t.Errorf("--no-cfi:\n%s", out)
	}
	// The program and its debug file say together what the whole file says, in either order.
	body := func(s string) string { return s[strings.Index(s, "\nFILE "):] }
	for _, args := range [][]string{{"dumpsyms", stripped, debug}, {"dumpsyms", debug, stripped}} {
		code, out, stderr := crashpane(args...)
		if code != exitOK || stderr != "" || body(out) != body(whole) {
			t.Errorf("%q: exit %d, %q:\n%s", args, code, stderr, out)
		}
	}
	if code, out, stderr := crashpane("dumpsyms", stripped); code != exitOK || !strings.Contains(stderr, "not here: the separate debug file") || strings.Contains(out, "FUNC") {
		t.Errorf("exit %d, %q:\n%s", code, stderr, out)
	}
	if code, _, stderr := crashpane("dumpsyms", stripped, other); code != exitFailed || !strings.Contains(stderr, "does not belong to") || !strings.Contains(stderr, "b060ad20c6b47781552708aa192e7739fac7c84a") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	if code, _, stderr := crashpane("dumpsyms", dump); code != exitFailed || !strings.Contains(stderr, "is not an ELF file, PE file, PDB or Mach-O file: it is a minidump") {
		t.Errorf("exit %d, %q", code, stderr)
	}
	if code, _, _ := crashpane("dumpsyms"); code != exitUsage {
		t.Errorf("exit %d", code)
	}
}

// TestWalkBinaries gives a walk its binaries by name, and as a folder in which they are found by
// their ids.
func TestWalkBinaries(t *testing.T) {
	f := corpusFiles(t, "made-here/core2md/mt-core2md.dmp", "made-here/core2md/mt")
	dump, mt := f[0], f[1]
	data, err := os.ReadFile(mt)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "renamed"), data, 0o644); err != nil {
		t.Fatal(err)
	}
	_, plain, _ := crashpane("walk", "--format", "machine", dump)
	_, named, _ := crashpane("walk", "--format", "machine", dump, mt)
	_, found, _ := crashpane("walk", "--format", "machine", dump, dir)
	if plain == named || !strings.Contains(named, "\n0|1|mt|deep|") || found != named {
		t.Errorf("without:\n%.800s\nby name:\n%.800s\nin a folder:\n%.800s", plain, named, found)
	}
	type module struct {
		Filename  string
		Crashpane *struct {
			Binary     string
			CFIIgnored bool `json:"cfi_ignored"`
			Has        []string
			Parts      []struct{ File, Section, What string }
		}
	}
	var r struct {
		Modules []module
		Threads []struct {
			Frames []struct {
				Trust     string
				Crashpane struct{ Origin string }
			}
		}
	}
	for _, ignore := range []bool{false, true} {
		args := []string{"walk", "--format", "json", dump, mt}
		if ignore {
			args = append(args, "--ignore-cfi", "mt")
		}
		code, out, stderr := crashpane(args...)
		if err := json.Unmarshal([]byte(out), &r); code != exitOK || err != nil {
			t.Fatalf("exit %d, %s, %v", code, stderr, err)
		}
		i := slices.IndexFunc(r.Modules, func(m module) bool { return m.Filename == "mt" })
		m := r.Modules[i].Crashpane
		if m == nil || m.Binary != "mt" || m.CFIIgnored != ignore || !slices.Equal(m.Has, []string{"cfi", "functions", "lines"}) ||
			len(m.Parts) == 0 || m.Parts[0].Section != ".eh_frame" || m.Parts[0].File != "mt" {
			t.Errorf("%+v", m)
		}
		if f := r.Threads[0].Frames[1]; (f.Trust == "cfi") == ignore || strings.HasPrefix(f.Crashpane.Origin, "mt .eh_frame+0x") == ignore {
			t.Errorf("ignored: %v: %+v", ignore, f)
		}
	}
	if code, _, stderr := crashpane("walk", "--ignore-cfi", "nothing", dump); code != exitFailed || !strings.Contains(stderr, `no module "nothing"`) {
		t.Errorf("exit %d, %q", code, stderr)
	}
}

// TestWalkDebugFile finds a program and its separate debug file in a folder, whatever they are
// called.
func TestWalkDebugFile(t *testing.T) {
	const symbolic = "getsentry+symbolic/symbolic-testutils/fixtures/linux/"
	f := corpusFiles(t, "../rust-minidump/dumps/linux-mini.dmp", symbolic+"crash", symbolic+"crash.debug")
	dir := t.TempDir()
	for i, name := range []string{"one", "two"} {
		data, err := os.ReadFile(f[i+1])
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	_, out, stderr := crashpane("walk", "--format", "machine", f[0], dir)
	if !strings.Contains(out, "\n0|0|crash|(anonymous namespace)::crash|") || !strings.Contains(out, "/main.cpp|23|") || !strings.Contains(out, "/main.cpp|35|") {
		t.Errorf("%s\n%.1500s", stderr, out)
	}
}

// TestDumpsymsPDB: a program and its PDB make one symbol file, in either order; of a PDB alone the
// missing program is named, and a PDB of another program is refused with both ids.
func TestDumpsymsPDB(t *testing.T) {
	f := corpusFiles(t, "made-here/wine/crash64c.exe", "made-here/wine/crash64c.pdb", "../winapple/debugpy/attach_x86.dll", "../winapple/debugpy/attach_x86.pdb")
	for i, rules := range []string{"\nSTACK CFI INIT ", "\nSTACK WIN 4 "} {
		program, pdb := f[2*i], f[2*i+1]
		code, one, stderr := crashpane("dumpsyms", program, pdb)
		if code != exitOK || stderr != "" {
			t.Errorf("%s: exit %d, %s", program, code, stderr)
		}
		if _, other, _ := crashpane("dumpsyms", pdb, program); one != other {
			t.Errorf("%s: in the other order:\n%.500s\nand not\n%.500s", program, other, one)
		}
		for _, want := range []string{filepath.Base(pdb) + "\nINFO CODE_ID ", " " + filepath.Base(program) + "\nFILE 0 ", "\nFUNC ", "\nINLINE ", "\nPUBLIC ", rules} {
			if !strings.Contains(one, want) {
				t.Errorf("%s: no %q", program, want)
			}
		}
	}
	if _, out, stderr := crashpane("dumpsyms", f[1]); !strings.Contains(stderr, "not here: the program itself, crash64c.exe or crash64c.dll: without it callers on x86_64 are guesses") || strings.Contains(out, "STACK") {
		t.Errorf("%s", stderr)
	}
	if code, _, stderr := crashpane("dumpsyms", f[0], f[3]); code != exitFailed || !strings.Contains(stderr, "does not belong to") || !strings.Contains(stderr, "35D9E4F25E16B6FD4C4C44205044422E1") {
		t.Errorf("exit %d, %s", code, stderr)
	}
}

// TestWalkFolderPDB finds a program and its PDB in a folder, whatever they are called, by the ids;
// and the program alone where there is a PDB that is named.
func TestWalkFolderPDB(t *testing.T) {
	f := corpusFiles(t, "made-here/wine/crash64c-cv.dmp", "made-here/wine/crash64c.exe", "made-here/wine/crash64c.pdb")
	dir, programs := t.TempDir(), t.TempDir()
	for i, to := range []string{filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(programs, "crash64c.exe")} {
		data, err := os.ReadFile(f[1+i%2])
		if err == nil {
			err = os.WriteFile(to, data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	_, named, stderr := crashpane("walk", "--format", "machine", f[0], f[1], f[2])
	if stderr != "" || !strings.Contains(named, "\n0|1|crash64c.exe|level2(int, int volatile*)|") {
		t.Fatalf("%s\n%.900s", stderr, named)
	}
	for _, args := range [][]string{{dir}, {f[2], programs}} {
		if _, found, stderr := crashpane(append([]string{"walk", "--format", "machine", f[0]}, args...)...); found != named || stderr != "" {
			t.Errorf("%q: %s\n%.900s\nand not\n%.900s", args, stderr, found, named)
		}
	}
}
