package session_test

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/core/dumptext"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

// topMembers are the members of a JSON report: rust-minidump's and "crashpane". crashing_thread is
// there if a thread with frames crashed.
var topMembers = []string{"crash_info", "crashing_thread", "crashpane", "handles", "linux_memory_map_count", "lsb_release", "mac_boot_args", "mac_crash_info",
	"main_module", "modules", "modules_contains_cert_info", "pid", "proc_limits", "process_uptime", "soft_errors", "status", "system_info", "thread_count",
	"threads", "unloaded_modules"}

// evil are texts that a dump or a symbol file may have for names. The last is not UTF-8.
var evil = []string{"\x1b[31mred\a\b", "name\nThread 0 (crashed)\n 0  forged\r", "a\u202egnp.exe\u009b2J\x7f", `","status":"forged","x":"`, "pipe|d|\u2028", "latin\xe9"}

// evilDump has texts of all kinds that are made to be taken for something else.
func evilDump(name, softErrors string) []byte {
	le := binary.LittleEndian
	stack := make([]byte, 256)
	for at := 0; at < len(stack); at += 8 {
		le.PutUint64(stack[at:], 0x401100)
	}
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x7ffc0000, "rbp": 0x7ffc0040})
	return dumptest.New(le).
		System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/"+name, dumptest.RSDS(0x11223344, 0x5566, 0x7788, [8]byte{1, 2, 3, 4, 5, 6, 7, 8}, 1, name)).
		UnloadedModule(0x500000, 0x1000, 0, name).
		Thread(7, ctx, 0x7ffc0000, stack).ThreadName(7, name).
		Exception(7, 11, 1, 0, ctx).
		Assertion(name, name, name, 1, 1).
		MacBootArgs(false, name).
		Crashpad([16]byte{}, [16]byte{}, 0, [][2]string{{name, name}}).
		Stream(0x4d7a0003, []byte("Limit                     Soft Limit           Hard Limit           Units     \n"+name+"    1    2    bytes\n")).
		Stream(0x4d7a0004, []byte(softErrors)).
		Stream(0x47670006, []byte(name+"="+name+"\n")).
		Bytes()
}

func evilSym(name string) []byte {
	line := strings.NewReplacer("\n", "", "\r", "").Replace(name)
	return []byte("MODULE Linux x86_64 112233445566778801020304050607081 app\nFILE 0 /src/" + line + "\nFUNC 1000 200 0 " + line + "\n1000 200 7 0\nPUBLIC 2000 0 " + line +
		"\nSTACK CFI INIT 1000 200 .cfa: $rsp 16 + .ra: .cfa 8 - ^ $" + line + "\n")
}

