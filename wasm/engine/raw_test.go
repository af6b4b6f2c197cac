package engine

import (
	"slices"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptest"
	"github.com/crashpane/crashpane/web/protocol"
)

// made returns a dump with some data for every tab.
func made(t *testing.T) *talk {
	k := newTalk(t)
	bytes := dumptest.New(dumptest.LittleEndian).
		System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x1000, "/bin/app", nil).
		Thread(7, dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000}), 0x7000, make([]byte, 64)).
		Exception(7, 11, 1, 0x400020, dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})).
		Stream(0x47670006, []byte("app\x00--password=hunter2\x00")).
		Stream(0x47670007, []byte("HOME=/home/me\x00TOKEN=abc\x00")).
		Stream(0x47670009, []byte("00400000-00401000 r-xp 00000000 08:01 1 /bin/app\n00007000-00008000 rw-p 00000000 00:00 0 [stack]\n")).
		Stream(0x4d7a0004, []byte(`{"InitErrors":1}`)).
		Stream(0x12345678, []byte(strings.Repeat("\x00\x01binary", 100))).
		Bytes()
	if r, problem := k.add("a.dmp", bytes); problem != "" || len(r.Dumps) != 1 {
		t.Fatalf("%+v", r)
	}
	return k
}

func (k *talk) grid(name string, span protocol.Span) *protocol.GridPage {
	return k.look(protocol.Query{Grid: &protocol.GridQuery{Name: name, Span: span}}).Grid
}

func TestGrids(t *testing.T) {
	k := made(t)
	if r := k.look(protocol.Query{Summary: true}); strings.Join(r.Have, " ") != "memory streams annotations" {
		t.Errorf("tabs %v", r.Have)
	}
	m := k.grid("memory", protocol.Span{Count: 10})
	if m.Total != 2 || m.Rows[0].Mark != "danger" || m.Rows[0].Cells[4] != "the fault address · /bin/app" || m.Rows[1].Cells[4] != "stack of thread 0 · [stack]" {
		t.Errorf("%+v", m)
	}
	s := k.grid("streams", protocol.Span{From: 2, Count: 1})
	if s.From != 2 || len(s.Rows) != 1 || s.Total < 8 || s.Rows[0].Index != 2 {
		t.Errorf("%+v", s)
	}
	if g := k.grid("nonsense", protocol.Span{From: -5, Count: 1 << 30}); g.Total != 0 {
		t.Errorf("%+v", g)
	}
}

// TestAddressesSayWhatTheyPointTo: the value of an annotation that is an address, and the crash's address, say what they
// point to without a click; other texts and the memory map, which says it itself, do not.
func TestAddressesSayWhatTheyPointTo(t *testing.T) {
	k := newTalk(t)
	ctx := dumptest.AMD64(map[string]uint64{"rip": 0x400010, "rsp": 0x7000})
	k.add("a.dmp", dumptest.New(dumptest.LittleEndian).System(dumptest.System{Processor: dumptest.CPUAMD64, Platform: dumptest.OSLinux}).
		Module(0x400000, 0x1000, "/bin/app", nil).Thread(7, ctx, 0x7000, make([]byte, 64)).Exception(7, 11, 1, 0x7010, ctx).
		Crashpad([16]byte{1}, [16]byte{}, 0, [][2]string{{"in stack", "0x7020"}, {"in app", "0x400020"}, {"count", "123456"}, {"words", "0x7020 bytes"}}).Bytes())
	want := map[string]string{"0x7020": "stack of thread 0", "0x400020": "app+0x20", "123456": "", "0x7020 bytes": ""}
	found := 0
	for _, r := range k.grid("annotations", protocol.Span{Count: 100}).Rows {
		points, ok := want[r.Cells[2]]
		if ok {
			found++
		}
		if points == "" && r.Points != "" || !strings.Contains(strings.ReplaceAll(r.Points, " ", ""), strings.ReplaceAll(points, " ", "")) {
			t.Errorf("%q points to %q, want %q", r.Cells, r.Points, points)
		}
	}
	if found != len(want) {
		t.Errorf("%d annotations", found)
	}
	for _, r := range k.grid("memory", protocol.Span{Count: 100}).Rows {
		if r.Points != "" {
			t.Errorf("%+v", r)
		}
	}
	if d := k.screen(-1).Detail; d == nil || !strings.Contains(d.Fault, "stack of thread 0") {
		t.Errorf("%+v", d)
	}
}

