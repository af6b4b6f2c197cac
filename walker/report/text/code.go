package text

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// WriteCode prints instructions, each source line before its first one:
//
//	main + 0x1f, code of the dump's memory
//
//	app.c:12
//	     0x401126  55                       push rbp
//	app.c:13
//	 ->  0x401127  8b 00                    mov eax, dword ptr [rax]   ; rax 0x0
//	     0x401129  e8 d2 fe ff ff           call 0x401000              ; helper
func WriteCode(w io.Writer, r *report.Report, c *report.Code) error {
	b := newPrinter(w)
	title := cmp.Or(c.Place.Text(r, report.Name.Shown), "outside of every module")
	from := "the dump's memory"
	if c.From != "" {
		from = visible.Text(c.From)
	}
	switch {
	case c.Unread != "" && len(c.Rows) == 0:
		b.printf("%s: %s\n", title, c.Unread)
		if want := c.Wanted(r); want != "" {
			b.printf("add %s\n", visible.Text(want))
		}
		if c.Link != "" {
			b.printf("source at %s\n", visible.Text(c.Link))
		}
		return b.flush()
	case c.Unread != "":
		b.printf("%s, code of %s; %s\n", title, from, c.Unread)
	case c.Guessed:
		b.printf("%s, code of %s; the beginning of a function is not there, so the first instructions may be wrong\n", title, from)
	default:
		b.printf("%s, code of %s\n", title, from)
	}
	if c.Link != "" {
		b.printf("source at %s\n", visible.Text(c.Link))
	}
	for i := range c.Rows {
		row := &c.Rows[i]
		if row.Line != 0 || i == 0 {
			b.printf("\n")
		}
		if row.Starts() && i > 0 {
			b.printf("%s:\n", row.In.Function.Shown())
		}
		if row.Line != 0 {
			line := fmt.Sprintf("%s:%d", visible.Text(rows.BaseName(row.File)), row.Line)
			if row.Source != "" {
				line += "  " + visible.Text(strings.TrimSpace(row.Source))
			}
			b.printf("%s\n", line)
		}
		b.printf("%s\n", instructionLine(r, c, row))
	}
	return b.flush()
}

// instructionLine is an instruction with what is known about it, in columns.
func instructionLine(r *report.Report, c *report.Code, row *report.CodeRow) string {
	mark, text, notes := "   ", row.Text, []string{}
	if row.At {
		mark = "-> "
	}
	if text == "" && c.Unread == "" {
		text = "(not an instruction that is known)"
	}
	if row.HasTarget {
		notes = append(notes, row.Place.Text(r, report.Name.Shown))
	} else if row.Data != 0 {
		notes = append(notes, strings.TrimSpace(fmt.Sprintf("0x%x %s", row.Data, row.Place.Text(r, report.Name.Shown))))
	}
	notes = append(notes, row.Notes()...)
	for _, v := range row.Values {
		notes = append(notes, fmt.Sprintf("%s 0x%x", v.Name, v.Value))
	}
	line := fmt.Sprintf(" %s 0x%x  %-22s  %s", mark, row.Address, fmt.Sprintf("% x", row.Bytes), text)
	if note := strings.Join(notes, ", "); note != "" {
		line = fmt.Sprintf("%-70s ; %s", line, note)
	}
	return strings.TrimRight(line, " ")
}
