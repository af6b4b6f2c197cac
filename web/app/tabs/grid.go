package tabs

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Grid is a table of the dump's own data: the memory map, streams, handles, annotations.
type Grid struct {
	pane
	protocol.GridPage
	list    table.List
	table   table.Table
	goTo    int      // row to scroll to when the engine has sent it, counted from 1; 0 for none
	content *Content // of the selected stream; nil in other tables
}

// NewGrid makes the part with an id. It is one of the tables that the engine has (gridTables in wasm/engine), by its id.
func NewGrid(s *zone.Shared, id string) zone.Tab {
	z := &Grid{pane: pane{s, id}}
	z.list = table.List{ID: "grid", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.table = table.Table{List: &z.list, Label: "Rows", Class: "table grid-" + z.id}
	return z
}

// Compute implements vugu's callback before each drawing.
func (z *Grid) Compute() {
	columns := make([]rows.Column[protocol.GridRow], len(z.Columns))
	for i, h := range z.Columns {
		cell := func(r protocol.GridRow) string { return r.Cells[i] }
		columns[i] = rows.Column[protocol.GridRow]{Head: h, Text: cell, Tip: cell}
	}
	table.Fill(&z.table, z.Rows, columns, func(r protocol.GridRow, to *table.Row) {
		to.Class, to.Act, to.Arg = z.rowClass(r), z.act(), r.Index
		for i := range to.Cells {
			if c := &to.Cells[i]; z.Columns[i].Address && words.AddressAct(c.Text) != nil {
				c.Parts = []table.Part{table.Address(c.Text, r.Points)}
				if r.Points != "" {
					c.Parts = append(c.Parts, table.Text("points", r.Points, ""))
				}
			}
		}
	})
}

// NewStreams makes a Grid with the content of the selected stream next to it.
func NewStreams(s *zone.Shared, id string) zone.Tab {
	z := NewGrid(s, id).(*Grid)
	z.content = newContent(z.pane)
	return z
}

// ShowRow shows a row.
func (z *Grid) ShowRow(row int) {
	z.page.ShowPart(z.id)
	z.goTo = row + 1
	z.list.Around(row)
	z.page.Host.Reveal(z.list.ID, row)
	z.page.Screen.Ask(z)
}

// Want implements Zone.
func (z *Grid) Want(q *protocol.Query) {
	if z.goTo > 0 { // the list's element is new: the host has measured it at its top, and not yet scrolled it to the row
		z.list.Around(z.goTo - 1)
	}
	q.Grid = &protocol.GridQuery{Name: z.id, Span: z.list.Span()}
}

// Hidden implements Zone.
func (z *Grid) Hidden() bool { return !z.open() }

// Apply implements Zone.
func (z *Grid) Apply(r *protocol.QueryResult) {
	if r.Grid != nil && r.Grid.Name == z.id {
		z.GridPage = *r.Grid
		if row := z.goTo - 1; row >= z.From && row < z.From+len(z.Rows) {
			z.goTo = 0
			z.list.Around(row)
			z.page.Host.Reveal("grid", row)
		}
	}
}

// Disabled is for Tab.
func (z *Grid) Disabled() bool { return z.lacks(z.id) }

// List is for Tab.
func (z *Grid) List() *table.List { return &z.list }

// Beside returns the zone next to the table, with its list, or nil.
func (z *Grid) Beside() (zone.Zone, *table.List) {
	if z.content == nil {
		return nil, nil
	}
	return z.content, &z.content.list
}

func (z *Grid) Actions() []zone.Action {
	if z.content == nil {
		return nil
	}
	return []zone.Action{
		{ID: "stream", Do: func(n string) { z.content.choose(n) }},
		{ID: "stream-bytes", Do: func(string) { z.content.toggleBytes() }},
		{ID: "stream-private", Do: func(string) { z.content.reveal() }},
	}
}

func (z *Grid) Forget() {
	z.GridPage, z.list.Visible = protocol.GridPage{}, protocol.Span{Count: 8}
	if z.content != nil {
		z.content.Forget()
	}
}

func (z *Grid) HidePrivate() {
	if z.content != nil {
		z.content.query.Private = false
	}
}

// rowClass has the mark that the engine gives a row (the fault address, a stack), and marks hits
// and the selection.
func (z *Grid) rowClass(r protocol.GridRow) string {
	class := "row"
	if r.Mark != "" {
		class += " mark-" + r.Mark
	}
	class = z.page.Marks(class, words.Lines(r.Cells))
	if z.page.IsHit(z.id, r.Index) {
		class += " current"
	}
	if z.content != nil {
		class += " choice-row"
		if r.Index == z.content.query.Stream {
			class += " selected"
		}
	}
	return class
}

// act is the action of a click on a row; nil leaves the attribute out.
func (z *Grid) act() any {
	if z.content != nil {
		return "stream"
	}
	return nil
}

// Content shows the selected stream: its decoded fields, its text or its bytes.
type Content struct {
	pane
	protocol.ContentPage
	query protocol.ContentQuery
	list  table.List
}

func newContent(t pane) *Content {
	z := &Content{pane: t}
	z.list = table.List{ID: "content", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Lines) }}
	return z
}

// Want implements Zone.
func (z *Content) Want(q *protocol.Query) {
	z.query.Span = z.list.Span()
	query := z.query
	q.Content = &query
}

// Hidden implements Zone.
func (z *Content) Hidden() bool { return !z.open() }

// Apply implements Zone.
func (z *Content) Apply(r *protocol.QueryResult) {
	if r.Content != nil {
		z.ContentPage = *r.Content
	}
}

// choose shows a stream.
func (z *Content) choose(arg string) {
	n, err := strconv.Atoi(arg)
	if err != nil || n < 0 {
		return
	}
	z.query, z.ContentPage = protocol.ContentQuery{Stream: n}, protocol.ContentPage{}
	z.again()
}

// toggleBytes switches between the stream's bytes and its decoded form.
func (z *Content) toggleBytes() {
	z.query.Bytes = !z.query.Bytes
	z.again()
}

// reveal shows a stream that may contain private data.
func (z *Content) reveal() {
	z.query.Private = true
	z.again()
}

// again queries the content from its first line.
func (z *Content) again() {
	z.list.Visible.From = 0
	z.page.Host.Reveal("content", 0)
	z.page.Screen.Ask(z)
}

func (z *Content) Forget() {
	z.query, z.ContentPage, z.list.Visible = protocol.ContentQuery{}, protocol.ContentPage{}, protocol.Span{Count: 8}
}

func (z *Content) count() string {
	if z.Title == "" || z.Private {
		return ""
	}
	return words.Count(z.Total, "line")
}
