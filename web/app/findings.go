package app

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// Findings: what makes stacks short or uncertain, and the walks of a thread side by side.

// findingsShown is how many findings are drawn at once.
const findingsShown = 12

// findings are those that are shown.
func (p *Page) findings() []view.FindingRow {
	all := p.Summary.Findings
	return all[:min(len(all), p.Findings)]
}

func (p *Page) moreFindings() string {
	left := len(p.Summary.Findings) - p.Findings
	if left <= 0 {
		return ""
	}
	return "Show " + view.Number(min(left, findingsShown)) + " more of " + view.Number(left)
}

// finding is the most important one that concerns the selected thread or all, and its number; -1 if there is none.
func (p *Page) finding() (view.FindingRow, int) {
	if p.Summary != nil {
		for i, f := range p.Summary.Findings {
			if f.Thread < 0 || f.Thread == p.State.Thread {
				return f, i
			}
		}
	}
	return view.FindingRow{}, -1
}

// hasFinding is false while symbols are read: most findings are that they are not there.
func (p *Page) hasFinding() bool {
	_, i := p.finding()
	return i >= 0 && p.symbolsText() == ""
}

// findingAssigns reports whether the finding asks for symbols that must be assigned, and findingModule is to which module.
func (p *Page) findingAssigns() bool {
	f, _ := p.finding()
	return f.Assign
}

func (p *Page) findingModule() int {
	f, _ := p.finding()
	return f.Module
}

// findingAdds reports whether the finding asks for files that are to be added.
func (p *Page) findingAdds() bool {
	f, _ := p.finding()
	return f.Adds
}

func findingLink(f view.FindingRow) string {
	if f.Assign {
		return "Assign symbols to " + f.ModuleName
	}
	return f.ModuleName
}

func (p *Page) findingTitle() string {
	f, _ := p.finding()
	return f.Title
}

func (p *Page) findingText() string {
	f, _ := p.finding()
	return findingWords(f)
}

// findingWords is a finding without its title.
func findingWords(f view.FindingRow) string {
	if f.Suggestion == "" {
		return f.Text
	}
	return f.Text + ". " + f.Suggestion
}

func (p *Page) findingIndex() string {
	_, i := p.finding()
	return strconv.Itoa(i)
}

// findingsText says how many there are besides.
func (p *Page) findingsText() string {
	if p.Summary == nil {
		return ""
	}
	return "Findings: " + view.Number(len(p.Summary.Findings))
}

// copyFinding copies one, or all of them for "all".
func (p *Page) copyFinding(arg string) {
	if p.Summary == nil {
		return
	}
	if arg == "all" {
		var b strings.Builder
		for _, f := range p.Summary.Findings {
			b.WriteString(view.FindingText(f) + "\n")
		}
		p.copy(b.String(), "Findings copied")
		return
	}
	if n, err := strconv.Atoi(arg); err == nil && n >= 0 && n < len(p.Summary.Findings) {
		p.copy(view.FindingText(p.Summary.Findings[n]), "Finding copied")
	}
}

func threadLink(f view.FindingRow) string { return "Thread " + strconv.Itoa(f.Thread) }

// Comparison

// selectCompared shows how the walks went on from a row.
func (p *Page) selectCompared(row int) {
	if p.Compared == row {
		row = -1
	}
	p.Compared = row
	p.ask(partCompare)
}

// forgetCompared is for another thread.
func (p *Page) forgetCompared() {
	p.Compared = -1
	p.visible["compare"] = protocol.Span{Count: max(8, p.visible["compare"].Count)}
	p.Host.Reveal("compare", 0)
}

func (p *Page) compareRowClass(r view.CompareRow) string {
	class := "row choice-row"
	if !r.Same {
		class += " differs"
	}
	if r.Parts {
		class += " parts"
	}
	if r.NoSymbol {
		class += " nosym"
	}
	if r.Index == p.Compared {
		class += " selected"
	}
	return class
}

// compareCell is the class of a cell: the shape of its trust.
func compareCell(c view.CompareCell) string {
	if c.Word == "" {
		return "cell trust absent"
	}
	return "cell trust " + c.Trust
}

func compareWord(c view.CompareCell) string {
	if c.Word == "" {
		return "·"
	}
	return c.Word
}

func (p *Page) compareTitle() string {
	switch c := &p.Compare; {
	case p.Compare.Problem != "":
		return p.Compare.Problem
	case p.Compare.Total == 0:
		return ""
	case c.Agreed == c.Found:
		return "Breakpad, rust-minidump and best find the same " + frameCount(c.Found)
	default:
		return "Breakpad, rust-minidump and best agree on " + view.Number(c.Agreed) + " of " + frameCount(c.Found)
	}
}

func (p *Page) comparedTitle() string { return "From " + p.Compare.Title + " they go on" }

// stopsText says where each walk ends, a line each.
func (p *Page) stopsText() string {
	lines := make([]string, 0, len(p.Compare.Walks))
	for _, w := range p.Compare.Walks {
		stop := strings.TrimPrefix(strings.TrimPrefix(w.Stop, "The walk stopped: "), "End of the stack: ")
		lines = append(lines, w.Policy+", "+frameCount(w.Frames)+": "+stop)
	}
	return joinLines(lines)
}
