package app

import (
	"strconv"

	"github.com/crashpane/crashpane/web/protocol"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// findingsShown is how many findings are drawn at first, and how many more each time.
const findingsShown = 12

// Findings lists what makes stacks incomplete or unreliable, and what would help. They come with
// the summary.
type Findings struct {
	pane
	shown int // how many are drawn
}

func newFindings(t pane) Tab { return &Findings{t, findingsShown} }

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

// goTo shows a finding.
func (z *Findings) goTo(row int) {
	z.page.Panel.show("findings", false)
	z.shown = max(z.shown, row+1)
}

func (z *Findings) actions() []action {
	return []action{{id: "more-findings", do: func(*Page, string) { z.shown += findingsShown }}}
}

func (z *Findings) forget() { z.shown = findingsShown }

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
	return "Show " + rows.Number(min(left, findingsShown)) + " of " + rows.Number(left) + " more"
}

func findingLink(f rows.FindingRow) string {
	if f.Assign {
		return "Assign symbols to " + f.ModuleName
	}
	return f.ModuleName
}

// findingWords returns a finding without its title.
func findingWords(f rows.FindingRow) string {
	if f.Suggestion == "" {
		return f.Text
	}
	return f.Text + ". " + f.Suggestion
}

func threadLink(f rows.FindingRow) string { return "Thread " + strconv.Itoa(f.Thread) }
