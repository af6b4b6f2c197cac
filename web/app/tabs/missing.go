package tabs

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/servers"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Missing lists the missing symbol files, the most useful first, with the panel of symbol servers
// next to it.
type Missing struct {
	pane
	rows.MissingPage
	Sources *servers.Sources // the panel next to it
	list    table.List
	table   table.Table
}

// NewMissing makes the part with an id. The panel gives it its Sources.
func NewMissing(s *zone.Shared, id string) zone.Tab {
	z := &Missing{pane: pane{s, id}}
	z.list = table.List{ID: "wanted", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.table = table.Table{List: &z.list, Label: "Missing symbols", Class: "table wanted"}
	return z
}

// Want implements Zone.
func (z *Missing) Want(q *protocol.Query) {
	w := z.list.Span()
	q.Missing = &w
}

// Apply implements Zone.
func (z *Missing) Apply(r *protocol.QueryResult) {
	if r.Missing != nil {
		z.Sources.Renewed(r.ReportID)
		z.MissingPage = *r.Missing
	}
}

// Compute implements vugu's callback before each drawing.
func (z *Missing) Compute() {
	last := table.ColumnOf(rows.MissingColumns, "right")
	z.table.Empty = z.emptyText()
	table.Fill(&z.table, z.Rows, rows.MissingColumns, func(w rows.MissingRow, to *table.Row) {
		other := &to.Cells[last]
		if asked := z.Sources.Downloads.Word(w); asked != "" {
			other.Parts = append(other.Parts, table.Text("asked", asked, asked))
		}
		switch {
		case w.OtherFile != "":
			other.Parts = append(other.Parts, table.Part{Kind: "text", Class: "mismatch", Text: other.Text, Tip: other.Tip},
				table.Button("link", "Use anyway", "use", words.Pair(w.Item, w.Module)))
		case w.DebugID == "":
			other.Parts = append(other.Parts, table.Button("link", "Assign symbols", "show-module", w.Module))
		}
	})
	get := table.Button("small", "Get symbols", "sources", nil)
	get.ID, get.Expanded = "sources-button", words.Bool(z.Sources.Open)
	z.table.Heads[last].Parts = []table.Part{get}
	if z.Total > 0 {
		z.table.Heads[last].Parts = append(z.table.Heads[last].Parts, table.Button("small", "Copy the list", "copy", protocol.ExportMissing))
	}
}

// Count is for Tab.
func (z *Missing) Count() (n int, alert bool) {
	return z.page.Summary.Missing, z.page.Summary.Missing > 0
}

// emptyText is the text in place of rows.
func (z *Missing) emptyText() string {
	if z.Total > 0 || !z.page.Listed {
		return ""
	}
	return "No missing symbols: every module on these stacks has its symbols."
}

// List is for Tab.
func (z *Missing) List() *table.List { return &z.list }
