package engine

import (
	"bytes"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

const sample = "../../testdata/sample/"

// talk is an engine with its answers, each encoded and decoded again.
type talk struct {
	t       *testing.T
	e       *Engine
	answers []protocol.Answer
	id      int
}

func newTalk(t *testing.T) *talk { return newTalkWith(t, Options{}) }

func newTalkWith(t *testing.T, opt Options) *talk {
	k := &talk{t: t}
	k.e = New(func(a protocol.Answer) {
		back, err := protocol.ReadAnswer(protocol.AppendAnswer(nil, a, nil))
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := back.Reply.(*protocol.Progress); !ok {
			k.answers = append(k.answers, back)
		}
	}, opt)
	return k
}

func (k *talk) ask(req protocol.Request, src *input.Source) protocol.Answer {
	k.t.Helper()
	return k.call(protocol.Call{Request: req}, src)
}

func (k *talk) call(c protocol.Call, src *input.Source) protocol.Answer {
	k.t.Helper()
	k.id++
	c.ID = k.id
	n := len(k.answers)
	if src == nil {
		k.e.Handle(c)
	} else {
		k.e.Handle(c, src)
	}
	if len(k.answers) != n+1 || k.answers[n].ID != c.ID {
		k.t.Fatalf("%T: %d answers", c.Request, len(k.answers)-n)
	}
	return k.answers[n]
}

// last returns the newest answer, whose reply must be of type R.
func last[R protocol.Reply](k *talk) (R, string) {
	k.t.Helper()
	a := k.answers[len(k.answers)-1]
	r, ok := a.Reply.(R)
	if !ok {
		k.t.Fatalf("answered by %T", a.Reply)
	}
	return r, a.Error
}

func (k *talk) add(name string, content []byte) (*protocol.Added, string) {
	k.t.Helper()
	k.ask(&protocol.Add{Names: []string{name}}, input.New(name, bytes.NewReader(content), int64(len(content))))
	r, problem := last[*protocol.Added](k)
	for all := r.Items; r.Rest > 0 && problem == ""; all = r.Items {
		k.ask(&protocol.Add{Continue: r.Rest}, nil)
		r, problem = last[*protocol.Added](k)
		r.Items = append(all, r.Items...)
	}
	return r, problem
}

// look sends a query, and fails the test on an error.
func (k *talk) look(q protocol.Query) *protocol.QueryResult {
	k.t.Helper()
	k.ask(&q, nil)
	r, problem := last[*protocol.QueryResult](k)
	if problem != "" {
		k.t.Fatal(problem)
	}
	return r
}

// screen queries what the page shows of a thread.
func (k *talk) screen(thread int) *protocol.QueryResult {
	k.t.Helper()
	w := protocol.Span{Count: 60}
	return k.look(protocol.Query{Selection: protocol.Selection{Thread: thread, Inline: -1}, Summary: true, Threads: &protocol.ThreadsQuery{Span: w}, Stack: &w,
		Detail: true, Modules: &protocol.ModulesQuery{Span: w}, Missing: &w, Files: &w})
}

func (k *talk) export(kind string, thread int) (*protocol.Exported, string) {
	k.t.Helper()
	k.ask(&protocol.Export{Kind: kind, Thread: thread}, nil)
	return last[*protocol.Exported](k)
}

func (k *talk) addSample(names ...string) {
	k.t.Helper()
	for _, name := range names {
		content, err := os.ReadFile(sample + name)
		if err != nil {
			k.t.Fatal(err)
		}
		if r, problem := k.add(name, content); problem != "" || !r.Items[0].Usable {
			k.t.Fatalf("%s: %+v", name, r)
		}
	}
}

func TestSampleAsThePageSeesIt(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp")
	before := k.screen(-1)
	if before.Summary == nil || len(before.Missing.Rows) == 0 {
		t.Fatalf("%+v", before)
	}
	k.addSample("tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz")
	r := k.screen(-1)
	var sentence strings.Builder
	for _, s := range r.Summary.Verdict {
		sentence.WriteString(s.Text)
	}
	if got := sentence.String(); !strings.HasPrefix(got, "tilecruncher tried to read 4 bytes at 0x4c (close to a null pointer") {
		t.Errorf("verdict %q", got)
	}
	if len(r.Threads.Rows) != 6 || r.Threads.Rows[0].Name != "stitch-1" || !r.Threads.Rows[0].Crashed {
		t.Errorf("threads %+v", r.Threads.Rows)
	}
	if top := r.Stack.Rows[0]; top.Kind != rows.RowInline || r.Detail.Inline != 0 || r.Stack.Selected != 0 {
		t.Errorf("first row %+v, selected %d", top, r.Stack.Selected)
	}
	if len(r.Detail.Registers) < 16 {
		t.Errorf("%d registers", len(r.Detail.Registers))
	}
	if r.Files.Total < 4 || len(r.Modules.Rows) == 0 {
		t.Errorf("%d files, %d modules", r.Files.Total, len(r.Modules.Rows))
	}
	for _, kind := range protocol.Exports {
		x, problem := k.export(kind.ID, r.Stack.Thread)
		if problem != "" || len(x.Text) < 100 != (kind.ID == protocol.ExportMissing) || x.FileName != "tilecruncher"+kind.Ending {
			t.Errorf("%s: %q, %d bytes, %s", kind.ID, problem, len(x.Text), x.FileName)
		}
	}
}

func TestSymbolsOfAnotherBuild(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp")
	sym, err := os.ReadFile(sample + "libtilecodec.so.sym")
	if err != nil {
		t.Fatal(err)
	}
	line, rest, _ := bytes.Cut(sym, []byte("\n"))
	fields := strings.Fields(string(line))
	fields[3] = strings.Repeat("1", 32) + "0"
	k.add("libtilecodec.so.sym", append([]byte(strings.Join(fields, " ")+"\n"), rest...))
	r := k.screen(-1)
	var wanted *rows.MissingRow
	for i := range r.Missing.Rows {
		if r.Missing.Rows[i].DebugFile == "libtilecodec.so" {
			wanted = &r.Missing.Rows[i]
		}
	}
	if wanted == nil || wanted.OtherID != fields[3] || wanted.DebugID == fields[3] {
		t.Fatalf("wanted %+v", wanted)
	}
	if x := k.ask(&protocol.Assign{Item: wanted.Item, Module: wanted.Module}, nil); x.Error != "" {
		t.Fatal(x.Error)
	}
	r = k.screen(-1)
	if !r.Stack.Rows[0].AssignedSymbols || !strings.Contains(r.Detail.Warning, "another build") {
		t.Errorf("not marked: %+v, %q", r.Stack.Rows[0], r.Detail.Warning)
	}
	k.ask(&protocol.Unassign{Module: wanted.Module}, nil)
	if r = k.screen(-1); r.Stack.Rows[0].AssignedSymbols {
		t.Error("still used")
	}
}

// A symbol file without a MODULE line can be assigned to modules, those without symbols first. A
// file for another processor is not offered, because it would be refused.
func TestChoicesOfAssignments(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp", "libtilecodec.so.sym")
	if r := k.screen(-1); len(r.Files.Modules) != 0 || len(r.Files.Symbols) != 1 {
		t.Errorf("nothing waits: modules %v, symbols %v", r.Files.Modules, r.Files.Symbols)
	}
	k.add("arm.sym", []byte("MODULE Linux arm64 "+strings.Repeat("1", 33)+" libtilecodec.so\nFUNC 1000 10 0 f\n"))
	k.add("nameless.sym", []byte("FUNC 1000 10 0 f\nPUBLIC 2000 0 g\n"))
	r := k.screen(-1)
	if len(r.Files.Symbols) != 2 || r.Files.Symbols[0].Name != "libtilecodec.so.sym" || r.Files.Symbols[1].Name != "nameless.sym" {
		t.Errorf("symbols %v", r.Files.Symbols)
	}
	var names []string
	for _, m := range r.Files.Modules {
		names = append(names, m.Name)
	}
	if len(names) < 3 || names[0] != "tilecruncher" && names[0] != "libc.so.6" || names[len(names)-1] != "libtilecodec.so" {
		t.Errorf("modules %v", names)
	}
	if x := k.ask(&protocol.Assign{Item: r.Files.Symbols[1].Item, Module: r.Files.Modules[0].Item}, nil); x.Error != "" {
		t.Error(x.Error)
	}
}

func TestWrongFilesAreMessages(t *testing.T) {
	k := newTalk(t)
	dump, err := os.ReadFile(sample + "tilecruncher.dmp")
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"empty.dmp": {}, "text.txt": []byte("hello"), "cut.dmp": dump[:40], "noise.gz": {0x1f, 0x8b, 8, 1, 2}} {
		r, problem := k.add(name, content)
		if problem != "" || len(r.Items) == 0 {
			t.Errorf("%s: %+v", name, r)
			continue
		}
		if it := r.Items[0]; it.Usable || !strings.Contains(it.Message, name) {
			t.Errorf("%s: usable %v, %q", name, it.Usable, it.Message)
		}
	}
	if r := k.screen(-1); r.Files == nil || r.Files.Problems != 4 {
		t.Errorf("%+v", r)
	}
	for _, req := range []protocol.Request{&protocol.Add{}, &protocol.Export{Kind: "text"}, &protocol.Assign{Item: 99, Dump: 99}, &protocol.SetPolicy{Policy: "x"},
		&protocol.WriteSym{Name: "x"}} {
		if r := k.ask(req, nil); r.Error == "" {
			t.Errorf("%+v was done", req)
		}
	}
}

