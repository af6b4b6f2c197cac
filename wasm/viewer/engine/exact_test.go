package engine

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/app"
)

// grown is the sample's symbol file with megabytes of functions at higher addresses. moved, if not "", names a function that
// then stands far behind its place: a search does not find it there, and is not told by what it reads.
func grown(t testing.TB, megabytes int, moved string) []byte {
	t.Helper()
	f, err := os.Open(sample + "tilecruncher.sym.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	sym, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	var head, block, tail bytes.Buffer
	into := &head
	for line := range strings.Lines(string(sym)) {
		switch {
		case strings.HasPrefix(line, "FUNC") && moved != "" && strings.Contains(line, moved):
			into = &block
		case strings.HasPrefix(line, "FUNC"):
			into = &head
		case strings.HasPrefix(line, "STACK"):
			into = &tail
		}
		into.WriteString(line)
	}
	if moved != "" && block.Len() == 0 {
		t.Fatalf("the sample has no function %q", moved)
	}
	out := head
	at := 0x1000000
	for i := 0; out.Len() < megabytes<<20; i++ {
		if i == 20_011 {
			out.Write(block.Bytes())
		}
		fmt.Fprintf(&out, "FUNC %x 40 0 filler_%d(int)\n%x 20 %d 0\n%x 20 %d 0\n", at, i, at, i%1000, at+0x20, i%1000+1)
		at += 0x40
	}
	out.Write(tail.Bytes())
	return out.Bytes()
}

// exactTalk is an engine with the sample and a large symbol file, and what came with its answers beside them.
func exactTalk(t *testing.T, sym []byte) (*talk, *[][]byte) {
	k := newTalk(t)
	sent := &[][]byte{}
	k.e.exact.send = func(r app.Reply, data []byte) {
		*sent = append(*sent, data)
		k.answers = append(k.answers, r)
	}
	k.addSample("tilecruncher.dmp", "libtilecodec.so.sym", "libc.so.6.sym.gz")
	if r := k.add("tilecruncher.sym", sym); r.Error != "" || !r.Items[0].Usable {
		t.Fatalf("%+v", r)
	}
	return k, sent
}

const largeItem = 3 + 1 // behind the dump, two files of symbols, and the archive that one of them came in

// settle has all that waits done, and answers the last thing that was said unasked.
func (k *talk) settle() (last app.Reply) {
	n := len(k.answers)
	for k.e.Idle() {
	}
	for _, r := range k.answers[n:] {
		last = r
	}
	return last
}

// index makes the pass as the page has it made: by workers that know nothing but the piece.
func (k *talk) index(sym []byte, item int, keep bool) app.Reply {
	k.t.Helper()
	plan := k.ask(app.Request{Op: app.OpPlan, Item: item, Cores: 3, Keep: true}, nil)
	if plan.Error != "" || len(plan.Cuts) < 4 || plan.Key == "" {
		k.t.Fatalf("plan: %+v", plan)
	}
	parts := len(plan.Cuts) - 1
	var last app.Reply
	for i := range parts {
		part := (i + 2) % parts // in any order
		var piece []byte
		w := New(func(app.Reply) {}, Options{PostData: func(_ app.Reply, data []byte) { piece = data }})
		w.Handle(app.Request{Op: app.OpIndex, From: plan.Cuts[part], To: plan.Cuts[part+1]}, input.FromBytes("x.sym", sym))
		if piece == nil {
			k.t.Fatalf("no index of piece %d", part)
		}
		k.id++
		k.e.HandleWith(app.Request{ID: k.id, Op: app.OpPiece, Item: item, Part: part, Parts: parts, Keep: keep}, nil, func([]byte) []byte { return piece })
		last = k.answers[len(k.answers)-1]
		if last.Error != "" || last.Exact != (i == parts-1) {
			k.t.Fatalf("piece %d: %+v", part, last)
		}
	}
	return last
}

func moduleWords(m *view.ModulePage) string {
	for _, r := range m.Rows {
		if r.Name == "tilecruncher" {
			return r.Word
		}
	}
	return ""
}

func functionsOf(s *view.StackPage) (names []string) {
	for _, r := range s.Rows {
		if r.Kind != view.RowStop { // it may name a line, and lines are counted by the pass alone
			names = append(names, r.Function)
		}
	}
	return names
}

func TestSearchedFirstExactLater(t *testing.T) {
	for _, tc := range []struct {
		name, moved string
		corrected   bool
	}{{"sorted", "", false}, {"a function out of its place", "Pipeline::start()::{lambda()#5}>::_M_invoke", true}} {
		t.Run(tc.name, func(t *testing.T) {
			sym := grown(t, 12, tc.moved)
			k, sent := exactTalk(t, sym)
			first := k.ask(look(-1), nil)
			if first.Pending == 0 || len(first.Unread) != 1 || first.Unread[0] != largeItem {
				t.Errorf("%d threads pending, unread %v", first.Pending, first.Unread)
			}
			if last := k.settle(); last.Op != app.OpWalked || last.Changed != 0 {
				t.Errorf("when the stacks are there: %+v", last)
			}
			all := k.ask(look(-1), nil)
			if all.Pending != 0 || len(all.Unread) != 1 || all.Unread[0] != largeItem || moduleWords(all.Modules) != "searched" {
				t.Fatalf("pending %d, unread %v, module %q", all.Pending, all.Unread, moduleWords(all.Modules))
			}
			k.index(sym, largeItem, true)
			if len(*sent) != 1 {
				t.Fatalf("%d indexes to keep", len(*sent))
			}
			after := k.ask(look(-1), nil)
			last := k.settle()
			if (last.Changed > 0) != tc.corrected {
				t.Errorf("%d frames changed", last.Changed)
			}
			after = k.ask(look(-1), nil)
			if moduleWords(after.Modules) != "loaded" || len(after.Unread) != 0 || after.Revision == all.Revision {
				t.Errorf("after the pass: module %q, unread %v", moduleWords(after.Modules), after.Unread)
			}

			// The same files, all read as a whole from the start.
			small := newTalk(t)
			small.addSample("tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz")
			n := len(first.Threads.Rows)
			for thread := range n {
				want := functionsOf(small.ask(look(thread), nil).Stack)
				got := functionsOf(k.ask(look(thread), nil).Stack)
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("thread %d:\n%q\nwant\n%q", thread, got, want)
				}
			}

			// Another visit takes the index that was kept, and reads nothing but what it shows.
			again, _ := exactTalk(t, sym)
			again.ask(look(-1), nil)
			again.settle()
			again.ask(look(-1), nil)
			kept := bytes.Clone((*sent)[0])
			again.id++
			again.e.HandleWith(app.Request{ID: again.id, Op: app.OpPiece, Item: largeItem, Parts: 1}, nil, func([]byte) []byte { return kept })
			if r := again.answers[len(again.answers)-1]; !r.Exact || r.Error != "" {
				t.Errorf("a kept index: %+v", r)
			}
			again.settle()
			if got := again.ask(look(-1), nil); moduleWords(got.Modules) != "loaded" ||
				strings.Join(functionsOf(got.Stack), "\n") != strings.Join(functionsOf(after.Stack), "\n") {
				t.Error("with a kept index the stack is another one")
			}
		})
	}
}

