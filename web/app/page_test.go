package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vugu/vugu"
	"github.com/vugu/vugu/staticrender"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/split"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// fakeHost records calls.
type fakeHost struct {
	title, address, theme, copied, announced, downloaded string
	focused                                              []string
	document                                             string
	stored                                               map[string]string
	later                                                []func() bool
	shifted, percent                                     int
	background                                           []string
	kept                                                 map[string]host.File
	bases                                                []string
	closed                                               bool // it may reach no server
	fetches                                              []fetch
	fetchStops                                           int
	resolved                                             int
	looked                                               []string
	entries                                              []string // of the history
	system                                               string
	low                                                  bool
}

func (h *fakeHost) SetTitle(t string) { h.title = t }
func (h *fakeHost) SetAddress(a string, entry bool) {
	h.address = a
	if entry {
		h.entries = append(h.entries, a)
	}
}
func (h *fakeHost) Link(hash string) string { return "https://x.example/#" + hash }
func (h *fakeHost) Load(key string) string  { return h.stored[key] }
func (h *fakeHost) Store(key, value string) {
	if h.stored == nil {
		h.stored = map[string]string{}
	}
	h.stored[key] = value
}
func (h *fakeHost) SetTheme(t string)                   { h.theme = t }
func (h *fakeHost) Copy(text string, done func(string)) { h.copied = text; done("") }
func (h *fakeHost) Download(name, mime string, parts ...string) {
	h.downloaded = name + " " + mime + " " + strings.Join(parts, "")
}
func (h *fakeHost) PickFiles()                     {}
func (h *fakeHost) PickFolder()                    {}
func (h *fakeHost) OpenSample()                    {}
func (h *fakeHost) Focus(id string)                { h.focused = append(h.focused, id) }
func (h *fakeHost) Reveal(string, int)             {}
func (h *fakeHost) ShowDocument(id, html string)   { h.document = id + " " + html }
func (h *fakeHost) Progress(_ string, percent int) { h.percent = percent }
func (h *fakeHost) ShowBackground(text string, percent int) {
	h.background = append(h.background, fmt.Sprint(text, " ", percent))
}
func (h *fakeHost) Shift(_ string, rows int)    { h.shifted += rows }
func (h *fakeHost) Low() bool                   { return h.low }
func (h *fakeHost) Announce(text string)        { h.announced = text }
func (h *fakeHost) NextFrame(do func())         { do() }
func (h *fakeHost) After(_ int, do func() bool) { h.later = append(h.later, do) }

func (h *fakeHost) System() string { return h.system }
func (h *fakeHost) KeptSize(done func(int64, int)) {
	n := int64(0)
	for _, f := range h.kept {
		n += f.Size()
	}
	done(n, len(h.kept))
}
func (h *fakeHost) ForgetKept(done func()) { h.kept = nil; done() }

func (h *fakeHost) SymbolBases() ([]string, bool) { return h.bases, !h.closed }
func (h *fakeHost) ResolveBase(text string) (string, bool, string) {
	h.resolved++
	for _, b := range h.bases {
		if b == text {
			return b, true, ""
		}
	}
	return text, false, ""
}
func (h *fakeHost) Fetch(url, token string, whole bool, _ func(int64, int64), done func(host.Fetched)) func() {
	h.fetches = append(h.fetches, fetch{url, token, done})
	return func() { h.fetchStops++ }
}
func (h *fakeHost) CanPickStore() bool                  { return true }
func (h *fakeHost) PickStore(done func(string, string)) { done("store", "") }
func (h *fakeHost) KeepStore(bool)                      {}
func (h *fakeHost) RecallStore(done func(string))       { done("") }
func (h *fakeHost) FromStore(paths []string, _ int, done func([]host.File, string)) {
	h.looked = paths
	done([]host.File{fakeFile("store/" + paths[0])}, "")
}

// fetch is a request to a server.
type fetch struct {
	url, token string
	done       func(host.Fetched)
}

// fakeEngine records requests, encoded and decoded again.
type fakeEngine struct {
	sent     []protocol.Call
	files    []string
	restarts int
	made     []string // what a file is made of: the operation, the name, the files
}

func (e *fakeEngine) Send(c protocol.Call, f host.File) {
	back, err := protocol.ReadCall(protocol.AppendCall(nil, c))
	if err != nil {
		panic(err)
	}
	e.sent = append(e.sent, back)
	if f != nil {
		e.files = append(e.files, f.Name())
	}
}

