package app

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

// needsReader answers that only the full engine can read the file.
func needsReader(p *Page, e *fakeEngine, dumps []protocol.DumpName) {
	say(p, &protocol.Added{Dumps: dumps, NeedsReader: true, Items: []protocol.FileRow{{Name: "libx.so.debug", Message: "libx.so.debug: an ELF file"}}})
}

var oneDump = []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}

func TestBinaryBringsTheFullEngine(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]File{fakeFile("libx.so.debug"), fakeFile("later.sym")})
	if e.extends != 1 {
		t.Fatal("the full engine is not asked for when the name of a file says that it is needed")
	}
	// Files are sorted by size: later.sym is read first.
	say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: "later.sym", Usable: true}}})
	needsReader(p, e, oneDump)
	say(p, screen())
	if e.extends != 1 || len(p.Notices.List) != 0 {
		t.Fatalf("asked %d times, notices %v", e.extends, p.Notices.List)
	}
	out := render(t, p)
	if !strings.Contains(out, "Loading the reader for libx.so.debug") || !strings.Contains(out, "tile") && p.Summary == nil {
		t.Error("the page does not say what it waits for, or the stack is gone")
	}
	p.Work.FullEngine.Extending(1<<20, 4<<20)
	if v := p.Work.value(); v != 25 {
		t.Errorf("progress %v", v)
	}
	p.Work.FullEngine.Extended("")
	if e.restarts != 1 || p.Work.FullEngine.state != fullEngineLoaded {
		t.Fatalf("%d restarts, state %d", e.restarts, p.Work.FullEngine.state)
	}
	for range 3 {
		if add := last[protocol.Add](e); add != nil {
			say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: strings.Join(add.Names, " "), Usable: true}}})
		}
	}
	if got := strings.Join(e.files, " "); got != "a.dmp later.sym libx.so.debug" {
		t.Errorf("the full engine got %q", got)
	}
	say(p, screen())
	if p.Work.Busy() || p.Summary == nil {
		t.Error("the work does not end")
	}
}

// A file whose name does not say so brings the full engine by its content.
func TestContentBringsTheFullEngine(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]File{fakeFile("program")})
	if e.extends != 0 {
		t.Fatal("the full engine is asked for without a reason")
	}
	needsReader(p, e, oneDump)
	if e.extends != 1 {
		t.Errorf("it is asked for %d times", e.extends)
	}
}

// The name of a file may be wrong, and what was loaded for the name alone may fail; that is shown
// only when a content asks for it.
func TestNameBringsTheFullEngineInVain(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]File{fakeFile("libx.so.debug")})
	p.Work.FullEngine.Extended("Failed to fetch")
	if len(p.Notices.List) != 0 || e.restarts != 0 {
		t.Errorf("%d restarts, %v", e.restarts, p.Notices.List)
	}
	needsReader(p, e, oneDump) // its content says so, too
	p.Work.FullEngine.Extended("Failed to fetch")
	if e.extends != 2 || len(p.Notices.List) != 1 {
		t.Errorf("asked %d times, %v", e.extends, p.Notices.List)
	}
}

// The full engine walks the stacks when it has read the files that need it, and not before.
func TestFullEngineReadsBeforeItWalks(t *testing.T) {
	p, _, e := newTestPage("")
	p.Reading.Add([]File{fakeFile("a.dmp"), fakeFile("b.dll"), fakeFile("cc.pdb")})
	say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}})
	p.Work.FullEngine.Extended("")
	e.sent = nil
	for range 3 {
		if last[protocol.Query](e) != nil {
			t.Fatal("a query is sent before all files are read")
		}
		say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: "x", Usable: true}}})
	}
	if last[protocol.Query](e) == nil {
		t.Error("nothing is queried")
	}
}

// When the full engine is loaded, files that are waiting or being read must not be lost, and must
// not be read twice.
func TestFullEngineComesInTheMiddle(t *testing.T) {
	p, _, e := newTestPage("")
	p.Reading.Add([]File{fakeFile("a.dmp"), fakeFile("b.so"), fakeFile("cc.sym"), fakeFile("ddd.sym")})
	say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}})
	needsReader(p, e, oneDump)
	if p.Reading.reading == nil || p.Reading.reading.Name() != "cc.sym" {
		t.Fatal("the files behind it wait for the full engine")
	}
	p.Work.FullEngine.Extended("")
	for range 4 {
		say(p, &protocol.Added{Dumps: oneDump})
	}
	if got := strings.Join(e.files, " "); got != "a.dmp b.so cc.sym ddd.sym" {
		t.Errorf("the full engine got %q", got)
	}
	if len(p.Reading.accepted) != 4 || p.Reading.reading != nil {
		t.Errorf("%d files are known", len(p.Reading.accepted))
	}
}

