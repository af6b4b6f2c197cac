package tabs

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Difference shows the open dump and another one side by side.
type Difference struct {
	pane
	rows.DifferencePage
	other int // dump; -1: the one after the open one
	list  table.List
	table table.Table
}

// NewDifference makes the part with an id.
func NewDifference(s *zone.Shared, id string) zone.Tab {
	z := &Difference{pane: pane{s, id}, other: -1}
	z.list = table.List{ID: "dumps", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.table = table.Table{List: &z.list, Label: "Two dumps", Class: "table differences"}
	return z
}

// with returns the other dump, and the dumps among which the user chooses it.
func (z *Difference) with() (other int, choices []protocol.Choice) {
	other = -1
	open, dumps := z.page.Dumps.Open, z.page.Dumps.List
	for i, d := range dumps {
		if d.Dump == open {
			continue
		}
		before := i > 0 && dumps[i-1].Dump == open
		if d.Dump == z.other || other < 0 || other != z.other && before {
			other = d.Dump
		}
		if len(choices) < zone.MaxDumps {
			choices = append(choices, protocol.Choice{Item: d.Dump, Name: d.Name})
		}
	}
	return other, choices
}

// Choose compares with another dump.
func (z *Difference) Choose(dump string) {
	if n, err := strconv.Atoi(dump); err == nil {
		z.other, z.list.Visible.From = n, 0
		z.page.Host.Reveal("dumps", 0)
		z.page.Screen.Ask(z)
	}
}

// Want implements Zone.
func (z *Difference) Want(q *protocol.Query) {
	other, _ := z.with()
	q.Overview.Difference = &protocol.DifferenceQuery{Span: z.list.Span(), Other: other}
}

// Hidden implements Zone.
func (z *Difference) Hidden() bool { return !z.open() }

// Apply implements Zone.
func (z *Difference) Apply(r *protocol.QueryResult) {
	if r.Overview.Difference != nil {
		z.DifferencePage = *r.Overview.Difference
	}
}

// Disabled is for Tab.
func (z *Difference) Disabled() bool { return z.page.Summary != nil && len(z.page.Dumps.List) < 2 }

// List is for Tab.
func (z *Difference) List() *table.List { return &z.list }

func (z *Difference) Forget() { z.DifferencePage, z.other = rows.DifferencePage{}, -1 }

// Compute implements vugu's callback before each drawing.
func (z *Difference) Compute() {
	table.Fill(&z.table, z.Rows, rows.DifferenceColumns, func(r rows.DifferenceRow, to *table.Row) {
		if !r.Same {
			to.Class += " differs"
		}
		if r.FirstOther {
			to.Class += " parts"
		}
	})
	other, choices := z.with()
	last := len(z.table.Heads) - 1
	for _, d := range z.page.Dumps.List {
		if d.Dump == z.page.Dumps.Open {
			z.table.Heads[last-1].Text = rows.Clean(d.Name)
		}
		if d.Dump == other {
			z.table.Heads[last].Text = rows.Clean(d.Name)
		}
	}
	if len(choices) > 1 {
		z.table.Heads[last].Parts = []table.Part{{Kind: "choice", Class: "field small", Text: z.table.Heads[last].Text, Field: "other-dump", Label: "The other dump", Choices: choices}}
	}
	z.table.Empty = ""
	if z.Total == 0 {
		z.table.Empty = "Open a second dump to see both side by side."
	}
}