func (e *fakeEngine) StopMaking() { e.made = nil }

func (e *fakeEngine) Make(files []host.File, req protocol.Request) {
	e.made = []string{"sym", req.(*protocol.WriteSym).Name}
	for _, f := range files {
		e.made = append(e.made, f.Name())
	}
}

func (e *fakeEngine) Restart() { e.restarts++; e.sent = nil; e.files = nil }

// last returns the newest request of a type, or nil.
func last[R any](e *fakeEngine) *R {
	for i := len(e.sent) - 1; i >= 0; i-- {
		if r, ok := e.sent[i].Request.(any).(*R); ok {
			return r
		}
	}
	return nil
}

// say passes an answer to the page.
func say(p *Page, r protocol.Reply) (draw bool) { return p.Answer(protocol.Answer{Reply: r}) }

// lastID returns the number of the newest call.
func lastID(e *fakeEngine) int { return e.sent[len(e.sent)-1].ID }

type fakeFile string

func (f fakeFile) Name() string { return string(f) }
func (f fakeFile) Size() int64  { return int64(len(f)) }

func newTestPage(hash string) (*Page, *fakeHost, *fakeEngine) {
	h, e := &fakeHost{}, &fakeEngine{}
	return NewPage(h, e, hash), h, e
}

const hostile = `<img src=x onerror=alert(1)>`

// screen returns a result with a stack of some rows.
func screen() *protocol.QueryResult {
	s := rows.StackPage{Thread: 1, Frames: 3, Selected: 0}
	s.Total = 4
	for i := 0; i < 3; i++ {
		s.Rows = append(s.Rows, rows.StackRow{Kind: rows.RowFrame, Frame: i, Inline: -1, Function: hostile, Full: hostile, Word: "CFI", Trust: "cfi"})
	}
	s.Rows = append(s.Rows, rows.StackRow{Kind: rows.RowStop, Frame: -1, Inline: -1, Function: "End of the stack"})
	t := rows.ThreadPage{Rows: []rows.ThreadRow{{Index: 1, Name: "main", Crashed: true}, {Index: 0, Name: hostile}}}
	t.Total = 2
	return &protocol.QueryResult{Summary: &rows.Summary{Name: "a.dmp", Verdict: []rows.Span{{Text: hostile, Role: "name"}}, Threads: 2, FirstThread: 1}, Threads: &t, Stack: &s, Detail: &rows.FrameDetail{Thread: 1, Frame: 0, Inline: -1, Title: hostile,
		Registers: []rows.Register{{Name: "rip", Value: "0x1", Role: "pc"}}}}
}

// drop adds a dump and answers the query that follows.
func drop(p *Page, e *fakeEngine) {
	p.Reading.Add([]host.File{fakeFile("a.dmp")})
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}})
	say(p, screen())
}

// TestAddressComesWithTheStack: writing the address takes longer than the stack of a small dump, so
// the stack comes first.
func TestAddressComesWithTheStack(t *testing.T) {
	const untouched = "?"
	for _, c := range []struct {
		name string
		look protocol.Answer
	}{
		{"a stack", protocol.Answer{Reply: screen()}},
		{"an error", protocol.Answer{Error: "it cannot be read", Reply: &protocol.QueryResult{}}},
	} {
		p, h, _ := newTestPage("")
		h.address = untouched
		p.Reading.Add([]host.File{fakeFile("a.dmp")})
		say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}})
		if h.address != untouched {
			t.Errorf("%s: before it came, the address is %q", c.name, h.address)
		}
		p.Answer(c.look)
		if h.address != "dump=a.dmp" {
			t.Errorf("%s: the address is %q", c.name, h.address)
		}
		if p.Clear(); h.address != "" {
			t.Errorf("%s: at the start again, the address is %q", c.name, h.address)
		}
	}
}

