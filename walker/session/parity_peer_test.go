package session_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
)

// peerVersion is the release of rust-minidump that the policy of its name follows.
const peerVersion = "0.27.0"

// TestPeer runs rust-minidump over every dump of the corpus and over ours, and compares its JSON
// with ours with its policy, field by field. TestOutputRust compares stored outputs.
func TestPeer(t *testing.T) {
	tool, err := exec.LookPath("minidump-stackwalk")
	if err != nil {
		t.Skip("SKIPPED: minidump-stackwalk is not in PATH; NOTHING was compared with rust-minidump itself")
	}
	if out, err := exec.Command(tool, "--version").Output(); err != nil || !strings.Contains(string(out), peerVersion) {
		t.Skipf("SKIPPED: %s is %q, not %s; NOTHING was compared with rust-minidump itself", tool, out, peerVersion)
	}
	cmp := newFieldComparison(t)
	cmp.all = true
	for _, c := range append(corpus(t), otherDumps(t)...) {
		theirs, symbols := runPeer(t, tool, &c)
		if !symbols {
			continue
		}
		var ours bytes.Buffer
		if r := c.walked(t, walker.RustMinidump, anyCPU); r != nil {
			if err := jsonreport.Write(&ours, r, jsonreport.Options{}); err != nil {
				t.Fatal(err)
			}
		}
		cmp.dump(t, c.name, ours.Bytes(), theirs)
	}
	cmp.finish(t)
}

// runPeer returns the JSON of minidump-stackwalk, or its error. It returns false for symbols that
// it does not read as they are stored: packed ones.
func runPeer(t *testing.T, tool string, c *parityCase) ([]byte, bool) {
	t.Helper()
	args := append([]string{"--json", "--no-color", "--no-interactive", c.dump}, c.symbols...)
	for _, s := range c.symbols {
		if strings.HasSuffix(s, ".gz") {
			return nil, false
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, tool, args...)
	var out, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &stderr
	if err := cmd.Run(); err != nil {
		// It writes one line: "ERROR HeaderMismatch - Error reading dump: …".
		if words := strings.Fields(stderr.String()); len(words) > 1 && words[0] == "ERROR" {
			return []byte(words[1]), true
		}
		t.Fatalf("%s of %s: %v: %s", tool, c.name, err, stderr.String())
	}
	return out.Bytes(), true
}

// otherDumps are the dumps without stored outputs: those of the corpus, named by their paths in it,
// and this repository's. A dump's symbols are the .sym files of its folder. Left out are the folders
// that the corpus says are not its dumps; rust-minidump would need many gigabytes for some of them.
func otherDumps(t *testing.T) []parityCase {
	t.Helper()
	stored := map[string]bool{}
	for _, c := range corpus(t) {
		stored[filepath.Clean(c.dump)] = true
	}
	var cases []parityCase
	for _, root := range []string{corpusRoot, "../../testdata"} {
		err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				if d != nil && (d.Name() == "hostile" || d.Name() == "emulated") {
					return filepath.SkipDir
				}
				return err
			}
			dump := path
			if packed, ok := strings.CutSuffix(path, ".xz"); ok && filepath.Ext(packed) == ".dmp" {
				if dump = unxz(t, path); dump == "" {
					return nil
				}
			} else if filepath.Ext(path) != ".dmp" || stored[filepath.Clean(path)] {
				return nil
			}
			name, err := filepath.Rel(root, path)
			name, _, _ = strings.Cut(filepath.ToSlash(name), ".dmp")
			cases = append(cases, parityCase{name: name, dump: dump, symbols: []string{symbolStore(t, path)}})
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return cases
}

// unxz unpacks a file, or returns "".
func unxz(t *testing.T, path string) string {
	t.Helper()
	data, err := exec.Command("xz", "-dc", path).Output()
	if err != nil {
		t.Logf("SKIPPED: %s could not be unpacked: %v", path, err)
		return ""
	}
	out := filepath.Join(t.TempDir(), "unpacked.dmp")
	if err := os.WriteFile(out, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return out
}

// symbolStore lays the .sym files of a dump's folder out as both tools look for them. Of two for the
// same module the one is taken whose name is more like the dump's.
func symbolStore(t *testing.T, dump string) string {
	t.Helper()
	store := t.TempDir()
	files, _ := filepath.Glob(filepath.Join(filepath.Dir(dump), "*.sym"))
	like := map[string]int{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		line, _, _ := bytes.Cut(data, []byte("\n"))
		words := strings.Fields(string(line)) // MODULE os cpu id name
		if len(words) != 5 || words[0] != "MODULE" {
			continue
		}
		path := filepath.Join(store, filepath.FromSlash(report.StorePath(words[4], words[3])))
		n := commonPrefix(filepath.Base(f), filepath.Base(dump))
		if had, ok := like[path]; ok && had >= n {
			continue
		}
		like[path] = n
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

// commonPrefix returns how many bytes two strings begin with alike.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}
