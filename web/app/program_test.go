package app

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

var oneDump = []protocol.DumpName{{Dump: 0, Name: "a.dmp"}}

// Files wait for the engine's program. The page says so, shows how much has arrived, and reads them
// when it is there.
func TestFilesWaitForTheProgram(t *testing.T) {
	p, _, e := newTestPage("")
	p.Work.Program.Loading(0, 0)
	if p.Work.Busy() {
		t.Error("the page is busy before a file waits")
	}
	p.Reading.Add([]host.File{fakeFile("a.dmp"), fakeFile("libx.so.debug")})
	if len(e.sent) > 0 {
		t.Fatal("a file is sent to an engine that is not there")
	}
	p.Work.Program.Loading(12<<20, 48<<20)
	if out := render(t, p); !strings.Contains(out, "Loading the engine, 12.6 MB") || p.Work.value() != 25 {
		t.Errorf("the page does not say what it waits for; progress %v", p.Work.value())
	}
	p.Work.Program.Loaded()
	for range 2 {
		if last[protocol.Add](e) == nil {
			t.Fatal("the files are not read")
		}
		say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: "a.dmp", Usable: true}}})
	}
	if got := strings.Join(e.files, " "); got != "a.dmp libx.so.debug" {
		t.Errorf("the engine got %q", got)
	}
	say(p, screen())
	if p.Work.Busy() || p.Summary == nil {
		t.Error("the work does not end")
	}
}

// "It works offline" is shown when the engine is there.
func TestOfflineNeedsTheProgram(t *testing.T) {
	p, _, _ := newTestPage("")
	p.Work.Program.Loading(0, 0)
	if text := p.HostPage.networkText(); !strings.HasPrefix(text, "The engine is still loading") {
		t.Errorf("while it loads, the page says %q", text)
	}
	p.Work.Program.Loaded()
	if text := p.HostPage.networkText(); !strings.HasPrefix(text, offline) {
		t.Errorf("the page says %q", text)
	}
}

// Without the program no file is lost: a button, or the next drop, tries again.
func TestProgramFails(t *testing.T) {
	for _, again := range []func(p *Page){
		func(p *Page) { p.Act("load-engine", "") },
		func(p *Page) { p.Reading.Add([]host.File{fakeFile("b.sym")}) },
	} {
		p, _, e := newTestPage("")
		p.Work.Program.Loading(0, 0)
		p.Reading.Add([]host.File{fakeFile("a.dmp")})
		p.Work.Program.Failed("Failed to fetch")
		if len(p.Notices.List) != 1 || p.Notices.List[0].Text != "Crashpane could not load its engine (Failed to fetch)." || p.Notices.List[0].Act != "load-engine" || p.Work.Busy() {
			t.Errorf("notices %v, busy %v", p.Notices.List, p.Work.Busy())
		}
		again(p)
		if e.restarts != 1 || strings.Join(e.files, " ") != "a.dmp" || len(p.Notices.List) != 0 {
			t.Errorf("%d restarts; the engine got %q; notices %v", e.restarts, e.files, p.Notices.List)
		}
	}
}

// A program that fails before the user has dropped something is loaded again with the first drop,
// without a word; so is that of a worker that could not start.
func TestProgramFailsInSilence(t *testing.T) {
	for _, fail := range []func(p *Page){
		func(p *Page) { p.Work.Program.Failed("Failed to fetch") },
		func(p *Page) { p.Reading.EngineStopped("the worker could not run", false) },
	} {
		p, _, e := newTestPage("")
		p.Work.Program.Loading(0, 0)
		fail(p)
		if len(p.Notices.List) != 0 || e.restarts != 0 {
			t.Errorf("%d restarts, %v", e.restarts, p.Notices.List)
		}
		p.Reading.Add([]host.File{fakeFile("a.dmp")})
		if e.restarts != 1 || len(e.files) != 1 {
			t.Errorf("%d restarts; the engine got %q", e.restarts, e.files)
		}
	}
}

func TestWaitingForTheProgramIsCancelled(t *testing.T) {
	p, _, e := newTestPage("")
	p.Work.Program.Loading(0, 0)
	p.Reading.Add([]host.File{fakeFile("a.dmp")})
	p.Act("cancel", "")
	if p.Work.Busy() || e.restarts != 0 || len(p.Notices.List) != 1 || p.Notices.List[0].Text != "Cancelled: 1 file left out." {
		t.Errorf("busy %v, %d restarts, %v", p.Work.Busy(), e.restarts, p.Notices.List)
	}
	p.Work.Program.Loaded()
	if len(e.sent) > 0 {
		t.Error("what was cancelled goes on")
	}
	if drop(p, e); p.Summary == nil {
		t.Error("the next drop is not shown")
	}
}
