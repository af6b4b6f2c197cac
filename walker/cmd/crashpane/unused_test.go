package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	codecID  = "B19F54F3834E401B9A6B97A1CCACE8B90"
	codecSym = "../../../testdata/sample/libtilecodec.so.sym"
	codecDmp = "../../../testdata/sample/tilecruncher.dmp"
)

// codec writes the sample's symbol file with another MODULE line.
func codec(t *testing.T, path, module string) string {
	t.Helper()
	raw, err := os.ReadFile(codecSym)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(raw), "\n")
	if module != "" {
		module += "\n"
	} else {
		_, rest, _ = strings.Cut(rest, "\n") // INFO CODE_ID, which would be enough
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(module+rest), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// A file that is named on the command line and not used is a line on stderr with the reason and
// what to do, whatever the reason; --use takes it.
func TestUnusedFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name, module, why string
		hint              bool
	}{
		{"right", "MODULE Linux x86_64 " + codecID + " libtilecodec.so", "", false},
		{"turned", "MODULE Linux x86_64 F3549FB14E831B409A6B97A1CCACE8B90 libtilecodec.so", "", false},
		{"other-id", "MODULE Linux x86_64 C19F54F3834E401B9A6B97A1CCACE8B90 libtilecodec.so",
			"another signature: another build: its id is C19F54F3834E401B9A6B97A1CCACE8B90, that of libtilecodec.so is " + codecID, true},
		{"age", "MODULE Linux x86_64 B19F54F3834E401B9A6B97A1CCACE8B92 libtilecodec.so", "same signature, age 2 instead of 0", true},
		{"turned-age", "MODULE Linux x86_64 F3549FB14E831B409A6B97A1CCACE8B92 libtilecodec.so", "same signature with its bytes in another order, age 2 instead of 0", true},
		{"name", "MODULE Linux x86_64 C19F54F3834E401B9A6B97A1CCACE8B90 libother.so", "the dump has no module with its name, libother.so, or its id, C19F54F3834E401B9A6B97A1CCACE8B90", true},
		{"arch", "MODULE Linux arm64 C19F54F3834E401B9A6B97A1CCACE8B90 libtilecodec.so", "it is for arm64, and the dump is of amd64", false},
		{"none", "", "has no MODULE line", true},
		{"second", "MODULE Linux x86_64 " + codecID + " libtilecodec.so", "another file is used for libtilecodec.so", false},
	} {
		path := codec(t, filepath.Join(dir, c.name+".sym"), c.module)
		args := []string{"walk", "--format", "machine", codecDmp, path}
		if c.name == "second" {
			args = []string{"walk", "--format", "machine", codecDmp, codecSym, path}
		}
		code, out, stderr := crashpane(args...)
		used := strings.Contains(out, "|libtilecodec.so|edge_offset|")
		if code != exitOK || used != (c.why == "" || c.name == "second") {
			t.Errorf("%s: exit %d, used %v", c.name, code, used)
		}
		if c.why == "" {
			if stderr != "" {
				t.Errorf("%s: %s", c.name, stderr)
			}
			continue
		}
		if lines := strings.Split(strings.TrimSpace(stderr), "\n"); len(lines) != 1 || !strings.HasPrefix(lines[0], path+": ") || !strings.Contains(lines[0], "not used") ||
			!strings.Contains(lines[0], c.why) || strings.Contains(lines[0], "--use ") != c.hint {
			t.Errorf("%s: %q", c.name, stderr)
		}
		// What the line says is what the command does.
		choice := path
		if strings.Contains(stderr, "--use MODULE=") {
			choice = "libtilecodec.so=" + path
		}
		code, out, stderr = crashpane("walk", "--format", "json", "--use", choice, codecDmp)
		switch {
		case c.name == "arch":
			if code != exitFailed || !strings.Contains(stderr, "it is for arm64, and the dump is of amd64") {
				t.Errorf("%s, --use: exit %d, %s", c.name, code, stderr)
			}
		case c.name == "second":
		case code != exitOK || !strings.Contains(out, `"forced": true`) || !strings.Contains(out, `"edge_offset`) || !strings.Contains(stderr, "because of --use"):
			t.Errorf("%s, --use: exit %d, %s", c.name, code, stderr)
		}
	}
}

