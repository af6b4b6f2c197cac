package engine

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/protocol"
)

func TestCompareLaysSixWalksSideBySide(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym")
	look := protocol.Query{Selection: protocol.Selection{Thread: -1}, Compare: &protocol.CompareQuery{Span: protocol.Span{Count: 50}}}
	c := k.look(look).Compare
	if c == nil || c.Problem != "" || len(c.Walks) != 6 || c.Total == 0 || len(c.Rows) != c.Total || c.Found == 0 {
		t.Fatalf("%+v", c)
	}
	for _, r := range c.Rows {
		if len(r.Cells) != 6 {
			t.Errorf("row %d has %d cells", r.Index, len(r.Cells))
		}
	}
	parts := 0
	for _, r := range c.Rows {
		if r.Diverges {
			parts++
		}
	}
	if parts == 0 || c.Rows[0].Diverges || len(c.Branches) < 2 {
		t.Errorf("%d rows are marked; from the first frame the walks go on so: %+v", parts, c.Branches)
	}
	text, problem := k.export(protocol.ExportCompare, -1)
	if problem != "" || !strings.Contains(text.Text, "Where each stopped:") || !strings.Contains(text.Text, "rust-minidump") {
		t.Errorf("%q, %q", problem, text.Text)
	}
	// It is made once, and again when symbols change.
	before := k.e.compared.made
	k.look(look)
	if k.e.compared.made != before {
		t.Error("the same comparison was made twice")
	}
	k.addSample("libc.so.6.sym.gz")
	if c := k.look(look).Compare; k.e.compared.made == before || c.Walks[5].Frames == 0 {
		t.Error("new symbols do not change the comparison")
	}
}

func TestSummaryHasFindings(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp")
	s := k.look(protocol.Query{Summary: true, Stack: &protocol.Span{Count: 99}})
	if len(s.Summary.Findings) == 0 {
		t.Error("a dump without symbols has nothing to complain of")
	}
}
