package app

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/tabs"
	"github.com/crashpane/crashpane/web/protocol"
)

// withModule returns a page with module 2 selected.
func withModule() (*Page, *fakeHost, *fakeEngine) {
	p, h, e := newTestPage("")
	drop(p, e)
	answered(p, e)
	p.Act("module", "2")
	m := rows.ModulePage{Rows: []rows.ModuleRow{{Index: 2, Name: hostile, State: "loaded", Word: "loaded", Has: "CFI · lines"}}, Selected: 0,
		Detail: &rows.ModuleDetail{Index: 2, Name: hostile, Status: "Its symbols are loaded; 3 frames are in it.", Has: []rows.Fact{{Key: "Unwind rules", Value: "libx.so, .eh_frame", Code: true}},
			Missing: []string{"No source lines"}, Rules: true, Binary: "folder/libx.so"}}
	m.Total = 1
	say(p, &protocol.QueryResult{Modules: &m})
	return p, h, e
}

func TestModuleSaysWhatItHas(t *testing.T) {
	p, _, e := withModule()
	if look := last[protocol.Query](e); look.Modules.Selected != 2 {
		t.Fatalf("%+v", look)
	}
	out := render(t, p)
	for _, want := range []string{"loaded: CFI · lines", "libx.so, .eh_frame", "No source lines", "Ignore its unwind rules", "Download .sym", "Missing"} {
		if !strings.Contains(out, want) {
			t.Errorf("the module does not say %q", want)
		}
	}
	if strings.Contains(out, "<img") {
		t.Error("text of a file became an element")
	}
	p.Act("module", "2")
	if p.Panel.Modules.Module != -1 || p.Panel.Modules.Chosen().Index != -1 {
		t.Error("a second click does not close it")
	}
}

func TestCFIIsIgnoredByHand(t *testing.T) {
	p, _, e := withModule()
	p.Act("ignore", "2")
	if r := last[protocol.IgnoreCFI](e); r == nil || r.Module != 2 || !r.On {
		t.Fatalf("%+v", r)
	}
	p.Panel.Modules.Detail.Ignored = true
	if out := render(t, p); !strings.Contains(out, "Use its unwind rules again") {
		t.Error("it cannot be taken back")
	}
	p.Act("ignore", "2")
	if r := last[protocol.IgnoreCFI](e); r.On {
		t.Error("it is ignored twice")
	}
	// A new engine gets both decisions, in their order.
	p.Reading.Add([]host.File{fakeFile("b.sym")})
	p.Act("cancel", "")
	say(p, &protocol.Added{Dumps: oneDump})
	if r := last[protocol.IgnoreCFI](e); r == nil || r.On {
		t.Errorf("%+v", r)
	}
}

func TestSymbolFileIsMadeBeside(t *testing.T) {
	p, h, e := withModule()
	p.Act("make", "folder/libx.so")
	if e.made != nil {
		t.Fatal("there is no binary yet")
	}
	p.Reading.Add([]host.File{fakeFile("folder/libx.so"), fakeFile("folder/libx.so.debug")})
	for range 2 {
		name := last[protocol.Add](e).Names[0]
		say(p, &protocol.Added{Dumps: oneDump, Items: []protocol.FileRow{{Name: name, Kind: "binary", Usable: true}}})
	}
	answered(p, e)
	p.Act("make", "folder/libx.so")
	if got := strings.Join(e.made, " "); got != "sym folder/libx.so folder/libx.so folder/libx.so.debug" {
		t.Fatalf("%q", got)
	}
	p.Work.Making.Progress(protocol.Progress{Stage: "reading", Done: 12_000_000})
	if out := render(t, p); !strings.Contains(out, "Reading libx.so, 12.0 MB") {
		t.Error("nobody says how far it is")
	}
	if p.Reading.Job.Active {
		t.Error("the engine's own work is mixed up with it")
	}
	p.Work.Making.Made("libx.so.sym", "")
	if p.Work.Busy() || h.announced != "libx.so.sym written" {
		t.Errorf("busy %v, %q", p.Work.Busy(), h.announced)
	}
	p.Act("make", "folder/libx.so")
	p.Act("cancel", "")
	if p.Work.Busy() || e.made != nil {
		t.Error("cancelling does not end it")
	}
	p.Act("make", "folder/libx.so")
	p.Work.Making.Made("", "libx.so: section .debug_info: it is cut off")
	if len(p.Notices.List) == 0 || !strings.Contains(p.Notices.List[len(p.Notices.List)-1].Text, "Crashpane could not make a symbol file from libx.so: ") {
		t.Errorf("%+v", p.Notices.List)
	}
	p.Act("make", "folder/libx.so")
	p.Work.Making.Made("libx.so.sym", "libx.so: section .debug_line: it is cut off")
	if got := p.Notices.List[len(p.Notices.List)-1]; got.Level != "warning" || !strings.Contains(got.Text, "libx.so.sym is incomplete") || !strings.Contains(got.Text, ".debug_line") {
		t.Errorf("%+v", got)
	}
}

func TestStartOffersSymbolsOfBinaries(t *testing.T) {
	p, _, _ := newTestPage("")
	p.Panel.Files.FilePage = protocol.FilePage{Rows: []protocol.FileRow{{Name: "a/libx.so", Kind: "binary", Usable: true}, {Name: "b.sym", Kind: "sym", Usable: true}}}
	p.Panel.Files.Total = 2
	if out := render(t, p); !strings.Contains(out, "Download libx.so.sym") || strings.Contains(out, "b.sym.sym") {
		t.Error("a binary without a dump cannot be made into a symbol file")
	}
}

func TestArrowsSelectInTheLowerLists(t *testing.T) {
	p, _, e := withModule()
	p.Panel.Modules.Rows = append(p.Panel.Modules.Rows, rows.ModuleRow{Index: 7, Name: "b"})
	p.Panel.Modules.Total = 2
	if !p.ListKey("modules", "ArrowDown") || p.Panel.Modules.Module != 7 {
		t.Errorf("module %d", p.Panel.Modules.Module)
	}
	if !p.ListKey("modules", "ArrowDown") || p.Panel.Modules.Module != 7 {
		t.Errorf("module %d behind the last", p.Panel.Modules.Module)
	}
	if !p.ListKey("modules", "ArrowUp") || p.Panel.Modules.Module != 2 {
		t.Errorf("module %d", p.Panel.Modules.Module)
	}
	compare := p.Panel.tab("compare").(*tabs.Compare)
	compare.Shown.Total = 3
	p.ListKey("compare", "ArrowDown")
	p.ListKey("compare", "ArrowDown")
	if compare.Row != 1 {
		t.Errorf("row %d", compare.Row)
	}
	if p.ListKey("files", "ArrowDown") || p.ListKey("modules", "End") {
		t.Error("a list that scrolls does not any more")
	}
	p.Act("copy", protocol.ExportCompare)
	if r := last[protocol.Export](e); r == nil || r.Kind != protocol.ExportCompare || r.Thread != 1 {
		t.Errorf("%+v", r)
	}
}
