package main

import (
	"archive/zip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
)

// batchLine is what these tests read of a line.
type batchLine struct {
	AddressSignature         string `json:"address_signature"`
	Error, File, ID, Verdict string
	Reason, Signature        string
	Annotations              []any
	Threads                  []struct {
		Crashed bool
		Total   int
		Frames  []struct{ Function, Module, Offset, Trust string }
	}
	Modules []struct {
		Name    string
		DebugID string `json:"debug_id"`
	}
	Missing []struct {
		DebugFile string `json:"debug_file"`
		Frames    int
	}
}

// batchLines reads lines; every one is an object of its own.
func batchLines(t *testing.T, text string) (out []batchLine) {
	t.Helper()
	for line := range strings.Lines(text) {
		var l batchLine
		if err := json.Unmarshal([]byte(line), &l); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		out = append(out, l)
	}
	return out
}

// fleet writes n dumps that crashed at n addresses, a file that is not a dump, and an archive with two
// dumps, and returns their folder.
func fleet(t *testing.T, n int) string {
	dir := t.TempDir()
	dump := func(i int) []byte {
		context := dumptest.AMD64(map[string]uint64{"rip": 0x400010 + uint64(i), "rsp": 0x7000})
		return dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
			Module(0x400000, 0x1000, "/opt/app", dumptest.RSDS(1, 2, 3, [8]byte{4}, 1, "app")).
			Thread(7, context, 0x7000, make([]byte, 64)).Exception(7, 11, 1, 0x45, context).Bytes()
	}
	for i := range n {
		writeFile(t, filepath.Join(dir, fmt.Sprintf("%03d.dmp", i)), dump(i))
	}
	writeFile(t, filepath.Join(dir, "x.txt"), []byte("nothing"))
	f, err := os.Create(filepath.Join(dir, "y.zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z := zip.NewWriter(f)
	for i := range 2 {
		w, _ := z.Create(fmt.Sprintf("in%d.dmp", i))
		w.Write(dump(i))
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBatch: a line for each dump in the order of the files, also of those in an archive; what is no
// dump is a line with its error and the exit code; symbols name what they can; and the address
// signature needs none.
func TestBatch(t *testing.T) {
	dir := fleet(t, 40)
	sym := filepath.Join(t.TempDir(), "app.sym")
	writeFile(t, sym, []byte("MODULE Linux x86_64 000000010002000304000000000000001 app\nFUNC 0 20 0 first\nFUNC 20 100 0 second\n"))
	code, text, stderr := crashpane("batch", "--workers=4", dir, sym)
	lines := batchLines(t, text)
	if code != exitFailed || len(lines) != 43 || !strings.Contains(stderr, "1 file is not a dump or cannot be read; the first: ") || !strings.Contains(stderr, "x.txt") {
		t.Fatalf("exit %d, %d lines, %s", code, len(lines), stderr)
	}
	for i, l := range lines[:40] {
		want := "first"
		if i >= 0x10 {
			want = "second"
		}
		if !strings.HasSuffix(l.File, fmt.Sprintf("%03d.dmp", i)) || l.Error != "" || l.Signature != want || len(l.Threads) != 1 || l.Threads[0].Frames[0].Function != want || len(l.Missing) != 0 {
			t.Fatalf("%d: %+v", i, l)
		}
		if at := fmt.Sprintf("app | SIGSEGV / SEGV_MAPERR | app@000000010002000304000000000000001+0x%x", 0x10+i); l.AddressSignature != at {
			t.Errorf("%q, want %q", l.AddressSignature, at)
		}
	}
	if l := lines[40]; !strings.HasSuffix(l.File, "x.txt") || !strings.Contains(l.Error, "Crashpane reads dumps") || l.Threads != nil {
		t.Errorf("%+v", l)
	}
	if l := lines[42]; !strings.HasSuffix(l.File, "y.zip/in1.dmp") || l.Signature != "first" || l.ID != lines[1].ID || l.ID == lines[0].ID {
		t.Errorf("%+v", l)
	}

	_, bare, _ := crashpane("batch", dir)
	for i, l := range batchLines(t, bare) {
		if l.AddressSignature != lines[i].AddressSignature || i < 40 && (len(l.Missing) != 1 || l.Missing[0].DebugFile != "app" || l.Signature != "app") {
			t.Errorf("without symbols: %+v", l)
		}
	}
	code, text, _ = crashpane("batch", "--unordered", "--frames=0", filepath.Join(dir, "005.dmp"))
	if lines := batchLines(t, text); code != exitOK || len(lines) != 1 || lines[0].Signature != "app" || len(lines[0].Threads[0].Frames) != 0 {
		t.Errorf("exit %d, %s", code, text)
	}
}

// TestBatchSample: all threads of the sample, whose dump and symbols are in one archive.
func TestBatchSample(t *testing.T) {
	path := filepath.Join(t.TempDir(), "all.zip")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := zip.NewWriter(f)
	if err := z.AddFS(os.DirFS(sample)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f.Close()
	code, text, stderr := crashpane("batch", "--all-threads", path)
	lines := batchLines(t, text)
	if code != exitOK || len(lines) != 1 {
		t.Fatalf("exit %d, %s\n%s", code, stderr, text)
	}
	if l := lines[0]; l.Signature != "edge_offset" || len(l.Threads) < 3 || !l.Threads[0].Crashed || !strings.Contains(l.AddressSignature, "libtilecodec.so@") ||
		!strings.Contains(l.Verdict, "tilecruncher") {
		t.Errorf("%+v", l)
	}
}

// TestBatchHidesSecrets: what may be private is in no line, unless it is asked for.
func TestBatchHidesSecrets(t *testing.T) {
	const secret = "hunter2"
	dir := t.TempDir()
	dump, symbols := dumptest.Secretive(secret)
	writeFile(t, filepath.Join(dir, "a.dmp"), dump)
	sym := filepath.Join(t.TempDir(), "app.sym")
	writeFile(t, sym, symbols)
	code, text, stderr := crashpane("batch", "--all-threads", "--frames=1000", dir, sym)
	if code != exitOK || strings.Contains(text, secret) || !strings.Contains(text, `"main"`) {
		t.Errorf("exit %d, %s\n%s", code, stderr, text)
	}
	if _, text, _ = crashpane("batch", "--private", dir, sym); !strings.Contains(text, secret) {
		t.Errorf("--private hides it, too: %s", text)
	}
}

// TestBatchMistakes: the command line, and folders without files.
func TestBatchMistakes(t *testing.T) {
	for _, args := range [][]string{{"batch"}, {"batch", "--workers=0", "."}, {"batch", "--frames=-1", "."}} {
		if code, _, _ := crashpane(args...); code != exitUsage {
			t.Errorf("%q: exit %d", args, code)
		}
	}
	empty := t.TempDir()
	for _, args := range [][]string{{"batch", empty}, {"batch", filepath.Join(empty, "none")}, {"batch", empty, filepath.Join(empty, "none.sym")}} {
		if code, text, stderr := crashpane(args...); code != exitFailed || text != "" || stderr == "" {
			t.Errorf("%q: exit %d, %s", args, code, stderr)
		}
	}
}
