package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// shortWord returns a word for a trust, short enough for a column.
func shortWord(trust string) string {
	switch trust {
	case "frame_pointer":
		return "fp"
	case "cfi_scan":
		return "rule+guess"
	case "prewalked":
		return "shadow"
	}
	word, _ := rows.Word(trust)
	return word
}

func policyWhat(name string) string {
	for _, p := range rows.Policies {
		if p.Name == name {
			return p.What
		}
	}
	return name
}

// oneSource reports whether a policy uses a single source.
func oneSource(name string) bool { return name == "cfi" || name == "fp" || name == "scan" }

// agreed counts the walks that use all sources, and those of them that have a row.
func agreed(c *report.Comparison, row int) (have, all int) {
	for w, at := range c.Rows[row].At {
		if !oneSource(c.Walks[w].Policy) {
			all++
			if at >= 0 {
				have++
			}
		}
	}
	return have, all
}

// Compare makes a window of a comparison. selected is a row's number or -1.
//
// In order: the columns; where walks diverge; the counts; the window of rows; what followed the
// selected row. A selected row that shows a divergence gets the branches of the row before it,
// where the walks still agreed.
func (v *View) Compare(c *report.Comparison, from, n, selected int) rows.ComparePage {
	out := rows.ComparePage{Selected: -1, Walks: []rows.CompareWalk{}, Rows: []rows.CompareRow{}, Branches: []rows.CompareBranch{}}
	for i := range c.Walks {
		w := &c.Walks[i]
		out.Walks = append(out.Walks, rows.CompareWalk{Policy: rows.Clean(w.Policy), What: policyWhat(w.Policy), Frames: len(w.Frames),
			Stop: stopSentence(&report.Thread{Stop: w.Stop})})
	}
	// A divergence shows at the rows after it (leads); divergences has the rows before it, which
	// the walks share.
	divergences, leads := map[int]*report.Divergence{}, map[int]*report.Divergence{}
	for i := range c.Divergences {
		p := &c.Divergences[i]
		if !p.Differs() {
			continue
		}
		divergences[p.Row] = p
		for k := range p.Branches {
			leads[p.Branches[k].Next] = p
		}
	}
	for i := range c.Rows {
		if have, all := agreed(c, i); have > 0 {
			out.Found++
			if have == all {
				out.Agreed++
			}
		}
	}
	lo, hi := window(len(c.Rows), from, n)
	out.From, out.Total = lo, len(c.Rows)
	for i := lo; i < hi; i++ {
		out.Rows = append(out.Rows, v.compareRow(c, i, leads[i] != nil))
	}
	if selected >= 0 && selected < len(c.Rows) {
		p := divergences[selected]
		if q := leads[selected]; q != nil && v.compareRow(c, selected, true).Diverges {
			p = q
		}
		from := selected
		if p != nil {
			from = p.Row
		}
		out.Selected, out.Title = selected, v.compareRow(c, from, false).Function
		v.branches(c, p, &out)
	}
	return out
}

// compareRow makes row i of a comparison. afterDivergence says that walks part above it.
func (v *View) compareRow(c *report.Comparison, i int, afterDivergence bool) rows.CompareRow {
	f := c.Frame(i)
	in := v.frameRow(f, 0)
	if len(f.Inlines) > 0 {
		// Show the innermost inlined call: it is the code that was running. The stack has all of
		// them.
		in.Function, in.Full, in.NoSymbol = rows.Fold(v.full(f.Inlines[0].Function)), v.full(f.Inlines[0].Function), false
	}
	row := rows.CompareRow{Index: i, Function: in.Function, Full: in.Full, NoSymbol: in.NoSymbol, SP: v.frameHex(f, c.Rows[i].SP), Address: in.Address, Cells: []rows.CompareCell{}}
	have, all := agreed(c, i)
	row.Same = have == 0 || have == all
	row.Diverges = afterDivergence && !c.Rows[i].Same
	for w, at := range c.Rows[i].At {
		cell := rows.CompareCell{}
		if at >= 0 {
			cell.Trust = c.Walks[w].Frames[at].Trust
			cell.Word = shortWord(cell.Trust)
		}
		row.Cells = append(row.Cells, cell)
	}
	return row
}

// branches sets what the walks that have the selected row found after it.
func (v *View) branches(c *report.Comparison, p *report.Divergence, out *rows.ComparePage) {
	if p == nil {
		return
	}
	for i := range p.Branches {
		w := &p.Branches[i]
		names := make([]string, 0, len(w.Walks))
		for _, k := range w.Walks {
			names = append(names, rows.Clean(c.Walks[k].Policy))
		}
		branch := rows.CompareBranch{Walks: strings.Join(names, ", "), Attempts: attempts(w.Attempts)}
		if w.Next < 0 {
			branch.Text = stopSentence(&report.Thread{Stop: w.Stop})
		} else {
			by := rows.SourceWord(w.Source)
			if o := rows.Clean(w.Origin); o != "" && !strings.Contains(strings.ToLower(o), strings.ToLower(by)) {
				by += ", " + o
			}
			next := v.compareRow(c, w.Next, false)
			branch.Text = fmt.Sprintf("%s → %s", by, next.Function)
			branch.Rule = strings.ReplaceAll(rows.Clean(w.Rule), ", ", "\n")
		}
		out.Branches = append(out.Branches, branch)
	}
}
