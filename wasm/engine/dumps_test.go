package engine

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// fleet adds n dumps of the sample, each an hour and for every third dump 30 days later than the one before,
// and describes them.
func fleet(t *testing.T, k *talk, n int) {
	t.Helper()
	whole, err := os.ReadFile(sample + "tilecruncher.dmp")
	if err != nil {
		t.Fatal(err)
	}
	at := binary.LittleEndian.Uint32(whole[20:])
	for i := range n {
		one := bytes.Clone(whole)
		binary.LittleEndian.PutUint32(one[20:], at+uint32(i)*3600+uint32(i/3)*30*24*3600)
		added, problem := k.add(fmt.Sprintf("fleet/%04d.dmp", i), one)
		if problem != "" || len(added.Dumps) != 1 || added.All != i+1 {
			t.Fatalf("dump %d: %q, %d new of %d", i, problem, len(added.Dumps), added.All)
		}
	}
}

func (k *talk) table(q protocol.DumpTableQuery) *protocol.DumpTablePage {
	k.t.Helper()
	if q.Dumps.Count == 0 {
		q.Dumps.Count, q.Groups.Count = 50, 50
	}
	k.ask(&protocol.Query{Overview: protocol.OverviewQuery{Dumps: &q}}, nil)
	r, problem := last[*protocol.QueryResult](k)
	if problem != "" || r.Overview.Dumps == nil {
		k.t.Fatalf("no table: %q", problem)
	}
	return r.Overview.Dumps
}

func (k *talk) describeAll() {
	for k.e.Idle() {
	}
}

// A user who drops many dumps sees each with its signature, and symbols that come later name them.
func TestTableOfDumps(t *testing.T) {
	k := newTalk(t)
	fleet(t, k, 30)
	if page := k.table(protocol.DumpTableQuery{}); page.All != 30 || page.Known != 0 || page.Dumps.Total != 30 || page.Dumps.Rows[0].Known || page.Dumps.Rows[0].Reason == "" {
		t.Fatalf("before they are walked: %+v", page.Dumps.Rows[0])
	}
	k.describeAll()
	if d, _ := last[*protocol.Described](k); d.Known != 30 || d.All != 30 {
		t.Errorf("told %+v", d)
	}
	page := k.table(protocol.DumpTableQuery{Selected: 0})
	first := page.Dumps.Rows[0]
	if page.Known != 30 || first.Signature == "" || first.Process == "" || !strings.HasSuffix(first.Name, "0029.dmp") || page.Dumps.Selected != 29 {
		t.Errorf("%d known, the latest is %+v, the first in row %d", page.Known, first, page.Dumps.Selected)
	}
	if g := page.Groups; g.Total != 1 || g.Rows[0].Dumps != 30 || g.Rows[0].First >= g.Rows[0].Last || len(page.Days) < 2 || page.DaysEach < 1 {
		t.Errorf("groups %+v, %d bars of %d days", g, len(page.Days), page.DaysEach)
	}
	total := 0
	for _, b := range page.Days {
		total += b.Dumps
	}
	if total != 30 {
		t.Errorf("the chart has %d dumps", total)
	}
	live := 0
	for range k.e.table.live {
		live++
	}
	if live > mostLive {
		t.Errorf("%d dumps are held open", live)
	}

	// Symbols name all of them.
	before := first.Signature
	k.addSample("tilecruncher.sym.gz", "libtilecodec.so.sym")
	if page := k.table(protocol.DumpTableQuery{}); page.Known == 30 {
		t.Error("symbols came, and nothing is described again")
	}
	k.describeAll()
	page = k.table(protocol.DumpTableQuery{})
	for _, r := range page.Dumps.Rows {
		if r.Signature == before || r.Signature != "edge_offset" {
			t.Fatalf("%s is still %q", r.Name, r.Signature)
		}
	}
	// One is opened as it is alone, and its files are used.
	k.ask(&protocol.Query{Selection: protocol.Selection{Dump: 17, Thread: -1, Inline: -1, Top: true}, Summary: true, Stack: &protocol.Span{Count: 10}, Files: &protocol.Span{Count: 99}}, nil)
	r, _ := last[*protocol.QueryResult](k)
	if r.Summary == nil || len(r.Stack.Rows) == 0 || len(r.Files.Unused) > 0 {
		t.Errorf("dump 17: %+v", r.Summary)
	}
}