// TestThreadsWait: while a file is read as a whole, the threads that nobody has looked at wait for its index; one that somebody chooses does not,
// and when the pass is given up, none does.
func TestThreadsWait(t *testing.T) {
	for _, end := range []string{"an index", "given up", "damaged"} {
		sym := grown(t, 12, "")
		k, _ := exactTalk(t, sym)
		first := k.ask(look(-1), nil)
		plan := app.Request{Op: app.OpPlan, Item: largeItem, Cores: 2}
		k.ask(plan, nil)
		for range 3 {
			k.e.Idle()
		}
		if r := k.ask(look(-1), nil); r.Pending != first.Pending {
			t.Fatalf("%d of %d threads did not wait", first.Pending-r.Pending, first.Pending)
		}
		other := (first.Stack.Thread + 1) % len(first.Threads.Rows)
		if r := k.ask(look(other), nil); len(functionsOf(r.Stack)) == 0 || r.Pending != first.Pending-1 {
			t.Errorf("the chosen thread has %d frames, %d threads are left", len(functionsOf(r.Stack)), r.Pending)
		}
		switch end {
		case "an index":
			k.index(sym, largeItem, false)
		case "given up":
			k.ask(app.Request{Op: app.OpComplete, Item: largeItem}, nil)
		case "damaged":
			k.e.HandleWith(app.Request{Op: app.OpPiece, Item: largeItem, Parts: 1}, nil, func([]byte) []byte { return []byte("nothing") })
			k.ask(app.Request{Op: app.OpComplete, Item: largeItem}, nil)
		}
		k.ask(look(-1), nil)
		if last := k.settle(); last.Op != app.OpWalked {
			t.Errorf("%s: the last answer is %+v", end, last)
		}
		if r := k.ask(look(-1), nil); r.Pending != 0 {
			t.Errorf("%s: %d threads still wait", end, r.Pending)
		}
	}
}

