package app

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/web/protocol"
)

// searched returns a page with a dump whose symbol file, item 1, is not fully indexed yet.
func searched(t *testing.T, hash string) (*Page, *fakeHost, *fakeEngine) {
	t.Helper()
	p, h, e := newTestPage(hash)
	drop(p, e)
	p.Reading.Add([]File{fakeFile("big.sym")})
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Item: 1, Name: "big.sym", Usable: true}}})
	r := screen()
	r.Unindexed = []int{1}
	say(p, r)
	if plan := last[protocol.PlanIndex](e); plan == nil || plan.Item != 1 || plan.Cores != 2 {
		t.Fatalf("plan: %+v", plan)
	}
	return p, h, e
}

func TestPassInPieces(t *testing.T) {
	p, h, e := searched(t, "")
	say(p, &protocol.IndexPlanned{Item: 1, Cuts: []int64{0, 3, 5, 7, 9, 11}})
	given := func() string { return fmt.Sprint(from(e.pieces[0]), from(e.pieces[1])) }
	if given() != "[0 5] [3 7]" || e.pieces[0][0].To != 3 {
		t.Fatalf("each worker has a piece and the one that it reads next, alternately; not %s", given())
	}
	p.Work.Background.began = now() - moment(time.Second)
	p.Work.Indexing.Indexed(0, protocol.Answer{Reply: &protocol.Progress{Done: 1, Total: 3, Background: true}}, nil)
	if p.Work.Indexing.Indexed(1, protocol.Answer{Reply: &protocol.Progress{Done: 1, Total: 2, Background: true}}, nil) || len(h.background) != 2 {
		t.Errorf("what moves the bar is drawn; it was %q", h.background)
	}
	p.Work.Indexing.Indexed(1, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 1"))
	if given() != "[0 5] [3 7 9]" {
		t.Errorf("the pieces go to %s", given())
	}
	p.Work.Indexing.Indexed(0, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 0"))
	p.Work.Indexing.Indexed(0, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 2"))
	p.Work.Indexing.Indexed(1, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 3"))
	if e.ended != 0 {
		t.Error("ended while one still reads")
	}
	if say(p, &protocol.ChunkJoined{Item: 1}) {
		t.Error("a piece of many is drawn")
	}
	p.Work.Indexing.Indexed(1, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 4"))
	last := last[protocol.JoinChunk](e)
	if last.Part != 4 || last.Parts != 5 || last.Item != 1 || e.files[len(e.files)-1] != "index 4" {
		t.Errorf("last piece %+v with %q", last, e.files)
	}
	if e.ended == 0 {
		t.Error("the workers keep their memory")
	}
	looks := len(e.sent)
	say(p, &protocol.ChunkJoined{Item: 1, Complete: true})
	if p.Work.Background.canStop() || len(e.sent) == looks && len(p.Screen.dirty) == 0 {
		t.Error("what is exact is not asked for")
	}
	say(p, &protocol.Walked{Changed: 2})
	if len(p.Notices.List) != 1 || !strings.Contains(p.Notices.List[0].Text, "2 frames") {
		t.Errorf("notices %+v", p.Notices.List)
	}
}

func from(reqs []*protocol.IndexChunk) (out []int64) {
	for _, r := range reqs {
		out = append(out, r.From)
	}
	return out
}

func TestPassIsStopped(t *testing.T) {
	p, _, e := searched(t, "")
	say(p, &protocol.IndexPlanned{Item: 1, Cuts: []int64{0, 3, 5, 7}})
	p.Act("stop-indexing", "")
	if e.ended != 1 || p.Work.Background.canStop() || p.Work.Background.Text != "" {
		t.Error("it goes on")
	}
	// Pending answers arrive too late.
	p.Work.Indexing.Indexed(0, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 0"))
	say(p, &protocol.ChunkJoined{Item: 1, Complete: true})
	if last[protocol.JoinChunk](e) != nil {
		t.Error("a piece of a stopped pass was sent on")
	}
	r := screen()
	r.Unindexed = []int{1}
	e.sent = nil
	say(p, r)
	if last[protocol.PlanIndex](e) != nil {
		t.Error("it begins again by itself")
	}
	p.Reading.Add([]File{fakeFile("c.sym")})
	say(p, r)
	if last[protocol.PlanIndex](e) == nil {
		t.Error("the next drop does not let it go on")
	}
}

func TestPiecesThatCannotBeJoined(t *testing.T) {
	p, _, e := searched(t, "")
	say(p, &protocol.IndexPlanned{Item: 1, Cuts: []int64{0, 3, 5, 7, 9, 11}})
	p.Work.Indexing.Indexed(0, protocol.Answer{Error: "apart", Reply: &protocol.ChunkIndexed{Whole: true}}, nil)
	p.Work.Indexing.Indexed(1, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 1"))
	p.Work.Indexing.Indexed(1, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 3"))
	given := append(e.pieces[0], e.pieces[1]...)
	if end := given[len(given)-1]; last[protocol.JoinChunk](e) != nil || len(given) != 5 && len(given) != 6 || len(p.Notices.List) != 0 {
		t.Fatalf("%+v; %d pieces, notices %+v", end, len(given), p.Notices.List)
	}
	one := 0
	for _, r := range given {
		if r.From == 0 && r.To == fakeFile("big.sym").Size() {
			one++
		}
	}
	if one != 1 {
		t.Errorf("the file was given to %d workers as one piece: %+v", one, given)
	}
	p.Work.Indexing.Indexed(0, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index 2")) // of a piece that nobody needs any more
	p.Work.Indexing.Indexed(0, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("the index"))
	if c := last[protocol.JoinChunk](e); c == nil || c.Parts != 1 || e.files[len(e.files)-1] != "the index" {
		t.Fatalf("%+v with %q", c, e.files)
	}
	say(p, &protocol.ChunkJoined{Item: 1, Complete: true})
	if p.Work.Background.canStop() {
		t.Error("the pass does not end")
	}
}

func TestWorkerOfAPassDies(t *testing.T) {
	p, _, e := searched(t, "")
	say(p, &protocol.IndexPlanned{Item: 1, Cuts: []int64{0, 3, 5, 7}})
	p.Work.Indexing.IndexerStopped(0, "no memory")
	if len(p.Notices.List) != 1 || p.Work.Background.canStop() || e.ended == 0 {
		t.Errorf("notices %+v", p.Notices.List)
	}
	if p.Empty() {
		t.Error("the dump went with it")
	}
}

func TestIndexIsKept(t *testing.T) {
	p, h, e := searched(t, "")
	say(p, &protocol.IndexPlanned{Item: 1, Cuts: []int64{0, 7}})
	p.Work.Indexing.Indexed(0, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index"))
	if last[protocol.PlanIndex](e).Keep || last[protocol.JoinChunk](e).Keep || len(h.kept) != 0 {
		t.Error("kept without being asked")
	}
	p.Act("keep", "")
	if h.stored["keep"] != "yes" {
		t.Error("the choice is not remembered")
	}
	say(p, &protocol.ChunkJoined{Item: 1, Complete: true})

	// The next file's index is stored …
	h2 := &fakeHost{stored: h.stored}
	e2 := &fakeEngine{}
	p2 := NewPage(h2, e2, "")
	begin := func(p *Page, e *fakeEngine, key string) {
		drop(p, e)
		p.Reading.Add([]File{fakeFile("big.sym")})
		say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Item: 1, Usable: true}}})
		r := screen()
		r.Unindexed = []int{1}
		say(p, r)
		if !last[protocol.PlanIndex](e).Keep {
			t.Error("the name of the index is not asked for")
		}
		say(p, &protocol.IndexPlanned{Item: 1, Cuts: []int64{0, 7}, Key: key})
	}
	begin(p2, e2, "id-7-print")
	p2.Work.Indexing.Indexed(0, protocol.Answer{Reply: &protocol.ChunkIndexed{}}, fakeFile("index"))
	p2.Answer(protocol.Answer{Reply: &protocol.ChunkJoined{Item: 1, Complete: true, Key: "id-7-print"}}, fakeFile("whole index"))
	if h2.kept["id-7-print"] != fakeFile("whole index") || p2.Work.Kept.Bytes != 11 {
		t.Fatalf("kept %v, %d bytes", h2.kept, p2.Work.Kept.Bytes)
	}

	// … and used the next time, without reading a chunk.
	e3 := &fakeEngine{}
	p3 := NewPage(h2, e3, "")
	begin(p3, e3, "id-7-print")
	if got := last[protocol.JoinChunk](e3); got == nil || got.Parts != 1 || e3.files[len(e3.files)-1] != "whole index" || len(e3.pieces) != 0 {
		t.Fatalf("%+v, %v, %v", got, e3.files, e3.pieces)
	}
	// A stored index that does not match the file is not used.
	p3.Answer(protocol.Answer{Error: "an index of other content", Reply: &protocol.ChunkJoined{Item: 1}}, nil)
	if len(e3.pieces) != 1 || len(p3.Notices.List) != 0 {
		t.Errorf("pieces %v, notices %+v", e3.pieces, p3.Notices.List)
	}
	p3.Act("clear-kept", "")
	if len(h2.kept) != 0 || p3.Work.Kept.Bytes != 0 {
		t.Error("not cleared")
	}
}

// TestPendingRows: rows of threads that are being walked again keep their texts, and are not highlighted.
func TestPendingRows(t *testing.T) {
	p, _, _ := newTestPage("")
	p.Reading.Add([]File{fakeFile("a.dmp")})
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Usable: true}}})
	first := screen()
	first.Revision, first.Pending = 1, 1
	first.Threads.Rows[1].Pending = true
	say(p, first)
	if !strings.Contains(render(t, p), "…") || !p.Screen.opening {
		t.Error("a thread that is being walked does not say so")
	}
	last := screen()
	last.Revision = 2
	last.Threads.Rows[1].Top = "idle"
	say(p, &protocol.Walked{})
	say(p, last)
	if len(p.Screen.ChangedRows.ids) != 0 {
		t.Errorf("marked: %v", p.Screen.ChangedRows.ids)
	}
	again := screen()
	again.Revision, again.Pending = 3, 1
	again.Threads.Rows[1].Pending = true
	say(p, again)
	if p.Threads.Rows[1].Top != "idle" {
		t.Error("what the thread does vanished while it is walked again")
	}
}

// TestPassOfAnArchive: the page does not have the files in an archive. If the engine has unpacked one to a file, it sends that for indexing. If it unpacks
// one in its memory, it indexes it itself, and must be told when the user stops indexing.
func TestPassOfAnArchive(t *testing.T) {
	p, _, e := searched(t, "")
	p.Answer(protocol.Answer{Error: "enough of it", Reply: &protocol.IndexPlanned{Item: 1}}, nil)
	r := screen()
	r.Unindexed = []int{2, 3}
	say(p, r)
	if c := last[protocol.PlanIndex](e); c == nil || c.Item != 3 || !c.Send {
		t.Fatalf("%+v", e.sent)
	}
	p.Answer(protocol.Answer{Reply: &protocol.IndexPlanned{Item: 3, Cuts: []int64{0, 50, 100}}}, fakeFile("crash.zip/b.sym"))
	if c := last[protocol.IndexWhole](e); len(e.pieces) != 2 || c == nil || c.Item != 1 || c.On {
		t.Fatalf("what was handed over is not read in pieces: %v", e.pieces)
	}
	say(p, &protocol.ChunkJoined{Item: 3, Complete: true})
	p.Answer(protocol.Answer{Error: "it has no pieces", Reply: &protocol.IndexPlanned{Item: 2, Whole: true}}, nil)
	if c := last[protocol.IndexWhole](e); c == nil || c.Item != 2 || !c.On || !p.Work.Background.canStop() {
		t.Fatalf("%+v", c)
	}
	p.Act("stop-indexing", "")
	if c := last[protocol.IndexWhole](e); c.Item != 2 || c.On || p.Work.Background.canStop() {
		t.Errorf("not stopped: %+v", c)
	}
	p.Reading.Add([]File{fakeFile("c.sym")})
	r.Unindexed = []int{2}
	say(p, r)
	say(p, &protocol.IndexPlanned{Item: 2, Whole: true})
	say(p, &protocol.WholeIndexed{Item: 2, Complete: true})
	if c := last[protocol.IndexWhole](e); !c.On || p.Work.Background.canStop() || len(p.Notices.List) != 0 {
		t.Errorf("%+v, notices %+v", c, p.Notices.List)
	}
}
