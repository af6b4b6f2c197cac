package tabs

import (
	"slices"
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// Merged is the tree of all threads' stacks.
type Merged struct {
	pane
	rows.MergedPage
	toggled []int // branches that are folded or open, other than at first
	row     int   // that the keys have selected, or -1: the one of the selected frame
	list    table.List
}

// NewMerged makes the part with an id.
func NewMerged(s *zone.Shared, id string) zone.Tab {
	z := &Merged{pane: pane{s, id}, row: -1}
	z.list = table.List{ID: "merged", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	return z
}

// Want implements Zone.
func (z *Merged) Want(q *protocol.Query) {
	q.Overview.Merged = &protocol.MergedQuery{Span: z.list.Span(), Toggled: slices.Clone(z.toggled)}
}

// Hidden implements Zone.
func (z *Merged) Hidden() bool { return !z.open() }

// Apply implements Zone.
func (z *Merged) Apply(r *protocol.QueryResult) {
	if r.Overview.Merged == nil {
		return
	}
	if z.page.Screen.Updated(z, r.ReportID) { // other branches have these numbers
		z.toggled, z.row = nil, -1
	}
	z.MergedPage = *r.Overview.Merged
	z.row = min(z.row, z.Total-1)
}

// List is for Tab.
func (z *Merged) List() *table.List { return &z.list }

func (z *Merged) ThreadSelected() { z.row = -1 }

func (z *Merged) Forget() {
	z.MergedPage, z.toggled, z.row = rows.MergedPage{}, nil, -1
	z.list.Visible = protocol.Span{Count: max(8, z.list.Visible.Count)}
}

func (z *Merged) Actions() []zone.Action {
	return []zone.Action{
		{ID: "merged", DoN: func(row int) { z.choose(row) }},
		{ID: "fold-merged", DoN: func(row int) { z.fold(row) }},
	}
}

// at is the number of the current row.
func (z *Merged) at() int {
	if z.row >= 0 {
		return z.row
	}
	return z.Selected
}

// rowAt returns a row of the window, or nil.
func (z *Merged) rowAt(row int) *rows.MergedRow {
	if i := row - z.From; i >= 0 && i < len(z.Rows) {
		return &z.Rows[i]
	}
	return nil
}

// choose selects the thread and the frame of a row.
func (z *Merged) choose(row int) {
	if r := z.rowAt(row); r != nil {
		z.page.SelectThread(r.Thread)
		z.page.SelectFrame(r.Frame, -1)
		z.row = row
		z.page.Screen.Ask(z)
	}
}

// fold folds the branch of a row, or opens it.
func (z *Merged) fold(row int) {
	r := z.rowAt(row)
	if r == nil || !r.Foldable {
		return
	}
	if i := slices.Index(z.toggled, r.Branch); i >= 0 {
		z.toggled = slices.Delete(z.toggled, i, i+1)
	} else {
		z.toggled = append(z.toggled, r.Branch)
	}
	z.row = row
	z.page.Screen.Ask(z)
}

// ListKey is for Page.ListKey: the keys of a tree (WAI-ARIA Authoring Practices, Tree View).
func (z *Merged) ListKey(key string) bool {
	to := z.at()
	r := z.rowAt(to)
	switch key {
	case "ArrowDown":
		to++
	case "ArrowUp":
		to--
	case "Home":
		to = 0
	case "End":
		to = z.Total - 1
	case "ArrowRight", "ArrowLeft":
		if r != nil && r.Foldable && r.Open == (key == "ArrowLeft") {
			z.fold(to)
			return true
		}
		if to++; key == "ArrowLeft" { // to the row that the branch hangs on
			for to -= 2; r != nil && z.rowAt(to) != nil && !(z.rowAt(to).First && (z.rowAt(to).Level < r.Level || !r.First)); {
				to--
			}
		}
	case "Enter":
		z.choose(to)
		return true
	default:
		return false
	}
	z.row = max(0, min(to, z.Total-1))
	z.page.Host.Reveal("merged", z.row)
	if z.rowAt(z.row) == nil {
		z.list.Around(z.row)
		z.page.Screen.Ask(z)
	}
	return true
}

func (z *Merged) class(i int, r rows.MergedRow) string {
	class := "row merged-row choice-row"
	for _, c := range []struct {
		is   bool
		name string
	}{{z.From+i == z.at(), " selected"}, {r.Crashed, " crashed"}, {!r.Open, " closed"}, {r.Hit, " hit"}} {
		if c.is {
			class += c.name
		}
	}
	return class
}

// active is the id of the current row's element, or nil.
func (z *Merged) active() any {
	if z.rowAt(z.at()) == nil {
		return nil
	}
	return words.RowID("merged", z.at())
}

// expanded is the row's aria-expanded: nil if it cannot be folded.
func expanded(r rows.MergedRow) any {
	if !r.Foldable {
		return nil
	}
	return words.Bool(r.Open)
}

func foldMark(r rows.MergedRow) string {
	switch {
	case !r.Foldable:
		return ""
	case r.Open:
		return "▾"
	}
	return "▸"
}

// maxIndent is how many levels are indented: what is deeper is at the last one.
const maxIndent = 24

func indent(r rows.MergedRow) string {
	return "padding-left:" + strconv.Itoa(14*min(r.Level, maxIndent)) + "px"
}

func share(r rows.MergedRow) string { return "width:" + strconv.Itoa(max(2, r.Share)) + "%" }

func (z *Merged) empty() string {
	if z.Total > 0 || z.Title == "" {
		return ""
	}
	return "No thread has a stack."
}
