package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	"github.com/xitongsys/parquet-go-source/local"
	"github.com/xitongsys/parquet-go/reader"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/batch"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/signature"
	"github.com/crashpane/crashpane/walker/session"
)

// asProgram makes the test's program the command, for the test that kills it.
const asProgram = "CRASHPANE_BEAM_ARGS"

func TestMain(m *testing.M) {
	if args := os.Getenv(asProgram); args != "" {
		os.Args = append(os.Args[:1], strings.Split(args, "\n")...)
		main()
		return
	}
	beam.Init()
	os.Exit(m.Run())
}

const id = "000000010002000304000000000000001"

// dumpAt is a dump that crashed at an offset of its program, on a day of 2026.
func dumpAt(offset, day int) []byte {
	context := dumptest.AMD64(map[string]uint64{"rip": 0x400000 + uint64(offset), "rsp": 0x7000})
	d := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x100000, "/opt/app", dumptest.RSDS(1, 2, 3, [8]byte{4}, 1, "app")).
		Thread(7, context, 0x7000, make([]byte, 64)).Exception(7, 11, 1, 0x45, context).Bytes()
	return append(dumptest.LittleEndian.AppendUint32(slices.Clone(d[:20]), uint32(time.Date(2026, 3, 1+day, 12, 0, 0, 0, time.UTC).Unix())), d[24:]...)
}

// symbols is a symbol file of the program: a function every 256 bytes.
func symbols(functions int) []byte {
	var b strings.Builder
	b.WriteString("MODULE Linux x86_64 " + id + " app\n")
	for i := range functions {
		fmt.Fprintf(&b, "FUNC %x 100 0 f%d\n", i*0x100, i)
	}
	return []byte(b.String())
}

// dumpsIn makes a folder of n dumps, with a file that is not a dump.
func dumpsIn(t *testing.T, n int) string {
	dir := t.TempDir()
	for i := range n {
		sub := filepath.Join(dir, fmt.Sprint(i%3))
		if err := os.MkdirAll(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("%d.dmp", i)), dumpAt(i%16*0x100+8, i%5), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "0", "bad.dmp"), []byte("MDMP, but no dump"), 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

var took = regexp.MustCompile(`"took_ms":[0-9.e-]+`)

// linesOf are the lines of the files of a result, sorted, without how long records took.
func linesOf(t *testing.T, out, name string) (lines []string) {
	t.Helper()
	files, _ := filepath.Glob(filepath.Join(out, name+"-*.jsonl"))
	if len(files) == 0 {
		t.Fatalf("%s has no %s", out, name)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(data)) {
			if !json.Valid([]byte(line)) {
				t.Errorf("%s: %s", file, line)
			}
			lines = append(lines, took.ReplaceAllString(strings.TrimSuffix(line, "\n"), `"took_ms":0`))
		}
	}
	slices.Sort(lines)
	return lines
}

// described are the lines that crashpane batch makes of the dumps in a folder, sorted.
func described(t *testing.T, dir string, sym []byte) (lines []string) {
	opt := batch.Options{Frames: 10, Lists: signature.Own}
	if sym != nil {
		library := session.NewFiles(session.Options{})
		library.Add(input.FromBytes("app.sym", sym))
		opt.Session.Store = library.Store()
	}
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.dmp"))
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range batch.Describe(input.FromBytes(file, data), opt) {
			var b bytes.Buffer
			if r.Error != "" {
				continue
			}
			if err := batch.WriteJSON(&b, &r); err != nil {
				t.Fatal(err)
			}
			lines = append(lines, took.ReplaceAllString(strings.TrimSuffix(b.String(), "\n"), `"took_ms":0`))
		}
	}
	slices.Sort(lines)
	return lines
}

func storeIn(t *testing.T, sym []byte) string {
	dir := t.TempDir()
	path := filepath.Join(dir, filepath.FromSlash(report.StorePath("app", id)))
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, sym, 0o666); err != nil {
		t.Fatal(err)
	}
	return dir
}

func compare(t *testing.T, got, want []string) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d lines in place of %d", len(got), len(want))
	}
	for i := range got {
		if got[i] != want[i] {
			t.Fatalf("line %d:\n%s\nin place of\n%s", i, got[i], want[i])
		}
	}
}

// TestSame: the records are those of crashpane batch, to the last dump, in both formats; days count them by the dumps'
// own times; what is not a dump is a dead letter.
func TestSame(t *testing.T) {
	sym := symbols(16)
	dir, out := dumpsIn(t, 120), t.TempDir()
	err := run(context.Background(), options{dumps: dir + "/*/*.dmp", symbols: storeIn(t, sym), out: out, format: "jsonl,parquet", shards: 3, frames: 10, parallel: 3})
	if err != nil {
		t.Fatal(err)
	}
	want := described(t, dir, sym)
	compare(t, linesOf(t, out, "records"), want)
	if dead := linesOf(t, out, "dead"); len(dead) != 1 || !strings.Contains(dead[0], "bad.dmp") || !strings.Contains(dead[0], `"error":"`) {
		t.Errorf("%q", dead)
	}
	total, seen := 0, map[string]bool{}
	for _, line := range linesOf(t, out, "days") {
		var d struct {
			Day, Signature string
			Dumps          int
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil || seen[d.Day+d.Signature] || !strings.HasPrefix(d.Day, "2026-03-0") || !strings.HasPrefix(d.Signature, "f") {
			t.Errorf("%v, %s", err, line)
		}
		total, seen[d.Day+d.Signature] = total+d.Dumps, true
	}
	if total != 120 || len(seen) != 80 { // of 16 functions and 5 days
		t.Errorf("%d dumps in %d", total, len(seen))
	}
	var rows []string
	files, _ := filepath.Glob(filepath.Join(out, "records-*.parquet"))
	for _, file := range files {
		f, err := local.NewLocalFileReader(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := reader.NewParquetReader(f, new(Row), 1)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]Row, p.GetNumRows())
		if err := p.Read(&all); err != nil {
			t.Fatal(err)
		}
		for _, r := range all {
			if !strings.HasPrefix(r.Signature, "f") || r.Time == 0 || r.AddressSignature == "" {
				t.Errorf("%+v", r)
			}
			rows = append(rows, took.ReplaceAllString(r.Record, `"took_ms":0`))
		}
		p.ReadStop()
		f.Close()
	}
	slices.Sort(rows)
	compare(t, rows, want)
}

