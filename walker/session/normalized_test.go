package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/walker"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/report/view"
)

// stackJSON is what these tests read of a stack.
type stackJSON struct {
	Frames []struct {
		Module string
		Offset string `json:"module_offset"`
	}
	Index     *int `json:"threads_index"`
	Crashpane struct{ Wow64 *stackJSON }
}

func (s *stackJSON) String() string {
	if s == nil {
		return "none"
	}
	var out []string
	for _, f := range s.Frames {
		out = append(out, f.Module+f.Offset)
	}
	return strings.Join(out, " ")
}

// reportJSON is what they read of a report.
type reportJSON struct {
	Info struct {
		Thread *int `json:"crashing_thread"`
	} `json:"crash_info"`
	Crashing *stackJSON `json:"crashing_thread"`
	Count    int        `json:"thread_count"`
	Threads  []stackJSON
	System   struct {
		CPU string `json:"cpu_arch"`
	} `json:"system_info"`
	Crashpane struct {
		Exceptions []struct {
			Reason string
			Thread *int
			Nested []struct{ Address string }
		}
		Wow64 *struct{ Host, Program string }
	}
}

// inJSON walks a dump and reads the report's JSON.
func inJSON(t *testing.T, dump []byte, p walker.Policy) (*Files, reportJSON) {
	t.Helper()
	s := NewFiles(Options{Policy: p})
	s.Add(source("x.dmp", dump))
	var b bytes.Buffer
	if err := jsonreport.Write(&b, s.Report(0), jsonreport.Options{}); err != nil {
		t.Fatal(err)
	}
	var r reportJSON
	if err := json.Unmarshal(b.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	return s, r
}

// dumpOf is the dump of a story.
func dumpOf(t *testing.T, name string) []byte {
	t.Helper()
	for _, st := range stories() {
		if st.name == name {
			return st.dump
		}
	}
	t.Fatalf("there is no story %q", name)
	return nil
}

// TestSecondStack: in the JSON, the text and the page a thread of a 32-bit process has its own stack
// and that of the 64-bit layer. Breakpad's policy and rust-minidump's have the layer's alone.
func TestSecondStack(t *testing.T) {
	s, r := inJSON(t, wow64Dump(), walker.Best)
	const own, layer = "app.exe0x00001010 app.exe0x0000201f ntdll.dll0x00002221", "wow64cpu.dll0x00001cfc ntdll.dll0x00001233"
	if r.System.CPU != "x86" || r.Count != 2 || len(r.Threads) != 2 || r.Crashing.String() != own || r.Threads[0].String() != own || r.Threads[0].Crashpane.Wow64.String() != layer {
		t.Errorf("%s, %d threads: %s; %s", r.System.CPU, r.Count, r.Crashing, r.Threads[0].Crashpane.Wow64)
	}
	if r.Threads[1].String() != layer || r.Threads[1].Crashpane.Wow64 != nil {
		t.Errorf("the thread whose registers are not known: %s; %s", &r.Threads[1], r.Threads[1].Crashpane.Wow64)
	}
	if w := r.Crashpane.Wow64; w == nil || w.Host != "amd64" || w.Program != "x86" {
		t.Errorf("%+v", w)
	}
	var b bytes.Buffer
	if err := text.Write(&b, s.Report(0)); err != nil {
		t.Fatal(err)
	}
	if at := strings.Index(b.String(), "\nThread 0, the 64-bit layer under it (amd64)\n 0  wow64cpu.dll + 0x1cfc"); at < 0 || at > strings.Index(b.String(), "\nThread 1\n") {
		t.Errorf("text:\n%s", b.String())
	}
	v := view.New(s.Report(0), nil)
	first, second := v.Stack(view.StackQuery{Count: 9}), v.Stack(view.StackQuery{Thread: 2, Count: 9})
	if first.Switch != "Show the 64-bit layer" || first.Other != 2 || first.Title != "Thread 0, 32-bit stack" {
		t.Errorf("the first stack: %q %d %q", first.Switch, first.Other, first.Title)
	}
	if second.Switch != "Show the 32-bit stack" || second.Other != 0 || second.Title != "Thread 0, 64-bit layer" || second.Rows[0].Function != "wow64cpu.dll+0x1cfc" {
		t.Errorf("the second stack: %q %d %q %+v", second.Switch, second.Other, second.Title, second.Rows)
	}
	if have := first.Rows[0].Address + " " + second.Rows[0].Address; have != "0x00401010 0x0000000077401cfc" {
		t.Errorf("addresses in rows: %s", have)
	}
	for i, want := range []string{"0x0019f000", "", "0x000000000008e000"} { // esp, and rsp of the layer
		for _, r := range v.Frame(i, 0, -1).Registers {
			if r.Role == "sp" && i != 1 && r.Value != want {
				t.Errorf("stack %d: %s is %s, want %s", i, r.Name, r.Value, want)
			}
		}
	}
	c, err := s.Session(0).Compare(2)
	if err != nil {
		t.Fatal(err)
	}
	if have := v.Compare(c, 0, 9, 0).Rows[0].SP; have != "0x000000000008e000" {
		t.Errorf("stack pointer in the comparison: %s", have)
	}
	if c, err = s.Session(0).Compare(0); err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := text.WriteComparison(&b, s.Report(0), c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{" 0x000000000008e000  0x0000000077401cfc  wow64cpu.dll", " 0x0019f000          0x00401010          app.exe"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the comparison as text lacks %q:\n%s", want, b.String())
		}
	}
	if all := v.Threads(0, 9, 2, "", ""); all.Total != 2 || all.Selected != 0 || v.Summary().Threads != 2 {
		t.Errorf("the page's threads: %+v", all)
	}
	for _, p := range []walker.Policy{walker.Breakpad, walker.RustMinidump} {
		_, r := inJSON(t, wow64Dump(), p)
		if r.System.CPU != "amd64" || r.Count != 2 || !strings.HasPrefix(r.Threads[0].String(), "wow64cpu.dll") || r.Crashpane.Wow64 != nil || r.Threads[0].Crashpane.Wow64 != nil {
			t.Errorf("%s: %s, %s", p.Name, r.System.CPU, &r.Threads[0])
		}
	}
	s.SetPolicy(walker.Breakpad)
	if n := len(s.Report(0).Threads); n != 2 {
		t.Errorf("after a change of the policy there are %d threads", n)
	}
}

// TestUnlistedInReports: the exception's frame is there, although no list has its thread, and each
// form says so.
func TestUnlistedInReports(t *testing.T) {
	dump := dumpOf(t, "thread-not-listed")
	s, r := inJSON(t, dump, walker.Best)
	if r.Info.Thread != nil || r.Crashing == nil || r.Crashing.Index != nil || !strings.HasPrefix(r.Crashing.String(), "app0x0000000000001010") || r.Count != 1 || len(r.Threads) != 1 {
		t.Errorf("%+v", r)
	}
	if e := r.Crashpane.Exceptions; len(e) != 1 || e[0].Thread != nil {
		t.Errorf("%+v", e)
	}
	var b bytes.Buffer
	if err := text.Write(&b, s.Report(0)); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "\nThread 1 (crashed, id 777, not in the dump's list)\n 0  app + 0x1010") {
		t.Errorf("text:\n%s", b.String())
	}
	v := view.New(s.Report(0), nil)
	if facts := fmt.Sprint(v.Summary().Facts); !strings.Contains(facts, "thread with id 777, which is not in the dump’s list") {
		t.Errorf("facts: %s", facts)
	}
	if p := v.Stack(view.StackQuery{Thread: 1, Count: 3}); p.Title != "Thread with id 777, not in the dump’s list" || p.Switch != "" {
		t.Errorf("%+v", p)
	}
	for _, p := range []walker.Policy{walker.Breakpad, walker.RustMinidump} {
		if _, r := inJSON(t, dump, p); r.Crashing != nil || r.Info.Thread != nil {
			t.Errorf("%s: %+v", p.Name, r)
		}
	}
}

