package session_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// corpusRoot is the folder of dumps and goldens next to the repository. It is large and has licences
// of its own, so the repository does not carry it; without it these tests have nothing to do.
const corpusRoot = "../../../shared/corpus"

// parityCase is a dump with the symbols that its goldens were made with.
type parityCase struct {
	name    string
	dump    string
	symbols []string // folders in store layout, or symbol files
	golden  string   // of the goldens, without ".breakpad.txt", ".breakpad-m.txt" and ".rust.json"
}

// corpus finds every dump with goldens.
func corpus(t *testing.T) []parityCase {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("SKIPPED: the corpus of the reference tools is compared natively only; under js/wasm it would take minutes")
	}
	if _, err := os.Stat(corpusRoot); err != nil {
		t.Skip("SKIPPED: there is no corpus next to the repository; NOTHING was compared with Breakpad and rust-minidump")
	}
	at := func(parts ...string) string { return filepath.Join(append([]string{corpusRoot}, parts...)...) }
	var cases []parityCase
	for _, from := range []struct {
		folder  string
		symbols []string
	}{
		{"breakpad", []string{at("breakpad/symbols")}},
		{"rust-minidump", []string{at("rust-minidump/symbols"), at("symbolic/symbols")}},
		{"symbolic", []string{at("symbolic/symbols")}},
		{"derived", []string{at("breakpad/symbols")}},
	} {
		dumps, _ := filepath.Glob(at(from.folder, "dumps", "*.dmp"))
		for _, d := range dumps {
			name := strings.TrimSuffix(filepath.Base(d), ".dmp")
			cases = append(cases, parityCase{name, d, from.symbols, at("golden", name)})
		}
	}
	inline := at("breakpad/dumps/linux_inline.dmp")
	cases = append(cases,
		parityCase{"linux_inline.old-inline", inline, []string{at("breakpad/symbols-old-inline")}, at("golden/linux_inline.old-inline")},
		parityCase{"linux_inline.newline", inline, []string{at("breakpad/symbols-newline")}, at("golden/linux_inline.newline")},
		parityCase{"bigcrash.mozilla", at("large/bigcrash.dmp"), []string{at("large/bigcrash.mozilla.sym.gz"), at("large/libs")}, at("large/golden/bigcrash.mozilla")},
		parityCase{"bigcrash.breakpad", at("large/bigcrash.dmp"), []string{at("large/bigcrash.breakpad.sym.gz"), at("large/libs")}, at("large/golden/bigcrash.breakpad")},
	)
	if syms := unpacked(t, at("chromium/symbols.tar.xz")); syms != "" {
		for _, name := range []string{"network-service-segv", "renderer-crash"} {
			cases = append(cases, parityCase{name, at("chromium", name+".dmp"), []string{syms}, at("chromium", name)})
		}
	}
	if syms := unpacked(t, at("other/made-here/wine/symbols.tar.xz")); syms != "" {
		cases = append(cases, parityCase{"crash64c-cv", at("other/made-here/wine/crash64c-cv.dmp"),
			[]string{filepath.Join(syms, "syms")}, at("other/made-here/wine/crash64c-cv")})
	}
	return cases
}

// unpacked is a temporary folder with the contents of a .tar.xz. There is no reader of xz in the
// standard library, and the tests need no other module for the sake of two archives.
func unpacked(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	if out, err := exec.Command("tar", "-xJf", archive, "-C", dir).CombinedOutput(); err != nil {
		t.Logf("SKIPPED: %s could not be unpacked (%v: %s); its dumps are not compared", archive, err, out)
		return ""
	}
	return dir
}

// anyCPU asks walked for reports of every processor.
const anyCPU = "any"

// walked opens a case with a policy; nil for files that are not minidumps or have none of the
// compared processors, which also adds to.
func (c *parityCase) walked(t *testing.T, p walker.Policy, also ...string) *report.Report {
	_, r := c.opened(t, p, also...)
	return r
}

// opened is walked with the session.
func (c *parityCase) opened(t *testing.T, p walker.Policy, also ...string) (*session.Files, *report.Report) {
	t.Helper()
	return c.openedBy(t, session.Options{Policy: p}, also...)
}

// openedBy is opened with other options than a policy.
func (c *parityCase) openedBy(t *testing.T, opt session.Options, also ...string) (*session.Files, *report.Report) {
	t.Helper()
	s := session.NewFiles(opt)
	add := func(path string) {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { f.Close() })
		st, err := f.Stat()
		if err != nil {
			t.Fatal(err)
		}
		src := input.New(path, f, st.Size())
		src.Parallel = true
		s.Add(src)
	}
	add(c.dump)
	r := s.Report(0)
	if r == nil {
		return nil, nil
	}
	cpus := append([]string{"x86", "amd64", "arm", "arm64"}, also...)
	if !slices.Contains(cpus, r.System.CPU) && !slices.Contains(also, anyCPU) {
		return nil, nil
	}
	for _, from := range c.symbols {
		if st, err := os.Stat(from); err == nil && !st.IsDir() {
			add(from)
			continue
		}
		for i := range r.Modules {
			m := &r.Modules[i]
			path := report.StorePath(m.DebugFile, m.DebugID)
			if path == "" {
				continue
			}
			if path = filepath.Join(from, filepath.FromSlash(path)); exists(path) {
				add(path)
			}
		}
	}
	return s, s.Report(0)
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