func render(t *testing.T, p *Page) string {
	t.Helper()
	env, err := vugu.NewBuildEnv()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	if err := staticrender.New(&b).Render(env.RunBuild(NewRoot(p))); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestStartIsShown(t *testing.T) {
	p, h, _ := newTestPage("")
	out := render(t, p)
	for _, want := range []string{"Drop a crash dump and its symbols here", "Choose files", "Choose a folder", "Open the sample", "never leave"} {
		if !strings.Contains(out, want) {
			t.Errorf("the start does not say %q", want)
		}
	}
	if h.theme != "" {
		t.Errorf("theme %q", h.theme)
	}
}

func TestDropShowsStack(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	out := render(t, p)
	if strings.Contains(out, "<img") {
		t.Error("text of a file became an element")
	}
	if !strings.Contains(out, "&lt;img src=x") {
		t.Error("the function's name is not shown")
	}
	if p.State.Thread != 1 || h.title != "a.dmp – Crashpane" || !strings.Contains(h.address, "dump=a.dmp") {
		t.Errorf("thread %d, title %q, address %q", p.State.Thread, h.title, h.address)
	}
	if p.Reading.Job.Active {
		t.Error("the job did not end")
	}
}

// largeFile is a file of 20 MB.
type largeFile string

func (f largeFile) Name() string { return string(f) }
func (f largeFile) Size() int64  { return 20 << 20 }

// An archive that takes seconds to unpack waits until the stack is shown.
func TestArchivesWaitForTheFirstScreen(t *testing.T) {
	p, _, e := newTestPage("")
	p.Reading.Add([]host.File{fakeFile("a.dmp"), largeFile("a.sym.gz")})
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}})
	if say(p, &protocol.QueryResult{Summary: screen().Summary, Threads: screen().Threads}); len(e.files) != 1 || !p.Reading.Job.Active {
		t.Fatalf("files %v before the stack, job %+v", e.files, p.Reading.Job)
	}
	if say(p, screen()); len(e.files) != 2 || p.Reading.Job.Count() != "2 of 2" {
		t.Errorf("files %v behind the stack, job %+v", e.files, p.Reading.Job)
	}
	p, _, e = newTestPage("")
	p.Reading.Add([]host.File{fakeFile("a.dmp"), largeFile("a.sym")})
	if say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}}); len(e.files) != 2 {
		t.Errorf("a symbol file waits: %v", e.files)
	}
}

func TestKeysMoveTheSelection(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Key("j", false)
	p.Key("ArrowDown", false)
	if p.State.Frame != 2 {
		t.Errorf("frame %d after two steps", p.State.Frame)
	}
	p.Key("j", false) // the last row says why the walk ended and cannot be selected
	if p.State.Frame != 2 {
		t.Errorf("frame %d at the end", p.State.Frame)
	}
	p.Key("n", false)
	if p.State.Thread != 0 || p.State.Frame != 0 {
		t.Errorf("thread %d, frame %d after n", p.State.Thread, p.State.Frame)
	}
	if p.Key("j", true) {
		t.Error("a letter typed into a field was taken for a command")
	}
	p.Key("4", false)
	if p.State.Tab != "findings" || p.State.Closed || !p.State.Opened {
		t.Errorf("tab %q, closed %v", p.State.Tab, p.State.Closed)
	}
	p.Key("4", false)
	if !p.State.Closed {
		t.Error("the second press does not fold the panel")
	}
}

func TestWindowIsAskedFor(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Stack.Total = 10_000
	n := len(e.sent)
	for p.Pace.asking {
		say(p, &protocol.QueryResult{})
	}
	if p.Screen.Scrolled("stack", 0, 3) {
		t.Error("rows that are here were asked for")
	}
	if !p.Screen.Scrolled("stack", 5000, 20) || len(e.sent) == n {
		t.Fatal("rows that are not here were not asked for")
	}
	if s := last[protocol.Query](e).Stack; s.From > 5000 || s.From+s.Count < 5020 || s.Count > 100 {
		t.Errorf("asked for %+v", s)
	}
	say(p, &protocol.QueryResult{})
	p.Stack.toRow(9000)
	if s := last[protocol.Query](e).Stack; s.From > 9000 || s.From+s.Count < 9001 {
		t.Errorf("going to row 9000 asks for %+v", s)
	}
}

func TestOnlyOneQuestionAtATime(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	for p.Pace.asking {
		say(p, &protocol.QueryResult{})
	}
	n := len(e.sent)
	for i := 0; i < 20; i++ {
		p.Key([]string{"j", "k"}[i%2], false)
	}
	if got := len(e.sent) - n; got != 1 {
		t.Errorf("%d questions on their way", got)
	}
}

