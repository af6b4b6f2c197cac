package app

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

// sizedFile is a file of so many bytes.
type sizedFile struct {
	name string
	size int64
}

func (f sizedFile) Name() string { return f.name }
func (f sizedFile) Size() int64  { return f.size }

// lookingHost keeps what is to be done when the screen has been painted.
type lookingHost struct {
	fakeHost
	painted []func()
}

func (h *lookingHost) NextFrame(do func()) { h.painted = append(h.painted, do) }

// ops of the requests since the last call.
func (e *fakeEngine) ops() (ops []string) {
	for _, r := range e.sent {
		op := r.Op
		if r.Look != nil {
			if r.Look.Parts&PartStack != 0 {
				op += " stack"
			}
		}
		ops = append(ops, op)
	}
	e.sent = nil
	return ops
}

// The first screen that a person sees has the names that small symbol files give it, is drawn once, and does not wait for large ones.
func TestFirstScreen(t *testing.T) {
	h, e := &lookingHost{}, &fakeEngine{}
	p := NewPage(h, e, "")
	added := func(item int) Reply {
		return Reply{Op: OpAdd, Items: []FileRow{{Item: item, Name: "f", Usable: true}}, Dumps: []DumpName{{0, "a.dmp"}}}
	}
	p.Add([]File{sizedFile{"big.sym.gz", 3 << 20}, sizedFile{"c.sym.gz", 9000}, sizedFile{"a.dmp", 5000}, sizedFile{"b.sym", 8000}})
	for item, want := range []string{"[add]", "[add]", "[add]"} {
		if got := fmt.Sprint(e.ops()); got != want {
			t.Fatalf("after %d small files the engine was asked %v, not %s", item, got, want)
		}
		if p.ReplyWith(added(item), nil) {
			t.Error("a job that has only begun was drawn")
		}
	}
	if got := fmt.Sprint(e.ops()); got != "[look stack]" {
		t.Fatalf("when the small files were read, the engine was asked %s", got)
	}
	r := screen(0)
	r.Frame, r.Modules, r.Wanted, r.Files = nil, nil, nil, nil
	if p.Reply(r); len(e.ops()) != 0 || len(h.painted) != 1 {
		t.Error("the stack is not painted before more is asked for")
	}
	h.painted[0]()
	if got := e.sent[0].Look.Parts; got&PartFrame == 0 || got&(PartModules|PartFiles) != 0 {
		t.Errorf("after the stack parts %b were asked for", got)
	}
	p.Reply(Reply{Op: OpLook, Parts: PartFrame, Frame: screen(0).Frame})
	if last := e.ops(); !slices.Contains(last, "add") {
		t.Errorf("with the first screen there, the engine was asked %v", last)
	}
}

// drawnWithoutSymbols is a page whose first stack is drawn and not painted, and the answer that is to come to the large symbol file.
func drawnWithoutSymbols() (p *Page, h *lookingHost, e *fakeEngine, opened Reply) {
	h, e = &lookingHost{}, &fakeEngine{}
	p = NewPage(h, e, "")
	p.Add([]File{sizedFile{"a.dmp", 5000}, sizedFile{"big.sym", 1 << 30}})
	dumps := []DumpName{{0, "a.dmp"}}
	p.Reply(Reply{Op: OpAdd, Items: []FileRow{{Name: "a.dmp", Usable: true}}, Dumps: dumps})
	first := screen(0)
	first.Frame = nil
	p.Reply(first)
	e.ops()
	return p, h, e, Reply{Op: OpAdd, Items: []FileRow{{Item: 1, Name: "big.sym", Usable: true}}, Dumps: dumps}
}

// What is around the stack is asked for when the stack is painted with its names, and the engine knows that it will be.
func TestNamesArePaintedFirst(t *testing.T) {
	p, h, e, opened := drawnWithoutSymbols()
	h.painted[0]()
	p.Reply(opened)
	if look := e.sent[len(e.sent)-1].Look; look == nil || !look.More {
		t.Errorf("the engine is not told that more will be asked: %+v", look)
	}
	e.ops()
	p.Later.began = time.Now().Add(-time.Minute)
	p.Reply(screen(0))
	if got := e.ops(); len(got) != 0 {
		t.Errorf("before the names are painted the engine was asked %v", got)
	}
	if p.Reply(Reply{Progress: &Progress{Stage: "walking", Later: true}}) {
		t.Error("the other threads, whose walk has only begun, are drawn before the names are painted")
	}
	h.painted[1]()
	if len(e.sent) != 1 || e.sent[0].Look.More || e.sent[0].Look.Parts&PartModules == 0 {
		t.Errorf("after that the engine was asked %+v", e.sent)
	}
}

// Symbols that are opened while the stack is drawn without them are in the very next question, whether they were opened before it is painted or not.
func TestSymbolsWhileTheStackIsPainted(t *testing.T) {
	for _, sooner := range []bool{true, false} {
		p, h, e, opened := drawnWithoutSymbols()
		if sooner {
			p.Reply(opened)
			h.painted[0]()
		} else {
			h.painted[0]()
			p.Reply(opened)
		}
		if got := e.ops(); len(got) != 1 || got[0] != "look stack" {
			t.Errorf("opened before the stack was painted %v: the engine was asked %v", sooner, got)
		}
	}
}

// Many small files are not waited for, nor is an engine that takes long.
func TestFirstScreenOfMany(t *testing.T) {
	list := []File{sizedFile{"a.dmp", 5000}}
	for range 300 {
		list = append(list, sizedFile{"b.sym", 8000})
	}
	read := Reply{Op: OpAdd, Items: []FileRow{{Name: "f", Usable: true}}, Dumps: []DumpName{{0, "a.dmp"}}}
	p, _, e := newTestPage("")
	p.Add(list)
	for n := 1; ; n++ {
		e.ops()
		p.Reply(read)
		if got := e.ops(); len(got) == 2 && got[0] == "look stack" && got[1] == "add" {
			break
		} else if n >= firstFiles {
			t.Fatalf("after %d files the engine was asked %v", n, got)
		}
	}
	p, _, e = newTestPage("")
	p.Add(list)
	e.ops()
	p.Job.began = time.Now().Add(-firstLook - time.Millisecond)
	p.Reply(read)
	if got := e.ops(); len(got) != 2 || got[0] != "look stack" || got[1] != "add" {
		t.Errorf("%v", got)
	}
}

func TestOrderOfFiles(t *testing.T) {
	list := inOrder([]File{sizedFile{"b.sym", 7}, sizedFile{"z.DMP", 90}, sizedFile{"c.sym", 3}, sizedFile{"d.sym", 7}, sizedFile{"y.mdmp", 80}})
	got := ""
	for _, f := range list {
		got += f.Name() + " "
	}
	if got != "y.mdmp z.DMP c.sym b.sym d.sym " {
		t.Error(got)
	}
}
