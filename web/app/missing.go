package app

import (
	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// Missing lists the missing symbol files, the most useful first, with the panel of symbol servers
// beside it.
type Missing struct {
	pane
	rows.MissingPage
	Sources *Sources
	list    List
	table   Table
}

func newMissing(t pane) Tab {
	z := &Missing{pane: t, Sources: &Sources{page: t.page}}
	z.list = List{id: "wanted", visible: protocol.Span{Count: 8}, more: overscan, here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.table = Table{list: &z.list, label: "Missing symbols", class: "table wanted"}
	return z
}

// Want implements Zone.
func (z *Missing) Want(q *protocol.Query) {
	w := z.list.span()
	q.Missing = &w
}

// Apply implements Zone.
func (z *Missing) Apply(r *protocol.QueryResult) {
	if r.Missing != nil {
		z.Sources.renewed(r.ReportID)
		z.MissingPage = *r.Missing
	}
}

// Compute implements vugu's callback before each drawing.
func (z *Missing) Compute() {
	last := columnOf(rows.MissingColumns, "right")
	z.table.empty = z.emptyText()
	fill(&z.table, z.Rows, rows.MissingColumns, func(w rows.MissingRow, to *tableRow) {
		other := &to.cells[last]
		if asked := z.page.Work.Downloads.askedWord(w); asked != "" {
			other.parts = append(other.parts, textPart("asked", asked, asked))
		}
		switch {
		case w.OtherFile != "":
			other.parts = append(other.parts, part{kind: "text", class: "mismatch", text: other.text, tip: other.tip},
				buttonPart("link", "Use anyway", "use", pair(w.Item, w.Module)))
		case w.DebugID == "":
			other.parts = append(other.parts, buttonPart("link", "Assign symbols", "show-module", w.Module))
		}
	})
	get := buttonPart("small", "Get symbols", "sources", nil)
	get.id, get.expanded = "sources-button", boolWord(z.Sources.Open)
	z.table.heads[last].parts = []part{get}
	if z.Total > 0 {
		z.table.heads[last].parts = append(z.table.heads[last].parts, buttonPart("small", "Copy the list", "copy", protocol.ExportMissing))
	}
}

// Count is for Tab.
func (z *Missing) Count() (n int, alert bool) {
	return z.page.Summary.Missing, z.page.Summary.Missing > 0
}

// emptyText is the text in place of rows.
func (z *Missing) emptyText() string {
	if z.Total > 0 || !z.page.Panel.Listed {
		return ""
	}
	return "No missing symbols: every module on these stacks has its symbols."
}

// List is for Tab.
func (z *Missing) List() *List { return &z.list }