// TestUnusedFiles: of a symbol file that no dump uses the page hears why, and of others nothing.
func TestUnusedFiles(t *testing.T) {
	k := newTalk(t)
	sym, err := os.ReadFile(sample + "libtilecodec.so.sym")
	if err != nil {
		t.Fatal(err)
	}
	unused := func() string {
		var out []string
		for _, f := range k.screen(-1).Files.Unused {
			out = append(out, f.Name+": "+f.Unused)
		}
		return strings.Join(out, "\n")
	}
	_, rest, _ := bytes.Cut(sym, []byte("\n"))
	_, rest, _ = bytes.Cut(rest, []byte("\n")) // INFO CODE_ID
	k.add("other.sym", append([]byte("MODULE Linux x86_64 11112222333344445555666677778888A libother.so\n"), rest...))
	if got := k.look(protocol.Query{Files: &protocol.Span{Count: 9}}).Files.Unused; len(got) != 0 {
		t.Errorf("without a dump: %+v", got)
	}
	k.addSample("tilecruncher.dmp")
	const none = "other.sym: the dump has no module with its name, libother.so, or its id, 11112222333344445555666677778888A"
	if got := unused(); got != none {
		t.Errorf("%q", got)
	}
	k.add("build.sym", append([]byte("MODULE Linux x86_64 11112222333344445555666677778888A libtilecodec.so\n"), rest...))
	k.add("arm.sym", append([]byte("MODULE Linux arm64 33332222333344445555666677778888A libtilecodec.so\n"), rest...))
	arm, build, _ := strings.Cut(unused(), "\n")
	if arm != "arm.sym: it is for arm64, and the dump is of amd64" {
		t.Errorf("%q", arm)
	}
	if got := build; !strings.HasPrefix(got, "build.sym: another signature: another build: its id is 11112222333344445555666677778888A") || !strings.HasSuffix(got, none) {
		t.Errorf("%q", got)
	}
	// What nobody needs is not a notice: the module has its file now.
	k.add("libtilecodec.so.sym", sym)
	if got := unused(); got != none {
		t.Errorf("with the right file: %q", got)
	}
	for _, row := range k.screen(-1).Files.Rows {
		if (row.Unused == "") != (row.Name == "tilecruncher.dmp" || row.Name == "libtilecodec.so.sym") {
			t.Errorf("%s: %q", row.Name, row.Unused)
		}
	}
}

