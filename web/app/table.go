package app

import (
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

// addressPart is an address in a cell of a Table.
func addressPart(text, points string) part {
	if addressAct(text) == nil || !strings.HasPrefix(text, "0x") { // other numbers are counts
		return textPart("", text, "")
	}
	return part{kind: "button", class: "address", text: text, tip: addressTitle(points), act: "address", arg: text}
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
	return makeCells(rows.Heads(columns), func(column int) (text, tip string) { return textOf(row, &columns[column]) })
}

// makeCells makes the cells of a row from their texts and tooltips. It is no generic function, since the program has one
// of those for each type of rows.
func makeCells(heads []rows.Head, words func(column int) (text, tip string)) []cell {
	cells := make([]cell, len(heads))
	for i := range heads {
		text, tip := words(i)
		cells[i] = cell{class: strings.TrimSpace("cell "+heads[i].Class) + heads[i].Hidden(), text: text, tip: hint(tip, "")}
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

// columnOf returns the number of the column whose cells have a class.
func columnOf[R any](columns []rows.Column[R], class string) int {
	for i := range columns {
		if columns[i].Class == class {
			return i
		}
	}
	return -1
}

// fill fills a table with the rows of a list. each completes a row.
func fill[R any](t *Table, list []R, columns []rows.Column[R], each func(row R, to *tableRow)) {
	t.fillCells(len(list), rows.Heads(columns), func(i, column int) (text, tip string) { return textOf(list[i], &columns[column]) },
		func(i int, to *tableRow) { each(list[i], to) })
}

// fillCells fills a table with n rows.
func (t *Table) fillCells(n int, heads []rows.Head, words func(i, column int) (text, tip string), each func(i int, to *tableRow)) {
	t.setHeads(heads)
	t.rows = t.rows[:0]
	for i := range n {
		to := tableRow{class: "row", cells: makeCells(heads, func(column int) (string, string) { return words(i, column) })}
		each(i, &to)
		t.rows = append(t.rows, to)
	}
}
