package engine

import (
	"strings"
	"testing"

	"github.com/crashpane/crashpane/web/app"
)

func TestCompareLaysSixWalksSideBySide(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp", "tilecruncher.sym.gz", "libtilecodec.so.sym")
	look := app.Look{Parts: app.PartCompare, Thread: -1, Compare: app.Span{Count: 50}, Compared: 0}
	c := k.ask(app.Request{Op: app.OpLook, Look: &look}, nil).Compare
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
		if r.Parts {
			parts++
		}
	}
	if parts == 0 || c.Rows[0].Parts || len(c.Ways) < 2 {
		t.Errorf("%d rows are marked; from the first frame the walks go on so: %+v", parts, c.Ways)
	}
	text := k.ask(app.Request{Op: app.OpExport, Kind: app.ExportCompare, Thread: -1}, nil)
	if text.Error != "" || !strings.Contains(text.Text, "Where each stopped:") || !strings.Contains(text.Text, "rust-minidump") {
		t.Errorf("%q, %q", text.Error, text.Text)
	}
	// It is made once, and again when there are other symbols.
	before := k.e.compared.made
	k.ask(app.Request{Op: app.OpLook, Look: &look}, nil)
	if k.e.compared.made != before {
		t.Error("the same comparison was made twice")
	}
	k.addSample("libc.so.6.sym.gz")
	if c := k.ask(app.Request{Op: app.OpLook, Look: &look}, nil).Compare; k.e.compared.made == before || c.Walks[5].Frames == 0 {
		t.Error("new symbols do not change the comparison")
	}
}

func TestSummaryHasFindings(t *testing.T) {
	k := newTalk(t)
	k.addSample("tilecruncher.dmp")
	s := k.ask(app.Request{Op: app.OpLook, Look: &app.Look{Parts: app.PartSummary | app.PartStack, Stack: app.Span{Count: 99}}}, nil)
	if len(s.Summary.Findings) == 0 {
		t.Error("a dump without symbols has nothing to complain of")
	}
}