func TestFileName(t *testing.T) {
	for in, want := range map[string]string{"a/b c.dmp": "b_c", "../../etc": "etc", ".dmp": "crash", "x\u202ey": "x_y", "": "crash"} {
		if got := fileName(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}

// TestUntilNext: after a query with UntilNext, the engine does no background work before the next
// query.
func TestUntilNext(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp")
	w := protocol.Span{Count: 50}
	look := protocol.Query{Selection: protocol.Selection{Thread: -1, Top: true}, Stack: &w, Detail: true, Rest: protocol.UntilNext}
	if r := k.look(look); r.Pending == 0 || k.e.Idle() {
		t.Errorf("with %d threads left another one was walked", r.Pending)
	}
	look.Rest, look.Stack, look.Detail, look.Modules = 0, nil, false, &protocol.ModulesQuery{}
	if k.look(look); !k.e.Idle() {
		t.Error("then the other threads were not walked")
	}
}

// TestRest: while the user scrolls, background work rests, but still makes progress.
func TestRest(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp")
	rests := func(ms int) bool {
		before := k.e.rest
		k.look(protocol.Query{Selection: protocol.Selection{Thread: -1, Top: true}, Stack: &protocol.Span{Count: 50}, Rest: ms})
		return k.e.rest.After(before)
	}
	if rests(0) || rests(protocol.UntilNext) || k.e.Rest() != 0 {
		t.Error("the engine rests, and was not told to")
	}
	if !rests(60_000) || k.e.Rest() < 50*time.Second {
		t.Error("the engine goes on while somebody scrolls")
	}
	if rests(90_000) {
		t.Error("one rest follows another")
	}
	if k.e.Idle(); !rests(90_000) {
		t.Error("the engine rests once only")
	}
}

// A dump that was closed takes no part in what the page shows, and is as it was when it is added
// again.
func TestCloseDump(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp", "tilecruncher.sym.gz")
	want := k.screen(-1)
	k.ask(&protocol.CloseDump{Dump: 0}, nil)
	if r, _ := last[*protocol.Closed](k); len(r.Dumps) != 0 {
		t.Errorf("dumps after the last was closed: %+v", r.Dumps)
	}
	if r := k.screen(-1); r.Stack != nil || r.Summary != nil || r.Files == nil || len(r.Files.Unused) != 0 {
		t.Errorf("a closed dump is shown: %+v", r)
	}
	dump, err := os.ReadFile(sample + "tilecruncher.dmp")
	if err != nil {
		t.Fatal(err)
	}
	if r, _ := k.add("again.dmp", dump); r.Same != 1 || len(r.Dumps) != 1 {
		t.Errorf("added again: %+v", r)
	}
	got := k.screen(-1)
	if !reflect.DeepEqual(got.Stack, want.Stack) {
		t.Errorf("the stack is %+v, was %+v", got.Stack, want.Stack)
	}
}
