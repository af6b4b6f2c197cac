package view

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/ticket"
)

// example is a report made by hand: two threads, inlined calls, a scanned frame, symbols missing
// and of another build.
func example() *report.Report {
	return &report.Report{
		Dump:      report.Dump{Name: "dumps/a.dmp", WordSize: 8, Time: 1},
		ModuleMap: &core.ModuleMap{},
		System:    report.System{Display: "Linux 6.1 #1 SMP x, amd64"},
		Crash: &report.Crash{Reason: report.Reason{Name: "SIGSEGV / SEGV_MAPERR", Code: 11, Flags: 1},
			Event:   analysis.Event{Did: "tried to access memory at", Address: 0x45, HasAddress: true, Why: "close to a null pointer"},
			Address: 0x45, Thread: 1, ThreadID: 77},
		Process:     report.Process{Name: "/opt/app"},
		FirstThread: 1, HasRequesting: true,
		Modules: []report.Module{
			{Base: 0x400000, Size: 0x1000, Name: "/opt/app", DebugID: "AAA0", State: report.SymbolsLoaded, Frames: 2},
			{Base: 0x500000, Size: 0x1000, Name: `C:\lib\x.dll`, DebugID: "BBB0", State: report.SymbolsAssigned, SymbolID: "CCC0", Frames: 1},
			{Base: 0x600000, Size: 0x1000, Name: "unused.so", State: report.SymbolsNotNeeded},
		},
		Threads: []report.Thread{
			{Index: 0, ID: 10, Name: "io", Frames: []report.Frame{}, Omitted: true},
			{Index: 1, ID: 77, Name: "main", Crashed: true, Stop: report.Stop{Kind: "nothing-found", Detail: "no caller was found"},
				Frames: []report.Frame{
					{PC: 0x400010, Lookup: 0x400010, RVA: 0x10, Trust: "context", Module: 0, HasFunction: true,
						Function: report.Name{Raw: "_Zouter"}, FunctionStart: 0x400000, File: "/src/app.cc", Line: 9, HasLine: true,
						Inlines: []report.Inline{{Function: report.Name{Raw: "innermost"}, File: "/src/i.h", Line: 1, HasLine: true},
							{Function: report.Name{Raw: "middle"}, File: "/src/m.h", Line: 2, HasLine: true}}},
					{PC: 0x500020, Lookup: 0x50001f, RVA: 0x1f, Trust: "cfi", Module: 1, HasFunction: true, Function: report.Name{Raw: "forced"}, AssignedSymbols: true},
					{PC: 0x9999, Lookup: 0x9998, Trust: "scan", Module: -1},
				}},
		},
		Missing: []report.MissingFile{{Module: 1, DebugFile: "x.pdb", DebugID: strings.Repeat("A", 32) + "1",
			Mismatch: report.Mismatch{File: "s/x.sym", ID: strings.Repeat("A", 32) + "2", Item: 4}, Frames: 1}},
	}
}

func demangled(s string) string { return strings.Replace(s, "_Z", "app::", 1) }

func TestVerdict(t *testing.T) {
	v := New(example(), demangled)
	if got, want := v.sentence(), "app tried to access memory at 0x45 (close to a null pointer) in innermost."; got != want {
		t.Errorf("%q\nwant %q", got, want)
	}
	r := example()
	r.Crash = nil
	if got := New(r, nil).sentence(); got != "app did not crash: the dump holds no exception. The dump was requested by thread 1 “main”." {
		t.Errorf("%q", got)
	}
	if f := v.Summary().Facts; f[0] != "i.h:1" || f[1] != "thread 1 “main”" || f[2] != "Linux 6.1, amd64" {
		t.Errorf("facts %q", f)
	}
}

