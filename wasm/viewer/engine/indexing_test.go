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
	"github.com/crashpane/crashpane/web/protocol"
)

// grown returns the sample's symbol file with megabytes of functions at higher addresses. moved, if not "", is a function to move far from its
// sorted position: a search does not find it there, and what it reads does not show that.
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

// exactTalk is an engine with the sample and a large symbol file, and the bytes that were sent beside its answers.
func exactTalk(t *testing.T, sym []byte) (*talk, *[][]byte) {
	k := newTalk(t)
	sent := &[][]byte{}
	k.e.indexing.send = func(r protocol.Answer, data []byte) {
		*sent = append(*sent, data)
		k.answers = append(k.answers, r)
	}
	k.addSample("tilecruncher.dmp", "libtilecodec.so.sym", "libc.so.6.sym.gz")
	if r, problem := k.add("tilecruncher.sym", sym); problem != "" || !r.Items[0].Usable {
		t.Fatalf("%+v", r)
	}
	return k, sent
}

const largeItem = 3 + 1 // behind the dump, two files of symbols, and the archive that one of them came in

// settle does all background work, and returns the last reply without a request.
func (k *talk) settle() (last protocol.Reply) {
	n := len(k.answers)
	for k.e.Idle() {
	}
	for _, r := range k.answers[n:] {
		last = r.Reply
	}
	return last
}

// walked is settle for a last reply of Walked. It returns how many frames have changed.
func (k *talk) walked() int {
	k.t.Helper()
	w, ok := k.settle().(*protocol.Walked)
	if !ok {
		k.t.Error("the stacks are not said to be there")
		return 0
	}
	return w.Changed
}

// index indexes a file as the page does, with workers that have only a chunk.
func (k *talk) index(sym []byte, item int, keep bool) {
	k.t.Helper()
	k.ask(&protocol.PlanIndex{Item: item, Cores: 3, Keep: true}, nil)
	plan, problem := last[*protocol.IndexPlanned](k)
	if problem != "" || len(plan.Cuts) < 4 || plan.Key == "" {
		k.t.Fatalf("plan: %+v", plan)
	}
	parts := len(plan.Cuts) - 1
	for i := range parts {
		part := (i + 2) % parts // in any order
		var chunk []byte
		w := New(func(protocol.Answer) {}, Options{PostData: func(_ protocol.Answer, data []byte) { chunk = data }})
		w.Handle(protocol.Call{Request: &protocol.IndexChunk{From: plan.Cuts[part], To: plan.Cuts[part+1]}}, input.FromBytes("x.sym", sym))
		if chunk == nil {
			k.t.Fatalf("no index of chunk %d", part)
		}
		k.id++
		k.e.HandleWith(protocol.Call{ID: k.id, Request: &protocol.JoinChunk{Item: item, Part: part, Parts: parts, Keep: keep}}, nil, func([]byte) []byte { return chunk })
		if r, problem := last[*protocol.ChunkJoined](k); problem != "" || r.Complete != (i == parts-1) {
			k.t.Fatalf("chunk %d: %+v, %s", part, r, problem)
		}
	}
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
			first := k.screen(-1)
			if first.Pending == 0 || len(first.Unindexed) != 1 || first.Unindexed[0] != largeItem {
				t.Errorf("%d threads pending, unread %v", first.Pending, first.Unindexed)
			}
			if n := k.walked(); n != 0 {
				t.Errorf("when the stacks are there, %d frames have changed", n)
			}
			all := k.screen(-1)
			if all.Pending != 0 || len(all.Unindexed) != 1 || all.Unindexed[0] != largeItem || moduleWords(all.Modules) != "indexed on demand" {
				t.Fatalf("pending %d, unread %v, module %q", all.Pending, all.Unindexed, moduleWords(all.Modules))
			}
			k.index(sym, largeItem, true)
			if len(*sent) != 1 {
				t.Fatalf("%d indexes to keep", len(*sent))
			}
			after := k.screen(-1)
			if n := k.walked(); (n > 0) != tc.corrected {
				t.Errorf("%d frames changed", n)
			}
			after = k.screen(-1)
			if moduleWords(after.Modules) != "loaded" || len(after.Unindexed) != 0 || after.Revision == all.Revision {
				t.Errorf("after the pass: module %q, unread %v", moduleWords(after.Modules), after.Unindexed)
			}

			// The same files, fully indexed from the start.
			small := newTalk(t)
			small.addSample("tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym", "libc.so.6.sym.gz")
			n := len(first.Threads.Rows)
			for thread := range n {
				want := functionsOf(small.screen(thread).Stack)
				got := functionsOf(k.screen(thread).Stack)
				if strings.Join(got, "\n") != strings.Join(want, "\n") {
					t.Errorf("thread %d:\n%q\nwant\n%q", thread, got, want)
				}
			}

			// Another visit uses the stored index, and reads only what it shows.
			again, _ := exactTalk(t, sym)
			again.screen(-1)
			again.settle()
			again.screen(-1)
			kept := bytes.Clone((*sent)[0])
			again.id++
			again.e.HandleWith(protocol.Call{ID: again.id, Request: &protocol.JoinChunk{Item: largeItem, Parts: 1}}, nil, func([]byte) []byte { return kept })
			if r, problem := last[*protocol.ChunkJoined](again); !r.Complete || problem != "" {
				t.Errorf("a kept index: %+v, %s", r, problem)
			}
			again.settle()
			if got := again.screen(-1); moduleWords(got.Modules) != "loaded" ||
				strings.Join(functionsOf(got.Stack), "\n") != strings.Join(functionsOf(after.Stack), "\n") {
				t.Error("with a kept index the stack is another one")
			}
		})
	}
}

