// Package table has the lists and tables that the page's components show. Of any list the page has a
// window of rows (list.go); a Table is the component of one with columns (table.go), which may be
// sorted and filtered (order.go).
package table

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Table is the component of a list that is drawn as a table. Its zone fills it before each drawing
// by a table of columns (rows.Column).
type Table struct {
	List         *List
	Label, Class string
	Empty        string // the text in place of rows
	tracks       string // style: the sizes of the columns
	Heads        []Cell
	Rows         []Row
	Enter        any // the action of Enter in the list; nil leaves the attribute out
}

// Row is a row of a table.
type Row struct {
	Class    string
	Act, Arg any // of a click; nil leaves the attribute out
	Cells    []Cell
}

// Cell is a cell of a table. It shows a text, or parts.
type Cell struct {
	Class, Text string
	Tip         any // nil leaves the attribute out
	Parts       []Part
	Sort        any // of a head: "ascending" or "descending", else nil
}

// Part is a text, a button or a choice in a cell.
type Part struct {
	Kind        string // "text", "button", "choice", of a head "field", "bars": text says what the bars of style show
	Class, Text string
	Tip         any
	Act, Arg    any // of a button
	ID          any // of a button; nil for none
	Expanded    any // of a button that opens something, else nil

	Style        string
	Field, Label string // of a choice or a field: its data-input and its accessible name
	Choices      []protocol.Choice
}

// Text is a text in a cell; tip is its tooltip, or "".
func Text(class, text, tip string) Part {
	return Part{Kind: "text", Class: class, Text: text, Tip: words.Hint(tip, "")}
}

// Button is a button in a cell: its action, and the argument.
func Button(class, text, act string, arg any) Part {
	return Part{Kind: "button", Class: "button " + class, Text: text, Act: act, Arg: arg}
}

// Address is an address in a cell of a Table.
func Address(text, points string) Part {
	if words.AddressAct(text) == nil || !strings.HasPrefix(text, "0x") { // other numbers are counts
		return Text("", text, "")
	}
	return Part{Kind: "button", Class: "address", Text: text, Tip: words.AddressTitle(points), Act: "address", Arg: text}
}

func (t *Table) window() rows.Page {
	p, _ := t.List.Here()
	return p
}

// SetHeads sets the columns.
func (t *Table) SetHeads(heads []rows.Head) {
	t.tracks, t.Heads = rows.Tracks(heads), Heads(heads)
}

// Heads makes the cells of a table's head. A column's class is not theirs, but for the name.
func Heads(heads []rows.Head) []Cell {
	cells := make([]Cell, len(heads))
	for i := range heads {
		h := &heads[i]
		name, _, _ := strings.Cut(h.Class, " ")
		cells[i] = Cell{Class: "cell head-" + name + h.Hidden(), Text: h.Title}
	}
	return cells
}

// Cells makes the cells of a row.
func Cells[R any](row R, columns []rows.Column[R]) []Cell {
	return makeCells(rows.Heads(columns), func(column int) (text, tip string) { return textOf(row, &columns[column]) })
}

// makeCells makes the cells of a row from their texts and tooltips. It is no generic function, since the program has one
// of those for each type of rows.
func makeCells(heads []rows.Head, texts func(column int) (text, tip string)) []Cell {
	cells := make([]Cell, len(heads))
	for i := range heads {
		text, tip := texts(i)
		cells[i] = Cell{Class: strings.TrimSpace("cell "+heads[i].Class) + heads[i].Hidden(), Text: text, Tip: words.Hint(tip, "")}
	}
	return cells
}

// textOf returns the text of a cell and its tooltip, "" for none.
func textOf[R any](row R, c *rows.Column[R]) (text, tip string) {
	if c.Tip != nil {
		tip = c.Tip(row)
	}
	return c.Text(row), tip
}

// ColumnOf returns the number of the column whose cells have a class.
func ColumnOf[R any](columns []rows.Column[R], class string) int {
	for i := range columns {
		if columns[i].Class == class {
			return i
		}
	}
	return -1
}

// Fill fills a table with the rows of a list. each completes a row.
func Fill[R any](t *Table, list []R, columns []rows.Column[R], each func(row R, to *Row)) {
	t.fillCells(len(list), rows.Heads(columns), func(i, column int) (text, tip string) { return textOf(list[i], &columns[column]) },
		func(i int, to *Row) { each(list[i], to) })
}

// fillCells fills a table with n rows.
func (t *Table) fillCells(n int, heads []rows.Head, texts func(i, column int) (text, tip string), each func(i int, to *Row)) {
	t.SetHeads(heads)
	t.Rows = t.Rows[:0]
	for i := range n {
		to := Row{Class: "row", Cells: makeCells(heads, func(column int) (string, string) { return texts(i, column) })}
		each(i, &to)
		t.Rows = append(t.Rows, to)
	}
}
