package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/signature"
)

// siggen is Mozilla's signature generation, the oracle of ours.
const siggen = "siggen==2.2.20241029"

// oracleScript normalizes the frames of its input, a list of [function, file, line], and makes the
// signatures of the stacks.
const oracleScript = `
import json, os, sys, siggen
from siggen.generator import SignatureGenerator
from siggen.rules import CSignatureTool
data = json.load(sys.stdin)
tool, make = CSignatureTool(), SignatureGenerator()
print(json.dumps({
    "lists": os.path.join(os.path.dirname(siggen.__file__), "siglists"),
    "words": [tool.normalize_frame(function=f, file=p, line=n) for f, p, n in data["frames"]],
    "signatures": [make.generate(c).signature for c in data["crashes"]],
}))
`

// oraclePython is the environment of a Python that has siggen, which is installed into a temporary
// folder if it is not there.
func oraclePython(t *testing.T) []string {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("SKIPPED: siggen is asked natively only")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("SKIPPED: there is no python3; NO signature was compared with siggen's")
	}
	if exec.Command(python, "-c", "import siggen").Run() == nil {
		return os.Environ()
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, "-m", "pip", "install", "--quiet", "--target", dir, siggen).CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: %s cannot be installed (%v: %s); NO signature was compared with it", siggen, err, out)
	}
	return append(os.Environ(), "PYTHONPATH="+dir)
}

// oracleFrame is a frame of rust-minidump's JSON, which siggen reads.
type oracleFrame struct {
	Module, Function, File *string
	Line                   *uint32
	Offset                 string
	Inlines                []struct {
		Function, File *string
		Line           *uint32
	}
	Unloaded []struct{ Module string } `json:"unloaded_modules"`
}

// TestSiggen: with its lists our signatures are siggen's, for every dump with a golden, and so are
// the words of every function of every symbol file.
func TestSiggen(t *testing.T) {
	const root = "../../../../shared/corpus"
	if _, err := os.Stat(root); err != nil {
		t.Skip("SKIPPED: there is no corpus next to the repository; NO signature was compared with siggen's")
	}
	environ := oraclePython(t)
	names := corpusFunctions(t, root)
	type oracleCrash struct {
		OS      string          `json:"os"`
		Reason  string          `json:"reason"`
		Thread  *int            `json:"crashing_thread"`
		Threads json.RawMessage `json:"threads"`
	}
	var in struct {
		Frames  [][3]any      `json:"frames"`
		Crashes []oracleCrash `json:"crashes"`
	}
	var frames []signature.Frame
	for i, name := range names {
		f := signature.Frame{Function: name, File: []string{"", "/src/a.rs", "hg:hg.mozilla.org/x:a.cpp:1"}[i%3], Line: uint32(i % 7)}
		line := any(f.Line)
		if f.Line == 0 {
			line = nil
		}
		frames = append(frames, f)
		in.Frames = append(in.Frames, [3]any{f.Function, f.File, line})
	}
	var crashes []signature.Crash
	goldens, _ := filepath.Glob(filepath.Join(root, "golden", "*.rust.json"))
	for _, path := range goldens {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var j struct {
			Info struct {
				Thread *int    `json:"crashing_thread"`
				Type   *string `json:"type"`
			} `json:"crash_info"`
			System  struct{ OS string } `json:"system_info"`
			Threads []struct {
				Frames    []oracleFrame
				LastError *string `json:"last_error_value"`
			}
		}
		var raws struct{ Threads json.RawMessage }
		if json.Unmarshal(raw, &j) != nil || json.Unmarshal(raw, &raws) != nil || len(j.Threads) == 0 {
			continue
		}
		thread := 0
		if j.Info.Thread != nil {
			thread = *j.Info.Thread
		}
		c := signature.Crash{Reason: orEmpty(j.Info.Type), LastError: orEmpty(j.Threads[thread].LastError)}
		for _, f := range j.Threads[thread].Frames {
			c.Frames = append(c.Frames, f.calls(j.System.OS == "Windows NT")...)
		}
		crashes = append(crashes, c)
		in.Crashes = append(in.Crashes, oracleCrash{j.System.OS, c.Reason, j.Info.Thread, raws.Threads})
	}
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("python3", "-c", oracleScript)
	cmd.Env, cmd.Stdin, cmd.Stderr = environ, bytes.NewReader(input), os.Stderr
	answer, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var want struct {
		Lists             string
		Words, Signatures []string
	}
	if err := json.Unmarshal(answer, &want); err != nil {
		t.Fatal(err)
	}
	lists, err := readSignatureLists(want.Lists)
	if err != nil {
		t.Fatal(err)
	}
	wrong := 0
	for i := range frames {
		if have := frames[i].Word(lists); have != want.Words[i] {
			if wrong++; wrong <= 20 {
				t.Errorf("%q in %q:\n have %q\n want %q", frames[i].Function, frames[i].File, have, want.Words[i])
			}
		}
	}
	for i := range crashes {
		if have := signature.Of(&crashes[i], lists); have != want.Signatures[i] {
			t.Errorf("%s:\n have %q\n want %q", filepath.Base(goldens[i]), have, want.Signatures[i])
		}
	}
	if len(frames) < 100_000 || len(crashes) < 30 {
		t.Errorf("%d names and %d crashes were compared; the corpus has more", len(frames), len(crashes))
	}
	t.Logf("%d names, %d differ; %d crashes", len(frames), wrong, len(crashes))
}

func orEmpty(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func (f *oracleFrame) calls(windows bool) (out []signature.Frame) {
	number := func(n *uint32) uint32 {
		if n == nil {
			return 0
		}
		return *n
	}
	own := signature.Frame{Module: orEmpty(f.Module), Function: orEmpty(f.Function), File: orEmpty(f.File), Line: number(f.Line)}
	own.Offset, _ = strconv.ParseUint(f.Offset, 0, 64)
	if windows {
		own.Module = strings.ToLower(own.Module)
	}
	for _, in := range f.Inlines {
		call := own
		call.Function, call.File, call.Line = orEmpty(in.Function), orEmpty(in.File), number(in.Line)
		out = append(out, call)
	}
	if len(f.Unloaded) > 0 {
		own.Unloaded = f.Unloaded[0].Module
	}
	return append(out, own)
}

// corpusFunctions are the names of functions in the corpus' symbol files, each once.
func corpusFunctions(t *testing.T, root string) (names []string) {
	t.Helper()
	seen := map[string]bool{}
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		packed := strings.HasSuffix(path, ".sym.gz")
		if err != nil || d.IsDir() || !packed && !strings.HasSuffix(path, ".sym") || strings.Contains(path, "/hostile/") {
			return err
		}
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		var r io.Reader = f
		if packed {
			if r, err = gzip.NewReader(f); err != nil {
				return err
			}
		}
		lines := bufio.NewScanner(r)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			line := strings.ToValidUTF8(strings.TrimRight(lines.Text(), "\r"), "?")
			skip := map[string]int{"FUNC": 4, "PUBLIC": 3, "INLINE_ORIGIN": 2}
			kind, rest, _ := strings.Cut(line, " ")
			fields, ok := skip[kind]
			if !ok {
				continue
			}
			if strings.HasPrefix(rest, "m ") {
				rest = rest[2:]
			}
			for ; fields > 1; fields-- {
				_, rest, _ = strings.Cut(rest, " ")
			}
			if rest != "" && !seen[rest] {
				seen[rest] = true
				names = append(names, rest)
			}
		}
		return lines.Err()
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}