// TestThreadsWait: while a file is being indexed, threads that the user has not selected wait for the index. A selected thread does not wait, and
// if indexing ends without an index, none does.
func TestThreadsWait(t *testing.T) {
	for _, end := range []string{"an index", "given up", "damaged"} {
		sym := grown(t, 12, "")
		k, _ := exactTalk(t, sym)
		first := k.screen(-1)
		k.ask(&protocol.PlanIndex{Item: largeItem, Cores: 2}, nil)
		for range 3 {
			k.e.Idle()
		}
		if r := k.screen(-1); r.Pending != first.Pending {
			t.Fatalf("%d of %d threads did not wait", first.Pending-r.Pending, first.Pending)
		}
		other := (first.Stack.Thread + 1) % len(first.Threads.Rows)
		if r := k.screen(other); len(functionsOf(r.Stack)) == 0 || r.Pending != first.Pending-1 {
			t.Errorf("the chosen thread has %d frames, %d threads are left", len(functionsOf(r.Stack)), r.Pending)
		}
		switch end {
		case "an index":
			k.index(sym, largeItem, false)
		case "given up":
			k.ask(&protocol.IndexWhole{Item: largeItem}, nil)
		case "damaged":
			k.e.HandleWith(protocol.Call{Request: &protocol.JoinChunk{Item: largeItem, Parts: 1}}, nil, func([]byte) []byte { return []byte("nothing") })
			k.ask(&protocol.IndexWhole{Item: largeItem}, nil)
		}
		k.screen(-1)
		k.walked()
		if r := k.screen(-1); r.Pending != 0 {
			t.Errorf("%s: %d threads still wait", end, r.Pending)
		}
	}
}