// TestNamesNearby: a public name whose function may have ended has its offset, one whose function
// has ended is not a name, and neither is what writers of symbol files put in place of one.
func TestNamesNearby(t *testing.T) {
	for _, c := range []struct {
		name            string
		nearest, passed bool
		want, row       string
		thread          string // the name in the list of threads
		offset          string // what the offset in the details is
		signature       string
		copied          string // what copies add to the name
	}{
		{"main", false, false, " in main", "main", "main", "In function", "main", "+0x200"},
		{"mallopt(int)", true, false, " at mallopt+0x200", "mallopt(int)+0x200", "mallopt+0x200", "After the name", "after mallopt", ""},
		{"mallopt", false, true, " in app+0x1200", "app+0x1200", "app", "", "app", ""},
		{"<unknown in app.exe>", false, false, " in app+0x1200", "app+0x1200", "app", "", "app", ""},
		{"<name omitted>", false, false, " in app+0x1200", "app+0x1200", "app", "", "app", ""},
	} {
		r := example()
		r.Threads[1].Frames = []report.Frame{{PC: 0x401200, Lookup: 0x401200, RVA: 0x1200, Trust: "context", HasFunction: true,
			Function: report.Name{Raw: c.name}, FunctionStart: 0x401000, Public: c.nearest || c.passed, Nearest: c.nearest, Passed: c.passed}}
		v := New(r, nil)
		if got, want := v.sentence(), "app tried to access memory at 0x45 (close to a null pointer)"+c.want+"."; got != want {
			t.Errorf("%s: %q", c.name, got)
		}
		row := v.Stack(StackQuery{Thread: 1, Count: 1}).Rows[0]
		if row.Function != c.row || row.NoSymbol != strings.HasPrefix(c.row, "app") {
			t.Errorf("%s: %+v", c.name, row)
		}
		if md := written(t, ticket.WriteMarkdown, Ticket(r, nil, TicketOptions{Thread: 1})); !strings.Contains(md, "| 0 | `"+c.row+c.copied+"` |") {
			t.Errorf("%s: %s", c.name, md)
		}
		for _, thread := range v.Threads(0, 10, -1, "", "").Rows {
			if thread.Index == 1 && thread.Stack.Top != c.thread {
				t.Errorf("%s: thread %q", c.name, thread.Stack.Top)
			}
		}
		d, offset := v.Frame(1, 0, -1), ""
		for _, f := range d.Facts {
			if f.Value == "+0x200" {
				offset = f.Key
			}
		}
		if offset != c.offset || !strings.HasPrefix(d.Title, c.row) {
			t.Errorf("%s: title %q, %q", c.name, d.Title, offset)
		}
		if s := v.Summary().Signature; s != c.signature {
			t.Errorf("%s: signature %q", c.name, s)
		}
		if !v.frameHolds(&r.Threads[1].Frames[0], 0, -1, c.row) {
			t.Errorf("%s: a search does not find %s", c.name, c.row)
		}
	}
}

// TestPlaceInDoubt: a frame found by scanning is not where the crash is, and nor are the callers of
// code in no module that a signal interrupted.
func TestPlaceInDoubt(t *testing.T) {
	for _, c := range []struct {
		trust string
		sent  bool
		want  string
	}{
		{"cfi", false, " in app+0x1200"},
		{"scan", false, ", perhaps called from app+0x1200"},
		{"cfi_scan", false, ", perhaps called from app+0x1200"},
		{"cfi", true, ", outside of every module"},
		{"scan", true, ", outside of every module"},
	} {
		r := example()
		r.Crash.Event.Sent = c.sent
		r.Threads[1].Frames = []report.Frame{{PC: 0x10, Lookup: 0x10, Module: -1, Trust: "context"}, {PC: 0x401200, Lookup: 0x401200, RVA: 0x1200, Trust: c.trust}}
		if got, want := New(r, nil).sentence(), "app tried to access memory at 0x45 (close to a null pointer)"+c.want+"."; got != want {
			t.Errorf("%s, sent %v: %q", c.trust, c.sent, got)
		}
	}
}

