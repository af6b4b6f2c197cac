package jsonreport

import (
	"io"
	"sort"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteComparison writes a comparison as an object, without a newline at the end. Keys are in
// alphabetical order. See report.Comparison for the meaning.
//
//	partings[]  {row, ways[{attempts[], next (row or null), origin, rule, source, stop (kind or null), walks[]}]}
//	rows[]      {at[frame number or null, for each walk], function, module, pc, same, sp}
//	thread      number
//	walks[]     {frame_count, policy, stop{attempts[], detail, kind}, trust[] of each frame}
func WriteComparison(w io.Writer, r *report.Report, c *report.Comparison, opt Options) error {
	return write(w, r, opt, func(p *printer) {
		p.Objects("partings", len(c.Divergences), func(i int) {
			g := &c.Divergences[i]
			p.Int("row", int64(g.Row))
			p.List("ways", len(g.Branches), func(j int) { p.PutObject(func() { p.branch(c, &g.Branches[j]) }) })
		})
		p.Objects("rows", len(c.Rows), func(i int) {
			row := &c.Rows[i]
			f := c.Frame(i)
			p.List("at", len(row.At), func(j int) {
				if row.At[j] < 0 {
					p.PutNull()
				} else {
					p.PutInt(int64(row.At[j]))
				}
			})
			p.function(f.Function)
			p.moduleName(f.Module)
			p.hex("pc", row.PC)
			p.Bool("same", row.Same)
			p.hex("sp", row.SP)
		})
		p.Int("thread", int64(c.Thread))
		p.Objects("walks", len(c.Walks), func(i int) {
			walk := &c.Walks[i]
			p.Int("frame_count", int64(len(walk.Frames)))
			p.Str("policy", walk.Policy)
			p.Object("stop", func() {
				p.attempts(walk.Stop.Attempts)
				p.Str("detail", walk.Stop.Detail)
				p.Str("kind", walk.Stop.Kind)
			})
			p.List("trust", len(walk.Frames), func(j int) { p.PutString(walk.Frames[j].Trust) })
		})
	})
}

// branch writes how some of the walks went on from a frame at which walks part.
func (p *printer) branch(c *report.Comparison, w *report.Branch) {
	p.attempts(w.Attempts)
	if w.Next < 0 {
		p.Null("next")
	} else {
		p.Int("next", int64(w.Next))
	}
	p.StrOrNull("origin", w.Origin)
	p.StrOrNull("rule", w.Rule)
	p.StrOrNull("source", w.Source)
	p.StrOrNull("stop", w.Stop.Kind)
	p.List("walks", len(w.Walks), func(i int) { p.PutString(c.Walks[w.Walks[i]].Policy) })
}

// byName returns the indexes of registers sorted by name.
func byName(regs []report.RegisterChange) []int {
	order := make([]int, len(regs))
	for i := range order {
		order[i] = i
	}
	// sort.Slice and not slices.SortFunc, which adds kilobytes to the page's program for each type
	// that it sorts.
	sort.Slice(order, func(i, j int) bool { return regs[order[i]].Name < regs[order[j]].Name })
	return order
}