// checkReport prints all that there is of a dump, in all forms, and checks what must hold whatever
// the files say.
func checkReport(t *testing.T, dump, sym []byte) {
	t.Helper()
	s := session.NewFiles(session.Options{Demangle: demangle.Name, OpenBinary: readers.Open})
	s.Add(input.FromBytes("a\x1b[31m\n.dmp", dump))
	if len(s.Dumps()) == 0 {
		return
	}
	s.Add(input.FromBytes("b\x1b[31m.sym", sym))
	if len(s.Session(0).Dump.Modules) > 0 {
		for _, it := range s.Items() {
			if it.Kind == session.KindSym {
				s.Assign(it.ID, 0, 0)
			}
		}
	}
	r := s.Report(0)
	for _, pretty := range []bool{false, true} {
		var b bytes.Buffer
		if err := jsonreport.Write(&b, r, jsonreport.Options{Pretty: pretty, Explain: s.Session(0).Explainer(false)}); err != nil {
			t.Fatal(err)
		}
		checkJSONReport(t, b.Bytes(), r)
	}
	var out bytes.Buffer
	if err := dumptext.WriteJSON(&out, s.Session(0).Dump, dumptext.Options{All: true, Memory: true}); err != nil {
		t.Fatal(err)
	}
	checkJSON(t, "dump", out.Bytes())
	checkText(t, "dump", func(b *bytes.Buffer) error {
		return dumptext.Write(b, s.Session(0).Dump, dumptext.Options{All: true, Memory: true})
	})
	lines := checkText(t, "text", func(b *bytes.Buffer) error { return text.Write(b, r) })
	shown := 0
	for i := range r.Threads {
		if !r.Threads[i].Omitted {
			shown++
		}
	}
	if n := count(lines, func(l string) bool { return strings.HasPrefix(l, "Thread ") }); n != shown {
		t.Errorf("%d lines begin as a thread does, of %d threads:\n%s", n, shown, strings.Join(lines, "\n"))
	}
	lines = checkText(t, "machine", func(b *bytes.Buffer) error { return text.WriteMachine(b, r) })
	if n := count(lines, func(l string) bool { return strings.HasPrefix(l, "Module|") && strings.Count(l, "|") == 7 }); n != len(r.ModulesByAddress) {
		t.Errorf("%d lines are those of modules, of %d:\n%s", n, len(r.ModulesByAddress), strings.Join(lines, "\n"))
	}
	checkText(t, "findings", func(b *bytes.Buffer) error { return text.WriteFindings(b, r) })
	if th := r.FirstThread; th >= 0 && len(r.Threads[th].Frames) > 0 {
		for frame := range min(3, len(r.Threads[th].Frames)) {
			x, err := s.Session(0).Explain(th, frame)
			if err != nil {
				t.Fatal(err)
			}
			checkText(t, "explain", func(b *bytes.Buffer) error { return text.WriteExplanation(b, r, x) })
			out.Reset()
			jsonreport.WriteExplanation(&out, r, x, jsonreport.Options{})
			checkJSON(t, "explain", out.Bytes())
		}
		if len(r.Threads[th].Frames) > 100 {
			return
		}
		checkMemory(t, s.Session(0), th)
		c, err := s.Session(0).Compare(th)
		if err != nil {
			t.Fatal(err)
		}
		checkText(t, "compare", func(b *bytes.Buffer) error { return text.WriteComparison(b, r, c) })
		out.Reset()
		jsonreport.WriteComparison(&out, r, c, jsonreport.Options{})
		checkJSON(t, "compare", out.Bytes())
	}
}

