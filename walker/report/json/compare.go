package jsonreport

import (
	"io"
	"sort"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteComparison prints a comparison as an object, without a newline at the end. Keys are in alphabetical order.
//
//	partings[]  {row, ways[{attempts[], next (row or null), origin, rule, source, stop (kind or null), walks[]}]}
//	rows[]      {at[frame number or null, for each walk], function, module, pc, same, sp}
//	thread      number
//	walks[]     {frame_count, policy, stop{attempts[], detail, kind}, trust[] of each frame}
func WriteComparison(w io.Writer, r *report.Report, c *report.Comparison, opt Options) error {
	return write(w, r, opt, func(p *printer) {
		p.list("partings", len(c.Partings), func(i int) {
			g := &c.Partings[i]
			p.member(func() {
				p.int("row", int64(g.Row))
				p.list("ways", len(g.Ways), func(j int) { p.member(func() { p.way(c, &g.Ways[j]) }) })
			})
		})
		p.list("rows", len(c.Rows), func(i int) {
			row := &c.Rows[i]
			f := c.Frame(i)
			p.member(func() {
				p.list("at", len(row.At), func(j int) {
					if row.At[j] < 0 {
						p.b.text("null")
					} else {
						p.number(row.At[j])
					}
				})
				p.functionOrNull("function", f.Function)
				p.moduleOrNull("module", f.Module)
				p.hex("pc", row.PC)
				p.bool("same", row.Same)
				p.hex("sp", row.SP)
			})
		})
		p.int("thread", int64(c.Thread))
		p.list("walks", len(c.Walks), func(i int) {
			walk := &c.Walks[i]
			p.member(func() {
				p.int("frame_count", int64(len(walk.Frames)))
				p.str("policy", walk.Policy)
				p.object("stop", func() {
					p.attempts(walk.Stop.Attempts)
					p.str("detail", walk.Stop.Detail)
					p.str("kind", walk.Stop.Kind)
				})
				p.list("trust", len(walk.Frames), func(j int) { p.quote(walk.Frames[j].Trust) })
			})
		})
	})
}

func (p *printer) way(c *report.Comparison, w *report.Way) {
	p.attempts(w.Attempts)
	if w.Next < 0 {
		p.null("next")
	} else {
		p.int("next", int64(w.Next))
	}
	p.strOrNull("origin", w.Origin)
	p.strOrNull("rule", w.Rule)
	p.strOrNull("source", w.Source)
	p.strOrNull("stop", w.Stop.Kind)
	p.list("walks", len(w.Walks), func(i int) { p.quote(c.Walks[w.Walks[i]].Policy) })
}

// byName are the places of registers in the order of their names.
func byName(regs []report.RegisterChange) []int {
	order := make([]int, len(regs))
	for i := range order {
		order[i] = i
	}
	// Not slices.SortFunc: each type that it sorts is kilobytes of program for the page to fetch.
	sort.Slice(order, func(i, j int) bool { return regs[order[i]].Name < regs[order[j]].Name })
	return order
}