// TestExceptionsInJSON: all exceptions are there, with what was being handled when they were raised.
func TestExceptionsInJSON(t *testing.T) {
	_, r := inJSON(t, dumpOf(t, "two-exceptions"), walker.Best)
	if e := r.Crashpane.Exceptions; len(e) != 2 || e[0].Reason != "SIGSEGV / SEGV_MAPERR" || e[1].Reason != "SIGFPE / FPE_INTDIV" || *e[1].Thread != 1 || *r.Info.Thread != 0 {
		t.Errorf("%+v", e)
	}
	if have := r.Threads[1].String(); !strings.HasPrefix(have, "app0x0000000000002010") {
		t.Errorf("the second exception's thread: %s", have)
	}
	if _, r := inJSON(t, dumpOf(t, "two-exceptions"), walker.RustMinidump); *r.Info.Thread != 1 {
		t.Errorf("rust-minidump takes the last exception, not that of thread %d", *r.Info.Thread)
	}
	_, r = inJSON(t, dumpOf(t, "nested-exception"), walker.Best)
	if e := r.Crashpane.Exceptions; len(e) != 1 || len(e[0].Nested) != 1 || e[0].Nested[0].Address != "0x00000000abcd0000" {
		t.Errorf("%+v", e)
	}
}

// TestNumbersUnknownToPeers: 32-bit programs on Windows for ARM are walked, and the peers do not
// know their processor numbers.
func TestNumbersUnknownToPeers(t *testing.T) {
	dump := dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUX86ARM64, Platform: 2}).
		Thread(1, dumptest.X86(map[string]uint64{"eip": 0x401010, "esp": 0x19f000}), 0x19f000, words32(0, 0)).Bytes()
	for _, p := range []walker.Policy{walker.Best, walker.Breakpad, walker.RustMinidump} {
		_, r := inJSON(t, dump, p)
		frames := 0
		if p.Name == "best" {
			frames = 1
		}
		if len(r.Threads[0].Frames) != frames || r.System.CPU != "x86" {
			t.Errorf("%s: %s, %d frames", p.Name, r.System.CPU, len(r.Threads[0].Frames))
		}
	}
}