// TestColumns: docs/FLEET.md says that Parquet has the columns of the table dumps.
func TestColumns(t *testing.T) {
	doc, err := os.ReadFile("../../../docs/COMMAND.md")
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^\\| `dumps` \\| dump, by `id`: .*").Find(doc)
	var want, got []string
	for _, name := range regexp.MustCompile("`(\\w+)`").FindAllSubmatch(row, -1) {
		want = append(want, string(name[1]))
	}
	for i := range reflect.TypeFor[Row]().NumField() {
		tag, _, _ := strings.Cut(strings.TrimPrefix(reflect.TypeFor[Row]().Field(i).Tag.Get("parquet"), "name="), ",")
		got = append(got, tag)
	}
	want = slices.DeleteFunc(want, func(s string) bool { return s == "dumps" })
	slices.Sort(got)
	slices.Sort(want)
	if want = slices.Compact(want); len(got) < 10 || !slices.Equal(got, want) {
		t.Errorf("%v, and the table has %v", got, want)
	}
}

// TestServer: a server's symbols name the functions, by requests for parts, and each file is asked for once.
func TestServer(t *testing.T) {
	sym := symbols(16)
	sym = append(sym, bytes.Repeat([]byte("PUBLIC ffffff 0 x\n"), 100_000)...) // 2 MB
	var requests, whole, sent atomic.Int64
	files := http.FileServer(http.Dir(storeIn(t, sym)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if requests.Add(1) == 1 { // a server that is busy is asked again
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		if r.Header.Get("Range") == "" {
			whole.Add(1)
		}
		count := &counting{ResponseWriter: w}
		files.ServeHTTP(count, r)
		sent.Add(count.n)
	}))
	defer server.Close()
	dir, out := dumpsIn(t, 60), t.TempDir()
	if err := run(context.Background(), options{dumps: dir + "/*/*.dmp", symbols: server.URL, out: out, format: "jsonl", shards: 2, frames: 10, parallel: 3}); err != nil {
		t.Fatal(err)
	}
	compare(t, linesOf(t, out, "records"), described(t, dir, sym))
	t.Logf("%d requests, %d bytes of %d", requests.Load(), sent.Load(), len(sym))
	if whole.Load() > 0 || requests.Load() > 40 {
		t.Errorf("%d requests, %d for whole files", requests.Load(), whole.Load())
	}
	// A store that fails makes dead letters, and no records without names.
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	out = t.TempDir()
	stores = storeList{}
	if err := run(context.Background(), options{dumps: dir + "/0/*.dmp", symbols: server.URL, out: out, format: "jsonl", shards: 1, frames: 10, parallel: 1}); err != nil {
		t.Fatal(err)
	}
	if records, dead := linesOf(t, out, "records"), linesOf(t, out, "dead"); len(records) != 0 || len(dead) != 21 {
		t.Errorf("%d records, %d dead letters", len(records), len(dead))
	}
}

type counting struct {
	http.ResponseWriter
	n int64
}

func (c *counting) Write(p []byte) (int, error) {
	c.n += int64(len(p))
	return c.ResponseWriter.Write(p)
}

// TestKilled: after a run that was killed in its middle, another leaves the same files as one that was not.
func TestKilled(t *testing.T) {
	const builds = 40
	dir, out := t.TempDir(), t.TempDir()
	for i := range 400 {
		data := bytes.Replace(dumpAt(i%16*0x100+8, i%5), []byte("\x04\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00app"), fmt.Appendf(nil, "\x04\x00\x00\x00\x00\x00\x00\x00%c\x00\x00\x00app", i%builds+1), 1)
		sub := filepath.Join(dir, fmt.Sprint(i%7))
		if err := os.MkdirAll(sub, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("%d.dmp", i)), data, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	// The server has nothing, and does not answer the question about the build in the middle while held is open.
	var asked atomic.Int64
	held, middle := make(chan bool), make(chan bool)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) == builds/2 {
			close(middle)
			<-held
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	start := func() (*exec.Cmd, *bytes.Buffer) {
		c := exec.Command(os.Args[0])
		c.Env = append(os.Environ(), asProgram+"=--dumps="+dir+"/*/*.dmp\n--out="+out+"\n--shards=4\n--parallel=1\n--symbols="+server.URL)
		b := &bytes.Buffer{}
		c.Stdout, c.Stderr = b, b
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c, b
	}
	c, said := start()
	select {
	case <-middle:
	case <-time.After(time.Minute):
		t.Errorf("it did not come to its middle: %s", said)
	}
	c.Process.Kill()
	if err := c.Wait(); err == nil {
		t.Error("it was not killed")
	}
	close(held)
	c, said = start()
	if err := c.Wait(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	want := described(t, dir, nil)
	if len(want) != 400 {
		t.Errorf("%d dumps", len(want))
	}
	compare(t, linesOf(t, out, "records"), want)
	if dead := linesOf(t, out, "dead"); len(dead) != 0 {
		t.Errorf("%q", dead)
	}
	if n := asked.Load(); n != builds+builds/2 {
		t.Errorf("%d questions", n)
	}
}