func TestBadPieces(t *testing.T) {
	sym := grown(t, 6, "")
	k, _ := exactTalk(t, sym)
	k.ask(look(-1), nil)
	k.settle()
	before := functionsOf(k.ask(look(-1), nil).Stack)
	for name, req := range map[string]struct {
		req  app.Request
		data []byte
	}{
		"nonsense":            {app.Request{Op: app.OpPiece, Item: largeItem, Parts: 1}, []byte("nothing")},
		"no bytes":            {app.Request{Op: app.OpPiece, Item: largeItem, Parts: 1}, nil},
		"no such piece":       {app.Request{Op: app.OpPiece, Item: largeItem, Part: 3, Parts: 2}, []byte("x")},
		"too many pieces":     {app.Request{Op: app.OpPiece, Item: largeItem, Parts: 1 << 40}, []byte("x")},
		"no such file":        {app.Request{Op: app.OpPlan, Item: 99}, nil},
		"no file at all":      {app.Request{Op: app.OpIndex, To: 100}, nil},
		"a plan of the dump":  {app.Request{Op: app.OpPlan, Item: 0, Cores: 2}, nil},
		"of a negative place": {app.Request{Op: app.OpPiece, Item: -1, Part: -1, Parts: 1}, []byte("x")},
	} {
		k.id++
		req.req.ID = k.id
		var data func([]byte) []byte
		if req.data != nil {
			data = func([]byte) []byte { return req.data }
		}
		k.e.HandleWith(req.req, nil, data)
		if r := k.answers[len(k.answers)-1]; r.ID != k.id || r.Error == "" && !(req.req.Item < 0) || r.Exact {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if got := functionsOf(k.ask(look(-1), nil).Stack); strings.Join(got, "\n") != strings.Join(before, "\n") {
		t.Error("what was shown is not what it was")
	}
	// The file itself can still be read.
	k.e.Handle(app.Request{Op: app.OpComplete, Item: largeItem, On: true}, nil)
	if r := k.answers[len(k.answers)-1]; !r.Exact || r.Op != app.OpComplete {
		t.Errorf("%+v", r)
	}
}

// TestUnpackedHere: a file that lies unpacked in the engine's memory is read as a whole by the engine.
func TestUnpackedHere(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(grown(t, 60, "Pipeline::start()::{lambda()#5}>::_M_invoke"))
	z.Close()
	k := newTalk(t)
	k.addSample("tilecruncher.dmp", "libtilecodec.so.sym", "libc.so.6.sym.gz")
	if r := k.add("tilecruncher.sym.gz", packed.Bytes()); r.Error != "" {
		t.Fatalf("%+v", r)
	}
	k.ask(look(-1), nil)
	k.settle()
	shown := k.ask(look(-1), nil)
	if len(shown.Unread) != 1 {
		t.Fatalf("to be read as a whole: %v", shown.Unread)
	}
	complete := func(on bool) {
		k.id++
		k.e.Handle(app.Request{ID: k.id, Op: app.OpComplete, Item: shown.Unread[0], On: on}, nil)
	}
	// It has no pieces for others, unless what was unpacked lies where they can read it.
	plan := app.Request{Op: app.OpPlan, Item: shown.Unread[0], Cores: 2, On: true}
	if r := k.ask(plan, nil); !r.Apart || r.Error == "" {
		t.Errorf("a plan of what only the engine can read: %+v", r)
	}
	handed := ""
	k.e.exact.hand = func(r app.Reply, src *input.Source) bool {
		k.answers, handed = append(k.answers, r), src.Name
		return true
	}
	if r := k.ask(plan, nil); r.Apart || len(r.Cuts) < 2 || handed != "tilecruncher.sym" {
		t.Errorf("%+v with %q", r, handed)
	}
	complete(false)
	if r := k.ask(look(-1), nil); moduleWords(r.Modules) != "searched" {
		t.Errorf("a pass that was given up: %s", moduleWords(r.Modules))
	}
	complete(true)
	if r := k.answers[len(k.answers)-1]; r.Op != app.OpComplete || !r.Exact {
		t.Fatalf("%+v", r)
	}
	k.ask(look(-1), nil)
	if r := k.settle(); r.Op != app.OpWalked || r.Changed == 0 {
		t.Errorf("what was corrected is not counted: %+v", r)
	}
	if r := k.ask(look(-1), nil); moduleWords(r.Modules) != "loaded" || len(r.Unread) != 0 {
		t.Errorf("afterwards: %s, %v", moduleWords(r.Modules), r.Unread)
	}
}