func TestCancelKeepsWhatWasRead(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]host.File{fakeFile("huge.sym"), fakeFile("other.sym")})
	say(p, &protocol.Progress{Stage: "reading symbols", Name: "huge.sym", Done: 1, Total: 4})
	if out := render(t, p); !strings.Contains(out, "Reading symbols huge.sym") || !strings.Contains(out, "Cancel") {
		t.Error("progress is not shown")
	}
	reading := lastID(e)
	p.Key("Escape", false)
	if q := last[protocol.LeaveOut](e); q == nil || !q.Last || len(q.Items) > 0 {
		t.Fatalf("the engine is asked to leave out %+v", q)
	}
	leave := lastID(e)
	p.Reading.Add([]host.File{fakeFile("next.sym")})
	p.Answer(protocol.Answer{ID: reading, Reply: &protocol.Added{Items: []protocol.FileRow{{Name: "huge.sym"}}}})
	if p.Answer(protocol.Answer{ID: reading, Reply: &protocol.Progress{Stage: "walking"}}); p.Reading.Job.Text != "" || lastID(e) != leave {
		t.Errorf("what was cancelled goes on: %q, %v", p.Reading.Job.Text, e.files)
	}
	p.Answer(protocol.Answer{ID: leave, Reply: &protocol.Closed{Dumps: p.Dumps.List}})
	if got := strings.Join(e.files, " "); got != "a.dmp huge.sym next.sym" || e.restarts != 0 || p.Summary == nil || !p.Pace.asking {
		t.Errorf("read %s, %d restarts, asking %v", got, e.restarts, p.Pace.asking)
	}
}

// An engine that does not hear of a cancel is replaced.
func TestCancelOfABusyEngine(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]host.File{fakeFile("huge.sym")})
	p.Reading.Cancel()
	p.Reading.Add([]host.File{fakeFile("next.sym")})
	for _, do := range h.later {
		do()
	}
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}})
	if got := strings.Join(e.files, " "); e.restarts != 1 || got != "a.dmp next.sym" || p.Summary == nil {
		t.Errorf("%d restarts, read %s", e.restarts, got)
	}
}

func TestDeadEngine(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]host.File{fakeFile("bad.sym")})
	p.Reading.EngineStopped("out of memory", false)
	if out := render(t, p); !strings.Contains(out, "The engine stopped: out of memory. It was reading bad.sym.") {
		t.Error("the message is missing")
	}
	p.Reading.Add([]host.File{fakeFile("good.sym")})
	if e.restarts != 1 || e.files[0] != "a.dmp" {
		t.Fatalf("%d restarts, files %v", e.restarts, e.files)
	}
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}})
	if e.files[len(e.files)-1] != "good.sym" {
		t.Errorf("files %v", e.files)
	}
	// The engine must not die again and again because of a file that was read before.
	p.Reading.EngineStopped("again", false)
	p.Reading.Add([]host.File{fakeFile("b.dmp")})
	if p.Reading.Job.Total != 2 && p.Reading.Job.Total != 1 {
		t.Errorf("job %+v", p.Reading.Job)
	}
}

// A worker that ends without a word is replaced once: the files are read again, and the queue goes on
// without the file that it was reading.
func TestVanishedEngine(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]host.File{fakeFile("bad.sym"), fakeFile("second.sym")})
	p.Reading.EngineStopped("nothing says why", true)
	if out := render(t, p); !strings.Contains(out, "nothing says why. It was reading bad.sym.") {
		t.Error("the message is missing")
	}
	for range 2 {
		say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}})
	}
	if got := strings.Join(e.files, " "); e.restarts != 1 || got != "a.dmp second.sym" || p.Reading.waits() {
		t.Errorf("%d restarts, read %s", e.restarts, got)
	}
	// No dump was shown since: it would go on for ever.
	p.Reading.EngineStopped("nothing says why", true)
	if p.Reading.waits() || e.restarts != 1 {
		t.Errorf("%d restarts, waits %v", e.restarts, p.Reading.waits())
	}
}

func TestDecisionsAreSaidAgain(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Act("use", "3.7")
	if r := last[protocol.Assign](e); r == nil || r.Item != 3 || r.Module != 7 {
		t.Fatalf("assign: %+v", r)
	}
	p.Reading.EngineStopped("out of memory", false)
	p.Reading.Add([]host.File{fakeFile("x.sym")})
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}})
	if last[protocol.Assign](e) == nil {
		t.Error("the new worker does not know the assignment")
	}
}

