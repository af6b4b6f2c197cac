package jsonreport_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/reporttest"
)

var update = flag.Bool("update", false, "rewrite testdata")

func write(t *testing.T, in report.Input, pretty bool) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jsonreport.Write(&b, report.Build(in), jsonreport.Options{Pretty: pretty}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestGolden(t *testing.T) {
	for file, in := range map[string]report.Input{"windows.json": reporttest.Windows(), "linux.json": reporttest.Linux()} {
		got := write(t, in, true)
		path := "testdata/" + file
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("differs from %s (rewrite it with -update if that is right):\n%s", path, got)
		}
	}
}

// TestAdditionsAreListed: the comment of additions has every key under "crashpane".
func TestAdditionsAreListed(t *testing.T) {
	source, err := os.ReadFile("additions.go")
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		Crashpane map[string]any
	}
	if err := json.Unmarshal(write(t, reporttest.Windows(), false), &all); err != nil || len(all.Crashpane) < 10 {
		t.Fatal(err, len(all.Crashpane))
	}
	for key := range all.Crashpane {
		if !bytes.Contains(source, []byte("\n//	"+key+" ")) {
			t.Errorf("the comment of additions does not have %q", key)
		}
	}
}

// TestForm checks what holds for every output: it is JSON, the short form says the same as the
// pretty one, and the keys of every object are in alphabetical order.
func TestForm(t *testing.T) {
	for _, in := range []func() report.Input{reporttest.Windows, reporttest.Linux} {
		pretty, short := write(t, in(), true), write(t, in(), false)
		var b bytes.Buffer
		if err := json.Compact(&b, pretty); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(b.Bytes(), short) {
			t.Errorf("the short form differs from the pretty one:\n%s\n%s", short, b.Bytes())
		}
		d := json.NewDecoder(bytes.NewReader(short))
		sortedKeys(t, d, "")
	}
}

// sortedKeys reads one value and checks the order of keys in it.
func sortedKeys(t *testing.T, d *json.Decoder, at string) {
	t.Helper()
	tok, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	switch tok {
	case json.Delim('{'):
		var keys []string
		for d.More() {
			k, err := d.Token()
			if err != nil {
				t.Fatal(err)
			}
			keys = append(keys, k.(string))
			sortedKeys(t, d, at+"."+k.(string))
		}
		if !slices.IsSorted(keys) {
			t.Errorf("%s: keys out of order: %s", at, strings.Join(keys, " "))
		}
		d.Token()
	case json.Delim('['):
		for d.More() {
			sortedKeys(t, d, at+"[]")
		}
		d.Token()
	}
}

// BenchmarkWrite prints a thread of 10,000 frames.
func BenchmarkWrite(b *testing.B) {
	in := reporttest.Windows()
	s := &in.Stacks[1]
	frame := s.Frames[0]
	s.Frames = make([]walker.Frame, 10000)
	for i := range s.Frames {
		s.Frames[i] = frame
	}
	r := report.Build(in)
	var out bytes.Buffer
	b.ReportAllocs()
	for b.Loop() {
		out.Reset()
		jsonreport.Write(&out, r, jsonreport.Options{Pretty: true})
	}
	b.SetBytes(int64(out.Len()))
}
