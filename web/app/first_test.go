package app

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// sizedFile is a file with a size.
type sizedFile struct {
	name string
	size int64
}

func (f sizedFile) Name() string { return f.name }
func (f sizedFile) Size() int64  { return f.size }

// lookingHost keeps the callbacks of NextFrame.
type lookingHost struct {
	fakeHost
	painted []func()
}

func (h *lookingHost) NextFrame(do func()) { h.painted = append(h.painted, do) }

// ops returns the requests since its last call, as words.
func (e *fakeEngine) ops() (ops []string) {
	for _, r := range e.sent {
		op := strings.ToLower(strings.TrimPrefix(fmt.Sprintf("%T", r.Request), "*protocol."))
		if look, ok := r.Request.(*protocol.Query); ok && look.Stack != nil {
			op += " stack"
		}
		ops = append(ops, op)
	}
	e.sent = nil
	return ops
}

// The first screen has the names from small symbol files, is drawn once, and does not wait for
// large ones.
func TestFirstScreen(t *testing.T) {
	h, e := &lookingHost{}, &fakeEngine{}
	p := NewPage(h, e, "")
	added := func(item int) protocol.Reply {
		return &protocol.Added{Items: []protocol.FileRow{{Item: item, Name: "f", Usable: true}}, Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}}
	}
	p.Reading.Add([]host.File{sizedFile{"big.sym.gz", 3 << 20}, sizedFile{"c.sym.gz", 9000}, sizedFile{"a.dmp", 5000}, sizedFile{"b.sym", 8000}})
	for item, want := range []string{"[add]", "[add]", "[add]"} {
		if got := fmt.Sprint(e.ops()); got != want {
			t.Fatalf("after %d small files the engine was asked %v, not %s", item, got, want)
		}
		if say(p, added(item)) {
			t.Error("a job that has only begun was drawn")
		}
	}
	if got := fmt.Sprint(e.ops()); got != "[query stack]" {
		t.Fatalf("when the small files were read, the engine was asked %s", got)
	}
	r := screen()
	r.Detail, r.Modules, r.Missing, r.Files = nil, nil, nil, nil
	if say(p, r); len(e.ops()) != 0 || len(h.painted) != 1 {
		t.Error("the stack is not painted before more is asked for")
	}
	h.painted[0]()
	if got := last[protocol.Query](e); !got.Detail || got.Modules != nil || got.Files != nil {
		t.Errorf("after the stack %+v was asked for", got)
	}
	say(p, &protocol.QueryResult{Detail: screen().Detail})
	if last := e.ops(); !slices.Contains(last, "add") {
		t.Errorf("with the first screen there, the engine was asked %v", last)
	}
}

// withLargeSymbols returns a page on which a dump and a large symbol file were dropped some time
// ago, and whose first screen has no names; and the pending answer to the symbol file. drawn is
// whether that screen was drawn.
func withLargeSymbols(ago time.Duration) (p *Page, h *lookingHost, e *fakeEngine, opened protocol.Reply, drawn bool) {
	h, e = &lookingHost{}, &fakeEngine{}
	p = NewPage(h, e, "")
	p.Reading.Add([]host.File{sizedFile{"a.dmp", 5000}, sizedFile{"big.sym", 1 << 30}})
	p.Reading.Job.began = time.Now().Add(-ago)
	dumps := []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}
	say(p, &protocol.Added{Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}, Dumps: dumps})
	e.ops()
	first := screen()
	first.Detail = nil
	first.Summary.Name = "without names"
	drawn = say(p, first)
	return p, h, e, &protocol.Added{Items: []protocol.FileRow{{Item: 1, Name: "big.sym", Usable: true}}, Dumps: dumps}, drawn
}

// drawnWithoutSymbols is withLargeSymbols after so long a time that the screen is drawn without
// names.
func drawnWithoutSymbols() (p *Page, h *lookingHost, e *fakeEngine, opened protocol.Reply) {
	p, h, e, opened, _ = withLargeSymbols(firstNames)
	e.ops()
	return p, h, e, opened
}

// If the names from a large symbol file arrive soon, the first screen has them and is drawn once.
// The bar shows meanwhile what is being read.
func TestNamesComeWithTheStack(t *testing.T) {
	p, h, e, opened, drawn := withLargeSymbols(0)
	if got := fmt.Sprint(e.ops()); drawn || !p.Empty() || got != "[query stack]" {
		t.Fatalf("the first screen was drawn at once: %v; the engine was asked %s", drawn, got)
	}
	if drawn = say(p, opened); drawn || !p.Reading.Job.Active || p.Reading.Job.Text == "" {
		t.Errorf("when the file is open, the page is drawn %v, with %+v in its bar", drawn, p.Reading.Job)
	}
	named := screen()
	named.Detail = nil
	named.Summary.Name = "with names"
	if drawn = say(p, named); !drawn || p.Empty() || p.Summary.Name != "with names" || p.Reading.Job.Active {
		t.Errorf("with the names it is drawn %v, and then there is %+v", drawn, p.Reading.Job)
	}
	h.painted[0]()
	if got := last[protocol.Query](e); !got.Detail {
		t.Errorf("after the stack %+v was asked for", got)
	}
	if h.later[len(h.later)-1]() || p.Summary.Name != "with names" {
		t.Error("the screen without names has come later, or what stands there was drawn again")
	}
}

