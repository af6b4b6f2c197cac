package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteComparison prints the walks of one thread side by side: a line for each frame and a column
// for each walk, with the trust of the frame in it. "*" marks frames that not all walks have. Then
// it prints where walks diverge, and why.
//
//	  sp                  address                                      cfi       fp        …
//	  0x000000007ffe0000  0x0000000000401010  crash_me + 0x10, in app  context   context   …
//	* 0x000000007ffe0010  0x000000000040201f  main + 0x1f, in app      cfi       ·         …
//	  frames                                                           2         1         …
func WriteComparison(w io.Writer, r *report.Report, c *report.Comparison) error {
	b := newPrinter(w)
	b.printf("Thread %s\n", threadTitle(r, &r.Threads[c.Thread]))
	title := func(row int) string { return frameTitle(r, c.Frame(row)) } // not kept: names may be long
	wide := 0
	for i := range c.Rows {
		wide = max(wide, min(utf8.RuneCountInString(title(i)), 48))
	}
	digits := 2 * r.Dump.WordSize // of the longest addresses: a 64-bit layer's are longer than its program's
	for i := range c.Rows {
		digits = max(digits, 2*r.WordSizeOf(c.Frame(i)))
	}
	head := fmt.Sprintf("  %s  %s  %s", pad("sp", digits+2), pad("address", digits+2), pad("", wide))
	for i := range c.Walks {
		head += "  " + pad(c.Walks[i].Policy, column(c, i))
	}
	b.printf("%s\n", strings.TrimRight(head, " "))
	for i := range c.Rows {
		row := &c.Rows[i]
		mark := "*"
		if row.Same {
			mark = " "
		}
		address := func(a uint64) string {
			return pad(fmt.Sprintf("0x%0*x", 2*r.WordSizeOf(c.Frame(i)), a), digits+2)
		}
		line := fmt.Sprintf("%s %s  %s  %s", mark, address(row.SP), address(c.Frame(i).Lookup), pad(short(title(i), wide), wide))
		for n, f := range row.At {
			cell := "·"
			if f >= 0 {
				cell = cellWord(c.Walks[n].Frames[f].Trust)
			}
			line += "  " + pad(cell, column(c, n))
		}
		b.printf("%s\n", strings.TrimRight(line, " "))
	}
	line := pad("  frames", 4+2*(digits+2)+2+wide)
	for i := range c.Walks {
		line += "  " + pad(fmt.Sprint(len(c.Walks[i].Frames)), column(c, i))
	}
	b.printf("%s\n", strings.TrimRight(line, " "))
	b.printf("\nWhere each stopped:\n")
	for i := range c.Walks {
		b.printf("  %s: %s (%s)\n", c.Walks[i].Policy, c.Walks[i].Stop.Detail, c.Walks[i].Stop.Kind)
	}
	for i := range c.Divergences {
		// If the walks find the same frame by different sources, the columns show it.
		if c.Divergences[i].Differs() {
			writeDivergence(b, c, title, &c.Divergences[i])
		}
	}
	return b.flush()
}

// column returns the width of a walk's column.
func column(c *report.Comparison, walk int) int {
	return max(len(c.Walks[walk].Policy), len("cfi+scan"))
}

// cellWord returns a trust, short enough for a column.
func cellWord(trust string) string {
	switch trust {
	case "context":
		return "context"
	case "frame_pointer":
		return "fp"
	case "cfi_scan":
		return "cfi+scan"
	case "prewalked":
		return "shadow"
	}
	return trust
}

// short cuts a text to a width in characters, with "…" at its end.
func short(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	end := 0
	for range width - 1 {
		_, size := utf8.DecodeRuneInString(s[end:])
		end += size
	}
	return s[:end] + "…"
}

// writeDivergence writes where walks diverge: how each group of walks continued, and what it
// rejected before.
//
//	Above crash_me + 0x10, in app (sp 0x7ffe0000):
//	  cfi, breakpad, …: call frame information, app.sym line 7 → sp 0x7ffe0010, main + 0x1f, in app
//	  fp: stops (nothing-found)
//	      not by frame pointer: ra: the 8-byte word at 0x8 is not in the dump
func writeDivergence(b *printer, c *report.Comparison, title func(row int) string, p *report.Divergence) {
	b.printf("\nAbove %s (sp 0x%x):\n", title(p.Row), c.Rows[p.Row].SP)
	for i := range p.Branches {
		branch := &p.Branches[i]
		var names []string
		for _, w := range branch.Walks {
			names = append(names, c.Walks[w].Policy)
		}
		b.printf("  %s: ", strings.Join(names, ", "))
		if branch.Next < 0 {
			b.printf("stops (%s)\n", branch.Stop.Kind)
		} else {
			b.printf("%s → sp 0x%x, %s\n", foundBy(branch.Source, branch.Origin), c.Rows[branch.Next].SP, title(branch.Next))
		}
		for _, a := range branch.Attempts {
			b.printf("      not by %s: %s\n", sourceWords(a.Source), a.Reason)
		}
	}
}
