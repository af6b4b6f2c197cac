package tabs

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Files lists every file that was added, with its type and status.
type Files struct {
	pane
	protocol.FilePage
	Kept  Kept
	list  table.List
	table table.Table
}

// NewFiles makes the part with an id.
func NewFiles(s *zone.Shared, id string) zone.Tab {
	z := &Files{pane: pane{s, id}}
	z.Kept.load(s.Host)
	z.list = table.List{ID: "files", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.table = table.Table{List: &z.list, Label: "Files", Class: "table files"}
	return z
}

// Compute implements vugu's callback before each drawing.
func (z *Files) Compute() {
	kindOf, last := table.ColumnOf(protocol.FileColumns, "kind"), table.ColumnOf(protocol.FileColumns, "right")
	table.Fill(&z.table, z.Rows, protocol.FileColumns, func(f protocol.FileRow, to *table.Row) {
		kind := &to.Cells[kindOf]
		kind.Parts = []table.Part{table.Text(fileClass(f), kind.Text, "")}
		var parts []table.Part
		if f.Assign {
			parts = append(parts, table.Part{Kind: "choice", Class: "field small assign", Text: "Assign to…", Field: words.RowID("assign", f.Item),
				Label: "Module for " + f.Name, Choices: z.Modules})
		}
		if f.Refused {
			parts = append(parts, table.Button("link", "Unpack it anyway", "anyway", f.Name))
		}
		if f.Usable && (f.Kind == "sym" || f.Kind == "binary") {
			parts = append(parts, table.Button("link", "Outline", "outline", f.Item))
		}
		if f.IsBinary() {
			parts = append(parts, table.Button("link", "Download .sym", "make", f.Name))
		}
		to.Cells[last].Parts = parts
	})
	z.table.Heads[last].Parts = []table.Part{table.Button("small", "Add files", "pick-files", nil)}
}

// Want implements Zone.
func (z *Files) Want(q *protocol.Query) {
	w := z.list.Span()
	q.Files = &w
}

// Apply implements Zone.
func (z *Files) Apply(r *protocol.QueryResult) {
	if r.Files != nil {
		z.FilePage = *r.Files
	}
}

// Count is for Tab.
func (z *Files) Count() (n int, alert bool) { return z.Total, z.Problems > 0 }

// List is for Tab.
func (z *Files) List() *table.List { return &z.list }

// CopyCommand copies the suggested command for a file that Crashpane cannot use.
func (z *Files) CopyCommand(item string) {
	for _, f := range z.Rejected {
		if strconv.Itoa(f.Item) == item {
			z.page.Notices.Copy(z.NextCommand(f), "Command copied")
		}
	}
}

// CanMake returns the first binaries among the files: the start screen offers to make symbol files
// from them, which needs no dump.
func (z *Files) CanMake() []protocol.FileRow {
	var out []protocol.FileRow
	for _, f := range z.Rows {
		if f.IsBinary() && len(out) < 4 {
			out = append(out, f)
		}
	}
	return out
}

// NextText is the advice for a file that Crashpane cannot use, or "".
func (z *Files) NextText(f protocol.FileRow) string {
	text, _ := NextStep(f, z.page.Host.System())
	return text
}

// NextCommand is the command that the advice suggests, or "".
func (z *Files) NextCommand(f protocol.FileRow) string {
	_, command := NextStep(f, z.page.Host.System())
	return command
}

// RejectedText says how many unusable files are not listed.
func (z *Files) RejectedText() string {
	if more := z.Rejections - len(z.Rejected); more > 0 {
		return "Crashpane cannot use " + rows.Number(more) + " more."
	}
	return ""
}

// HaveText says on the start screen that files were read, but no dump.
func (z *Files) HaveText() string {
	if n := z.Rejections; n > 0 && n == z.Total {
		return words.Count(n, "file") + " read, but no crash dump that Crashpane can show."
	}
	return words.Count(z.Total, "file") + " read so far, but no crash dump that Crashpane can show."
}

// fileClass is the class of the Type cell, which colors its mark.
func fileClass(f protocol.FileRow) string {
	switch {
	case !f.Usable:
		return "state error"
	case f.Assign || f.WarningCount > 0:
		return "state warning"
	}
	return "state loaded"
}