// TestSuspendedLayerInReports: the layer of a thread in 32-bit code is its second stack, which says
// what symbols would help; those are the last of the missing ones.
func TestSuspendedLayerInReports(t *testing.T) {
	s, r := inJSON(t, wow64Running(), walker.Best)
	if have := r.Crashing.String(); have != "app.exe0x00001010 app.exe0x0000201f" {
		t.Errorf("own stack: %s", have)
	}
	if have := r.Threads[0].Crashpane.Wow64.String(); have != "wow64cpu.dll0x00001782 wow64.dll0x00001233 wow64.dll0x00002344" {
		t.Errorf("the layer: %s", have)
	}
	if have := r.Threads[1].Crashpane.Wow64.String(); have != "none" {
		t.Errorf("the layer that is not known: %s", have)
	}
	rep := s.Report(0)
	var files []string
	for _, w := range rep.Missing {
		files = append(files, w.DebugFile+" "+w.Program)
	}
	if have := strings.Join(files, ", "); have != "app.pdb , wow64.pdb wow64.dll, wow64cpu.pdb wow64cpu.dll" {
		t.Errorf("missing: %s", have)
	}
	const want = "no symbols for wow64.dll: 1 frame is a guess; add wow64.pdb with id 00000003000100020304"
	if have := rep.Threads[2].Stop.Suggestion; !strings.HasPrefix(have, want) || !strings.Contains(have, " and wow64.dll, or ") {
		t.Errorf("the layer's suggestion: %q", have)
	}
	for _, f := range rep.Findings {
		if strings.Contains(f.Text, "wow64.dll") {
			t.Errorf("a finding about the layer's symbols: %s", f.Text)
		}
	}
	if x, err := s.Session(0).Explain(2, 0); err != nil || !strings.Contains(fmt.Sprint(x.Notes), "goes on when that calls it") {
		t.Errorf("%v, %+v", err, x)
	}
}
