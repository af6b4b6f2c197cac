package app

import (
	"fmt"
	"testing"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// named returns dumps by number, as the engine names them.
func named(from, to int) (out []protocol.DumpName) {
	for i := from; i < to; i++ {
		out = append(out, protocol.DumpName{Dump: i, Name: fmt.Sprintf("%d.dmp", i), ID: fmt.Sprint("id", i)})
	}
	return out
}

// A user who drops many dumps gets their table, opens one, and goes back to the table.
func TestManyDumpsAreATable(t *testing.T) {
	p, h, e := newTestPage("")
	var all []host.File
	for i := range 200 {
		all = append(all, fakeFile(fmt.Sprintf("%d.dmp", i)))
	}
	p.Reading.Add(all)
	said := 0
	for k := 0; k < len(e.sent); k++ { // each file or parcel is answered
		if add, ok := e.sent[k].Request.(*protocol.Add); ok {
			n := len(add.Names)
			say(p, &protocol.Added{Dumps: named(said, said+n), All: said + n})
			said += n
		}
		if look, ok := e.sent[k].Request.(*protocol.Query); ok {
			if look.Overview.Dumps == nil || look.Summary || look.Stack != nil {
				t.Fatalf("the table is not what is queried: %+v", look)
			}
			say(p, &protocol.QueryResult{Overview: protocol.OverviewPage{Dumps: &protocol.DumpTablePage{All: said, Dumps: rows.DumpPage{Page: rows.Page{Total: said}, Selected: -1, Rows: []rows.DumpRow{{Dump: 7, Name: "7.dmp"}}}}}})
		}
	}
	if !p.Table.Open() || p.Shows() || len(p.Dumps.List) != 200 || h.address != "view=dumps" || h.title != "200 dumps – Crashpane" {
		t.Fatalf("open %v, %d dumps, address %q, title %q", p.Table.Open(), len(p.Dumps.List), h.address, h.title)
	}
	if len(e.sent) > 40 {
		t.Errorf("%d messages for 200 small dumps", len(e.sent))
	}
	p.Act("open-dump", "7")
	if q, ok := e.sent[len(e.sent)-1].Request.(*protocol.Query); !ok || q.Dump != 7 || q.Overview.Dumps != nil {
		t.Errorf("asked %+v", e.sent[len(e.sent)-1])
	}
	say(p, screen())
	if p.Table.Open() || !p.Shows() || len(h.entries) == 0 {
		t.Errorf("open %v, history %q", p.Table.Open(), h.entries)
	}
	p.Address.Changed("#view=dumps")
	if !p.Table.Open() || p.Table.Selected != 7 {
		t.Errorf("Back: open %v, selected %d", p.Table.Open(), p.Table.Selected)
	}
	// All but one are cancelled.
	if say(p, &protocol.Closed{Dumps: named(0, 1)}); p.Table.Open() || p.Dumps.Open != 0 {
		t.Errorf("one dump is left, and dump %d is open", p.Dumps.Open)
	}
}

// Three dumps are opened as one is, and so are those that a host page adds.
func TestFewDumpsAreOpened(t *testing.T) {
	for _, inside := range []bool{false, true} {
		p, _, e := newTestPage("")
		n := 3
		if p.Inside = inside; inside {
			n = 6
		}
		var all []host.File
		for i := range n {
			all = append(all, fakeFile(fmt.Sprintf("%d.dmp", i)))
		}
		p.Reading.Add(all)
		for k, i := 0, 0; k < len(e.sent); k++ {
			switch e.sent[k].Request.(type) {
			case *protocol.Add:
				i++
				say(p, &protocol.Added{Dumps: named(i-1, i), All: i})
			case *protocol.Query:
				say(p, screen())
			}
		}
		if p.State.Table || len(p.Dumps.List) != n || !p.Shows() {
			t.Errorf("inside %v: table %v, %d dumps", inside, p.State.Table, len(p.Dumps.List))
		}
		if p.Act("all-dumps", ""); !p.Table.Open() {
			t.Error("the table is not in reach")
		}
	}
}