func TestExports(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	p.Key("c", false)
	if r := last[protocol.Export](e); r == nil || r.Private {
		t.Errorf("the key copies %+v", r)
	}
	p.Answer(protocol.Answer{ID: lastID(e), Reply: &protocol.Exported{Text: "the stack"}})
	if h.copied != "" || !p.Menus.Preview.isOpen() || !strings.Contains(render(t, p), "the stack") {
		t.Errorf("%q is copied before it is shown", h.copied)
	}
	p.Act("done-preview", "copy")
	if h.focused[len(h.focused)-1] != "stack" {
		t.Errorf("the focus is in %q", h.focused)
	}
	if h.copied != "the stack" || p.Notices.Toast != "Stack copied as text" {
		t.Errorf("copied %q, toast %q", h.copied, p.Notices.Toast)
	}
}

// TestPreview: what a menu copies or downloads is shown first, without private texts unless the user
// wants them.
func TestPreview(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	p.Act("menu", "download")
	p.Act("export", "json")
	if r := last[protocol.Export](e); r == nil || r.Private || !p.Menus.Preview.isOpen() || p.Menus.Open != "" {
		t.Fatalf("requested %+v", r)
	}
	p.Act("done-preview", "download")
	if h.downloaded != "" {
		t.Error("downloaded before it was made")
	}
	hidden := lastID(e)
	p.Act("private", "")
	p.Answer(protocol.Answer{ID: lastID(e), Reply: &protocol.Exported{Text: strings.Repeat("é", 70_000) + "\n{}", FileName: "a.json"}})
	p.Answer(protocol.Answer{ID: hidden, Reply: &protocol.Exported{Text: "late"}})
	if r := last[protocol.Export](e); !r.Private || !strings.HasPrefix(p.Menus.Preview.note(), "140 KB, with private texts") || p.Menus.Preview.cutText() != "80 KB more are not shown here." {
		t.Errorf("%+v, %q, %q", r, p.Menus.Preview.note(), p.Menus.Preview.cutText())
	}
	if shown := strings.Join(p.Menus.Preview.parts(), ""); strings.Trim(shown, "é") != "" || len(shown) != maxPreview {
		t.Errorf("%d bytes are shown: %.100q", len(shown), shown)
	}
	if page := render(t, p); !strings.Contains(page, "ééé") || strings.Contains(page, "late") {
		t.Error("the preview is not drawn")
	}
	if p.Key("n", false) || !p.Key("Escape", false) || p.Menus.Preview.isOpen() {
		t.Error("keys of the page work in the dialog, or Escape does not close it")
	}
	p.Act("menu", "copy")
	p.Act("export", "markdown")
	p.Answer(protocol.Answer{ID: lastID(e), Reply: &protocol.Exported{Text: "# a", FileName: "a.md"}})
	p.Act("done-preview", "download")
	if h.downloaded != "a.md text/plain;charset=utf-8 # a" || p.Menus.Preview.isOpen() {
		t.Errorf("downloaded %q", h.downloaded)
	}
	p.Act("menu", "copy")
	p.Act("export", "html")
	p.Answer(protocol.Answer{ID: lastID(e), Reply: &protocol.Exported{Text: "<h1>report</h1>" + strings.Repeat("é", 70_000), FileName: "a.html"}})
	if page := render(t, p); h.document != "preview-frame "+p.Menus.Preview.text || !strings.Contains(page, `id="preview-frame"`) || strings.Contains(page, "report</h1>") ||
		p.Menus.Preview.cutText() != "" {
		t.Errorf("the HTML report is not shown as a page: %.200s", h.document)
	}
	p.Act("close-preview", "")
	p.HostPage.SetLimits(zone.Limits{Redact: true})
	p.Act("export", "stack")
	p.Act("private", "")
	if r := last[protocol.Export](e); r.Private || !strings.Contains(render(t, p), "preview-acts") {
		t.Errorf("against the host page's limit: %+v", r)
	}
}

