package session

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/report/view"
)

// reportOf is the report of a dump that a test made.
func reportOf(t *testing.T, dump []byte) *report.Report {
	t.Helper()
	s := NewFiles(Options{})
	if it := s.Add(input.FromBytes("made.dmp", dump))[0]; !it.Usable {
		t.Fatal(it.Message)
	}
	return s.Report(0)
}

// additionsOf is the key "crashpane" of a report's JSON, and that of its first thread.
func additionsOf(t *testing.T, r *report.Report) (dump, thread map[string]any) {
	t.Helper()
	var b bytes.Buffer
	if err := jsonreport.Write(&b, r, jsonreport.Options{}); err != nil {
		t.Fatal(err)
	}
	var out struct {
		Crashpane map[string]any
		Threads   []struct{ Crashpane map[string]any }
	}
	if err := json.Unmarshal(b.Bytes(), &out); err != nil {
		t.Fatal(err)
	}
	return out.Crashpane, out.Threads[0].Crashpane
}

func factsText(facts []rows.Fact) string {
	var b strings.Builder
	for _, f := range facts {
		b.WriteString(f.Key + " = " + f.Value + "\n")
	}
	return b.String()
}

// What a dump says about its threads and what a person wrote into it has its place on the page and in
// the JSON.
func TestThreadTimesAndComments(t *testing.T) {
	const at = 132_445_465_480_000_000 // 2020-09-14 08:42:28 UTC
	context := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	r := reportOf(t, dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows}).
		Module(0x400000, 0x1000, `C:\app.exe`, nil).
		Thread(7, context, 0x7000, make([]byte, 64)).
		ThreadInfo(7, [3]uint32{0, 0, 259}, [6]uint64{at, 0, 312_500, 12_500_000, 0x400120, 3}).
		Exception(7, 0xc0000005, 0, 0x400010, context, 0, 8).
		CommentA("hung for 30 s").CommentW("written by procdump").
		Bytes())
	v := view.New(r, nil)
	facts := factsText(v.Frame(0, 0, -1).Facts)
	for _, want := range []string{"Thread start = 0x0000000000400120  app.exe+0x120", "Created = 2020-09-14 08:42:28 UTC", "CPU time = 1.250 s in user mode, 0.031 s in kernel mode"} {
		if !strings.Contains(facts, want) {
			t.Errorf("the first frame does not say %q:\n%s", want, facts)
		}
	}
	if s := factsText(v.Summary().Messages); s != "comment = hung for 30 s\ncomment = written by procdump\n" {
		t.Errorf("said %q", s)
	}
	dump, thread := additionsOf(t, r)
	times, _ := thread["times"].(map[string]any)
	if times["created"] != float64(at/1e7-11_644_473_600) || times["ended"] != nil || times["user"] != 1.25 || times["kernel"] != 0.03125 || times["start"] != "0x0000000000400120" {
		t.Errorf("times %v", times)
	}
	if said, _ := dump["said"].([]any); len(said) != 2 {
		t.Errorf("said %v", dump["said"])
	}
}

// A dump without the stream has no times, and a thread that the stream does not know has none.
func TestNoThreadTimes(t *testing.T) {
	context := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	r := reportOf(t, dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSWindows}).
		Thread(7, context, 0x7000, make([]byte, 64)).
		ThreadInfo(8, [3]uint32{}, [6]uint64{1}).
		Bytes())
	if _, thread := additionsOf(t, r); thread["times"] != nil {
		t.Errorf("times %v", thread["times"])
	}
	if facts := factsText(view.New(r, nil).Frame(0, 0, -1).Facts); strings.Contains(facts, "CPU time") {
		t.Error(facts)
	}
}

// The auxiliary vector is decoded by name, addresses with their modules and texts with what the
// dump has of them.
func TestAuxiliaryVector(t *testing.T) {
	context := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	r := reportOf(t, dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x1000, "/opt/app", nil).
		Thread(7, context, 0x7000, make([]byte, 64)).
		Memory(0x9000, []byte("x86_64\x00/opt/app\x00cut")).
		Auxv(8, [2]uint64{9, 0x400080}, [2]uint64{6, 4096}, [2]uint64{15, 0x9000}, [2]uint64{31, 0x9007}, [2]uint64{24, 0x9010}, [2]uint64{999, 1}).
		Bytes())
	const want = "AT_ENTRY = 0x400080  app+0x80\nAT_PAGESZ = 4096\nAT_PLATFORM = 0x9000  x86_64\nAT_EXECFN = 0x9007  /opt/app\nAT_BASE_PLATFORM = 0x9010\nAT_999 = 0x1\n"
	for _, g := range view.New(r, nil).Summary().System {
		if have := factsText(g.Facts); g.Title == "Auxiliary vector" && have != want {
			t.Errorf("have\n%swant\n%s", have, want)
		}
	}
	dump, _ := additionsOf(t, r)
	if list, _ := dump["auxv"].([]any); len(list) != 6 || list[2].(map[string]any)["text"] != "x86_64" || list[4].(map[string]any)["text"] != nil {
		t.Errorf("auxv %v", dump["auxv"])
	}
}

