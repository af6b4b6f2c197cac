package reason

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
)

// corpus holds dumps with the outputs of both tools; it is not part of the repository.
const corpus = "../../../shared/corpus"

// golden is what the two tools say about one dump.
type golden struct {
	dump, rust, machine string // file names
}

// goldens pairs every dump of the corpus with the outputs of its name.
func goldens(t *testing.T) []golden {
	var out []golden
	outputs := map[string][2]string{} // dump's base name → rust json, Breakpad machine text
	err := filepath.Walk(corpus, func(path string, info os.FileInfo, err error) error {
		if err != nil {
			return err
		}
		base := filepath.Base(path)
		for i, suffix := range []string{".rust.json", ".breakpad-m.txt"} {
			if stem, ok := strings.CutSuffix(strings.TrimSuffix(base, ".gz"), suffix); ok {
				// The large case has an output for each of its two symbol files; the reason is the
				// same.
				stem = strings.TrimSuffix(stem, ".mozilla")
				o := outputs[stem]
				o[i] = path
				outputs[stem] = o
			}
		}
		return nil
	})
	if err != nil {
		t.Skipf("SKIPPED: the corpus of dumps is not at %s: nothing was compared with the peers (%v)", corpus, err)
	}
	err = filepath.Walk(corpus, func(path string, info os.FileInfo, err error) error {
		if err == nil && strings.HasSuffix(path, ".dmp") {
			stem := strings.TrimSuffix(filepath.Base(path), ".dmp")
			if o, ok := outputs[stem]; ok {
				out = append(out, golden{path, o[0], o[1]})
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// readGolden reads a file that may be compressed.
func readGolden(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}

// TestGoldens compares words and addresses with both tools for every dump that they could read.
func TestGoldens(t *testing.T) {
	var dumps, texts, rust, breakpad, lastErrors int
	for _, g := range goldens(t) {
		data, err := os.ReadFile(g.dump)
		if err != nil {
			t.Fatal(err)
		}
		if !core.IsMinidump(data) {
			texts++ // a microdump, which Breakpad reads with another tool
			continue
		}
		d, err := core.Open(input.FromBytes(g.dump, data))
		if err != nil {
			// The tools have no output for what they cannot read; if they have, we must read it
			// too.
			t.Errorf("%s: %v", g.dump, err)
			continue
		}
		dumps++
		r := Decode(d)
		if g.machine != "" {
			if compareBreakpad(t, g, r, d) {
				breakpad++
			}
		}
		if g.rust != "" {
			n, ok := compareRust(t, g, r, d)
			lastErrors += n
			if ok {
				rust++
			}
		}
		t.Logf("%s: %s", filepath.Base(g.dump), r.Text)
	}
	t.Logf("%d dumps: reason and address compared with rust-minidump for %d, with Breakpad for %d; %d last errors; %d microdumps left out",
		dumps, rust, breakpad, lastErrors, texts)
	if dumps == 0 {
		t.Error("the corpus is there, but no dump of it was compared")
	}
}

// compareBreakpad reads the line Crash|reason|0xaddress|thread; "No crash" and assertions stand
// there without an address.
func compareBreakpad(t *testing.T, g golden, r Reason, d *core.Dump) bool {
	text, err := readGolden(g.machine)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(text), "\n") {
		f := strings.Split(line, "|")
		if f[0] != "Crash" || len(f) < 4 {
			continue
		}
		if f[2] == "" {
			if d.Exception != nil {
				t.Errorf("%s: Breakpad says %q, we have an exception", g.dump, f[1])
			}
			return true
		}
		if have := fmt.Sprintf("0x%x", r.Address); have != f[2] || strings.ReplaceAll(r.Breakpad, "|", "") != f[1] {
			t.Errorf("%s: Breakpad says %q %s, we say %q %s", g.dump, f[1], f[2], r.Breakpad, have)
		}
		return true
	}
	return false
}

// compareRust reads crash_info and every thread's last_error_value.
func compareRust(t *testing.T, g golden, r Reason, d *core.Dump) (lastErrors int, compared bool) {
	text, err := readGolden(g.rust)
	if err != nil {
		t.Fatal(err)
	}
	var j struct {
		Crash struct {
			Type    *string `json:"type"`
			Address *string `json:"address"`
		} `json:"crash_info"`
		Threads []struct {
			ID        uint32  `json:"thread_id"`
			LastError *string `json:"last_error_value"`
		} `json:"threads"`
	}
	if err := json.Unmarshal(text, &j); err != nil {
		t.Logf("%s: no JSON in %s", g.dump, g.rust)
		return 0, false
	}
	if j.Crash.Type == nil {
		if d.Exception != nil {
			t.Errorf("%s: rust-minidump sees no exception, we do", g.dump)
		}
	} else {
		addr, err := strconv.ParseUint(*j.Crash.Address, 0, 64)
		if err != nil {
			t.Fatalf("%s: %v", g.rust, err)
		}
		if r.Rust != *j.Crash.Type || r.RustAddress != addr {
			t.Errorf("%s: rust-minidump says %q %#x, we say %q %#x", g.dump, *j.Crash.Type, addr, r.Rust, r.RustAddress)
		}
	}
	for i, th := range j.Threads {
		value, ok := LastErrorAt(d, i)
		switch {
		case ok != (th.LastError != nil):
			t.Errorf("%s: thread %d: last error %v, rust-minidump %v", g.dump, i, ok, th.LastError)
		case ok:
			lastErrors++
			if LastError(value) != *th.LastError {
				t.Errorf("%s: thread %d: last error %s, want %s", g.dump, i, LastError(value), *th.LastError)
			}
		}
	}
	return lastErrors, true
}