// Files of a folder are listed one by one where a module that needs symbols has their name, and
// counted otherwise.
func TestUnusedFilesOfFolders(t *testing.T) {
	dir := t.TempDir()
	one := codec(t, filepath.Join(dir, "a", "1.sym"), "MODULE Linux x86_64 C19F54F3834E401B9A6B97A1CCACE8B90 libtilecodec.so")
	two := codec(t, filepath.Join(dir, "a", "2.sym"), "MODULE Linux arm64 D19F54F3834E401B9A6B97A1CCACE8B90 libtilecodec.so")
	codec(t, filepath.Join(dir, "a", "3.sym"), "MODULE Linux x86_64 C19F54F3834E401B9A6B97A1CCACE8B90 libother.so")
	codec(t, filepath.Join(dir, "a", "4.txt"), "")
	_, _, stderr := crashpane("walk", codecDmp, filepath.Join(dir, "a"))
	for _, want := range []string{one + ": not used: another signature", "; --use " + one + " uses it anyway\n",
		two + ": not used: it is for arm64, and the dump is of amd64\n", "1 more symbol file is of no module that needs symbols\n"} {
		if strings.Count(stderr, want) != 1 {
			t.Errorf("%q is not said once in\n%s", want, stderr)
		}
	}
	if n := strings.Count(stderr, "\n"); n != 3 {
		t.Errorf("%d lines:\n%s", n, stderr)
	}
	// With the module's own file among them there is nothing to say about the others.
	codec(t, filepath.Join(dir, "a", "5.sym"), "MODULE Linux x86_64 "+codecID+" libtilecodec.so")
	if _, _, stderr := crashpane("walk", codecDmp, filepath.Join(dir, "a")); strings.Contains(stderr, "not used") {
		t.Error(stderr)
	}
}

// What --use cannot do is an error that says what to write.
func TestUseErrors(t *testing.T) {
	path := codec(t, filepath.Join(t.TempDir(), "x.sym"), "MODULE Linux x86_64 C19F54F3834E401B9A6B97A1CCACE8B90 libother.so")
	for _, c := range [][2]string{
		{path, "the dump has no module of its name; say which: --use MODULE=" + path},
		{"nothing.so=" + path, `the dump has no module "nothing.so"`},
		{codecDmp, "the file has no symbols"},
		{path + "x", "o such file"}, // in the words of the system
	} {
		if code, _, stderr := crashpane("walk", "--use", c[0], codecDmp); code != exitFailed || !strings.Contains(stderr, c[1]) {
			t.Errorf("%s: exit %d, %s", c[0], code, stderr)
		}
	}
	for _, command := range []string{"explain", "compare"} {
		if code, out, stderr := crashpane(command, "--use", "libtilecodec.so="+path, codecDmp); code != exitOK || out == "" || !strings.Contains(stderr, "because of --use") {
			t.Errorf("%s: exit %d, %s", command, code, stderr)
		}
	}
}

// A module without a debug id has symbols that are known to be its own by the program's time stamp
// and size (INFO CODE_ID) alone. A file without those is not used and the line says so, and --use
// takes it by its name.
func TestUseForModuleWithoutID(t *testing.T) {
	const wine = "../../../../shared/corpus/winapple/wine/"
	if _, err := os.Stat(wine + "chain64-O2.dmp"); err != nil {
		t.Skip("SKIPPED: " + wine + " is not there")
	}
	known, dump := wine+"chain64-O2.moz.sym", wine+"chain64-O2.dmp"
	if code, out, stderr := crashpane("walk", dump, known); code != exitOK || stderr != "" || !strings.Contains(out, "chain64-O2.exe!") {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
	text, err := os.ReadFile(known)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitN(string(text), "\n", 3)
	if !strings.HasPrefix(lines[1], "INFO CODE_ID ") {
		t.Fatalf("%s has %q for a second line", known, lines[1])
	}
	sym := filepath.Join(t.TempDir(), "chain64-O2.moz.sym")
	writeFile(t, sym, []byte(lines[0]+"\n"+lines[2]))
	want := sym + ": not used: the dump has no id for chain64-O2.exe to compare its id AF39DD20F7DE752D4C4C44205044422E1 with; --use " + sym + " uses it anyway\n"
	if code, _, stderr := crashpane("walk", dump, sym); code != exitOK || stderr != want {
		t.Errorf("exit %d, %s", code, stderr)
	}
	if code, out, stderr := crashpane("walk", "--use", sym, dump); code != exitOK || !strings.Contains(out, "chain64-O2.exe!") || !strings.Contains(stderr, "its id AF39DD20F7DE752D4C4C44205044422E1 is not the module's, (none)") {
		t.Errorf("exit %d, %s\n%s", code, stderr, out)
	}
}
