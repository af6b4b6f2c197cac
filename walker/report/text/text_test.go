package text_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/testfile"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
	"github.com/crashpane/crashpane/walker/report/text"
)

var update = flag.Bool("update", false, "rewrite testdata")

func TestGolden(t *testing.T) {
	for _, c := range []struct {
		file  string
		in    report.Input
		write func(io.Writer, *report.Report) error
	}{
		{"windows.txt", reporttest.Windows(), text.Write},
		{"windows.machine.txt", reporttest.Windows(), text.WriteMachine},
		{"linux.txt", reporttest.Linux(), text.Write},
		{"linux.machine.txt", reporttest.Linux(), text.WriteMachine},
	} {
		t.Run(c.file, func(t *testing.T) {
			var got bytes.Buffer
			if err := c.write(&got, report.Build(c.in)); err != nil {
				t.Fatal(err)
			}
			path := "testdata/" + c.file
			if *update {
				if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(got.Bytes(), want) {
				t.Errorf("differs from %s (rewrite it with -update if that is right):\n%s", path, got.Bytes())
			}
		})
	}
}

// TestGuesses: a run of guesses is one entry of the form for users, whose numbers go on behind it.
func TestGuesses(t *testing.T) {
	r := report.Build(reporttest.Windows())
	th := &r.Threads[1]
	last := len(th.Frames) - 1
	th.Guesses = []report.Guesses{{From: 1, Count: last - 1, Best: []int{2}}}
	write := func(w func(io.Writer, *report.Report) error) string {
		var b bytes.Buffer
		if err := w(&b, r); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	machine, folded := write(text.WriteMachine), write(text.Write)
	r.ListGuesses()
	whole := write(text.Write)
	if write(text.WriteMachine) != machine {
		t.Error("the machine's form is not whole")
	}
	want := fmt.Sprintf("  %d possible callers, found by stack scanning; --guesses lists them\n    Likeliest: ", last-1)
	if !strings.Contains(folded, want) || strings.Contains(whole, want) {
		t.Errorf("%s", folded)
	}
	// All lines of the short form with a number are those of the whole one, but for the run's own.
	for _, line := range strings.Split(folded, "\n") {
		if fields := strings.Fields(line); len(fields) > 1 && !strings.Contains(line, "possible callers") && !strings.Contains(line, "Likeliest") && !strings.Contains(whole, line) {
			t.Errorf("only the short form has %q", line)
		}
	}
	if _, after, _ := strings.Cut(folded, "Likeliest: "); !strings.Contains(whole, "\n "+strings.SplitN(after, "\n", 2)[0]) {
		t.Errorf("the likeliest is no frame of the whole form: %q", after)
	}
}

// TestNames prints a decorated name: as it is in a symbol file, but readable if a binary has it,
// since dump_syms would have written it so.
func TestNames(t *testing.T) {
	for _, linked := range []bool{false, true} {
		r := report.Build(reporttest.Windows())
		f := &r.Threads[1].Frames[0]
		f.Function, f.Inlines = report.Name{Raw: "?Abort@OS@@SAXXZ", Display: "OS::Abort()", Linked: linked}, nil
		want := map[bool]string{false: "!?Abort@OS@@SAXXZ ", true: "!OS::Abort() "}[linked]
		var b bytes.Buffer
		if err := text.Write(&b, r); err != nil || !strings.Contains(b.String(), want) {
			t.Errorf("linked: %v: no %q in\n%s", linked, want, b.String())
		}
	}
}

// TestNothing prints a report of a dump in which nothing could be read.
func TestNothing(t *testing.T) {
	in := reporttest.Linux()
	in.Dump.Threads, in.Dump.Modules, in.Dump.System, in.Dump.Breakpad, in.Stacks = nil, nil, nil, nil, nil
	r := report.Build(in)
	var b bytes.Buffer
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	if err := text.WriteMachine(&b, r); err != nil {
		t.Fatal(err)
	}
}

// TestManyModules: each of many modules costs the same.
func TestManyModules(t *testing.T) {
	testfile.Growth(t, 1000, func(size int) (run func()) {
		r := &report.Report{MainModule: -1}
		for i := range size {
			r.Modules = append(r.Modules, report.Module{Name: "a", Frames: 1, State: report.SymbolsLoaded, StoredDebugFile: "a.pdb", StoredID: fmt.Sprint(i)})
			r.ModulesByAddress = append(r.ModulesByAddress, i)
		}
		return func() { text.Write(io.Discard, r) }
	})
}

// TestSymbolTroubles: a module of the same debug file and id is marked, too, and missing symbols count for more than damaged ones.
func TestSymbolTroubles(t *testing.T) {
	r := &report.Report{MainModule: -1, ModulesByAddress: []int{0, 1, 2, 3}, Modules: []report.Module{
		{Name: "a", StoredDebugFile: "a", Frames: 1, State: report.SymbolsMissing}, {Name: "b", StoredDebugFile: "a", Frames: 1, State: report.SymbolsCorrupt},
		{Name: "c", StoredDebugFile: "c", Frames: 1, State: report.SymbolsCorrupt}, {Name: "d", StoredDebugFile: "d", State: report.SymbolsMissing}}}
	var b bytes.Buffer
	if err := text.Write(&b, r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"  a  ???  (WARNING: No", "  b  ???  (WARNING: No", "  c  ???  (WARNING: Corrupt", "  d  ???\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in %s", want, b.String())
		}
	}
}

// TestSourceInARepository: of a path in a version control system the file is shown, not the revision.
func TestSourceInARepository(t *testing.T) {
	code := &report.Code{Place: report.Place{Module: -1}, Rows: []report.CodeRow{{File: "hg:hg.mozilla.org/mozilla-central:dom/base/Element.cpp:abcdef", Line: 12, Callee: -1, Instruction: report.Instruction{Place: report.Place{Module: -1}}}}}
	var b bytes.Buffer
	if err := text.WriteCode(&b, &report.Report{}, code); err != nil || !strings.Contains(b.String(), "\nElement.cpp:12\n") {
		t.Errorf("%v: %s", err, b.String())
	}
}
