package text

import (
	"io"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteDifference prints two dumps side by side. "*" marks what differs.
//
//	crash
//	  Reason           SIGSEGV / SEGV_MAPERR        SIGSEGV / SEGV_MAPERR
//	stack
//	* 0                parse in app                 next in app
func WriteDifference(w io.Writer, _ *report.Report, d *report.Difference) error {
	const key, side = 24, 48
	b := newPrinter(w)
	part := ""
	for i := range d.Rows {
		row := &d.Rows[i]
		if row.Part != part {
			part = row.Part
			b.printf("%s\n", part)
		}
		mark := "*"
		if row.Same {
			mark = " "
		}
		b.printf("%s %s  %s  %s\n", mark, pad(short(row.Key, key), key), pad(short(row.A, side), side), short(row.B, side))
	}
	if d.FirstFrame >= 0 {
		b.printf("\nThe stacks differ from frame %d on.\n", d.FirstFrame)
	} else {
		b.printf("\nThe stacks are in the same functions.\n")
	}
	b.printf("%d modules are the same.\n", d.SameModules)
	return b.flush()
}
