package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// TestMemoryCommand: memory of the sample's stack, by bytes, by words and as JSON, and what is found.
func TestMemoryCommand(t *testing.T) {
	dump := filepath.Join(sample, "tilecruncher.dmp")
	syms, _ := filepath.Glob(filepath.Join(sample, "*.sym*"))
	run := func(args ...string) string {
		t.Helper()
		code, out, stderr := crashpane(args...)
		if code != exitOK || stderr != "" {
			t.Fatalf("%v: exit %d, %s", args, code, stderr)
		}
		return out
	}
	if got, want := run("memory", "--size", "16", dump, "0x7f7569879e38"), "0x7f7569879e38  f6 87 f6 e8 76 55 00 00  78 9e 87 69 75 7f 00 00  ....vU..x..iu...\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	words := run(append([]string{"memory", "--size", "48", "--words", dump, "7f7569879e38"}, syms...)...)
	for _, want := range []string{"_M_invoke(std::_Any_data const&) + 0x563\n", "stack of thread 5, frame 1\n", "stack of thread 0, frame 2\n"} {
		if !strings.Contains(words, want) {
			t.Errorf("no %q in\n%s", want, words)
		}
	}
	var m struct {
		Rows []struct {
			Bytes, From string
			Words       []struct {
				Value  string
				Thread *int
				Text   *string
			}
		}
	}
	if err := json.Unmarshal([]byte(run("memory", "--size", "16", "--format", "json", dump, "7f7569879e38")), &m); err != nil ||
		len(m.Rows) != 1 || m.Rows[0].From != "dump" || len(m.Rows[0].Words) != 2 || *m.Rows[0].Words[1].Thread != 5 || m.Rows[0].Words[1].Text != nil {
		t.Errorf("%v %+v", err, m)
	}
	if got := run("memory", "--find", "pointer:7f755400ba80", dump); strings.Count(got, "  stack of thread 5\n") < 3 {
		t.Error(got)
	}
	if got := run("memory", "--find", "hex:f687f6e876550000", dump); !strings.Contains(got, "0x7f7569879e38  ") {
		t.Error(got)
	}
	for _, wrong := range [][]string{{dump}, {dump, "main"}, {"--size", "0", dump, "0"}, {"--find", "word:x", dump}, {"--find", "hex:zz", dump}, {"--find", "text:", dump}} {
		if code, _, stderr := crashpane(append([]string{"memory"}, wrong...)...); code == exitOK || stderr == "" {
			t.Errorf("%v: exit %d, %q", wrong, code, stderr)
		}
	}
}
