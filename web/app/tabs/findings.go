package tabs

import (
	"strconv"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/zone"
	"github.com/crashpane/crashpane/web/protocol"
)

// FindingsShown is how many findings are drawn at first, and how many more each time.
const FindingsShown = 12

// Findings lists what makes stacks incomplete or unreliable, and what would help. They come with
// the summary.
type Findings struct {
	pane
	shown int // how many are drawn
}

// NewFindings makes the part with an id.
func NewFindings(s *zone.Shared, id string) zone.Tab {
	return &Findings{pane{s, id}, FindingsShown}
}

// Want implements Zone.
func (z *Findings) Want(*protocol.Query) {}

// Apply implements Zone.
func (z *Findings) Apply(*protocol.QueryResult) {}

// Count is for Tab.
func (z *Findings) Count() (n int, alert bool) {
	n = len(z.page.Summary.Findings)
	return n, n > 0
}

// Empty is the text in place of rows, or "".
func (z *Findings) Empty() string {
	if len(z.page.Summary.Findings) > 0 {
		return ""
	}
	return "Nothing makes these stacks incomplete or unreliable."
}

// ShowRow shows a finding.
func (z *Findings) ShowRow(row int) {
	z.page.ShowPart("findings")
	z.shown = max(z.shown, row+1)
}

func (z *Findings) Actions() []zone.Action {
	return []zone.Action{{ID: "more-findings", Do: func(string) { z.shown += FindingsShown }}}
}

func (z *Findings) Forget() { z.shown = FindingsShown }

// rows returns the findings that are drawn.
func (z *Findings) rows() []rows.FindingRow {
	all := z.page.Summary.Findings
	return all[:min(len(all), z.shown)]
}

func (z *Findings) more() string {
	left := len(z.page.Summary.Findings) - z.shown
	if left <= 0 {
		return ""
	}
	return "Show " + rows.Number(min(left, FindingsShown)) + " of " + rows.Number(left) + " more"
}

func findingLink(f rows.FindingRow) string {
	if f.Assign {
		return "Assign symbols to " + f.ModuleName
	}
	return f.ModuleName
}

// FindingWords returns a finding without its title.
func FindingWords(f rows.FindingRow) string {
	if f.Suggestion == "" {
		return f.Text
	}
	return f.Text + ". " + f.Suggestion
}

func threadLink(f rows.FindingRow) string { return "Thread " + strconv.Itoa(f.Thread) }
