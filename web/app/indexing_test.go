package app

import (
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/servers"
	"github.com/crashpane/crashpane/web/protocol"
)

// searched returns a page with a dump whose symbol file, item 1, is not fully indexed yet.
func searched(t *testing.T, hash string) (*Page, *fakeHost, *fakeEngine) {
	t.Helper()
	p, h, e := newTestPage(hash)
	dropSearched(t, p, e)
	return p, h, e
}

func dropSearched(t *testing.T, p *Page, e *fakeEngine) {
	t.Helper()
	drop(p, e)
	p.Reading.Add([]host.File{fakeFile("big.sym")})
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Item: 1, Name: "big.sym", Usable: true}}})
	say(p, searchedScreen(1))
	if q := last[protocol.IndexFile](e); q == nil || q.Item != 1 {
		t.Fatalf("the file is not indexed: %+v", q)
	}
}

// searchedScreen is what the engine answers while files have no full index.
func searchedScreen(items ...int) *protocol.QueryResult {
	r := screen()
	r.Unindexed = items
	return r
}

func count[R any](e *fakeEngine) (n int) {
	for _, c := range e.sent {
		if _, ok := c.Request.(any).(*R); ok {
			n++
		}
	}
	return n
}

func TestPassEnds(t *testing.T) {
	p, h, e := searched(t, "")
	if p.Work.Background.began = time.Now().Add(-time.Second); !p.Work.Background.canStop() {
		t.Error("the user cannot stop it")
	}
	if say(p, &protocol.Progress{Stage: "indexing", Name: "big.sym", Done: 1, Total: 3, Background: true}) || len(h.background) != 1 {
		t.Errorf("what moves the bar is drawn; it was %q", h.background)
	}
	say(p, searchedScreen(1, 2))
	if q := last[protocol.IndexFile](e); q.Item != 2 || count[protocol.IndexFile](e) != 2 {
		t.Errorf("another file: %+v of %d", q, count[protocol.IndexFile](e))
	}
	looks := count[protocol.Query](e)
	say(p, &protocol.FileIndexed{Item: 1})
	if !p.Work.Background.canStop() || count[protocol.Query](e) == looks && len(p.Screen.Dirty) == 0 {
		t.Error("what is exact is not asked for, or the other file is forgotten")
	}
	p.Answer(protocol.Answer{Error: "other.sym was not fully indexed: no memory", Reply: &protocol.FileIndexed{Item: 2}})
	if p.Work.Background.canStop() || len(p.Notices.List) != 1 || !strings.Contains(p.Notices.List[0].Text, "no memory") {
		t.Errorf("notices %+v", p.Notices.List)
	}
	say(p, searchedScreen(2))
	if count[protocol.IndexFile](e) != 2 {
		t.Error("what failed begins again by itself")
	}
	say(p, &protocol.Walked{Changed: 2})
	if n := len(p.Notices.List); n != 2 || !strings.Contains(p.Notices.List[1].Text, "2 frames") {
		t.Errorf("notices %+v", p.Notices.List)
	}
}

func TestPassIsStopped(t *testing.T) {
	p, _, e := searched(t, "")
	p.Act("stop-indexing", "")
	if count[protocol.StopIndexing](e) != 1 || p.Work.Background.canStop() || p.Work.Background.Text != "" {
		t.Error("it goes on")
	}
	if say(p, &protocol.FileIndexed{Item: 1}) {
		t.Error("an answer that comes too late is drawn")
	}
	say(p, searchedScreen(1))
	if count[protocol.IndexFile](e) != 1 {
		t.Error("it begins again by itself")
	}
	p.Reading.Add([]host.File{fakeFile("c.sym")})
	say(p, searchedScreen(1))
	if count[protocol.IndexFile](e) != 2 {
		t.Error("the next drop does not let it go on")
	}
}