// TestGridTables: the dump of the test of private data has rows of each table, and they have a cell
// for each column.
func TestGridTables(t *testing.T) {
	k := newTalk(t)
	dump, _ := dumptest.Secretive(secret)
	k.add("a.dmp", dump)
	for _, table := range gridTables {
		g := k.grid(table.id, protocol.Span{Count: 100})
		if len(g.Rows) == 0 || !slices.Contains(k.look(protocol.Query{Summary: true}).Have, table.id) {
			t.Errorf("%s: %d rows, or the page is not told that there are any", table.id, len(g.Rows))
		}
		for _, r := range g.Rows {
			if len(r.Cells) != len(g.Columns) {
				t.Errorf("%s: a row of %d cells: %q", table.id, len(r.Cells), r.Cells)
			}
		}
	}
}

// stream returns the number of a stream in the directory.
func (k *talk) stream(typ core.StreamType) int {
	for i, s := range k.e.files.Session(0).Dump.Streams {
		if s.Type == typ {
			return i
		}
	}
	k.t.Fatalf("no stream 0x%x", uint32(typ))
	return -1
}

func TestContent(t *testing.T) {
	k := made(t)
	ask := func(typ core.StreamType, bytes, private bool) *protocol.ContentPage {
		return k.look(protocol.Query{Content: &protocol.ContentQuery{Stream: k.stream(typ), Bytes: bytes, Private: private, Span: protocol.Span{Count: 40}}}).Content
	}
	if c := ask(core.StreamModuleList, false, false); c.Bytes || !strings.Contains(strings.Join(c.Lines, "\n"), `module[0].name = "/bin/app"`) {
		t.Errorf("%+v", c)
	}
	if c := ask(core.StreamModuleList, true, false); !c.Bytes || c.OnlyBytes || !strings.HasPrefix(c.Lines[0], "00000000  01 00 00 00") {
		t.Errorf("%+v", c)
	}
	if c := ask(0x12345678, false, false); !c.OnlyBytes || c.Total != 50 || len(c.Lines) != 40 || !strings.HasSuffix(c.Lines[0], "..binary..binary") {
		t.Errorf("%+v", c)
	}
	if c := ask(core.StreamLinuxMaps, false, false); c.Total != 2 || !strings.HasSuffix(c.Lines[1], "[stack]") {
		t.Errorf("%+v", c)
	}
	if c := ask(core.StreamLinuxEnviron, false, false); !c.Private || len(c.Lines) != 0 {
		t.Errorf("the environment is shown unasked: %+v", c)
	}
	if c := ask(core.StreamLinuxEnviron, true, false); len(c.Lines) != 0 {
		t.Errorf("as bytes it is shown unasked: %+v", c)
	}
	if c := ask(core.StreamLinuxEnviron, false, true); len(c.Lines) != 2 || c.Lines[1] != "TOKEN=abc" {
		t.Errorf("%+v", c)
	}
	if r := k.look(protocol.Query{Content: &protocol.ContentQuery{Stream: 999}}); r.Content != nil {
		t.Errorf("%+v", r.Content)
	}
}

// TestSecrets: the command line and the environment are sent only when each is requested, and are
// in no export.
func TestSecrets(t *testing.T) {
	k := made(t)
	shown := func(q protocol.SystemQuery) string {
		var b strings.Builder
		for _, g := range k.look(protocol.Query{System: &q}).System.Groups {
			b.WriteString(g.Title + "\n")
			for _, f := range g.Facts {
				b.WriteString(f.Key + " " + f.Value + "\n")
			}
		}
		return b.String()
	}
	plain := shown(protocol.SystemQuery{})
	if !strings.Contains(plain, "Command line") || !strings.Contains(plain, "Environment") || !strings.Contains(plain, "System information") ||
		strings.Contains(plain, "hunter2") || strings.Contains(plain, "TOKEN") {
		t.Error(plain)
	}
	if s := shown(protocol.SystemQuery{CommandLine: true}); !strings.Contains(s, "hunter2") || strings.Contains(s, "TOKEN") {
		t.Error(s)
	}
	if s := shown(protocol.SystemQuery{Environment: true}); strings.Contains(s, "hunter2") || !strings.Contains(s, "TOKEN abc") {
		t.Error(s)
	}
	for _, kind := range protocol.Exports {
		if r, _ := k.export(kind.ID, -1); strings.Contains(r.Text, "hunter2") || strings.Contains(r.Text, "TOKEN") {
			t.Errorf("%s leaks", kind.ID)
		}
	}
}

// TestExportsAreWritten: each export that the page offers has a function that writes it, and no other
// has.
func TestExportsAreWritten(t *testing.T) {
	for _, k := range protocol.Exports {
		if exportWriters[k.ID] == nil || k.Ending == "" || k.MIME == "" || k.Copied == "" {
			t.Errorf("%+v is not written, or has no ending or message", k)
		}
	}
	if len(exportWriters) != len(protocol.Exports) {
		t.Errorf("%d exports are written, %d are offered", len(exportWriters), len(protocol.Exports))
	}
}
