package text

import (
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/walker/report"
)

// WriteMemory prints memory, 16 bytes in a line.
//
//	0x7ffe0000  01 00 00 00 00 00 00 00  20 20 40 00 00 00 00 00  ........ @......
func WriteMemory(w io.Writer, r *report.Report, m *report.MemoryView) error {
	return writeMemory(w, m, func(b *printer, row *report.MemoryRow) { b.printf("0x%x  %s\n", row.Address, hexRow(row.Bytes)) })
}

// WriteWords prints memory, a word in a line with what it points to.
//
//	0x7ffe0008  0x0000000000402020  main + 0x20
func WriteWords(w io.Writer, r *report.Report, m *report.MemoryView) error {
	name := report.Name.Shown
	return writeMemory(w, m, func(b *printer, row *report.MemoryRow) {
		for _, one := range row.Words {
			b.printf("%s\n", strings.TrimRight(fmt.Sprintf("0x%x  0x%0*x  %s", one.Address, 2*m.WordSize, one.Value, visible.Text(one.Points.Words(r, name))), " "))
		}
	})
}

// writeMemory prints rows, and where they are from.
func writeMemory(w io.Writer, m *report.MemoryView, row func(*printer, *report.MemoryRow)) error {
	b := newPrinter(w)
	from, missing := "dump", false
	for i := range m.Rows {
		r := &m.Rows[i]
		if len(r.Bytes) == 0 {
			if !missing {
				b.printf("0x%x  neither the dump nor a program that was added has this memory\n", r.Address)
			}
			missing = true
			continue
		}
		if missing = false; r.From != from {
			from = r.From
			if from == "dump" {
				b.printf("from the dump:\n")
			} else {
				b.printf("from %s:\n", visible.Text(report.BaseName(from)))
			}
		}
		row(b, r)
	}
	return b.flush()
}

// hexRow writes up to 16 bytes as numbers and as text.
func hexRow(p []byte) string {
	var hex, chars strings.Builder
	for i := range 16 {
		if i == 8 {
			hex.WriteByte(' ')
		}
		if i >= len(p) {
			hex.WriteString("   ")
			continue
		}
		fmt.Fprintf(&hex, "%02x ", p[i])
		if p[i] < ' ' || p[i] > '~' {
			chars.WriteByte('.')
		} else {
			chars.WriteByte(p[i])
		}
	}
	return hex.String() + " " + chars.String()
}