func TestIndexIsKept(t *testing.T) {
	p, h, e := searched(t, "")
	if last[protocol.IndexFile](e).Keep {
		t.Error("kept without being asked")
	}
	p.Act("keep", "")
	if h.stored["keep"] != "yes" {
		t.Error("the choice is not remembered")
	}
	h2 := &fakeHost{stored: h.stored}
	e2 := &fakeEngine{}
	p2 := NewPage(h2, e2, "")
	dropSearched(t, p2, e2)
	if !last[protocol.IndexFile](e2).Keep {
		t.Error("the next visit does not store the index")
	}
	h2.kept = map[string]host.File{"id-7-print": fakeFile("whole index")}
	say(p2, &protocol.FileIndexed{Item: 1})
	if p2.Panel.Files.Kept.Bytes != 11 {
		t.Errorf("%d bytes are kept", p2.Panel.Files.Kept.Bytes)
	}
	p2.Act("clear-kept", "")
	if len(h2.kept) != 0 || p2.Panel.Files.Kept.Bytes != 0 {
		t.Error("not cleared")
	}
}

// TestPendingRows: rows of threads that are being walked again keep their texts, and are not
// highlighted.
func TestPendingRows(t *testing.T) {
	p, _, _ := newTestPage("")
	p.Reading.Add([]host.File{fakeFile("a.dmp")})
	say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Usable: true}}})
	first := screen()
	first.Revision, first.Pending = 1, 1
	first.Threads.Rows[1].Pending = true
	say(p, first)
	if !strings.Contains(render(t, p), "…") || !p.Screen.Opening {
		t.Error("a thread that is being walked does not say so")
	}
	last := screen()
	last.Revision = 2
	last.Threads.Rows[1].Stack = rows.StackSummary{Top: "idle", Frames: 3}
	say(p, &protocol.Walked{})
	say(p, last)
	if len(p.Screen.ChangedRows.IDs) != 0 {
		t.Errorf("marked: %v", p.Screen.ChangedRows.IDs)
	}
	again := screen()
	again.Revision, again.Pending = 3, 1
	again.Threads.Rows[1].Pending = true
	say(p, again)
	if p.Threads.Rows[1].Stack != last.Threads.Rows[1].Stack {
		t.Error("what the thread does vanished while it is walked again")
	}
}

// remoteFile is a file on a server that the engine reads in parts.
type remoteFile string

func (f remoteFile) Name() string { return string(f) }
func (f remoteFile) Size() int64  { return 1 << 30 }
func (f remoteFile) Remote() bool { return true }

// TestAllOfARemoteFile: a file on a server is fully indexed only if the user wants that, also if
// the engine has not read it yet, as after a restart.
func TestAllOfARemoteFile(t *testing.T) {
	p, h, e := newTestPage("")
	drop(p, e)
	f := remoteFile("https://symbols.example/big.sym")
	a := &servers.Request{URL: string(f)}
	p.Work.Downloads.Requests = append(p.Work.Downloads.Requests, a)
	read := func(item int) {
		say(p, &protocol.Added{Items: []protocol.FileRow{{Item: item, Usable: true}}})
		say(p, searchedScreen(item))
	}
	p.Work.Downloads.Next()
	h.fetches[len(h.fetches)-1].done(host.Fetched{File: f, Status: 206})
	read(4)
	if q := last[protocol.IndexFile](e); q != nil {
		t.Fatalf("all of it is read without being asked for: %+v", q)
	}
	p.Reading.restore()
	p.Pace.step()
	p.Act("read-all", string(f))
	if q := last[protocol.IndexFile](e); q != nil || len(p.Work.Downloads.Partial()) != 0 {
		t.Fatalf("the engine does not have it yet: %+v, or the button is still there", q)
	}
	for item := 0; p.Reading.reading != host.File(f); item++ {
		if item > 5 {
			t.Fatalf("reading %v, queue %v, accepted %v", p.Reading.reading, p.Reading.queue, p.Reading.accepted)
		}
		say(p, &protocol.Added{Dumps: []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}, Items: []protocol.FileRow{{Item: item, Usable: true}}})
	}
	read(7)
	if q := last[protocol.IndexFile](e); q == nil || q.Item != 7 {
		t.Fatalf("the click is forgotten: %+v", q)
	}
	p.Act("stop-indexing", "")
	if len(p.Work.Downloads.Partial()) != 1 {
		t.Error("the button does not come back")
	}
	p.Act("read-all", string(f))
	say(p, &protocol.FileIndexed{Item: 7})
	if a.State != servers.Received {
		t.Errorf("%+v", a)
	}
}
