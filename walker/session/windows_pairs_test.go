package session_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// windowsFiles are the files of the corpus that belong to Windows modules, by debug id: programs
// and PDBs, and symbol files.
func windowsFiles(t *testing.T) (binaries, syms map[string][]string, dumps []string) {
	t.Helper()
	binaries, syms = map[string][]string{}, map[string][]string{}
	filepath.WalkDir(corpusRoot, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && (d.Name() == "hostile" || d.Name() == "large" || d.Name() == "emulated") {
				return filepath.SkipDir
			}
			return nil
		}
		switch strings.ToLower(filepath.Ext(path)) {
		case ".dmp":
			dumps = append(dumps, path)
		case ".exe", ".dll", ".pdb":
			if b, err := binary.Open(fileSource(t, path)); err == nil {
				id := strings.ToUpper(b.Identity().DebugID)
				binaries[id] = append(binaries[id], path)
			}
		case ".sym":
			f, err := os.Open(path)
			if err != nil {
				return nil
			}
			defer f.Close()
			head := make([]byte, 400)
			n, _ := f.Read(head)
			if w := strings.Fields(string(head[:n])); len(w) > 4 && w[0] == "MODULE" && strings.EqualFold(w[1], "windows") {
				syms[strings.ToUpper(w[3])] = append(syms[strings.ToUpper(w[3])], path)
			}
		}
		return nil
	})
	sort.Strings(dumps)
	return binaries, syms, dumps
}

// trustRank orders how a frame was found, the best first.
var trustRank = map[string]int{"context": 0, "inline": 0, "cfi": 1, "prewalked": 1, "cfi_scan": 2, "frame_pointer": 3, "scan": 4}

// TestWindowsPairs walks each Windows dump of the corpus whose program or PDB is at hand with
// those, and with each symbol file of that build: the stacks with the binaries have as many frames
// in the modules of the program, no frame that is trusted less, and a name wherever the symbol file
// has one.
func TestWindowsPairs(t *testing.T) {
	corpus(t)
	if runtime.GOOS == "js" {
		t.Skip("SKIPPED: it looks through the whole corpus, and is ten times as slow here")
	}
	binaries, syms, dumps := windowsFiles(t)
	pairs := 0
	for _, dump := range dumps {
		src := fileSource(t, dump)
		if src.Size > 16<<20 {
			continue
		}
		d, err := core.Open(src)
		if err != nil || d.OS() != core.Windows {
			continue
		}
		var files []string
		var theirs [][]string
		for i := range d.Modules {
			id := strings.ToUpper(d.Modules[i].DebugID)
			if own := binaries[id]; id != "" && len(own) > 0 {
				files = append(files, own...)
				for _, s := range syms[id] {
					theirs = append(theirs, []string{s})
				}
			}
		}
		if len(files) == 0 {
			continue
		}
		ours := walkedWith(t, dump, files...)
		// The symbol file of the same binaries is always there to compare with.
		first := fileSource(t, files[0])
		var more []*input.Source
		for _, f := range files[1:] {
			more = append(more, fileSource(t, f))
		}
		made := symbolsOfWhatFits(t, append([]*input.Source{first}, more...))
		pairs++
		compareWalks(t, dump+" and its own symbol file", ours, withSymbols(t, dump, input.FromBytes("made.sym", made)))
		for _, s := range theirs {
			pairs++
			compareWalks(t, dump+" and "+s[0], ours, withSymbols(t, dump, fileSource(t, s[0])))
		}
	}
	t.Logf("%d pairs of a dump and a symbol file", pairs)
	if pairs < 5 {
		t.Errorf("only %d pairs of a dump and a symbol file", pairs)
	}
}

// symbolsOfWhatFits is the symbol file of the first binary and of those that belong to it.
func symbolsOfWhatFits(t *testing.T, files []*input.Source) []byte {
	t.Helper()
	b, err := binary.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files[1:] {
		b.Attach(f)
	}
	var text strings.Builder
	if _, err := b.WriteSym(&text, binary.SymOptions{}); err != nil {
		t.Fatal(err)
	}
	return []byte(text.String())
}

func withSymbols(t *testing.T, dump string, sym *input.Source) *report.Report {
	t.Helper()
	s := session.NewFiles(session.Options{})
	s.Add(fileSource(t, dump))
	if it := s.Add(sym)[0]; !it.Usable {
		t.Fatalf("%s: %s", sym.Name, it.Message)
	}
	return s.Report(0)
}

// compareWalks holds a walk with binaries to one with a symbol file.
func compareWalks(t *testing.T, what string, ours, theirs *report.Report) {
	t.Helper()
	for i := range theirs.Threads {
		a, b := ours.Threads[i].Frames, theirs.Threads[i].Frames
		for k := 0; k < min(len(a), len(b)); k++ {
			if a[k].PC != b[k].PC {
				break // what was found with less trust may be another frame
			}
			if trustRank[string(a[k].Trust)] > trustRank[string(b[k].Trust)] {
				t.Errorf("%s: thread %d frame %d: by %s, with the symbol file by %s", what, i, k, a[k].Trust, b[k].Trust)
			}
			if b[k].Function.Raw != "" && a[k].Function.Raw == "" {
				t.Errorf("%s: thread %d frame %d: no name, with the symbol file %s", what, i, k, b[k].Function.Raw)
			}
			if b[k].Line > 0 && a[k].Line == 0 {
				t.Errorf("%s: thread %d frame %d: no line, with the symbol file %s:%d", what, i, k, b[k].File, b[k].Line)
			}
		}
		trusted := func(frames []report.Frame) (n int) {
			for k := range frames {
				if trustRank[string(frames[k].Trust)] > 1 {
					break
				}
				n++
			}
			return n
		}
		if x, y := trusted(a), trusted(b); x < y {
			t.Errorf("%s: thread %d: %d frames from the youngest on are by rules, with the symbol file %d", what, i, x, y)
		}
	}
}