func TestAllTabsRender(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Panel.Files.Rows = []protocol.FileRow{{Name: hostile, Kind: "other", Message: hostile}, {Item: 1, Name: "n.sym", Kind: "sym", Usable: true, Assign: true}}
	p.Panel.Files.Total, p.Panel.Files.Modules = 2, []protocol.Choice{{Item: 4, Name: hostile}}
	p.Panel.Modules.Rows = []rows.ModuleRow{{Name: hostile, State: "mismatch", Word: "other build", Item: 1}}
	p.Panel.Modules.Total = 1
	p.Panel.Missing.Rows = []rows.MissingRow{{DebugFile: hostile, DebugID: "A1", OtherFile: "a.sym", OtherID: "B1", Item: 1}}
	p.Panel.Missing.Total = 1
	p.Summary.Log = []rows.LogRow{{Severity: "error", Text: hostile}}
	p.Summary.System = []rows.Group{{Title: "Dump", Facts: []rows.Fact{{Key: "File", Value: hostile}}}}
	for _, tab := range Parts() {
		p.State.Tab = tab.ID
		out := render(t, p)
		if strings.Contains(out, "<img") {
			t.Errorf("%s: text of a file became an element", tab.ID)
		}
		if !strings.Contains(out, "&lt;img") {
			t.Errorf("%s: shows nothing", tab.ID)
		}
	}
	p.Act("help", "")
	if !strings.Contains(render(t, p), "next, previous thread") {
		t.Error("help shows no keys")
	}
}

// Cancelling while the engine walks leaves out what the job has brought: its archives; without them
// its symbols; without them the dump.
func TestCancelWhileWalking(t *testing.T) {
	dump, small, large := fakeFile("a.dmp"), fakeFile("small.sym"), sizedFile{"large.zip", 300 << 20}
	for _, c := range []struct {
		read, stay []host.File
		gone       []int
	}{
		{[]host.File{dump, small, large}, []host.File{dump, small}, []int{2, 3}},
		{[]host.File{dump, small}, []host.File{dump}, []int{1}},
		{[]host.File{dump}, nil, []int{0}},
	} {
		p, _, e := newTestPage("")
		p.Reading.accepted, p.Reading.leaving.items = c.read, map[host.File][]int{dump: {0}, small: {1}, large: {2, 3}}
		say(p, &protocol.Progress{Stage: "walking"})
		p.Act("cancel", "")
		if q := last[protocol.LeaveOut](e); q == nil || q.Last || !slices.Equal(q.Items, c.gone) || !slices.Equal(p.Reading.accepted, c.stay) {
			t.Errorf("of %v: left out %+v, accepted %v", c.read, q, p.Reading.accepted)
		}
	}

	p, _, e := newTestPage("")
	drop(p, e)
	say(p, &protocol.Progress{Stage: "walking"})
	p.Act("cancel", "")
	p.Answer(protocol.Answer{ID: lastID(e), Reply: &protocol.Closed{}})
	if !p.Empty() || len(p.Dumps.List) != 0 {
		t.Errorf("after cancelling the only dump: %v", p.Dumps.List)
	}
	p.Reading.Add([]host.File{fakeFile("b.dmp")})
	if got := strings.Join(e.files, " "); got != "a.dmp b.dmp" {
		t.Errorf("the next drop: %s", got)
	}
}

// TestLaterSymbolsAreMarked: rows that change because of symbols are highlighted for a moment, rows
// that appear by scrolling are not, and the selected row stays where it is.
func TestLaterSymbolsAreMarked(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	for p.Pace.asking {
		say(p, &protocol.QueryResult{ReportID: protocol.ReportID{Revision: 1}})
	}
	answer := func(revision int, change func(s *rows.StackPage)) {
		p.Screen.Ask(&p.Stack)
		r := screen()
		r.Revision = revision
		change(r.Stack)
		say(p, r)
	}
	answer(1, func(*rows.StackPage) {})
	if len(p.Screen.ChangedRows.IDs) != 0 {
		t.Errorf("marked without a change: %v", p.Screen.ChangedRows.IDs)
	}
	p.Stack.list.Visible = protocol.Span{From: 10, Count: 20}
	answer(2, func(s *rows.StackPage) { s.Rows[1].Function = "named"; s.Selected += 2 })
	if !p.Screen.ChangedRows.IDs["frame-1.-1"] || len(p.Screen.ChangedRows.IDs) != 1 {
		t.Errorf("marked: %v", p.Screen.ChangedRows.IDs)
	}
	if !strings.Contains(render(t, p), `"row frame changed"`) {
		t.Error("the mark is not drawn")
	}
	if h.shifted != 2 {
		t.Errorf("the list moved by %d rows", h.shifted)
	}
	for _, do := range h.later {
		do()
	}
	if len(p.Screen.ChangedRows.IDs) != 0 {
		t.Error("the marks stay")
	}
}

