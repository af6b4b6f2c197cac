package binary_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// pdbCases are PDBs and the symbol files that Breakpad's (with Microsoft's own reader) and
// Mozilla's dump_syms made of them. Those of Breakpad, and older ones, have no inlined calls: their
// lines are those of the calls.
var pdbCases = []peerCase{
	{"breakpad regtest", []string{"winapple/breakpad/dump_syms_regtest.pdb"}, "winapple/breakpad/dump_syms_regtest.sym"},
	{"breakpad omap reordered", []string{"winapple/breakpad/omap_reorder_funcs.pdb"}, "winapple/breakpad/omap_reorder_funcs.sym"},
	{"breakpad omap stretched", []string{"winapple/breakpad/omap_stretched.pdb"}, "winapple/breakpad/omap_stretched.sym"},
	{"symbolic crash", []string{"other/getsentry+symbolic/symbolic-testutils/fixtures/windows/crash.pdb"}, "other/getsentry+symbolic/symbolic-testutils/fixtures/windows/crash.sym"},
	{"mozilla regtest64", []string{"other/mozilla+dump_syms/test_data/windows/dump_syms_regtest64.pdb"}, "other/mozilla+dump_syms/test_data/windows/dump_syms_regtest64.sym"},
	{"zig x64", []string{"other/made-here/zig/t-x86_64-windows-gnu.pdb"}, "other/made-here/zig/t-x86_64-windows-gnu.mozilla.sym"},
	{"debugpy x86", []string{"winapple/debugpy/attach_x86.pdb"}, "winapple/debugpy/attach_x86.mozilla.sym"},
	{"debugpy x64", []string{"winapple/debugpy/inject_dll_amd64.pdb"}, "winapple/debugpy/inject_dll_amd64.mozilla.sym"},
	{"debugpy x86 and program", []string{"winapple/debugpy/attach_x86.dll", "winapple/debugpy/attach_x86.pdb"}, "winapple/debugpy/attach_x86.mozilla.sym"},
	{"debugpy x64 and program", []string{"winapple/debugpy/inject_dll_amd64.pdb", "winapple/debugpy/inject_dll_amd64.exe"}, "winapple/debugpy/inject_dll_amd64.mozilla.sym"},
	{"wine x86", []string{"winapple/wine/chain32-O2.pdb"}, "winapple/wine/chain32-O2.moz.sym"},
	{"wine x64", []string{"winapple/wine/chain64-O2.pdb"}, "winapple/wine/chain64-O2.moz.sym"},
}

func pdbSym(t testing.TB, p *binary.File) string {
	t.Helper()
	var buf bytes.Buffer
	if _, err := p.WriteSym(&buf, binary.SymOptions{}); err != nil {
		t.Fatal(err)
	}
	if w := p.Warnings(); len(w) > 0 {
		t.Errorf("%s: %s", p.Name(), w[0])
	}
	return buf.String()
}

// TestPDBAgainstPeers compares what we write of PDBs with what others wrote, as TestAgainstPeers
// does; and their STACK WIN records, which are to be the same texts. What differs is in
// testdata/pdb-differences.tsv, with a reason.
func TestPDBAgainstPeers(t *testing.T) {
	corpus(t)
	known := readAccepted(t, "testdata/pdb-differences.tsv")
	found := map[string]*differences{}
	var order []string
	for _, c := range pdbCases {
		theirs, err := os.ReadFile(filepath.Join(corpusRoot, c.theirs))
		if err != nil {
			t.Fatal(err)
		}
		ours := readSym(t, "ours.sym", pdbSym(t, c.open(t)))
		other := readSym(t, "theirs.sym", string(theirs))
		other.plain, other.cfi = !strings.Contains(other.text, "\nINLINE "), nil
		d := compare(ours, other)
		compareWin(d, ours, other)
		found[c.name] = d
		order = append(order, c.name)
		if !*update {
			known.check(t, c.name, d)
		}
	}
	if *update {
		known.write(t, found, order)
	}
}

func compareWin(d *differences, ours, theirs *symText) {
	records := func(s *symText) map[string]bool {
		out := map[string]bool{}
		for line := range strings.Lines(s.text) {
			if strings.HasPrefix(line, "STACK WIN ") {
				out[strings.TrimSpace(line)] = true
			}
		}
		return out
	}
	a, b := records(ours), records(theirs)
	for r := range b {
		if !a[r] {
			d.add("STACK WIN of theirs only", "%s", r)
		}
	}
	for r := range a {
		if !b[r] {
			d.add("STACK WIN of ours only", "%s", r)
		}
	}
}

