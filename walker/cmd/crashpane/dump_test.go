package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
)

func TestDump(t *testing.T) {
	dump := filepath.Join(sample, "tilecruncher.dmp")
	code, text, stderr := crashpane("dump", dump)
	if code != exitOK || stderr != "" || !strings.Contains(text, "\nheader.time = 0x") || !strings.Contains(text, "\nthread[0].context.") ||
		!strings.Contains(text, "\nmodule[0].name = ") {
		t.Fatalf("exit %d, stderr %q:\n%.2000s", code, stderr, text)
	}
	for _, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if !strings.Contains(line, " = ") && !strings.Contains(line, "bytes 0x") {
			t.Errorf("a line without its context: %q", line)
		}
	}
	_, all, _ := crashpane("dump", dump, "--all", "--memory")
	if len(all) <= len(text) || !strings.Contains(all, "].bytes 0x") {
		t.Errorf("--all and --memory print nothing more: %d and %d bytes", len(all), len(text))
	}
	code, out, _ := crashpane("dump", "--format", "json", dump)
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); code != exitOK || err != nil || v["thread"] == nil {
		t.Errorf("json: exit %d, %v", code, err)
	}
}

// TestDumpOthers: what is not a dump of a crash is printed too, as far as it is a dump; and several
// dumps of one file are printed all.
func TestDumpOthers(t *testing.T) {
	dir := t.TempDir()
	write := func(name string, data []byte) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	strange := write("strange.dmp", dumptest.New(dumptest.LittleEndian).Stream(0x12345678, []byte{1, 2, 3}).Bytes())
	code, text, stderr := crashpane("dump", strange)
	if code != exitOK || !strings.Contains(text, "stream[0].bytes 0x00000000: 01 02 03") {
		t.Errorf("exit %d, stderr %q:\n%s", code, stderr, text)
	}
	one := dumptest.Micro{OS: "A", Arch: "arm", Hardware: "armv7l", Fingerprint: "x", Context: dumptest.ARM(nil), Product: "first"}
	two := one
	two.Product = "second"
	logFile := write("log.txt", []byte(one.Log("google-breakpad: ", "\n")+two.Log("google-breakpad: ", "\n")))
	code, text, stderr = crashpane("dump", logFile)
	if code != exitOK || stderr != "" || !strings.Contains(text, `microdump.product = "first"`) || !strings.Contains(text, "\n\nfile = ") ||
		!strings.Contains(text, `microdump.product = "second"`) {
		t.Errorf("exit %d, stderr %q:\n%.3000s", code, stderr, text)
	}
	code, text, stderr = crashpane("walk", logFile)
	if code != exitOK || !strings.Contains(stderr, "holds 2 dumps") || !strings.Contains(text, "Operating system: Android") {
		t.Errorf("walk: exit %d, stderr %q", code, stderr)
	}
	for _, path := range []string{write("empty", nil), write("text", []byte("hello"))} {
		if code, text, stderr = crashpane("dump", path); code != exitFailed || text != "" || stderr == "" {
			t.Errorf("%s: exit %d, %q, %q", path, code, text, stderr)
		}
	}
	for _, args := range [][]string{{"dump"}, {"dump", "a", "b"}, {"dump", "--format", "html", "a"}} {
		if code, _, _ = crashpane(args...); code != exitUsage {
			t.Errorf("%q: exit %d", args, code)
		}
	}
}
