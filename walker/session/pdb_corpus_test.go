package session_test

import (
	"bytes"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
)

// TestPDBAlone walks dumps of Windows programs with their PDBs alone, and with the symbol files
// made of them: the stacks are the same, frame by frame, with names, lines and inlined calls; those
// of x86 come from the PDB's frame data.
func TestPDBAlone(t *testing.T) {
	corpus(t)
	cases := []struct{ dumps, pdb string }{
		{"wine/chain32-O2.cv.dmp", "wine/chain32-O2.pdb"},
		{"wine/chain64-O2.cv.dmp", "wine/chain64-O2.pdb"},
		{"emulated/deep-i686-O0/*.dmp", "emulated/deep-i686-O0.pdb"},
		{"emulated/deep-i686-O2/*.dmp", "emulated/deep-i686-O2.pdb"},
	}
	for _, c := range cases {
		dumps, err := filepath.Glob(filepath.Join(corpusRoot, "winapple", c.dumps))
		if err != nil || len(dumps) == 0 {
			t.Fatalf("no dumps %s (%v)", c.dumps, err)
		}
		if runtime.GOOS == "js" {
			dumps = dumps[:min(len(dumps), 3)]
		}
		path := filepath.Join(corpusRoot, "winapple", c.pdb)
		p, err := binary.Open(fileSource(t, path))
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := p.WriteSym(&text, binary.SymOptions{}); err != nil {
			t.Fatal(err)
		}
		byRules := 0
		for _, dump := range dumps {
			with := session.NewFiles(session.Options{OpenBinary: readers.Open})
			with.Add(fileSource(t, dump))
			if it := with.Add(fileSource(t, path))[0]; !it.Usable || it.Message != "" {
				t.Fatalf("%s: %s", path, it.Message)
			}
			syms := session.NewFiles(session.Options{})
			syms.Add(fileSource(t, dump))
			syms.Add(input.FromBytes("made.sym", text.Bytes()))
			report := with.Report(0)
			compareStacks(t, report, syms.Report(0))
			for _, th := range report.Threads {
				for _, f := range th.Frames {
					if f.Trust == "cfi" {
						byRules++
					}
				}
			}
		}
		if x86 := !strings.Contains(c.pdb, "64"); (byRules >= len(dumps)) != x86 {
			t.Errorf("%s: %d frames of %d dumps are by frame data", c.pdb, byRules, len(dumps))
		}
	}
}
