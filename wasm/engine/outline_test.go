package engine

import (
	"os"
	"strings"
	"testing"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/web/protocol"
)

// TestOutlineWithoutADump: symbols alone have an outline, in windows, which the module of a dump that comes later
// has with addresses in the process; and a search finds functions that are on no stack.
func TestOutlineWithoutADump(t *testing.T) {
	opt := Options{Session: session.Options{}}
	readers.Add(&opt.Session)
	k := newTalkWith(t, opt)
	add := func(name string) {
		content, err := os.ReadFile(sample + name)
		if err != nil {
			t.Fatal(err)
		}
		k.ask(&protocol.Add{Names: []string{name}}, input.FromBytes(name, content))
	}
	add("libtilecodec.so.sym")
	query := func(q protocol.Query) *protocol.QueryResult {
		k.ask(&q, nil)
		r, _ := last[*protocol.QueryResult](k)
		return r
	}
	r := query(protocol.Query{Overview: protocol.OverviewQuery{Outline: &protocol.OutlineQuery{Item: 0, List: true, Span: protocol.Span{From: 2, Count: 3}, Place: true, At: 0x1200, Around: true, Lines: protocol.Span{Count: 4}}}}).Overview.Outline
	if r == nil || r.Total != 10 || r.From != 2 || len(r.Rows) != 3 || !r.Ended || r.Selected != 7 || r.Place == nil || !strings.HasPrefix(r.Place.Full, "tile::encode_quadtree(") || len(r.Place.Lines) != 4 ||
		r.Place.At < r.Place.From || r.Place.At >= r.Place.From+4 {
		t.Fatalf("%+v", r)
	}
	if r = query(protocol.Query{Overview: protocol.OverviewQuery{Outline: &protocol.OutlineQuery{Item: -1, Module: -1}}}).Overview.Outline; r == nil || r.Item != -1 || r.Empty == "" {
		t.Errorf("%+v", r)
	}
	add("tilecruncher.dmp")
	v := k.e.view(0, -1)
	module := -1
	for i := range v.Report().Modules {
		if strings.HasSuffix(v.Report().Modules[i].Name, "libtilecodec.so") {
			module = i
		}
	}
	base := v.Report().Modules[module].Base
	at := base + 0x1200
	r = query(protocol.Query{Overview: protocol.OverviewQuery{Outline: &protocol.OutlineQuery{Item: -1, Module: module, List: true, Text: "codec.cc:45", Span: protocol.Span{Count: 9}, Place: true, At: at}}}).Overview.Outline
	if r.Item != 0 || len(r.Rows) == 0 || r.Place == nil || !strings.Contains(r.Place.Full, "+ 0x107") || !strings.HasPrefix(r.Rows[0].Address, "0x00007f") {
		t.Errorf("%+v", r)
	}
	s := query(protocol.Query{Memory: protocol.MemoryQuery{Symbols: &protocol.SymbolsQuery{Text: "deregister_tm"}}}).Memory.Symbols
	for n := 0; s != nil && !s.Ended && n < 100; n++ {
		s = query(protocol.Query{Memory: protocol.MemoryQuery{Symbols: &protocol.SymbolsQuery{Text: "deregister_tm"}}}).Memory.Symbols
	}
	if s == nil || !s.Ended || len(s.Rows) != 1 || s.Rows[0].Title != "deregister_tm_clones" {
		t.Errorf("%+v", s)
	}
	// A cancelled list is made again.
	k.e.Cancel()
	k.ask(&protocol.LeaveOut{}, nil)
	if r = query(protocol.Query{Overview: protocol.OverviewQuery{Outline: &protocol.OutlineQuery{Item: 0, List: true, Span: protocol.Span{Count: 3}}}}).Overview.Outline; r.Total != 10 {
		t.Errorf("%+v", r)
	}
}