// TestPDBIsItsSym holds lookups in PDBs against the symbol files made of them: at every address the
// same function, line and inlined calls, and the same record for x86 frames.
func TestPDBIsItsSym(t *testing.T) {
	corpus(t)
	for i, c := range pdbCases {
		if runtime.GOOS == "js" && i > 2 {
			break // it is ten times as slow there
		}
		p := c.open(t)
		s := readSym(t, "ours.sym", pdbSym(t, p))
		checked, bad := 0, 0
		pieces(slices.Clone(s.codeAt), func(rva uint64, n int) {
			for _, at := range []uint64{rva, rva + uint64(n) - 1} {
				want, wantAns, _ := s.file.Lookup(at)
				have, ans, err := p.Lookup(at)
				if want.Public || want.Name == "" {
					continue // of what has no end, the two know differently much
				}
				checked++
				same := err == nil && ans == wantAns && have.Name == want.Name && have.Start == want.Start && have.Size == want.Size &&
					fmt.Sprint(linesOf(&have)) == fmt.Sprint(linesOf(&want)) && (!want.HasLine || have.LineStart == want.LineStart)
				// Of functions that became one, a symbol file has the first of the whole file, a
				// PDB that of the module that the code is from.
				if !same && !(want.Multiple || want.Name != have.Name && want.Start == have.Start) {
					if bad++; bad < 6 {
						t.Errorf("%s: %x: %v %+v, its symbol file %v %+v (%v)", c.name, at, ans, have, wantAns, want, err)
					}
				}
				fd, fdAns, err := p.FrameData(at)
				wantFD, wantFDAns, _ := s.file.FrameData(at)
				fd.Origin = wantFD.Origin
				// If entries were moved in pieces, a PDB knows which of two is of the inner one;
				// in a symbol file both are ranges.
				if fd.Program = strings.TrimSpace(fd.Program); err != nil || fdAns != wantFDAns || fd != wantFD && c.name != "breakpad omap stretched" {
					if bad++; bad < 6 {
						t.Errorf("%s: %x: %v %+v, its symbol file %v %+v (%v)", c.name, at, fdAns, fd, wantFDAns, wantFD, err)
					}
				}
			}
		})
		if bad > 0 || checked < 500 {
			t.Errorf("%s: %d of %d addresses differ", c.name, bad, checked)
		}
	}
}

func linesOf(s *symbol.Symbol) (out []string) {
	for _, in := range s.Inlines {
		out = append(out, fmt.Sprintf("%s %s:%d", in.Name, in.File, in.Line))
	}
	if s.Line == 0 { // what has no line, a symbol file has as line 0 of a file without a name where calls are inlined
		return append(out, "no line")
	}
	return append(out, fmt.Sprintf("%s:%d", s.File, s.Line))
}

// TestPDBLive compares PDBs with what Mozilla's dump_syms says now, if it is installed: the
// functions, and how many bytes have another line or other inlined calls.
func TestPDBLive(t *testing.T) {
	corpus(t)
	tool, err := exec.LookPath("dump_syms")
	if err != nil {
		t.Skip("*** SKIPPED: dump_syms is not installed")
	}
	paths, _ := filepath.Glob(filepath.Join(corpusRoot, "winapple/*/*.pdb"))
	for _, path := range paths {
		// Of reordered images Mozilla's tool writes the addresses before the move; Breakpad's
		// goldens hold those (TestPDBAgainstPeers).
		if strings.HasPrefix(filepath.Base(path), "omap_") {
			continue
		}
		theirs, err := exec.Command(tool, "-j1", "--inlines", path).Output()
		if err != nil {
			t.Logf("dump_syms %s: %v", path, err)
			continue
		}
		other := readSym(t, "theirs.sym", string(theirs))
		other.cfi = nil
		d := compare(readSym(t, "ours.sym", pdbSym(t, open(t, path))), other)
		for _, kind := range []string{"function of theirs only", "function of ours only"} {
			if d.count[kind] > 0 {
				t.Errorf("%s: %s: %d\n%s", path, kind, d.count[kind], strings.Join(d.first[kind], "\n"))
			}
		}
	}
}
