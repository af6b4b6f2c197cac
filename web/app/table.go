package app

import (
	"slices"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// Table is the component of a list that is drawn as a table. Its zone fills it before each drawing
// by a table of columns (rows.Column).
type Table struct {
	list         *List
	label, class string
	empty        string // the text in place of rows
	tracks       string // style: the sizes of the columns
	heads        []cell
	rows         []tableRow
	enter        any // the action of Enter in the list; nil leaves the attribute out
}

// tableRow is a row of a table.
type tableRow struct {
	class    string
	act, arg any // of a click; nil leaves the attribute out
	cells    []cell
}

// cell is a cell of a table. It shows a text, or parts.
type cell struct {
	class, text string
	tip         any // nil leaves the attribute out
	parts       []part
	sort        any // of a head: "ascending" or "descending", else nil
}

// part is a text, a button or a choice in a cell.
type part struct {
	kind        string // "text", "button", "choice", of a head "field", "bars": text says what the bars of style show
	class, text string
	tip         any
	act, arg    any // of a button
	id          any // of a button; nil for none
	expanded    any // of a button that opens something, else nil

	style        string
	field, label string // of a choice or a field: its data-input and its accessible name
	choices      []protocol.Choice
}

func textPart(class, text, tip string) part {
	return part{kind: "text", class: class, text: text, tip: hint(tip, "")}
}

func buttonPart(class, text, act string, arg any) part {
	return part{kind: "button", class: "button " + class, text: text, act: act, arg: arg}
}

func (t *Table) window() rows.Page {
	p, _ := t.list.here()
	return p
}

// setHeads sets the columns.
func (t *Table) setHeads(heads []rows.Head) {
	t.tracks, t.heads = rows.Tracks(heads), headCells(heads)
}

// headCells makes the cells of a table's head. A column's class is not theirs, but for the name.
func headCells(heads []rows.Head) []cell {
	cells := make([]cell, len(heads))
	for i := range heads {
		h := &heads[i]
		name, _, _ := strings.Cut(h.Class, " ")
		cells[i] = cell{class: "cell head-" + name + h.Hidden(), text: h.Title}
	}
	return cells
}

// cellsOf makes the cells of a row.
func cellsOf[R any](row R, columns []rows.Column[R]) []cell {
	cells := make([]cell, len(columns))
	for i := range columns {
		c := &columns[i]
		cells[i] = cell{class: strings.TrimSpace("cell "+c.Class) + c.Hidden(), text: c.Text(row)}
		if c.Tip != nil {
			cells[i].tip = hint(c.Tip(row), "")
		}
	}
	return cells
}

// columnOf returns the number of the column whose cells have a class.
func columnOf[R any](columns []rows.Column[R], class string) int {
	return slices.IndexFunc(columns, func(c rows.Column[R]) bool { return c.Class == class })
}

// fill fills a table with the rows of a list. each completes a row.
func fill[R any](t *Table, list []R, columns []rows.Column[R], each func(row R, to *tableRow)) {
	t.setHeads(rows.Heads(columns))
	t.rows = t.rows[:0]
	for _, row := range list {
		to := tableRow{class: "row", cells: cellsOf(row, columns)}
		each(row, &to)
		t.rows = append(t.rows, to)
	}
}