func TestContextMenu(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	if p.Menus.OpenContext("9.-1", Point{}) {
		t.Error("a menu of no row")
	}
	p.Stack.Rows[1].ModuleIndex, p.Stack.Rows[1].Other, p.Stack.Rows[1].Missing = 3, 5, true
	p.Stack.Rows[1].Address = "0x1234"
	if !p.Menus.OpenContext("1.-1", Point{10, 20}) || p.State.Frame != 1 {
		t.Fatalf("no menu, frame %d", p.State.Frame)
	}
	out := render(t, p)
	for _, want := range []string{"Copy function name", "Copy address", "Show module", "Use the symbols of another build"} {
		if !strings.Contains(out, want) {
			t.Errorf("the menu lacks %q", want)
		}
	}
	p.Act("copy-row", "address")
	if h.copied != "0x1234" || p.Menus.Open != "" {
		t.Errorf("copied %q, menu %q", h.copied, p.Menus.Open)
	}
	p.Act("show-module", "3")
	for p.Pace.asking {
		say(p, &protocol.QueryResult{Modules: &rows.ModulePage{Selected: 7}})
	}
	if p.Panel.Modules.Module != 3 || p.State.Tab != "modules" || p.Panel.Modules.List().Visible.From == 0 {
		t.Errorf("module %d, tab %s, window %v", p.Panel.Modules.Module, p.State.Tab, p.Panel.Modules.List().Visible)
	}
}

func TestSplits(t *testing.T) {
	p, h, _ := newTestPage("")
	p.Layout.Resize("threads", 300)
	p.Layout.Resize("panel", 5)
	if got := p.Split.Style(); got != "--cp-threads:300px;--cp-panel:90px;" {
		t.Errorf("style %q", got)
	}
	q := NewPage(&fakeHost{stored: h.stored}, &fakeEngine{}, "")
	if q.Split != p.Split {
		t.Errorf("remembered %+v of %+v", q.Split, p.Split)
	}
	for _, odd := range []string{"", "1,2", "x,y,z", "-1,99999,0"} {
		q := NewPage(&fakeHost{stored: map[string]string{"split": odd}}, &fakeEngine{}, "")
		if q.Split != (split.Sizes{}) {
			t.Errorf("%q: %+v", odd, q.Split)
		}
	}
}

func TestEscapeLeavesTheSearch(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	h.focused = nil
	if !p.Key("Escape", true) || len(h.focused) != 1 || h.focused[0] != "stack" {
		t.Errorf("an empty search is not left: %v", h.focused)
	}
	p.Input("search", "abc")
	p.Reading.Add([]host.File{fakeFile("huge.sym")})
	if !p.Key("Escape", true) || p.State.Search != "" || !p.Reading.Job.Active {
		t.Errorf("search %q, job %v", p.State.Search, p.Reading.Job.Active)
	}
}

// TestWarmUp: the warm-up builds everything that a dump's screen needs, in small steps.
func TestWarmUp(t *testing.T) {
	r := NewWarmUp()
	n := 0
	for r.Step() {
		n++
	}
	if n < 5 || r.page.Empty() || r.page.Stack.Total == 0 || !r.page.Listed {
		t.Errorf("%d steps, %+v", n, r.page.Stack)
	}
	if !strings.Contains(render(t, r.page), "row stop") {
		t.Error("it draws nothing")
	}
}

// TestListing: the page shows that folders are being listed, and the user can cancel it.
func TestListing(t *testing.T) {
	p, _, _ := newTestPage("")
	stopped := 0
	p.Reading.Listing(1234, func() { stopped++ })
	if html := render(t, p); !p.Work.Busy() || !strings.Contains(html, "Looking for files: 1,234 so far") {
		t.Errorf("busy %v: %s", p.Work.Busy(), html)
	}
	p.Reading.Cancel()
	if stopped != 1 || p.Work.Busy() || len(p.Notices.List) != 1 {
		t.Errorf("stopped %d times, busy %v, %v", stopped, p.Work.Busy(), p.Notices.List)
	}
	p.Reading.Listing(5, func() { stopped++ })
	p.Reading.Listing(0, nil)
	if p.Work.Busy() || stopped != 1 {
		t.Error("it is not over")
	}
}