// A finding whose words ask for a file has the button that adds one, and no other has.
func TestFindingsThatAskForFiles(t *testing.T) {
	asks := 0
	for _, st := range stories() {
		s := NewFiles(Options{})
		s.Add(source("x.dmp", st.dump))
		for _, sym := range st.syms {
			if it := s.Add(source("app.sym", []byte(sym)))[0]; st.assign && s.Assign(it.ID, 0, 0) != nil {
				t.Error("not assigned")
			}
		}
		for _, f := range view.New(s.Report(0), nil).Findings() {
			words := strings.ToLower(f.Suggestion) + " "
			is := strings.Contains(words, "add ") || strings.Contains(words, "give ")
			if is != f.Adds {
				t.Errorf("%s: adds %v: %s", st.name, f.Adds, f.Suggestion)
			}
			if is {
				asks++
			}
		}
	}
	if asks < 4 {
		t.Errorf("%d findings ask for a file", asks)
	}
}

// Whatever the page shows of the sample is found by searching for it.
func TestSearchFindsWhatIsShown(t *testing.T) {
	const sample = "../../testdata/sample/"
	s := NewFiles(Options{})
	for _, name := range []string{"tilecruncher.dmp", "libtilecodec.so.sym", "tilecruncher.sym.gz"} {
		content, err := os.ReadFile(sample + name)
		if err != nil {
			t.Fatal(err)
		}
		s.Add(input.FromBytes(name, content))
	}
	r := s.Report(0)
	v := view.New(r, nil)
	shown := map[string]string{"the reason": v.Summary().Reason}
	show := func(what, text string) {
		if text != "" {
			shown[what+" "+text] = text
		}
	}
	for _, g := range v.Summary().System {
		for _, f := range g.Facts {
			show(g.Title+" "+f.Key, f.Value)
		}
	}
	for _, f := range v.Summary().Facts {
		show("fact", f)
	}
	for i := range r.Threads {
		show("thread", r.Threads[i].Name)
		for _, row := range v.Stack(view.StackQuery{Thread: i, Count: 1000}).Rows {
			if row.Frame < 0 || row.Kind == rows.RowStop {
				continue
			}
			if row.NoSymbol { // its Full says why
				row.Full = row.Function
			}
			show("function", row.Full)
			show("address", row.Address)
			show("source", row.Source)
			show("place", row.Where())
			if row.Frame == 0 {
				for _, f := range v.Frame(i, 0, -1).Facts {
					if f.Key != "In module" && f.Key != "In function" { // an offset alone is no name
						show(f.Key, f.Value)
					}
				}
			}
		}
	}
	for _, m := range v.Modules(0, 1000, -1, 0, "").Rows {
		for _, text := range []string{m.Name, m.Path, m.DebugID, m.CodeID, m.Version, m.Base, m.SymbolFile} {
			show("module", text)
		}
	}
	for _, w := range v.Missing(0, 1000).Rows {
		show("wanted", w.StorePath)
	}
	for what, text := range shown {
		if len(v.Find(rows.Query(text))) == 0 {
			t.Errorf("%s is not found", what)
		}
	}
	if len(shown) < 100 {
		t.Errorf("%d texts", len(shown))
	}
}

