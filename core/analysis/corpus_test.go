package analysis

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
)

// corpusRoot is the folder of other projects' dumps beside the repository.
const corpusRoot = "../../../shared/corpus"

// corpusDumps finds the dumps, and gives each with the name of its golden without ".rust.json".
func corpusDumps(t testing.TB) map[string]string {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("SKIPPED: the corpus is compared natively only")
	}
	if _, err := os.Stat(corpusRoot); err != nil {
		t.Skip("SKIPPED: there is no corpus beside the repository; NOTHING was compared with rust-minidump")
	}
	found := map[string]string{}
	for _, pattern := range []string{"*/dumps/*.dmp", "chromium/*.dmp", "large/*.dmp", "other/*/*/*.dmp"} {
		dumps, _ := filepath.Glob(filepath.Join(corpusRoot, pattern))
		for _, dump := range dumps {
			name := strings.TrimSuffix(filepath.Base(dump), ".dmp")
			for _, golden := range []string{filepath.Join(corpusRoot, "golden", name), strings.TrimSuffix(dump, ".dmp"), filepath.Join(corpusRoot, "large/golden", name+".mozilla")} {
				for _, end := range []string{"", ".gz"} {
					if _, err := os.Stat(golden + ".rust.json" + end); err == nil {
						found[dump] = golden + ".rust.json" + end
					}
				}
			}
		}
	}
	return found
}

func openDump(t testing.TB, path string) *core.Dump {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	d, err := core.Open(input.New(path, bytes.NewReader(raw), int64(len(raw))))
	if err != nil {
		return nil
	}
	return d
}

// TestCorpusRust compares Result.Rust with what rust-minidump printed of every dump of the corpus.
func TestCorpusRust(t *testing.T) {
	dumps, fields := 0, 0
	for path, golden := range corpusDumps(t) {
		d := openDump(t, path)
		if d == nil || d.Exception == nil {
			continue
		}
		dumps++
		f, err := os.Open(golden)
		if err != nil {
			t.Fatal(err)
		}
		var r io.Reader = f
		if strings.HasSuffix(golden, ".gz") {
			if r, err = gzip.NewReader(f); err != nil {
				t.Fatal(err)
			}
		}
		var want struct {
			Crash map[string]any `json:"crash_info"`
		}
		if err := json.NewDecoder(r).Decode(&want); err != nil {
			t.Fatal(err)
		}
		f.Close()
		digits := 16
		if a := d.Arch(); a != nil && a.WordSize == 4 {
			digits = 8
		}
		for key, got := range rustFields(&Analyze(d).Rust, digits) {
			fields++
			if !reflect.DeepEqual(got, want.Crash[key]) {
				t.Errorf("%s %s\n  ours   %v\n  golden %v", filepath.Base(path), key, got, want.Crash[key])
			}
		}
	}
	t.Logf("%d dumps, %d fields of crash_info", dumps, fields)
	if dumps < 40 {
		t.Errorf("only %d dumps have an exception and a golden", dumps)
	}
}

// rustFields puts a Rust into the form of its JSON.
func rustFields(r *Rust, digits int) map[string]any {
	hex := func(v uint64) string { return fmt.Sprintf("0x%0*x", digits, v) }
	out := map[string]any{"instruction": nil, "memory_accesses": nil, "adjusted_address": nil, "instruction_pointer_update": nil,
		"possible_bit_flips": nil}
	inconsistencies := []any{}
	for _, s := range r.Inconsistencies {
		inconsistencies = append(inconsistencies, s)
	}
	out["crash_inconsistencies"] = inconsistencies
	if r.Instruction != "" {
		out["instruction"] = r.Instruction
	}
	if r.HasAccesses {
		list := []any{}
		for _, a := range r.Accesses {
			m := map[string]any{"address": hex(a.Address), "size": nil}
			if a.Size != nil {
				m["size"] = float64(*a.Size)
			}
			if a.Type != "" {
				m["access_type"] = a.Type
			}
			if a.Guard {
				m["is_likely_guard_page"] = true
			}
			list = append(list, m)
		}
		out["memory_accesses"] = list
	}
	if a := r.Adjusted; a != nil {
		m := map[string]any{"kind": string(a.Kind), "address": hex(a.Address)}
		if a.Kind == NullPointer {
			m = map[string]any{"kind": string(a.Kind), "offset": hex(a.Address)}
		}
		out["adjusted_address"] = m
	}
	if r.Jump != nil {
		out["instruction_pointer_update"] = map[string]any{"address": hex(*r.Jump)}
	}
	if len(r.BitFlips) > 0 {
		list := []any{}
		for _, f := range r.BitFlips {
			m := map[string]any{"address": hex(f.Address), "confidence": float64(f.Confidence), "source_register": nil,
				"details": map[string]any{"is_null": f.Details.IsNull, "was_low": f.Details.WasLow, "was_non_canonical": f.Details.WasNonCanonical,
					"nearby_registers": float64(f.Details.Nearby), "poison_registers": f.Details.Poison}}
			if f.Register != "" {
				m["source_register"] = f.Register
			}
			list = append(list, m)
		}
		out["possible_bit_flips"] = list
	}
	return out
}
