package jsonreport

import (
	"io"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteDifference writes a comparison of two dumps as an object, without a newline at the end.
//
//	first_differing_frame  number, or null if the stacks are in the same functions
//	rows[]                 {a, b, key, part, same}; a or b is null where a dump does not have it
//	same_modules           number of modules that are the same in both
func WriteDifference(w io.Writer, r *report.Report, d *report.Difference, opt Options) error {
	return write(w, r, opt, func(p *printer) {
		p.IntOrNull("first_differing_frame", int64(d.FirstFrame), d.FirstFrame >= 0)
		p.Objects("rows", len(d.Rows), func(i int) {
			row := &d.Rows[i]
			p.StrOrNull("a", row.A)
			p.StrOrNull("b", row.B)
			p.Str("key", row.Key)
			p.Str("part", row.Part)
			p.Bool("same", row.Same)
		})
		p.Int("same_modules", int64(d.SameModules))
	})
}
