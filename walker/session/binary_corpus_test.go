package session_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// binaryCase is a dump with binaries at hand: files of the corpus, and those of this system
// that have the ids of the dump's modules.
type binaryCase struct {
	name, dump string
	files      []string // under the corpus
	system     []string // folders
	// enough is how many of the dump's modules must have a binary, lest the case compare nothing.
	enough int
}

var systemLibs = []string{"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib/chromium"}

var binaryCases = []binaryCase{
	{"mt-core2md", "other/made-here/core2md/mt-core2md.dmp", []string{"other/made-here/core2md/mt"}, systemLibs, 2},
	{"linux-mini", "rust-minidump/dumps/linux-mini.dmp", []string{"other/getsentry+symbolic/symbolic-testutils/fixtures/linux/crash",
		"other/getsentry+symbolic/symbolic-testutils/fixtures/linux/crash.debug"}, nil, 1},
	// The program has 297 MB.
	{"chromium renderer", "chromium/renderer-crash.dmp", nil, systemLibs, 2},
	{"chromium network service", "chromium/network-service-segv.dmp", nil, systemLibs, 2},
}

func fileSource(t *testing.T, path string) *input.Source {
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

// paths are the binaries of a case that are here, and how many modules they are of.
func (c *binaryCase) paths(t *testing.T, s *session.Files) (out []string, modules int) {
	for _, f := range c.files {
		out = append(out, filepath.Join(corpusRoot, f))
	}
	modules = min(len(out), 1)
	for _, m := range s.Session(0).Dump.Modules {
		for _, dir := range c.system {
			path := filepath.Join(dir, report.BaseName(m.Name))
			if st, err := os.Stat(path); err != nil || !st.Mode().IsRegular() {
				continue
			}
			if b, err := binary.Open(fileSource(t, path)); err == nil && b.Identity().DebugID == m.DebugID {
				out = append(out, path)
				modules++
				break
			}
		}
	}
	return out, modules
}

// TestBinaryAlone walks dumps with binaries alone, and with the symbol files made of them: the
// stacks are the same, frame by frame, with their names, lines and inlined calls. gdb's stacks,
// where there are some, are the third witness.
func TestBinaryAlone(t *testing.T) {
	corpus(t)
	known := map[string]*truth{}
	for _, tr := range truths(t) {
		known[tr.name] = &tr
	}
	for _, c := range binaryCases {
		t.Run(c.name, func(t *testing.T) {
			if runtime.GOOS == "js" && strings.HasPrefix(c.name, "chromium") {
				t.Skip("*** SKIPPED: too large for tests in a WebAssembly of little memory")
			}
			with := session.NewFiles(session.Options{OpenBinary: readers.Open})
			with.Add(fileSource(t, filepath.Join(corpusRoot, c.dump)))
			paths, modules := c.paths(t, with)
			if modules < c.enough {
				t.Skipf("*** SKIPPED: only %d binaries of %s's modules are here", modules, c.dump)
			}
			for _, p := range paths {
				if it := with.Add(fileSource(t, p))[0]; !it.Usable {
					t.Errorf("%s: %s", p, it.Message)
				}
			}
			syms := session.NewFiles(session.Options{})
			syms.Add(fileSource(t, filepath.Join(corpusRoot, c.dump)))
			for i := 0; i < len(paths); i++ {
				b, err := binary.Open(fileSource(t, paths[i]))
				if err != nil {
					t.Fatal(err)
				}
				if i+1 < len(paths) { // its debug file follows it
					if took, _ := b.Attach(fileSource(t, paths[i+1])); took {
						i++
					}
				}
				var text bytes.Buffer
				if _, err := b.WriteSym(&text, binary.SymOptions{}); err != nil {
					t.Fatal(err)
				}
				syms.Add(input.FromBytes(b.Identity().Name+".sym", text.Bytes()))
			}
			compareStacks(t, with.Report(0), syms.Report(0))
			if tr := known[c.name]; tr != nil {
				tr.hold(t, with.Report(0))
			}
		})
	}
}

// compareStacks compares two walks. If a symbol table gives sizes, a binary has no name for code
// that no symbol covers; a symbol file, which does not have the sizes, names the nearest export.
func compareStacks(t *testing.T, a, b *report.Report) {
	frames, nearest := 0, 0
	for i := range a.Threads {
		x, y := a.Threads[i].Frames, b.Threads[i].Frames
		for j := range max(len(x), len(y)) {
			if j >= len(x) || j >= len(y) {
				if longer(x, y)[j].Trust == "scan" {
					break
				}
				if j == len(y) && x[j].Trust == "frame_pointer" {
					break // a chain's last frame needs a call before its return address, which is in the binary
				}
				t.Errorf("thread %d: %d frames with the binaries, %d with symbol files", i, len(x), len(y))
				break
			}
			f, g := &x[j], &y[j]
			if f.Trust == "scan" || g.Trust == "scan" {
				break // a scan believes words by the names that they lead to
			}
			frames++
			if !f.HasFunction && g.HasFunction && g.Public {
				nearest++
				g.Function, g.FunctionStart, g.HasFunction, g.Public = f.Function, f.FunctionStart, false, false
			}
			if f.PC != g.PC || f.Trust != g.Trust || f.Function.Raw != g.Function.Raw || f.File != g.File || f.Line != g.Line || len(f.Inlines) != len(g.Inlines) {
				t.Errorf("thread %d frame %d: with the binary %x %s %s %s:%d, with the symbol file %x %s %s %s:%d", i, j,
					f.PC, f.Trust, f.Function.Raw, f.File, f.Line, g.PC, g.Trust, g.Function.Raw, g.File, g.Line)
				break
			}
			for k := range f.Inlines {
				f.Inlines[k].Function.Linked = false // in a symbol file it never is
				if f.Inlines[k] != g.Inlines[k] {
					t.Errorf("thread %d frame %d: inlined %+v, in the symbol file %+v", i, j, f.Inlines[k], g.Inlines[k])
				}
			}
			if f.Trust == "cfi" && !strings.Contains(f.Origin, "_frame+0x") && !strings.Contains(f.Origin, ".pdb frame data") && !strings.Contains(f.Origin, ".pdb FPO") {
				t.Errorf("thread %d frame %d: its rules come from %q", i, j, f.Origin)
			}
		}
	}
	t.Logf("%d threads, %d frames the same; %d have the name of the nearest export in the symbol file alone", len(a.Threads), frames, nearest)
}

func longer(x, y []report.Frame) []report.Frame {
	if len(x) > len(y) {
		return x
	}
	return y
}

// hold compares a walk with the frames that gdb found.
func (tr *truth) hold(t *testing.T, r *report.Report) {
	threads, equal := 0, 0
	for i := range r.Threads {
		th := &r.Threads[i]
		want, ok := tr.frames[th.ID]
		if !ok {
			continue
		}
		threads++
		good := true
		for j, w := range want {
			if j >= len(th.Frames) || th.Frames[j].PC != w.pc || th.Frames[j].Regs.SP() != w.sp {
				t.Errorf("thread %d frame %d: gdb has pc 0x%x sp 0x%x (%s)", th.ID, j, w.pc, w.sp, w.name)
				good = false
				break
			}
		}
		if good {
			equal++
		}
	}
	t.Logf("%d of %d threads are gdb's", equal, threads)
}
