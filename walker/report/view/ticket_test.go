package view

import (
	"encoding/csv"
	"fmt"
	"io"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/ticket"
)

func written(t *testing.T, form func(io.Writer, *ticket.Ticket) error, k *ticket.Ticket) string {
	t.Helper()
	var b strings.Builder
	if err := form(&b, k); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// oddNames is an example with names that are markup.
func oddNames() *report.Report {
	r := example()
	r.Process.Product, r.Process.Version = "Tiles", "1.2.3"
	uptime := uint64(200)
	r.Process.Uptime = &uptime
	r.Modules[0].Version, r.Modules[0].CodeID, r.Modules[0].DebugFile = "4.5.6.7", "c0de", "/build/app.debug"
	r.Threads[1].Frames[0].Function.Raw = "`anonymous namespace'::f"
	r.Threads[1].Frames[1].Function.Raw = "a|b`<img>`{noformat}&{x}"
	r.Modules[2].Name = `=cmd|'C calc'!A0","x`
	regs := cpu.Regs{Arch: cpu.AMD64}
	regs.Set(cpu.AMD64.PC, 0x400010)
	regs.Set(cpu.AMD64.SP, 0x7ffe_1234_5678)
	r.Threads[1].Frames[0].Regs = &regs
	return r
}

func TestTickets(t *testing.T) {
	k := Ticket(oddNames(), nil, TicketOptions{Thread: -1, All: true})
	lines := map[string][]string{
		"text": {"app tried to access memory at 0x45 (close to a null pointer) in innermost.", "Dump:       a.dmp", "Time:       1970-01-01 00:00:01 UTC", "Product:    Tiles 1.2.3",
			"Uptime:     3 min 20 s", "Reason:     SIGSEGV / SEGV_MAPERR, address 0x45", "Signature:  innermost", "Thread 1 “main” (crashed), id 77",
			" ↳  app!innermost  [i.h:1]  (inlined)", " 0  app!`anonymous namespace'::f+0x10  [app.cc:9]  (recorded)", "app  version 4.5.6.7, app.debug AAA0, code id c0de"},
		"markdown": {"- Product: Tiles 1.2.3", "- Signature: `innermost`", "| 0 | `` `anonymous namespace'::f+0x10 `` | `app.cc:9` | recorded | app +0x10 |",
			"| 1 | ``a\\|b`<img>`{noformat}&{x}`` |  | ", "| `app` | 4.5.6.7 | `app.debug AAA0` | `c0de` |"},
		"jira": {"*app tried to access memory at 0x45 \\(close to a null pointer) in innermost.*", "{noformat}", " 1  x.dll!a|b`<img>`{ noformat}&{x}  (", "app  version 4.5.6.7, app.debug AAA0, code id c0de"},
		"windbg": {" # Child-SP          RetAddr               Call Site", "00 (Inline Function) --------`--------     app!innermost [/src/i.h @ 1]",
			"02 00007ffe`12345678 00000000`00500020     app!`anonymous namespace'::f+0x10 [/src/app.cc @ 9]", "03 00000000`00000000 00000000`00009999     x!a|b`<img>`{noformat}&{x}", "04 00000000`00000000 00000000`00000000     0x0000000000009999"},
		"html": {"<h1>app tried to access memory at 0x45 (close to a null pointer) in innermost.</h1>", "<dt>Product</dt><dd>Tiles 1.2.3</dd>", "<code>a|b`&lt;img&gt;`{noformat}&amp;{x}</code>", "<span>rip 0x0000000000400010</span>",
			"<code>app.debug AAA0</code><td><code>c0de</code>", "Thread 0 “io”, id 10"},
		"brief": {"What happened: app tried", "Registers: rsp 0x7ffe12345678, rip 0x400010", "  (inlined) The compiler put this function's code into its caller, so the two share a frame.", " 0  app!`anonymous namespace'::f+0x10  [app.cc:9]  (recorded)", "- Missing symbols: x.pdb"},
		"json": {`"what_happened":"app tried to access memory at 0x45 (close to a null pointer) in innermost."`, `{"name":"Product","text":"Tiles 1.2.3"}`, `{"name":"rip","value":"0x0000000000400010"}`,
			`"frame":0,"function":"innermost","module":"app","offset":null,"several":0,"source":"i.h:1"`, "\"function\":\"a|b`<img>`{noformat}&{x}\"", `"title":"Thread 1 “main” (crashed), id 77"`, `"several":1,"source":"app.cc:9"`},
		"csv": {"Module,Version,Base,Size,Debug file,Debug id,Code id,Symbols,Symbol file,Frames,Path", "app,4.5.6.7,0x0000000000400000,4096,app.debug,AAA0,c0de,loaded,,2,/opt/app"},
	}
	for _, form := range ticket.Forms {
		name, got := form.ID, written(t, form.Write, k)
		if lines[name] == nil {
			t.Errorf("nothing is expected of the form %s", name)
		}
		for _, line := range lines[name] {
			if !strings.Contains(got, line) {
				t.Errorf("%s has no %q in\n%s", name, line, got)
			}
		}
		if again := written(t, form.Write, Ticket(oddNames(), nil, TicketOptions{Thread: -1, All: true})); again != got {
			t.Errorf("%s differs when it is written again", name)
		}
	}
	rows, err := csv.NewReader(strings.NewReader(written(t, ticket.WriteModules, k))).ReadAll()
	if err != nil || len(rows) != 4 {
		t.Fatalf("%v, %q", err, rows)
	}
	if !slices.ContainsFunc(rows, func(row []string) bool { return strings.HasPrefix(row[0], "'=cmd|") }) {
		t.Errorf("a formula: %q", rows)
	}
	if jira := written(t, ticket.WriteJira, k); strings.Count(jira, "{noformat}") != 2 {
		t.Errorf("a name ends the block:\n%s", jira)
	}
}

// A 32-bit Windows program, as WinDbg shows it.
func TestWinDbgOfX86(t *testing.T) {
	r := example()
	r.Dump.WordSize = 4
	regs := cpu.Regs{Arch: cpu.X86}
	regs.Set(cpu.X86.FP, 0x12f7a8)
	r.Threads[1].Frames[1].Regs, r.Threads[1].Frames[0].Regs = &regs, &regs
	r.Threads[1].Frames[1].Function, r.Threads[1].Frames[1].HasFunction = report.Name{}, false
	got := written(t, ticket.WriteWinDbg, Ticket(r, nil, TicketOptions{Thread: -1}))
	for _, line := range []string{" # ChildEBP RetAddr  Call Site\n", "\n00 (Inline) -------- app!innermost [/src/i.h @ 1]\n", "\n02 0012f7a8 00500020 app!_Zouter+0x10 [/src/app.cc @ 9]\n", "\n03 0012f7a8 00009999 x+0x20\n"} {
		if !strings.Contains(got, line) {
			t.Errorf("no %q in\n%s", line, got)
		}
	}
}

// TestWhoseAddress: what the dump records and what the instruction did are told apart.
func TestWhoseAddress(t *testing.T) {
	for _, c := range []struct {
		reason      string
		record, did uint64
		has, answer bool
		want        string
	}{
		{"SIGSEGV / SEGV_MAPERR", 0x10, 0x10, true, false, "SIGSEGV / SEGV_MAPERR, address 0x10"},
		{"SIGSEGV / SI_KERNEL", 0, 0x8000_0000_0000_0000, true, false, "SIGSEGV / SI_KERNEL; the exception's record has address 0x0, the instruction's is 0x8000000000000000"},
		{"SIGABRT / SI_TKILL", 0x3e8_0000_1234, 0, false, false, "SIGABRT / SI_TKILL"},
		{"SIGABRT / SI_TKILL", 0x3e8_0000_1234, 0x10, true, true, "SIGABRT / SI_TKILL, with which a signal's handler answered the crash"},
		{"EXCEPTION_BREAKPOINT", 0x401000, 0, false, false, "EXCEPTION_BREAKPOINT, address 0x401000"},
	} {
		r := example()
		r.Crash.Reason.Name, r.Crash.Address, r.Crash.Answer = c.reason, c.record, c.answer
		r.Crash.Event.Address, r.Crash.Event.HasAddress = c.did, c.has
		if got := recorded(r.Crash); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// A recursion is one line. Long stacks of other threads are cut, and say so.
func TestLongStacks(t *testing.T) {
	r := example()
	frames := r.Threads[1].Frames[:2:2]
	for i := range 9000 {
		frames = append(frames, report.Frame{PC: uint64(0x400100 + i%2), Lookup: uint64(0x400100 + i%2), Module: 0, Trust: "cfi", HasFunction: true, Function: report.Name{Raw: "ab"[i%2 : i%2+1]}})
	}
	frames = append(frames, report.Frame{Module: 0, Trust: "cfi", HasFunction: true, Function: report.Name{Raw: "main"}})
	r.Threads[1].Frames = frames
	r.Threads[1].FindRepeats()
	r.Threads[0].Omitted = false
	for i := range 50 {
		r.Threads[0].Frames = append(r.Threads[0].Frames, report.Frame{Module: 0, Trust: "cfi", HasFunction: true, Function: report.Name{Raw: fmt.Sprint("io", i)}})
	}
	k := Ticket(r, nil, TicketOptions{Thread: -1, All: true})
	text := written(t, ticket.WriteText, k)
	for _, line := range []string{" 3  app!b  (unwind rule)\n …  Frames 4 to 9,001 repeat the 2 frames above 4,499 times\n9002  app!main  (unwind rule)\nThe stack ends early", "19  app!io19  (unwind rule)\n30 more frames are not shown\n"} {
		if !strings.Contains(text, line) {
			t.Errorf("no %q in\n%s", line, text)
		}
	}
	if html := written(t, ticket.WriteHTML, k); !strings.Contains(html, "Frames 4 to 9,001 repeat the 2 frames above 4,499 times") || !strings.Contains(html, "30 more frames are not shown") {
		t.Error(html)
	}
}

// TestWorstTickets: names of the greatest length, thousands of modules, frames, threads and findings
// make neither a large report nor a large brief, and both say what they leave out.
func TestWorstTickets(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	name := func() string {
		return strings.Repeat(string([]rune("<&\"'`|é…")[random.Intn(8)]), 1+random.Intn(6000))
	}
	for round := range 3 {
		r := example()
		r.Dump.Name, r.Process.Name, r.Process.Product = name(), name(), name()
		r.Threads[1].Name, r.Threads[1].Stop.Detail, r.Threads[1].Stop.Suggestion = name(), name(), name()
		r.Crash.Reason.Name = name()
		for range 8 {
			r.Messages = append(r.Messages, report.Message{Source: name(), Text: name()})
		}
		for i := range 60 * round {
			r.Modules = append(r.Modules, report.Module{Base: uint64(i) << 20, Size: 1 << 20, Name: name(), DebugFile: name(), DebugID: name(), CodeID: name(), Version: name()})
			r.Missing = append(r.Missing, report.MissingFile{Module: 3 + i, DebugFile: name(), DebugID: name(), StorePath: name()})
			r.Findings = append(r.Findings, report.Finding{Kind: report.FindingNoUnwind, Text: name(), Suggestion: name(), Module: -1})
			r.Threads = append(r.Threads, report.Thread{Index: 2 + i, Name: name(), Frames: r.Threads[1].Frames})
			r.Threads[1].Frames = append(r.Threads[1].Frames, report.Frame{Module: 3 + i, HasFunction: true, Function: report.Name{Raw: name()}, File: name(), Trust: "scan"})
		}
		k := Ticket(r, nil, TicketOptions{Thread: -1, All: true, Private: true})
		html, brief := written(t, ticket.WriteHTML, k), written(t, ticket.WriteBrief, k)
		if len(html) > 200_000 || !strings.HasSuffix(html, "</html>\n") || strings.Count(html, "<details") != strings.Count(html, "</details") || strings.Count(html, "<table") != strings.Count(html, "</table") {
			t.Errorf("round %d: a report of %d bytes that ends with %q", round, len(html), html[len(html)-100:])
		}
		if len(brief) > 8192 || !strings.HasSuffix(brief, "\n") || strings.ToValidUTF8(brief, "") != brief {
			t.Errorf("round %d: a brief of %d bytes", round, len(brief))
		}
		for _, line := range strings.Split(brief, "\n") {
			if len(line) > 330 {
				t.Errorf("a line of %d bytes", len(line))
			}
		}
		if round > 0 && (!strings.Contains(html, "more frames are not shown") || !strings.Contains(brief, "more frames are not shown") || !strings.Contains(brief, "- and ")) {
			t.Errorf("round %d: what is left out is not said:\n%s", round, brief)
		}
	}
}
