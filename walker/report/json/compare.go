package jsonreport

import (
	"io"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteComparison writes a comparison as an object, without a newline at the end. Keys are in
// alphabetical order. See report.Comparison for the meaning.
//
//	first_row   number of the first of the rows, if they are a window (Options.From, Count): then partings and trust are those of its frames
//	partings[]  {row, ways[{attempts[], next (row or null), origin, rule, source, stop (kind or null), walks[]}]}
//	rows[]      {at[frame number or null, for each walk], function, module, pc, same, sp}
//	thread      number
//	walks[]     {frame_count, policy, stop{attempts[], detail, kind}, trust[] of each frame}
func WriteComparison(w io.Writer, r *report.Report, c *report.Comparison, opt Options) error {
	return write(w, r, opt, func(p *printer) {
		from, to := 0, len(c.Rows)
		trust := make([][]report.Frame, len(c.Walks)) // the frames of each walk whose trust is written
		for j := range c.Walks {
			trust[j] = c.Walks[j].Frames
		}
		if opt.Count > 0 {
			from = min(max(opt.From, 0), to)
			to = min(from+opt.Count, to)
			for j := range c.Walks {
				first, after := 0, 0
				for i := from; i < to; i++ {
					if f := c.Rows[i].At[j]; f >= 0 && after == 0 {
						first, after = f, f+1
					} else if f >= 0 {
						after = f + 1
					}
				}
				trust[j] = trust[j][first:after]
			}
			p.Int("first_row", int64(from))
		}
		var partings []*report.Divergence
		for i := range c.Divergences {
			if g := &c.Divergences[i]; g.Row >= from && g.Row < to {
				partings = append(partings, g)
			}
		}
		p.Objects("partings", len(partings), func(i int) {
			g := partings[i]
			p.Int("row", int64(g.Row))
			p.Objects("ways", len(g.Branches), func(j int) { p.branch(c, &g.Branches[j]) })
		})
		p.Objects("rows", to-from, func(i int) {
			row := &c.Rows[from+i]
			f := c.Frame(from + i)
			p.List("at", len(row.At), func(j int) {
				if row.At[j] < 0 {
					p.PutNull()
				} else {
					p.PutInt(int64(row.At[j]))
				}
			})
			p.frameFunction(f)
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
			p.List("trust", len(trust[i]), func(j int) { p.PutString(trust[i][j].Trust) })
		})
	})
}

// branch writes how some of the walks went on from a frame at which walks part.
func (p *printer) branch(c *report.Comparison, w *report.Branch) {
	p.attempts(w.Attempts)
	p.IntOrNull("next", int64(w.Next), w.Next >= 0)
	p.StrOrNull("origin", w.Origin)
	p.StrOrNull("rule", w.Rule)
	p.StrOrNull("source", w.Source)
	p.StrOrNull("stop", w.Stop.Kind)
	p.List("walks", len(w.Walks), func(i int) { p.PutString(c.Walks[w.Walks[i]].Policy) })
}