// checkMemory: every row of memory is in its place, whatever the dump says where memory is, and a stack's words have
// texts.
func checkMemory(t *testing.T, s *session.Session, thread int) {
	t.Helper()
	memory, err := s.WholeMemory()
	if err != nil {
		t.Fatal(err)
	}
	sp := s.Report().Threads[thread].Frames[0].Regs.SP()
	for _, address := range []uint64{0, 1, sp, sp + 7, 1 << 32, 1 << 63, ^uint64(0)} {
		for _, unit := range []int{8, 16, 64} {
			part, err := memory.Part(address, unit, unit == 8, true, -1, 20)
			if err != nil {
				t.Fatal(err)
			}
			for i, r := range part.Rows {
				first, last := r.Address+uint64(r.Skip), r.Address+uint64(r.Skip)+uint64(len(r.Bytes))-1
				if r.Gap > 0 {
					first, last = r.Address+uint64(r.Skip), r.Address+uint64(r.Skip)+r.Gap-1
				}
				if selected := part.From+i == part.Selected; selected != (address >= first && address <= last) && !(selected && len(part.Rows) == 1) {
					t.Errorf("%x: row %x to %x is selected: %t", address, first, last, selected)
				}
			}
		}
	}
	words, err := memory.StackWords(thread, 1, -1, 100)
	if err != nil {
		t.Fatal(err)
	}
	checkText(t, "stack words", func(b *bytes.Buffer) error { return text.WriteStackWords(b, s.Report(), words) })
	found, err := memory.Search([]session.Pattern{s.PointerPattern(sp)})
	for err == nil && !found.Ended && found.Done < 1<<22 {
		err = found.Step(1 << 20)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func count(lines []string, is func(string) bool) (n int) {
	for _, l := range lines {
		if is(l) {
			n++
		}
	}
	return n
}

// checkText: nothing hidden but line ends. It gives the lines.
func checkText(t *testing.T, what string, write func(b *bytes.Buffer) error) []string {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatalf("%s: %v", what, err)
	}
	if i := strings.IndexFunc(b.String(), func(r rune) bool { return r != '\n' && visible.Hidden(r) }); i >= 0 {
		t.Errorf("%s: %q", what, b.String()[max(0, i-40):min(b.Len(), i+40)])
	}
	return strings.Split(b.String(), "\n")
}

// checkJSON: it is JSON, nothing in it is hidden, and no object has a name twice.
func checkJSON(t *testing.T, what string, got []byte) {
	t.Helper()
	if !json.Valid(got) {
		t.Fatalf("%s: not JSON:\n%.2000s", what, got)
	}
	if i := bytes.IndexFunc(got, func(r rune) bool { return r != '\n' && visible.Hidden(r) }); i >= 0 {
		t.Errorf("%s: %q", what, got[max(0, i-40):min(len(got), i+40)])
	}
	if name := twice(got); name != "" {
		t.Errorf("%s: an object has %q twice:\n%.3000s", what, name, got)
	}
}

// twice is a name that an object has twice.
func twice(text []byte) string {
	d := json.NewDecoder(bytes.NewReader(text))
	var value func() string
	value = func() string {
		tok, err := d.Token()
		if err != nil {
			return ""
		}
		found := ""
		switch tok {
		case json.Delim('{'):
			names := map[any]bool{}
			for d.More() {
				name, _ := d.Token()
				if names[name] {
					found = name.(string)
				}
				names[name] = true
				if in := value(); in != "" {
					found = in
				}
			}
			d.Token()
		case json.Delim('['):
			for d.More() {
				if in := value(); in != "" {
					found = in
				}
			}
			d.Token()
		}
		return found
	}
	return value()
}

// checkJSONReport compares what comes out of a report's JSON with the report.
func checkJSONReport(t *testing.T, got []byte, r *report.Report) {
	t.Helper()
	checkJSON(t, "report", got)
	var have struct {
		Status  string
		Boot    *string `json:"mac_boot_args"`
		Modules []struct {
			Filename  string
			DebugFile string `json:"debug_file"`
		}
		Threads []struct {
			Name   *string `json:"thread_name"`
			Frames []struct {
				Function, File *string
				Crashpane      struct{ Origin, Rule string }
			}
		}
		Crashpane struct {
			Assertion   *string
			Diagnostics []struct{ Text string }
			Findings    []struct{ Text string }
		}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(got, &members); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(got, &have); err != nil {
		t.Fatal(err)
	}
	for name := range members {
		if !slices.Contains(topMembers, name) {
			t.Errorf("the dump made a member %q", name)
		}
	}
	for _, name := range topMembers {
		if members[name] == nil && name != "crashing_thread" {
			t.Errorf("there is no %s", name)
		}
	}
	same := func(what string, have *string, want string) {
		t.Helper()
		want = strings.ToValidUTF8(want, "\uFFFD")
		if have == nil && want != "" || have != nil && *have != want {
			t.Errorf("%s: %q, want %q", what, or(have), want)
		}
	}
	if have.Status != "OK" || len(have.Modules) != len(r.Modules) || len(have.Threads) != len(r.Threads) {
		t.Fatalf("status %q, %d modules of %d, %d threads of %d", have.Status, len(have.Modules), len(r.Modules), len(have.Threads), len(r.Threads))
	}
	same("assertion", have.Crashpane.Assertion, r.Assertion)
	if r.MacBootArgs != nil {
		same("boot arguments", have.Boot, *r.MacBootArgs)
	}
	for i := range r.Modules {
		same("module", &have.Modules[i].Filename, report.BaseName(r.Modules[i].Name))
		same("debug file", &have.Modules[i].DebugFile, report.BaseName(r.Modules[i].StoredDebugFile))
	}
	for i := range r.Threads {
		th := &r.Threads[i]
		if th.Named {
			same("thread", have.Threads[i].Name, th.Name)
		}
		if len(have.Threads[i].Frames) != len(th.Frames) {
			t.Fatalf("thread %d: %d frames of %d", i, len(have.Threads[i].Frames), len(th.Frames))
		}
		for k := range th.Frames {
			f := &have.Threads[i].Frames[k]
			same("function", f.Function, th.Frames[k].Function.Raw)
			same("file", f.File, th.Frames[k].File)
			same("origin", &f.Crashpane.Origin, th.Frames[k].Origin)
			same("rule", &f.Crashpane.Rule, th.Frames[k].Rule)
		}
	}
	for i := range r.Diagnostics {
		same("diagnostic", &have.Crashpane.Diagnostics[i].Text, r.Diagnostics[i].Text)
	}
	for i := range r.Findings {
		same("finding", &have.Crashpane.Findings[i].Text, r.Findings[i].Text)
	}
}

func or(s *string) string {
	if s == nil {
		return "null"
	}
	return *s
}

var softErrors = []string{`[{"InitErrors": []}]`, `{"x\":1,\"status\":\"forged":null}`, "{\"a\u009b\":\"\\u001b[31m\",\"a\":1,\"a\":2}", `[1e999]`, `{"a":`, strings.Repeat("[", 200)}

// TestEvilTexts prints dumps and symbol files whose names are made to command a terminal, to forge
// lines, or to be members of JSON.
func TestEvilTexts(t *testing.T) {
	for i, name := range evil {
		checkReport(t, evilDump(name, softErrors[i%len(softErrors)]), evilSym(name))
	}
	for _, s := range softErrors {
		checkReport(t, evilDump("app", s), evilSym("main"))
	}
}

// FuzzReport prints mutated dumps with mutated symbol files.
func FuzzReport(f *testing.F) {
	for i, name := range evil {
		f.Add(evilDump(name, softErrors[i%len(softErrors)]), evilSym(name))
	}
	for _, name := range []string{"softerr.dmp", "d_name_esc.dmp", "e.dmp"} {
		if b, err := os.ReadFile(filepath.Join("../../../shared/corpus/hostile", name)); err == nil {
			f.Add(b, evilSym("main"))
		}
	}
	f.Fuzz(func(t *testing.T, dump, sym []byte) {
		if len(dump) > 16<<10 || len(sym) > 4<<10 {
			return
		}
		checkReport(t, dump, sym)
	})
}

// TestUnreadContext: where the registers of the exception cannot be read, the stack is that of the
// thread's own, and the report says so.
func TestUnreadContext(t *testing.T) {
	data := evilDump("app", "[]")
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x7ffc0000})
	broken := dumptest.New(binary.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Thread(7, ctx, 0x7ffc0000, make([]byte, 64)).Exception(7, 11, 1, 0, ctx[:40]).Bytes()
	for _, c := range []struct {
		dump []byte
		says bool
	}{{data, false}, {broken, true}} {
		s := session.NewFiles(session.Options{})
		s.Add(input.FromBytes("a.dmp", c.dump))
		r := s.Report(0)
		if said := strings.Contains(fmt.Sprint(r.Diagnostics), "exception context"); said != c.says || len(r.Threads[0].Frames) == 0 {
			t.Errorf("%v: %d frames, %v", c.says, len(r.Threads[0].Frames), r.Diagnostics)
		}
	}
}

// badStack is a dump on a disk that cannot read the stack's memory.
type badStack struct {
	*bytes.Reader
	from, to int64
}

func (b badStack) ReadAt(p []byte, off int64) (int, error) {
	if off < b.to && off+int64(len(p)) > b.from {
		return 0, fmt.Errorf("the disk is broken")
	}
	return b.Reader.ReadAt(p, off)
}

// TestUnreadMemory: a stack that ends because the file cannot be read is not a stack that ends because
// the dump has no more of it.
func TestUnreadMemory(t *testing.T) {
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x401010, "rsp": 0x7ffc0000 + (300 << 10), "rbp": 0x7ffc0000 + (300 << 10)})
	mark := []byte("the stack begins here")
	stack := append(mark, make([]byte, 512<<10)...)
	data := dumptest.New(binary.LittleEndian).System(dumptest.System{Processor: 9, Platform: 0x8201}).
		Module(0x400000, 0x10000, "/opt/app", dumptest.ELF(make([]byte, 20))).Thread(7, ctx, 0x7ffc0000, stack).Exception(7, 11, 1, 0, ctx).Bytes()
	at := int64(bytes.Index(data, mark))
	for _, broken := range []bool{false, true} {
		r := badStack{Reader: bytes.NewReader(data)}
		if broken {
			r.from, r.to = at+(300<<10), at+(301<<10)
		}
		s := session.NewFiles(session.Options{})
		s.Add(input.New("a.dmp", r, int64(len(data))))
		rep := s.Report(0)
		if rep == nil {
			t.Fatal(s.Items()[0].Message)
		}
		if said := strings.Contains(fmt.Sprint(rep.Diagnostics), "the disk is broken"); said != broken {
			t.Errorf("broken %v: %v", broken, rep.Diagnostics)
		}
	}
}
