package report_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/reporttest"
)

func TestBuild(t *testing.T) {
	r := report.Build(reporttest.Windows())
	if r.FirstThread != 1 || !r.HasRequesting || r.Crash.Thread != 1 || !r.Threads[1].Crashed || !r.Threads[0].Omitted {
		t.Errorf("first thread %d, requesting %v, crash thread %d", r.FirstThread, r.HasRequesting, r.Crash.Thread)
	}
	if r.Process.Name != "app.exe" || *r.Process.PID != 4711 || *r.Process.Uptime != 100 {
		t.Errorf("process %+v", r.Process)
	}
	var states []report.SymbolState
	var frames []int
	for _, m := range r.Modules {
		states, frames = append(states, m.State), append(frames, m.Frames)
	}
	if want := []report.SymbolState{report.SymbolsLoaded, report.SymbolsMissing, report.SymbolsAssigned, report.SymbolsMismatch}; !slices.Equal(states, want) {
		t.Errorf("states %v", states)
	}
	if want := []int{3, 1, 2, 1}; !slices.Equal(frames, want) {
		t.Errorf("frames %v", frames)
	}
	fs := r.Threads[1].Frames
	for i, want := range []bool{false, false, true, true, false, false, false, false} {
		if fs[i].AssignedSymbols != want {
			t.Errorf("frame %d: assigned symbols %v", i, fs[i].AssignedSymbols)
		}
	}
	if want := []report.UnloadedHit{{Module: "alsogone.dll", Offsets: []uint64{0x100}}, {Module: "gone.dll", Offsets: []uint64{0x900}}}; !reflect.DeepEqual(fs[6].Unloaded, want) {
		t.Errorf("unloaded %v", fs[6].Unloaded)
	}
	if in := fs[0].Inlines[0]; in.Function.Shown() != "foo::bar()" || !in.Function.Differs() || fs[0].Function.Differs() {
		t.Errorf("names %+v %+v", in.Function, fs[0].Function)
	}
	if in := fs[0].Inlines[0]; in.Start != 0x40100e || fs[0].LineStart != 0x40100d || fs[0].FunctionStart != 0x401000 {
		t.Error("addresses of symbols are not absolute")
	}
}

// TestMissing ranks by frames, and counts modules of one file and id together.
func TestMissing(t *testing.T) {
	in := reporttest.Windows()
	in.Dump.Modules[0].DebugFile, in.Dump.Modules[0].DebugID = `x\other.pdb`, in.Dump.Modules[3].DebugID
	in.Symbols = func(m int) report.ModuleSymbols {
		if m == 3 {
			return report.ModuleSymbols{Mismatch: report.Mismatch{File: "other.sym", ID: "0123", Item: 5}}
		}
		return report.ModuleSymbols{State: report.SymbolsMissing}
	}
	r := report.Build(in)
	type want struct {
		file, path string
		frames     int
	}
	var got []want
	for _, w := range r.Missing {
		got = append(got, want{w.DebugFile, w.StorePath, w.Frames})
	}
	id, plugin := r.Modules[3].DebugID, r.Modules[2].DebugID
	if exp := []want{
		{"plugin.PDB", "plugin.PDB/" + plugin + "/plugin.sym", 2}, // what the crashed thread's stack asks for
		{"other.pdb", "other.pdb/" + id + "/other.sym", 4},
		{"nopdb.dll", "", 1},
	}; !slices.Equal(got, exp) || r.Threads[r.FirstThread].Stop.Wants != r.Missing[0].Module {
		t.Errorf("wanted %v\nexpected %v", got, exp)
	}
}

func TestFirstThread(t *testing.T) {
	for _, c := range []struct {
		name       string
		change     func(in *report.Input)
		first      int
		requesting bool
	}{
		{"asked for", func(*report.Input) {}, 1, true},
		{"nobody asked", func(in *report.Input) { in.Dump.Breakpad = nil }, 0, false},
		{"an exception of an unknown thread", func(in *report.Input) { in.Dump.Exception = &core.Exception{ThreadID: 99} }, 0, false},
		{"no threads", func(in *report.Input) { in.Dump.Threads, in.Stacks = nil, nil }, -1, false},
	} {
		in := reporttest.Linux()
		c.change(&in)
		r := report.Build(in)
		if r.FirstThread != c.first || r.HasRequesting != c.requesting {
			t.Errorf("%s: first thread %d, requesting %v", c.name, r.FirstThread, r.HasRequesting)
		}
	}
}

// TestModulesByAddress has the cases of Breakpad's range map: on Linux the lower of two overlapping
// modules makes room, elsewhere the later one is left out.
func TestModulesByAddress(t *testing.T) {
	for _, c := range []struct {
		os    core.OS
		spans [][2]uint64 // base, size
		want  []int
	}{
		{core.Windows, [][2]uint64{{0x3000, 0x1000}, {0x1000, 0x1000}}, []int{1, 0}},
		{core.Windows, [][2]uint64{{0x1000, 0x2000}, {0x2000, 0x2000}}, []int{0}},
		{core.OSLinux, [][2]uint64{{0x1000, 0x2000}, {0x2000, 0x2000}}, []int{0, 1}},
		{core.OSLinux, [][2]uint64{{0x2000, 0x2000}, {0x1000, 0x2000}}, []int{1, 0}},
		{core.Android, [][2]uint64{{0x1000, 0x1000}, {0x1000, 0x2000}}, []int{0}},
		{core.OSLinux, [][2]uint64{{0x1000, 0}, {0, 0}, {^uint64(0) - 1, 0x10}}, []int{}},
	} {
		in := reporttest.Linux()
		in.Dump.System.OS = c.os
		in.Dump.Modules, in.Stacks = nil, nil
		for _, s := range c.spans {
			in.Dump.Modules = append(in.Dump.Modules, core.Module{Base: s[0], Size: s[1]})
		}
		if got := report.Build(in).ModulesByAddress; !slices.Equal(got, c.want) {
			t.Errorf("%v %x: %v, expected %v", c.os, c.spans, got, c.want)
		}
	}
}

// TestNoNilSlices: JavaScript gets lists, not null.
func TestNoNilSlices(t *testing.T) {
	in := reporttest.Linux()
	in.Stacks = in.Stacks[:1]
	var check func(path string, v reflect.Value)
	check = func(path string, v reflect.Value) {
		switch v.Kind() {
		case reflect.Slice:
			if v.IsNil() {
				t.Errorf("%s is nil", path)
			}
			for i := range v.Len() {
				check(path+"[]", v.Index(i))
			}
		case reflect.Struct:
			for i := range v.NumField() {
				check(path+"."+v.Type().Field(i).Name, v.Field(i))
			}
		}
	}
	check("Report", reflect.ValueOf(*report.Build(in)))
}

func TestBaseName(t *testing.T) {
	for in, want := range map[string]string{`C:\a\b.dll`: "b.dll", "/usr/lib/c.so": "c.so", "plain": "plain", "": "", `a/b\c`: "c"} {
		if got := report.BaseName(in); got != want {
			t.Errorf("BaseName(%q) = %q", in, got)
		}
	}
}

// TestModuleTitle: a module whose name has nothing that could be seen is called by its address.
func TestModuleTitle(t *testing.T) {
	for path, want := range map[string]string{"": "module@0x10000", " ": "module@0x10000", "/opt/": "module@0x10000", `C:\a\ `: "module@0x10000", "/opt/a b": "a b"} {
		if have := report.ModuleTitle(path, 0x10000); have != want {
			t.Errorf("%q: %q, want %q", path, have, want)
		}
	}
}
