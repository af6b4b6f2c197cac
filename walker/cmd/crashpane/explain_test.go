package main

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
)

// sampleArgs are the sample's dump and symbols after a command.
func sampleArgs(args ...string) []string {
	files, _ := filepath.Glob(filepath.Join(sample, "*.sym*"))
	return append(append(args, filepath.Join(sample, "tilecruncher.dmp")), files...)
}

func TestExplainCommand(t *testing.T) {
	code, out, stderr := crashpane(sampleArgs("explain", "--frame", "1")...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"(crashed), frame 1: ", "Found by unwind rules (CFI), ", ".sym", " line ", ".cfa: $r", ".ra:  [cfa − 8]",
		"word at 0x", "Checks: in module ", "stack moved up ", "Record:\n  line ", "STACK CFI INIT ", "→"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	// All frames, and at the end why there are no more.
	code, all, _ := crashpane(sampleArgs("explain")...)
	if code != exitOK || !strings.Contains(all, out) || !strings.Contains(all, "frame 0: ") || !strings.Contains(all, "No frame follows: ") {
		t.Errorf("exit %d, %s", code, all)
	}
}

func TestExplainJSON(t *testing.T) {
	code, out, _ := crashpane(sampleArgs("explain", "--frame", "1", "--format", "json")...)
	var x struct {
		Frame         int
		Origin        string
		Before, After map[string]string
		Steps         []struct{ For, Rule, Computed, Value string }
		Words         []struct{ Address, Value, Function string }
		Checks        []string
	}
	if err := json.Unmarshal([]byte(out), &x); err != nil || code != exitOK {
		t.Fatalf("%v\n%s", err, out)
	}
	if x.Frame != 1 || len(x.Steps) < 2 || x.Steps[1].For != "ra" || x.Steps[1].Value != x.After["rip"] || x.Words[0].Value != x.After["rip"] ||
		x.Before["rip"] == x.After["rip"] || len(x.Checks) == 0 || x.Words[0].Function == "" {
		t.Errorf("%+v", x)
	}
	// A walk's JSON explains the crashed thread, all threads, or none.
	size := map[string]int{}
	for _, scope := range []string{"none", "crashed", "all"} {
		code, out, _ := crashpane(sampleArgs("walk", "--format", "json", "--explain", scope)...)
		if code != exitOK || !json.Valid([]byte(out)) {
			t.Fatalf("%s: exit %d", scope, code)
		}
		size[scope] = strings.Count(out, `"explain": {`)
	}
	if size["none"] != 0 || size["crashed"] == 0 || size["all"] <= size["crashed"] {
		t.Errorf("explained frames: %v", size)
	}
}

func TestCompareDumps(t *testing.T) {
	code, out, stderr := crashpane("compare", filepath.Join(sample, "tilecruncher.dmp"), "../../../testdata/windows/app.dmp")
	if code != exitOK {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"* Reason                    SIGSEGV / SEGV_MAPERR                             EXCEPTION_ACCESS_VIOLATION_READ", "The stacks differ from frame 0 on."} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

// TestCompareCores: a core is a dump where the second of two dumps may be, and not a symbol file; also a compressed one.
func TestCompareCores(t *testing.T) {
	core := func(signal uint32) []byte {
		registers := make([]byte, 27*8)
		binary.LittleEndian.PutUint64(registers[16*8:], 0x401010)
		return dumptest.NewCore(dumptest.LittleEndian, true, 62).Thread(7, uint16(signal), registers).Process(7, "app", "app").Signal(signal, 1, 0x10).Bytes()
	}
	one, other := filepath.Join(t.TempDir(), "core.1"), filepath.Join(t.TempDir(), "core.2.gz")
	writeFile(t, one, core(11))
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(core(7))
	z.Close()
	writeFile(t, other, packed.Bytes())
	for _, args := range [][]string{{one, other}, {other, one}, {filepath.Join(sample, "tilecruncher.dmp"), one}} {
		code, out, stderr := crashpane(append([]string{"compare"}, args...)...)
		if code != exitOK || !strings.Contains(out, " Reason  ") {
			t.Errorf("%q: exit %d, %s\n%s", args, code, stderr, out)
		}
	}
}

func TestThreadsCommand(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"threads"}, "watchdog      sleeps (a guess)"},
		{[]string{"threads", "--merged"}, "6 threads, 6 different stacks\n   5  __clone3 in libc.so.6\n"},
		{[]string{"threads", "--merged", "--format", "json"}, `"stacks": 6`},
	} {
		code, out, stderr := crashpane(sampleArgs(c.args...)...)
		if code != exitOK || !strings.Contains(out, c.want) {
			t.Errorf("%q: exit %d, %s, no %q in\n%s", c.args, code, stderr, c.want, out)
		}
	}
}

func TestCompareCommand(t *testing.T) {
	code, out, stderr := crashpane(sampleArgs("compare")...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	for _, want := range []string{"cfi ", "fp ", "scan ", "breakpad", "rust-minidump", "best", "context   context   context", "  frames ", "Where each stopped:", "\nAbove ", "not by "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	code, out, _ = crashpane(sampleArgs("compare", "--format", "json")...)
	var c struct {
		Rows  []struct{ At []*int }
		Walks []struct {
			Policy     string
			FrameCount int `json:"frame_count"`
			Trust      []string
		}
	}
	if err := json.Unmarshal([]byte(out), &c); err != nil || code != exitOK || len(c.Walks) != 6 {
		t.Fatalf("%v, exit %d\n%s", err, code, out)
	}
	for i, w := range c.Walks {
		n := 0
		for _, r := range c.Rows {
			if r.At[i] != nil {
				if *r.At[i] != n {
					t.Errorf("%s: frame %d stands at %d", w.Policy, *r.At[i], n)
				}
				n++
			}
		}
		if n != w.FrameCount || n != len(w.Trust) {
			t.Errorf("%s: %d rows, %d frames", w.Policy, n, w.FrameCount)
		}
	}
}

func TestExplainUsage(t *testing.T) {
	dump := filepath.Join(sample, "tilecruncher.dmp")
	for _, c := range []struct {
		args   []string
		code   int
		stderr string
	}{
		{[]string{"explain"}, exitUsage, "name a dump"},
		{[]string{"compare"}, exitUsage, "name a dump"},
		{[]string{"explain", dump, "--format", "html"}, exitUsage, `no format "html"`},
		{[]string{"explain", dump, "--unwind", "magic"}, exitUsage, `no policy "magic"`},
		{[]string{"explain", dump, "--thread", "77"}, exitFailed, "there is no thread 77"},
		{[]string{"explain", dump, "--frame", "777"}, exitFailed, "there is no frame 777; the stack has "},
		{[]string{"compare", dump, "--thread", "77"}, exitFailed, "there is no thread 77"},
		{[]string{"walk", dump, "--explain", "some"}, exitUsage, `"some" is not a choice for --explain`},
	} {
		code, stdout, stderr := crashpane(c.args...)
		if code != c.code || stdout != "" || !strings.Contains(stderr, c.stderr) {
			t.Errorf("crashpane %q: exit %d, stdout %.200q, stderr %.200q", c.args, code, stdout, stderr)
		}
	}
}