// A frame has the instruction that it is at, and a caller its call with what that calls, on the
// page, in the terminal's text and in the JSON.
func TestInstructionsOfFrames(t *testing.T) {
	const mainID = "00112233445566778899AABBCCDDEEFF0"
	context := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x7000})
	stack := make([]byte, 64)
	copy(stack, "\x20\x20\x40")
	s := NewFiles(Options{})
	s.Add(source("a.dmp", dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x10000, "/opt/app", nil).
		Thread(7, context, 0x7000, stack).
		Memory(0x401010, []byte("\x48\x89\xd8")).
		Memory(0x40201b, []byte("\xe8\xe0\xef\xff\xff")).
		Bytes()))
	it := s.Add(source("app.sym", []byte("MODULE Linux x86_64 "+mainID+" app\nFUNC 1000 100 0 crash_me\nFUNC 2000 100 0 main\nSTACK CFI INIT 1000 100 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n")))
	if err := s.Assign(it[0].ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	r := s.Report(0)
	v := view.New(r, nil)
	v.ExplainBy(s.Session(0).Explainer(true))
	for frame, want := range []string{"Instruction = mov rax, rbx\nCode = 48 89 d8\n", "Instruction = call 0x401000\nCalls = 0x0000000000401000  crash_me + 0x0\nCode = e8 e0 ef ff ff\n"} {
		if facts := factsText(v.Frame(0, frame, -1).Facts); !strings.HasSuffix(facts, want) {
			t.Errorf("frame %d: %s", frame, facts)
		}
	}
	x, err := s.Session(0).Explain(0, 1)
	if err != nil {
		t.Fatal(err)
	}
	var b, j bytes.Buffer
	if err := errors.Join(text.WriteExplanation(&b, r, x), jsonreport.WriteExplanation(&j, r, x, jsonreport.Options{})); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "Instruction at 0x40201b: call 0x401000: crash_me + 0x0\n") {
		t.Error(b.String())
	}
	if !strings.Contains(j.String(), `"instruction":{"address":"0x000000000040201b","bytes":"e8e0efffff","function":"crash_me","module":"app","offset":"0x0000000000000000",`+
		`"target":"0x0000000000401000","text":"call 0x401000"}`) {
		t.Error(j.String())
	}
}

// Annotations that are lists of addresses are stacks with names; Sentry's scope has the product.
func TestStacksInAnnotations(t *testing.T) {
	object := func(name, value string) dumptest.CrashpadObject {
		return dumptest.CrashpadObject{Name: name, Type: 1, Value: []byte(value)}
	}
	s := NewFiles(Options{})
	s.Add(source("a.dmp", dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x10000, "/opt/app", nil).
		Thread(7, dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000}), 0x7000, make([]byte, 64)).
		Crashpad([16]byte{1}, [16]byte{2}, 0, [][2]string{{"sentry___initialScope", `{"release":"Chat@1.2.3","environment":"production"}`}, {"prod", "Electron"}},
			dumptest.CrashpadModule{Index: 0, Objects: []dumptest.CrashpadObject{object("firstexception_bt", "0x401010 0x402020 0x999"),
				object("one", "0x401010"), object("heap", "0x999 0x998"), object("words", "0x401010 at 0x402020")}}).
		Bytes()))
	it := s.Add(source("app.sym", []byte("MODULE Linux x86_64 00112233445566778899AABBCCDDEEFF0 app\nFUNC 1000 100 0 thrower\n")))
	if err := s.Assign(it[0].ID, 0, 0); err != nil {
		t.Fatal(err)
	}
	r := s.Report(0)
	if len(r.Traces) != 1 || r.Traces[0].Source != "firstexception_bt" || len(r.Traces[0].Frames) != 3 {
		t.Fatalf("%+v", r.Traces)
	}
	for i, want := range []string{"thrower + 0xf, in app", "app+0x201f", "0x998"} {
		if have := r.Traces[0].Text(r, i, func(n report.Name) string { return n.Raw }); have != want {
			t.Errorf("%q, want %q", have, want)
		}
	}
	if n := r.Modules[0].Frames; n != 1 {
		t.Errorf("%d frames in the module: those of annotations are on no stack", n)
	}
	if p := r.Process; p.Product != "Electron" || p.Version != "1.2.3" || p.Channel != "production" {
		t.Errorf("%+v", p)
	}
	dump, _ := additionsOf(t, r)
	if traces, _ := dump["traces"].([]any); len(traces) != 1 {
		t.Errorf("traces %v", dump["traces"])
	}
}

// A symbol file without the FILE records of its lines says so, once, when a stack shows such a line.
func TestLinesWithoutFile(t *testing.T) {
	const sample = "../../testdata/sample/"
	s := NewFiles(Options{})
	for _, name := range []string{"tilecruncher.dmp", "libtilecodec.so.sym"} {
		content, err := os.ReadFile(sample + name)
		if err != nil {
			t.Fatal(err)
		}
		if name != "tilecruncher.dmp" {
			content = regexp.MustCompile(`(?m)^FILE .*\n`).ReplaceAll(content, nil)
		}
		s.Add(input.FromBytes(name, content))
	}
	s.Report(0)
	it := s.Items()[1]
	if want := []string{"libtilecodec.so.sym: no FILE record names the source file of some lines"}; !slices.Equal(it.Warnings, want) || it.WarningCount != 1 {
		t.Errorf("%d warnings: %q", it.WarningCount, it.Warnings)
	}
}
