package app

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/state"
	"github.com/crashpane/crashpane/web/app/tabs"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Verdict is the headline: what happened, where, and how reliable the stack is.
type Verdict struct{ page *Page }

// Want implements Zone.
func (z *Verdict) Want(q *protocol.Query) { q.Summary = true }

// Apply implements Zone.
func (z *Verdict) Apply(r *protocol.QueryResult) {
	if r.Summary == nil {
		return
	}
	if z.page.Summary == nil {
		z.page.Host.Focus("stack")
	}
	z.page.Summary = r.Summary
	if s := r.Summary.Signature; s != z.page.State.Signature && len(s) <= state.MaxText {
		z.page.State.Signature = s
		z.page.Address.refresh()
	}
	z.page.Host.SetTitle(z.page.Menu.documentTitle())
	z.page.Reading.fragile = z.page.Reading.fragile && z.page.Reading.replay
}

// addressTitle is the tooltip of the crash's address. What it points to is known with the registers.
func (z *Verdict) addressTitle() string {
	if d := z.page.Frame.Detail; d != nil {
		return words.AddressTitle(d.Fault)
	}
	return words.AddressTitle("")
}

// finding returns the most important finding about the selected thread or about all, and its
// number, or -1.
func (z *Verdict) finding() (rows.FindingRow, int) {
	if z.page.Summary != nil {
		for i, f := range z.page.Summary.Findings {
			if !f.Minor && (f.Thread < 0 || f.Thread == z.page.State.Thread) {
				return f, i
			}
		}
	}
	return rows.FindingRow{}, -1
}

// hasFinding is false while symbols are being read, because most findings are about missing ones.
func (z *Verdict) hasFinding() bool {
	_, i := z.finding()
	return i >= 0 && z.page.Reading.symbolsText() == ""
}

// findingAssigns reports whether the user can resolve the finding by assigning symbols;
// findingModule is the module.
func (z *Verdict) findingAssigns() bool {
	f, _ := z.finding()
	return f.Assign
}

func (z *Verdict) findingModule() int {
	f, _ := z.finding()
	return f.Module
}

// findingAdds reports whether the user can resolve the finding by adding files.
func (z *Verdict) findingAdds() bool {
	f, _ := z.finding()
	return f.Adds
}

func (z *Verdict) findingTitle() string {
	f, _ := z.finding()
	return f.Title
}

func (z *Verdict) findingText() string {
	f, _ := z.finding()
	return tabs.FindingWords(f)
}

func (z *Verdict) findingIndex() string {
	_, i := z.finding()
	return strconv.Itoa(i)
}

// findingsText is the text of the button that opens the Findings tab.
func (z *Verdict) findingsText() string {
	if z.page.Summary == nil {
		return ""
	}
	return "Findings: " + rows.Number(len(z.page.Summary.Findings))
}

func (z *Verdict) problemText() string {
	return words.Count(z.page.Summary.Errors, "problem") + " with this dump"
}

func (z *Verdict) missingText() string {
	return "Missing symbols: " + rows.Number(z.page.Summary.Missing)
}

// hasMessage reports whether the program said something of its end, and message is that.
func (z *Verdict) hasMessage() bool { return z.page.Summary != nil && len(z.page.Summary.Messages) > 0 }

func (z *Verdict) message() rows.Fact {
	if !z.hasMessage() {
		return rows.Fact{}
	}
	return z.page.Summary.Messages[0]
}

// copyFinding copies the finding of a number, or all of them for "all".
func (z *Verdict) copyFinding(arg string) {
	if z.page.Summary == nil {
		return
	}
	if arg == "all" {
		var b strings.Builder
		for _, f := range z.page.Summary.Findings {
			b.WriteString(rows.FindingText(f) + "\n")
		}
		z.page.Notices.Copy(b.String(), "Findings copied")
		return
	}
	if n, err := strconv.Atoi(arg); err == nil && n >= 0 && n < len(z.page.Summary.Findings) {
		z.page.Notices.Copy(rows.FindingText(z.page.Summary.Findings[n]), "Finding copied")
	}
}

func (z *Verdict) copySignature() {
	if z.page.Summary != nil {
		z.page.Notices.Copy(z.page.Summary.Signature, "Signature copied")
	}
}
