package binary_test

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/demangle"
)

var update = flag.Bool("update", false, "rewrite the counts of testdata/differences.tsv")

const corpusRoot = "../../../shared/corpus"

func corpus(t testing.TB) {
	t.Helper()
	if _, err := os.Stat(corpusRoot); err != nil {
		t.Skip("*** SKIPPED: the corpus of other projects' files is not here: " + corpusRoot)
	}
}

// source opens a file of the corpus.
func source(t testing.TB, path string) *input.Source {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	st, err := f.Stat()
	if err != nil {
		t.Fatal(err)
	}
	return input.New(path, f, st.Size())
}

// open opens a file with companions, which must all belong to it.
func open(t testing.TB, path string, more ...string) *binary.File {
	t.Helper()
	b, err := binary.Open(source(t, path))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range more {
		if ok, err := b.Attach(source(t, m)); !ok || err != nil {
			t.Fatalf("%s does not belong to %s: %v", m, path, err)
		}
	}
	return b
}

func sym(t testing.TB, b *binary.File) string {
	t.Helper()
	var buf bytes.Buffer
	if _, err := b.WriteSym(&buf, binary.SymOptions{Demangle: demangle.Name}); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

// peerCase is a binary and what another dump_syms made of it.
type peerCase struct {
	name   string
	files  []string
	theirs string
}

// open opens the case's files as one.
func (c *peerCase) open(t testing.TB) *binary.File {
	t.Helper()
	var more []string
	for _, f := range c.files[1:] {
		more = append(more, filepath.Join(corpusRoot, f))
	}
	return open(t, filepath.Join(corpusRoot, c.files[0]), more...)
}

var (
	moz      = "other/mozilla+dump_syms/test_data/linux/"
	symbolic = "other/getsentry+symbolic/symbolic-testutils/fixtures/linux/"
	made     = "other/made-here/"
	samply   = "other/mstange+samply/fixtures/other/"
	framehop = "other/mstange+framehop/fixtures/linux/"
)

var peerCases = []peerCase{
	{"mozilla basic.full", []string{moz + "basic.full"}, moz + "basic.full.inlines.sym"},
	{"mozilla basic.dwz", []string{moz + "basic.dwz"}, moz + "basic.dwz.inlines.sym"},
	{"symbolic crash", []string{symbolic + "crash", symbolic + "crash.debug"}, symbolic + "crash.sym"},
	{"breakpad stabs", []string{made + "stabs/t-stabs"}, made + "stabs/t-stabs.breakpad.sym"},
	{"breakpad stabs -O0", []string{made + "stabs/t-stabs0"}, made + "stabs/t-stabs0.breakpad.sym"},
	{"breakpad stabs i386", []string{made + "stabs/t-stabs32"}, made + "stabs/t-stabs32.breakpad.sym"},
	{"core2md mt", []string{made + "core2md/mt"}, "core2md/mt/42A5F41170F4F002E3B463AFBAC49CD00/mt.sym"},
}

// liveCases are compared with what Mozilla's dump_syms says now, if it is installed.
var liveCases = []peerCase{
	{"live basic.full", []string{moz + "basic.full"}, ""},
	{"live symbolic crash.debug", []string{symbolic + "crash.debug"}, ""},
	{"live ls", []string{samply + "ls-linux/ls"}, ""},
	{"live simple-example", []string{samply + "simple-example/out/regular-debuglink/main.dbg"}, ""},
	{"live libc", []string{framehop + "x86_64/nofp/libc.so.6"}, ""},
	{"live ld aarch64", []string{framehop + "aarch64/ld-2.31.so"}, ""},
	{"live vdso aarch64", []string{framehop + "aarch64/vdso.so"}, ""},
	{"live sframe amd64", []string{made + "sframe/amd64-O2.elf"}, ""},
	{"live cfi_test aarch64", []string{symbolic + "arm64/cfi_test"}, ""},
	{"live libsoftokn3", []string{framehop + "x86_64/nofp/release-libsoftokn3.so"}, ""},
}

// TestAgainstPeers compares what we write with what Mozilla's and Breakpad's dump_syms wrote: the
// same functions with the same ranges, and at every address the same line, the same inlined calls
// and the same unwind rule. What differs is in testdata/differences.tsv, with a reason.
func TestAgainstPeers(t *testing.T) {
	corpus(t)
	known := readAccepted(t, "testdata/differences.tsv")
	found := map[string]*differences{}
	var order []string
	run := func(c peerCase, theirs string) {
		var paths []string
		for _, f := range c.files {
			paths = append(paths, filepath.Join(corpusRoot, f))
		}
		ours := readSym(t, "ours.sym", sym(t, open(t, paths[0], paths[1:]...)))
		found[c.name] = compare(ours, readSym(t, "theirs.sym", theirs))
		order = append(order, c.name)
		if !*update {
			known.check(t, c.name, found[c.name])
		}
	}
	for _, c := range peerCases {
		path := filepath.Join(corpusRoot, c.theirs)
		if tree, rest, _ := strings.Cut(c.theirs, "/"); tree == "core2md" {
			path = unpacked(t, filepath.Join(corpusRoot, made, "core2md/symbols.tar.xz"), "./syms/"+rest)
			if path == "" {
				continue
			}
		}
		theirs, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		run(c, string(theirs))
	}
	if tool, err := exec.LookPath("dump_syms"); err != nil {
		t.Log("*** SKIPPED: dump_syms is not installed: what it says now is not compared")
	} else {
		for _, c := range liveCases {
			theirs, err := exec.Command(tool, "-j1", "--inlines", filepath.Join(corpusRoot, c.files[0])).Output()
			if err != nil {
				t.Errorf("dump_syms %s: %v", c.files[0], err)
				continue
			}
			run(c, string(theirs))
		}
	}
	if *update {
		known.write(t, found, order)
	}
}

// unpacked takes one file out of a .tar.xz; "" where there is nothing to unpack it with.
func unpacked(t testing.TB, archive, member string) string {
	t.Helper()
	dir := t.TempDir()
	if err := exec.Command("tar", "-C", dir, "-xJf", archive, member).Run(); err != nil {
		t.Logf("*** SKIPPED: %s cannot be unpacked: %v", archive, err)
		return ""
	}
	return filepath.Join(dir, member)
}
