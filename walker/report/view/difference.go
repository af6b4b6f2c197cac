package view

import (
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// Difference returns a window of the comparison with another dump.
func (v *View) Difference(other *View, from, n int) rows.DifferencePage {
	out := rows.DifferencePage{Rows: []rows.DifferenceRow{}}
	if other == nil {
		return out
	}
	if v.differs.to != other.r {
		v.differs.to, v.differs.all = other.r, report.Differ(v.r, other.r, v.full)
	}
	d := v.differs.all
	lo, hi := window(len(d.Rows), from, n)
	out.From, out.Total = lo, len(d.Rows)
	for i := lo; i < hi; i++ {
		r := &d.Rows[i]
		out.Rows = append(out.Rows, rows.DifferenceRow{Index: i, Part: r.Part, Key: rows.Clean(r.Key), A: rows.Clean(r.A), B: rows.Clean(r.B), Same: r.Same, FirstOther: r.First})
	}
	out.Title = "The stacks are in the same functions"
	if d.FirstFrame >= 0 {
		out.Title = "The stacks differ from frame " + rows.Number(d.FirstFrame) + " on"
	}
	out.Title += " · " + count(d.SameModules, "module is", "modules are") + " the same"
	return out
}
