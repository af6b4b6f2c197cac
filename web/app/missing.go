package app

import (
	"fmt"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/protocol"
)

// Missing lists the missing symbol files, the most useful first, with the panel of symbol servers
// beside it.
type Missing struct {
	pane
	rows.MissingPage
	Sources *Sources
	asked   []string // the latest request for each of Rows, in words
	list    List
}

func newMissing(t pane) Tab {
	z := &Missing{pane: t, Sources: &Sources{page: t.page}}
	z.list = List{id: "wanted", visible: protocol.Span{Count: 8}, more: overscan, here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
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
	z.asked = z.asked[:0]
	for _, w := range z.Rows {
		z.asked = append(z.asked, z.page.Work.Downloads.askedWord(w))
	}
}

// Count is for Tab.
func (z *Missing) Count() (n int, alert bool) {
	return z.page.Summary.Missing, z.page.Summary.Missing > 0
}

// Empty is for Tab.
func (z *Missing) Empty() string {
	if z.Total > 0 || !z.page.Panel.Listed {
		return ""
	}
	return "No missing symbols: every module on these stacks has its symbols."
}

// List is for Tab.
func (z *Missing) List() *List { return &z.list }

// mismatchText says that the user has added a file of the right name with another id; mismatchTitle
// compares the two.
func mismatchText(w rows.MissingRow) string {
	if w.OtherFile == "" {
		return ""
	}
	return "file has " + w.OtherID
}

func mismatchTitle(w rows.MissingRow) string {
	if w.OtherFile == "" {
		return ""
	}
	return fmt.Sprintf("missing: %s\n%s has %s\n%s", w.DebugID, w.OtherFile, w.OtherID, w.Differs)
}