// A stack whose frames mostly have no name, since the symbols are exported names alone, has not
// all symbols; neither has the module.
func TestExportedNamesAreNotAll(t *testing.T) {
	r := example()
	r.Modules[0].Has.OnlyExports = true
	r.Modules[1].State, r.Threads[1].Stop.Suggestion, r.Threads[1].Stop.Wants = report.SymbolsMissing, "add x.sym", 1
	v := New(r, demangled)
	if got, want := v.Stack(StackQuery{Thread: 1, Count: 1}).Quality, "Symbols for 0 of 2 modules on this stack · only exported names for 1 module · add x.dll first · "; !strings.HasPrefix(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for _, m := range v.Modules(0, 10, -1, 0, "").Rows {
		if m.Name == "app" && (m.State != "exports" || m.Word != "exported names") {
			t.Errorf("%+v", m)
		}
	}
}

// TestStackOfGuesses: a run of guesses is one row, which the list, the copies and the count of frames
// share, until the user asks for them or selects one.
func TestStackOfGuesses(t *testing.T) {
	r := example()
	th := &r.Threads[1]
	for i := range 20 {
		f := report.Frame{PC: 0x400100 + uint64(i), Lookup: 0x400100 + uint64(i), RVA: 0x100 + uint64(i), Trust: "scan", Module: 0}
		if i == 10 {
			f.HasFunction, f.Function, f.Inlines = true, report.Name{Raw: "_Zparse"}, []report.Inline{{Function: report.Name{Raw: "in"}}}
		}
		th.Frames = append(th.Frames, f)
	}
	th.Frames = append(th.Frames, report.Frame{PC: 0x400050, Lookup: 0x400050, Trust: "cfi", Module: 0, HasFunction: true, Function: report.Name{Raw: "main"}})
	th.Guesses = []report.Guesses{{From: 3, Count: 20, Best: []int{13}}}
	v := New(r, demangled)
	for _, c := range []struct {
		q            StackQuery
		total        int
		row          string // the row of the run
		main         int    // the row of main
		selected     int
		parse, inner int // the rows of parse and of the call that is inlined in it, or -1
	}{
		{StackQuery{Inline: -1}, 8, "20 possible callers, found by scanning: show. Likeliest: app!app::parse (13)", 6, 2, -1, -1},
		{StackQuery{Frame: 23, Inline: -1}, 8, "20 possible callers, found by scanning: show. Likeliest: app!app::parse (13)", 6, 6, -1, -1},
		{StackQuery{Frame: 23, Inline: -1, ShowFolds: true}, 29, "20 possible callers, found by scanning: hide. Likeliest: app!app::parse (13)", 27, 27, 17, 16},
		{StackQuery{Frame: 13, Inline: 0}, 29, "20 possible callers, found by scanning: hide. Likeliest: app!app::parse (13)", 27, 16, 17, 16},
		{StackQuery{Frame: 13, Inline: -1, HideInlines: true}, 26, "20 possible callers, found by scanning: hide. Likeliest: app!app::parse (13)", 24, 14, 14, -1},
	} {
		q := c.q
		q.Thread, q.Count = 1, 100
		all := v.Stack(q)
		at := func(full string) int {
			return slices.IndexFunc(all.Rows, func(r rows.StackRow) bool { return r.Full == full })
		}
		run := slices.IndexFunc(all.Rows, func(r rows.StackRow) bool { return r.Kind == rows.RowGuesses })
		if all.Total != c.total || len(all.Rows) != c.total || all.Selected != c.selected || all.Rows[run].Function != c.row || at("main") != c.main ||
			at("app::parse") != c.parse || at("in") != c.inner || all.Frames != 24 || len(all.Folds) != 1 || all.Folds[0] != (rows.Run{From: 3, Count: 20}) {
			t.Errorf("%+v: %d rows, selected %d, main %d, parse %d, in %d: %q", q, all.Total, all.Selected, at("main"), at("app::parse"), at("in"), all.Rows[run].Function)
		}
		for from := range c.total {
			q.From, q.Count = from, 3
			if w := v.Stack(q); !slices.Equal(w.Rows, all.Rows[from:min(from+3, c.total)]) {
				t.Errorf("%+v: %+v", q, w.Rows)
			}
		}
	}
	if hit := v.Stack(StackQuery{Thread: 1, Count: 9, Inline: -1, Search: rows.Query("parse")}).Rows[5]; !hit.Hit {
		t.Error("a run that has what is searched is not marked")
	}
	want := " …  20 possible callers, found by scanning. Likeliest: app!app::parse (13)\n"
	k := Ticket(v.Report(), demangled, TicketOptions{Thread: 1})
	if got := written(t, ticket.WriteText, k); !strings.Contains(got, want) || strings.Contains(got, "0x400105") || !strings.Contains(got, "app!main") {
		t.Error(got)
	}
	if got := written(t, ticket.WriteMarkdown, k); !strings.Contains(got, "| … | 20 possible callers, found by scanning. Likeliest: app!app::parse (13) |") || strings.Count(got, "guess") != 1 {
		t.Error(got)
	}
	if got := v.Threads(0, 9, 1, "", "").Rows[0].Stack.Frames; got != 4 {
		t.Errorf("the list of threads has %d frames", got)
	}
}

func TestStackWindows(t *testing.T) {
	v := New(example(), demangled)
	all := v.Stack(StackQuery{Thread: 1, Count: 100})
	var kinds []string
	for _, r := range all.Rows {
		kinds = append(kinds, r.Kind)
	}
	if got := strings.Join(kinds, " "); got != "inline inline frame frame frame stop" || all.Total != 6 {
		t.Fatalf("%s, total %d", got, all.Total)
	}
	// Every window shows the same rows as the whole.
	for from := 0; from <= 6; from++ {
		for n := 0; n <= 7; n++ {
			w := v.Stack(StackQuery{Thread: 1, From: from, Count: n})
			for i, r := range w.Rows {
				if r != all.Rows[from+i] {
					t.Fatalf("window %d+%d, row %d: %+v", from, n, i, r)
				}
			}
			if want := min(n, 6-from); len(w.Rows) != want {
				t.Fatalf("window %d+%d has %d rows", from, n, len(w.Rows))
			}
		}
	}
	if s := v.Stack(StackQuery{Thread: 1, Count: 9, Frame: 0, Inline: -1}).Selected; s != 2 {
		t.Errorf("frame 0 is row %d", s)
	}
	if s := v.Stack(StackQuery{Thread: 1, Count: 9, Frame: 2, Inline: -1, HideInlines: true}); s.Total != 4 || s.Selected != 2 {
		t.Errorf("without inlined calls: %d list, selected %d", s.Total, s.Selected)
	}
	if all.Rows[2].Function != "app::outer" || all.Rows[2].Offset != "+0x10" || all.Rows[2].Source != "app.cc:9" {
		t.Errorf("%+v", all.Rows[2])
	}
	if r := all.Rows[3]; !r.AssignedSymbols || r.Module != "x.dll" {
		t.Errorf("%+v", r)
	}
	if r := all.Rows[4]; !r.Unreliable || !r.NoSymbol || r.Function != "0x0000000000009998" || r.Address != r.Function {
		t.Errorf("%+v", r)
	}
	if all.Quality != "Symbols for all 2 modules on this stack · 1 frame is a guess · 1 frame found or named by symbols that you assigned" {
		t.Error(all.Quality)
	}
	hits := v.Stack(StackQuery{Thread: 1, Count: 9, Search: rows.Query("OUTER"), Frame: 0, Inline: -1})
	if hits.Total != all.Total || !hits.Rows[2].Hit || hits.Rows[3].Hit {
		t.Errorf("search marks rows and leaves out none: %+v", hits)
	}
	if got := v.Stack(StackQuery{Thread: 9}); got.Total != 0 || got.Rows == nil {
		t.Errorf("a thread that is not there: %+v", got)
	}
}

func TestLists(t *testing.T) {
	v := New(example(), demangled)
	th := v.Threads(0, 10, 1, "", "")
	if len(th.Rows) != 2 || th.Rows[0].Index != 1 || !th.Rows[0].Crashed || th.Selected != 0 || th.Rows[1].Stack.Top != "wrote the dump" {
		t.Errorf("%+v", th)
	}
	if th := v.Threads(0, 10, 1, "IO", ""); th.Total != 1 || th.Rows[0].Index != 0 {
		t.Errorf("filtered: %+v", th)
	}
	if th := v.Threads(0, 10, 1, "", "forced"); th.Total != 2 || th.Rows[0].Hits != 1 || th.Rows[1].Hits != 0 {
		t.Errorf("searched: %+v", th)
	}
	m := v.Modules(0, 10, -1, 0, "")
	if m.Total != 3 || m.Rows[0].State != "forced" || m.Rows[2].Name != "unused.so" || m.Rows[0].Item != 4 {
		t.Errorf("%+v", m.Rows)
	}
	w := v.Missing(0, 10)
	if w.Rows[0].OtherFile != "x.sym" || w.Rows[0].Differs != "same signature, age 2 instead of 1" {
		t.Errorf("%+v", w.Rows)
	}
}

// What differs between two ids that name no one build.
func TestDiffers(t *testing.T) {
	const id = "00112233445566778899AABBCCDDEEFF"
	for _, c := range [][2]string{
		{id + "2", "same signature, age 2 instead of 1"},
		{strings.ToLower(id) + "a", "same signature, age a instead of 1"},
		{"33221100554477668899AABBCCDDEEFF0", "same signature with its bytes in another order, age 0 instead of 1"},
		{"33221100" + id[8:] + "0", "another signature: another build"},
		{"3A7D5E001C", "another signature: another build"},
		{"", "another signature: another build"},
	} {
		if got := report.IDDifference(id+"1", c[0]); got != c[1] {
			t.Errorf("%s: %q, want %q", c[0], got, c[1])
		}
	}
}

func TestFrame(t *testing.T) {
	v := New(example(), demangled)
	d := v.Frame(1, 0, 1)
	if d.Title != "middle" || !strings.Contains(d.Why.Sentence, "so the two share a frame. Of that frame: the dump has its registers") {
		t.Errorf("%+v", d)
	}
	if d := v.Frame(1, 1, -1); !strings.Contains(d.Warning, "module has id BBB0, the file has CCC0") {
		t.Errorf("%q", d.Warning)
	}
	if d := v.Frame(1, 2, -1); d.Why.Stop != "The stack ends early: no caller was found" {
		t.Errorf("%q", d.Why.Stop)
	}
	if d := v.Frame(0, 0, -1); d.Why.Stop != "No frames: this thread wrote the dump." {
		t.Errorf("%+v", d)
	}
	if v.Frame(7, 0, 0) != nil {
		t.Error("a frame of a thread that is not there")
	}
}

// TestNamesThatAreShown: in a browser making a name readable costs a tenth of a millisecond, so a
// window of rows makes only its own.
func TestNamesThatAreShown(t *testing.T) {
	const frames = 10_000
	r := &report.Report{Threads: []report.Thread{{Frames: make([]report.Frame, frames)}}}
	for i := range r.Threads[0].Frames {
		f := &r.Threads[0].Frames[i]
		f.Module, f.HasFunction, f.Function.Raw = -1, true, fmt.Sprintf("_Z%d", i)
	}
	made := 0
	v := New(r, func(s string) string { made++; return s })
	v.Threads(0, 20, 0, "", "")
	if made > 1 {
		t.Errorf("%d names for a list of one thread", made)
	}
	v.Stack(StackQuery{From: 5000, Count: 40})
	if made > 1+40 {
		t.Errorf("%d names for 40 rows of %d", made, frames)
	}
}

// TestGuessWithoutCode: what a crash may come from is shown where the dump has no code, too.
func TestGuessWithoutCode(t *testing.T) {
	r := example()
	r.Crash = &report.Crash{Thread: 1, Analysis: &analysis.Result{Cause: -1, Guesses: []string{"the address (0xdddddddd) looks like freed memory\x1b"}}}
	d := New(r, demangled).Frame(1, 0, -1)
	want := rows.Fact{Key: "Guess", Value: "the address (0xdddddddd) looks like freed memory␛"}
	if !slices.Contains(d.Facts, want) {
		t.Errorf("%+v", d.Facts)
	}
	if d := New(r, demangled).Frame(1, 1, -1); slices.Contains(d.Facts, want) {
		t.Error("a caller has it")
	}
}
