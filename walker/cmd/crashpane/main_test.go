package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
)

const sample = "../../../testdata/sample"

// crashpane runs the program.
func crashpane(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = run(args, &out, &err)
	return code, out.String(), err.String()
}

func TestUsage(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/COMMAND.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range commands {
		if !strings.Contains(string(doc), "crashpane "+c.name+" ") && !strings.Contains(string(doc), "`crashpane "+c.name+"`") {
			t.Errorf("docs/COMMAND.md does not name the command %s", c.name)
		}
	}
	dump := filepath.Join(sample, "tilecruncher.dmp")
	for _, c := range []struct {
		args   []string
		code   int
		stdout string // a part of it
		stderr string
	}{
		{nil, exitUsage, "", "usage: crashpane"},
		{[]string{"--help"}, exitOK, "Commands:", ""},
		{[]string{"help"}, exitOK, "Commands:", ""},
		{[]string{"--version"}, exitOK, "crashpane ", ""},
		{[]string{"help", "walk"}, exitOK, "-unwind", ""},
		{[]string{"walk", "--help"}, exitOK, "-format", ""},
		{[]string{"help", "dump"}, exitOK, "--memory", ""},
		{[]string{"help", "dance"}, exitUsage, "", `no command "dance"`},
		{[]string{"dance"}, exitUsage, "", `no command "dance"`},
		{[]string{"walk"}, exitUsage, "", "name a dump"},
		{[]string{"walk", "--frobnicate", dump}, exitUsage, "", "frobnicate"},
		{[]string{"walk", "--format", "html", dump}, exitUsage, "", `no format "html"`},
		{[]string{"walk", dump, "--unwind", "magic"}, exitUsage, "", `no policy "magic"`},
		{[]string{"walk", "no-such-file.dmp"}, exitFailed, "", "no-such-file.dmp"},
		{[]string{"walk", "--", "--format"}, exitFailed, "", "--format"},
		{[]string{"walk", sample}, exitFailed, "", "sample"},
		{[]string{"walk", filepath.Join(sample, "make.sh")}, exitFailed, "", "make.sh"},
		{[]string{"walk", dump, "no-such.sym"}, exitFailed, "", "no-such.sym"},
	} {
		code, stdout, stderr := crashpane(c.args...)
		if code != c.code || !strings.Contains(stdout, c.stdout) || !strings.Contains(stderr, c.stderr) ||
			(c.stdout == "") != (stdout == "") || (c.stderr == "") != (stderr == "") {
			t.Errorf("crashpane %q: exit %d, stdout %.200q, stderr %.200q", c.args, code, stdout, stderr)
		}
	}
}

// TestBroken: a file that cannot be read says where and why.
func TestBroken(t *testing.T) {
	dir := t.TempDir()
	whole, err := os.ReadFile(filepath.Join(sample, "tilecruncher.dmp"))
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{
		"empty.dmp": nil,
		"text.dmp":  []byte("this is not a dump"),
		"short.dmp": whole[:20],
		"nodir.dmp": whole[:32],
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := crashpane("walk", path)
		if code != exitFailed || stdout != "" || !strings.Contains(stderr, name) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", name, code, stdout, stderr)
		}
	}
}

// TestSymbols gives the sample's symbols in every form that they may have; the output is the same.
func TestSymbols(t *testing.T) {
	dump := filepath.Join(sample, "tilecruncher.dmp")
	_, bare, _ := crashpane("walk", dump)
	files, _ := filepath.Glob(filepath.Join(sample, "*.sym*"))
	code, want, stderr := crashpane(append([]string{"walk", dump}, files...)...)
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d, %s", code, stderr)
	}
	if bare == want || !strings.Contains(want, "(crashed)") || !strings.Contains(want, ".cc : ") {
		t.Fatalf("the symbols changed nothing:\n%s", want)
	}

	store, loose := t.TempDir(), t.TempDir()
	for i, path := range files {
		data := testfile.Read(t, path)
		fields := strings.SplitN(strings.SplitN(string(data), "\n", 2)[0], " ", 5)
		id, name := fields[3], fields[4]
		writeFile(t, filepath.Join(store, name, id, name+".sym"), data)
		// A folder without any order, with other things in it.
		writeFile(t, filepath.Join(loose, "deep", string(rune('a'+i)), "anything.txt"), data)
	}
	writeFile(t, filepath.Join(loose, "README"), []byte("nothing"))
	writeFile(t, filepath.Join(loose, "other.sym", strings.Repeat("A", 33), "other.sym"), []byte("MODULE Linux x86_64 "+strings.Repeat("A", 33)+" other\n"))
	for name, args := range map[string][]string{
		"the folder of the sample": {"walk", dump, sample},
		"a store":                  {"walk", dump, store},
		"any layout":               {"walk", dump, loose},
		"flags at the end":         {"walk", dump, store, "--format", "text", "--unwind=best"},
		"after two dashes":         {"walk", "--format", "text", "--", dump, store},
		"two folders":              {"walk", dump, t.TempDir(), store},
	} {
		code, got, stderr := crashpane(args...)
		if code != exitOK || stderr != "" || got != want {
			t.Errorf("%s: exit %d, %d bytes instead of %d, stderr %s", name, code, len(got), len(want), stderr)
		}
	}
}

func TestFormats(t *testing.T) {
	dump := filepath.Join(sample, "tilecruncher.dmp")
	_, machine, _ := crashpane("walk", "--format", "machine", dump)
	if !strings.HasPrefix(machine, "OS|Linux|") {
		t.Errorf("machine: %.80q", machine)
	}
	_, js, _ := crashpane("walk", "--format", "json", dump, sample)
	var r struct {
		Status    string
		Crashpane struct{ Policy string }
	}
	if err := json.Unmarshal([]byte(js), &r); err != nil || r.Status != "OK" || r.Crashpane.Policy != "best" {
		t.Errorf("json: %v %+v", err, r)
	}
	_, again, _ := crashpane("walk", "--format", "json", dump, sample)
	if again != js {
		t.Error("two runs give two outputs")
	}
	_, compact, _ := crashpane("walk", "--format", "json", "--compact", dump, sample)
	if strings.Count(compact, "\n") != 1 || len(compact) >= len(js) {
		t.Error("--compact is not")
	}
}

func writeFile(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}