// Sorting, the filter and the group select rows.
func TestTableSelects(t *testing.T) {
	k := newTalk(t)
	fleet(t, k, 12)
	k.table(protocol.DumpTableQuery{})
	k.describeAll()
	group := k.table(protocol.DumpTableQuery{}).Groups.Rows[0].Signature
	for _, x := range []struct {
		q    protocol.DumpTableQuery
		want int
	}{
		{protocol.DumpTableQuery{Filter: "0007"}, 1},
		{protocol.DumpTableQuery{Filter: "file:0007 process:tile"}, 1},
		{protocol.DumpTableQuery{Filter: "process:0007"}, 0},
		{protocol.DumpTableQuery{Filter: "SIGSEGV tile"}, 12},
		{protocol.DumpTableQuery{Grouped: true, Group: group}, 12},
		{protocol.DumpTableQuery{Grouped: true, Group: "other"}, 0},
	} {
		if page := k.table(x.q); page.Dumps.Total != x.want {
			t.Errorf("%+v: %d dumps", x.q, page.Dumps.Total)
		}
	}
	column := 0
	for i, c := range rows.DumpColumns {
		if c.Title == "File" {
			column = i + 1
		}
	}
	up, down := k.table(protocol.DumpTableQuery{SortDumps: column}), k.table(protocol.DumpTableQuery{SortDumps: -column})
	if a, b := up.Dumps.Rows[0].Name, down.Dumps.Rows[0].Name; !strings.HasSuffix(a, "0000.dmp") || !strings.HasSuffix(b, "0011.dmp") {
		t.Errorf("sorted by name: %s, %s", a, b)
	}
	k.ask(&protocol.CloseDump{Dump: 3}, nil)
	if page := k.table(protocol.DumpTableQuery{}); page.All != 11 || page.Dumps.Total != 11 {
		t.Errorf("one is closed: %d of %d", page.Dumps.Total, page.All)
	}
}

// exportDumps requests all parts of an export. Each part is small.
func (k *talk) exportDumps(req protocol.ExportDumps) (text string, parts int) {
	k.t.Helper()
	for {
		k.ask(&req, nil)
		r, problem := last[*protocol.Exported](k)
		if problem != "" || len(r.Text) > 2*exportPart {
			k.t.Fatalf("%q: %d bytes", problem, len(r.Text))
		}
		text += r.Text
		if req.From = r.Next; r.Next == 0 {
			return text, parts + 1
		}
		parts++
	}
}

// The exports have all dumps: JSON as crashpane batch writes it, CSV without formulas.
func TestTableExports(t *testing.T) {
	k := newTalk(t)
	fleet(t, k, 120)
	text, parts := k.exportDumps(protocol.ExportDumps{Kind: "json"})
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if len(lines) != 120 || parts < 2 {
		t.Fatalf("%d lines in %d parts", len(lines), parts)
	}
	for _, line := range lines {
		var d struct {
			ID, Signature, Reason string
			AddressSignature      string `json:"address_signature"`
			Threads               []struct{ Frames []any }
		}
		if err := json.Unmarshal([]byte(line), &d); err != nil || len(d.ID) != 64 || d.Signature == "" || d.AddressSignature == "" || len(d.Threads[0].Frames) == 0 {
			t.Errorf("%v: %s", err, line)
		}
	}
	text, _ = k.exportDumps(protocol.ExportDumps{Kind: "csv", Table: protocol.DumpTableQuery{Filter: "0001"}})
	if lines := strings.Split(strings.TrimSpace(text), "\n"); len(lines) != 2 || !strings.HasPrefix(lines[0], "Time (UTC),Signature,") || !strings.Contains(lines[1], "fleet/0001.dmp") {
		t.Errorf("%s", text)
	}
	if k.ask(&protocol.ExportDumps{Kind: "pdf"}, nil); k.answers[len(k.answers)-1].Error == "" {
		t.Error("an export that there is not")
	}
}

// slowOnce is a file whose next read takes a while.
type slowOnce struct {
	*bytes.Reader
	wait time.Duration
}

func (s *slowOnce) ReadAt(p []byte, off int64) (int, error) {
	time.Sleep(s.wait)
	s.wait = 0
	return s.Reader.ReadAt(p, off)
}

// The first row of a CSV has the titles, and no other row has them, however long the last dump takes to be described.
func TestExportHasOneHead(t *testing.T) {
	whole, err := os.ReadFile(sample + "tilecruncher.dmp")
	if err != nil {
		t.Fatal(err)
	}
	k := newTalk(t)
	file := &slowOnce{Reader: bytes.NewReader(whole)}
	k.ask(&protocol.Add{}, input.New("slow.dmp", file, int64(len(whole))))
	k.e.release(0)
	file.wait = 2 * describeTurn
	text, _ := k.exportDumps(protocol.ExportDumps{Kind: "csv"})
	if lines := strings.Split(strings.TrimSpace(text), "\n"); file.wait != 0 || len(lines) != 2 || !strings.Contains(lines[1], "slow.dmp") {
		t.Errorf("%s", text)
	}
}

// A file that is refused changes nothing: the reply says how many dumps there still are, which the page's list follows.
func TestRefusedFileKeepsDumps(t *testing.T) {
	k := newTalk(t)
	fleet(t, k, 2)
	k.ask(&protocol.Add{Symbols: true, DebugID: "1"}, input.FromBytes("https://symbols.example/a.sym", []byte("MODULE Linux x86_64 000000000000000000000000000000002 a\n")))
	if r, problem := last[*protocol.Added](k); problem == "" || r.All != 2 || len(r.Dumps) != 0 {
		t.Errorf("%q: %d new of %d", problem, len(r.Dumps), r.All)
	}
}
