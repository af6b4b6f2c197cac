package jsonreport_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
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

// TestPassedName: a name that is another function's is no frame's, in every object that has frames.
func TestPassedName(t *testing.T) {
	regs := reporttest.AllRegs(cpu.AMD64, 0x401000, 0x7000)
	far := report.Frame{PC: 0x401000, Lookup: 0x401000, Module: 0, Regs: &regs, Function: report.Name{Raw: "another"}, HasFunction: true, Passed: true, Trust: "context"}
	r := &report.Report{Threads: []report.Thread{{Frames: []report.Frame{far}}}, Listed: 1, Modules: []report.Module{{Name: "app"}},
		Traces: []report.Trace{{Source: "bt", Frames: []report.Frame{far}}}}
	c := &report.Comparison{Walks: []report.ComparedWalk{{Policy: "best", Frames: r.Threads[0].Frames}}, Rows: []report.ComparedRow{{At: []int{0}}}}
	for name, write := range map[string]func(w io.Writer) error{
		"report": func(w io.Writer) error { return jsonreport.Write(w, r, jsonreport.Options{}) },
		"explanation": func(w io.Writer) error {
			return jsonreport.WriteExplanation(w, r, &report.Explanation{}, jsonreport.Options{})
		},
		"comparison": func(w io.Writer) error { return jsonreport.WriteComparison(w, r, c, jsonreport.Options{}) },
		"merged": func(w io.Writer) error {
			return jsonreport.WriteMerged(w, r, report.Merge(nil, r), jsonreport.Options{})
		},
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil || !strings.Contains(b.String(), `"function":null`) || strings.Contains(b.String(), "another") {
			t.Errorf("%s: %v %s", name, err, b.String())
		}
	}
}