func TestBadPieces(t *testing.T) {
	sym := grown(t, 6, "")
	k, _ := exactTalk(t, sym)
	k.screen(-1)
	k.settle()
	before := functionsOf(k.screen(-1).Stack)
	for name, req := range map[string]struct {
		req  protocol.Request
		data []byte
	}{
		"nonsense":            {&protocol.JoinChunk{Item: largeItem, Parts: 1}, []byte("nothing")},
		"no bytes":            {&protocol.JoinChunk{Item: largeItem, Parts: 1}, nil},
		"no such chunk":       {&protocol.JoinChunk{Item: largeItem, Part: 3, Parts: 2}, []byte("x")},
		"too many chunks":     {&protocol.JoinChunk{Item: largeItem, Parts: 1 << 40}, []byte("x")},
		"no such file":        {&protocol.PlanIndex{Item: 99}, nil},
		"no file at all":      {&protocol.IndexChunk{To: 100}, nil},
		"a plan of the dump":  {&protocol.PlanIndex{Item: 0, Cores: 2}, nil},
		"of a negative place": {&protocol.JoinChunk{Item: -1, Part: -1, Parts: 1}, []byte("x")},
	} {
		k.id++
		var data func([]byte) []byte
		if req.data != nil {
			data = func([]byte) []byte { return req.data }
		}
		k.e.HandleWith(protocol.Call{ID: k.id, Request: req.req}, nil, data)
		r := k.answers[len(k.answers)-1]
		if joined, ok := r.Reply.(*protocol.ChunkJoined); r.ID != k.id || r.Error == "" || ok && joined.Complete {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if got := functionsOf(k.screen(-1).Stack); strings.Join(got, "\n") != strings.Join(before, "\n") {
		t.Error("what was shown is not what it was")
	}
	// The file can still be read.
	k.e.Handle(protocol.Call{Request: &protocol.IndexWhole{Item: largeItem, On: true}}, nil)
	if r, problem := last[*protocol.WholeIndexed](k); !r.Complete || problem != "" {
		t.Errorf("%+v", r)
	}
}

// TestUnpackedHere: a file that is unpacked in the engine's memory is indexed by the engine.
func TestUnpackedHere(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(grown(t, 60, "Pipeline::start()::{lambda()#5}>::_M_invoke"))
	z.Close()
	k := newTalk(t)
	k.addSample("tilecruncher.dmp", "libtilecodec.so.sym", "libc.so.6.sym.gz")
	if _, problem := k.add("tilecruncher.sym.gz", packed.Bytes()); problem != "" {
		t.Fatal(problem)
	}
	k.screen(-1)
	k.settle()
	shown := k.screen(-1)
	if len(shown.Unindexed) != 1 {
		t.Fatalf("to be read as a whole: %v", shown.Unindexed)
	}
	complete := func(on bool) {
		k.id++
		k.e.Handle(protocol.Call{ID: k.id, Request: &protocol.IndexWhole{Item: shown.Unindexed[0], On: on}}, nil)
	}
	// Workers get no chunks of it, unless the unpacked data is where they can read it.
	plan := func() (*protocol.IndexPlanned, string) {
		k.ask(&protocol.PlanIndex{Item: shown.Unindexed[0], Cores: 2, Send: true}, nil)
		return last[*protocol.IndexPlanned](k)
	}
	if r, problem := plan(); !r.Whole || problem == "" {
		t.Errorf("a plan of what only the engine can read: %+v", r)
	}
	handed := ""
	k.e.indexing.hand = func(r protocol.Answer, src *input.Source) bool {
		k.answers, handed = append(k.answers, r), src.Name
		return true
	}
	if r, _ := plan(); r.Whole || len(r.Cuts) < 2 || handed != "tilecruncher.sym" {
		t.Errorf("%+v with %q", r, handed)
	}
	complete(false)
	if r := k.screen(-1); moduleWords(r.Modules) != "indexed on demand" {
		t.Errorf("a pass that was given up: %s", moduleWords(r.Modules))
	}
	complete(true)
	if r, problem := last[*protocol.WholeIndexed](k); !r.Complete || problem != "" {
		t.Fatalf("%+v", r)
	}
	k.screen(-1)
	if k.walked() == 0 {
		t.Error("what was corrected is not counted")
	}
	if r := k.screen(-1); moduleWords(r.Modules) != "loaded" || len(r.Unindexed) != 0 {
		t.Errorf("afterwards: %s, %v", moduleWords(r.Modules), r.Unindexed)
	}
}