func TestFullEngineCannotBeLoaded(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]File{fakeFile("libx.so.debug")})
	needsReader(p, e, oneDump)
	p.Work.FullEngine.Extended("Failed to fetch")
	if e.restarts != 0 || len(p.Notices.List) != 1 || !strings.Contains(p.Notices.List[0].Text, "Crashpane could not load its reader for libx.so.debug") ||
		!strings.Contains(p.Notices.List[0].Text, "Failed to fetch") {
		t.Errorf("%d restarts, %v", e.restarts, p.Notices.List)
	}
	p.Reading.Add([]File{fakeFile("libx.so.debug")})
	needsReader(p, e, oneDump)
	if e.extends != 2 {
		t.Error("the next drop does not try again")
	}
}

func TestLoadingIsCancelled(t *testing.T) {
	p, _, e := newTestPage("")
	drop(p, e)
	p.Reading.Add([]File{fakeFile("libx.so.debug")})
	needsReader(p, e, oneDump)
	say(p, screen())
	p.Act("cancel", "")
	if p.Work.Busy() || e.stops != 1 || len(p.Notices.List) != 1 || p.Notices.List[0].Text != "Cancelled: 1 file left out." {
		t.Errorf("busy %v, %d stops, %v", p.Work.Busy(), e.stops, p.Notices.List)
	}
	p.Work.FullEngine.Extended("")
	if e.restarts != 0 {
		t.Error("what was cancelled goes on")
	}
}

// Cancelling leaves out the files that wait for the full engine, and not the dump, whose first
// screen is held back.
func TestLoadingIsCancelledBeforeTheFirstScreen(t *testing.T) {
	p, _, e := newTestPage("")
	p.Reading.Add([]File{fakeFile("a.dmp"), sizedFile{"libx.so.debug", 1 << 30}})
	say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}})
	say(p, screen())
	needsReader(p, e, oneDump)
	if !p.Reading.Job.Active || p.Summary != nil {
		t.Fatal("the first screen is not held back")
	}
	p.Act("cancel", "")
	if e.restarts != 0 || e.stops != 1 || len(p.Notices.List) != 1 || p.Notices.List[0].Text != "Cancelled: 1 file left out." {
		t.Errorf("%d restarts, %d stops, %v", e.restarts, e.stops, p.Notices.List)
	}
	if say(p, screen()); p.Summary == nil || p.Work.Busy() {
		t.Errorf("the dump is shown: %v; busy: %v", p.Summary != nil, p.Work.Busy())
	}
}

// A dump with programs in its memory is shown at once by the first engine, and again by the full
// engine.
func TestProgramsInADumpBringTheFullEngine(t *testing.T) {
	p, _, e := newTestPage("")
	p.Reading.Add([]File{fakeFile("full.dmp")})
	say(p, &protocol.Added{Dumps: oneDump, HoldsPrograms: true, Items: []protocol.FileRow{{Name: "full.dmp", Usable: true}}})
	say(p, screen())
	if e.extends != 1 || p.Summary == nil {
		t.Fatalf("asked %d times; shown: %v", e.extends, p.Summary != nil)
	}
	if text := p.Work.text(); !strings.Contains(text, "the programs in the dump") {
		t.Errorf("the page says %q", text)
	}
	p.Work.FullEngine.Extended("")
	say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: "full.dmp", Usable: true}}})
	if got := strings.Join(e.files, " "); e.restarts != 1 || got != "full.dmp" {
		t.Errorf("%d restarts; the full engine got %q", e.restarts, got)
	}
	say(p, screen())
	if p.Work.Busy() || p.Summary == nil || len(p.Reading.accepted) != 1 {
		t.Errorf("busy: %v; %d files are known", p.Work.Busy(), len(p.Reading.accepted))
	}
}