// If they do not arrive soon, the first screen is drawn without names, which are shown when they
// arrive.
func TestNamesThatTakeLong(t *testing.T) {
	p, h, e, opened, _ := withLargeSymbols(0)
	e.ops()
	if drawn := h.later[len(h.later)-1](); !drawn || p.Empty() || p.Summary.Name != "without names" {
		t.Fatal("the first screen is kept back for ever")
	}
	h.painted[0]()
	if say(p, opened); len(e.ops()) != 0 {
		t.Error("the engine was asked again, while the answer with the names is on its way")
	}
	named := screen()
	named.Detail = nil
	named.Summary.Name = "with names"
	if !say(p, named) || p.Summary.Name != "with names" {
		t.Error("the names are not shown")
	}
	if got := fmt.Sprint(e.ops()); got != "[]" && len(h.painted) < 2 {
		t.Errorf("what is around the stack is not asked for: %s", got)
	}

	// If the engine dies while it reads the file, or the user cancels, the dump is shown without
	// names.
	p, h, _, _, _ = withLargeSymbols(0)
	if p.Reading.EngineStopped("out of memory", false); p.Empty() || len(p.Notices.List) != 1 {
		t.Error("with the engine the dump is gone")
	}
	p, h, e, _, _ = withLargeSymbols(0)
	p.Reading.Cancel()
	if h.later[len(h.later)-1](); !p.Empty() {
		t.Error("an answer of the engine before is shown")
	}
	e.ops()
	say(p, &protocol.Added{Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}, Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}})
	if got := fmt.Sprint(e.ops()); got != "[query stack]" {
		t.Errorf("after that the engine was asked %s", got)
	}
	if !say(p, screen()) || p.Empty() {
		t.Error("the dump is not shown")
	}
}

// The rest of the screen is queried when the stack is painted with its names, and the engine is
// told to wait for that query.
func TestNamesArePaintedFirst(t *testing.T) {
	p, h, e, opened := drawnWithoutSymbols()
	h.painted[0]()
	say(p, opened)
	if look := last[protocol.Query](e); look == nil || look.Rest != protocol.UntilNext {
		t.Errorf("the engine is not told that more will be asked: %+v", look)
	}
	e.ops()
	p.Work.Background.began = time.Now().Add(-time.Minute)
	say(p, screen())
	if got := e.ops(); len(got) != 0 {
		t.Errorf("before the names are painted the engine was asked %v", got)
	}
	if say(p, &protocol.Progress{Stage: "walking", Background: true}) {
		t.Error("the other threads, whose walk has only begun, are drawn before the names are painted")
	}
	h.painted[1]()
	if look := last[protocol.Query](e); len(e.sent) != 1 || look == nil || look.Rest == protocol.UntilNext || look.Modules == nil {
		t.Errorf("after that the engine was asked %+v", e.sent)
	}
}

// If symbols are opened while the stack is drawn without them, the next query uses them, whether
// they are opened before or after the stack is painted.
func TestSymbolsWhileTheStackIsPainted(t *testing.T) {
	for _, sooner := range []bool{true, false} {
		p, h, e, opened := drawnWithoutSymbols()
		if sooner {
			say(p, opened)
			h.painted[0]()
		} else {
			h.painted[0]()
			say(p, opened)
		}
		if got := e.ops(); len(got) != 1 || got[0] != "query stack" {
			t.Errorf("opened before the stack was painted %v: the engine was asked %v", sooner, got)
		}
	}
}

// The first screen does not wait for many small files, nor for a slow engine.
func TestFirstScreenOfMany(t *testing.T) {
	list := []host.File{sizedFile{"a.dmp", 5000}}
	for range 300 {
		list = append(list, sizedFile{"b.sym", 8000})
	}
	read := &protocol.Added{Items: []protocol.FileRow{{Name: "f", Usable: true}}, Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}}
	p, _, e := newTestPage("")
	p.Reading.Add(list)
	for n := 1; ; n++ {
		e.ops()
		say(p, read)
		if got := e.ops(); len(got) == 2 && got[0] == "query stack" && got[1] == "add" {
			break
		} else if n >= firstFiles {
			t.Fatalf("after %d files the engine was asked %v", n, got)
		}
	}
	if !say(p, screen()) || p.Empty() {
		t.Error("the first screen of many small files waits for the next one")
	}
	p, _, e = newTestPage("")
	p.Reading.Add(list)
	e.ops()
	p.Reading.Job.began = time.Now().Add(-(firstLook + time.Millisecond))
	say(p, read)
	if got := e.ops(); len(got) != 2 || got[0] != "query stack" || got[1] != "add" {
		t.Errorf("%v", got)
	}
}

func TestOrderOfFiles(t *testing.T) {
	list := inOrder([]host.File{sizedFile{"b.sym", 7}, sizedFile{"z.DMP", 90}, sizedFile{"c.sym", 3}, sizedFile{"d.sym", 7}, sizedFile{"y.mdmp", 80}})
	got := ""
	for _, f := range list {
		got += f.Name() + " "
	}
	if got != "y.mdmp z.DMP c.sym b.sym d.sym " {
		t.Error(got)
	}
}
