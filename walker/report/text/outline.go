package text

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteOutline prints the outline of a file: what it is and has, a list, and what is at an address.
//
//	libfoo.so  Linux x86_64  id 5F2A…
//	  unwind rules: libfoo.so .eh_frame
//
//	address             size  function
//	0x0000000000401136    25  main
//
//	0x0000000000401140  main + 0xa
//	  inlined: helper(int)                     app.c:7
//	  app.c:12
//	  rule: cfa rsp+16, ra cfa-8, rbp cfa-16   .eh_frame+0x2c
//	  0x0000000000401136     4  app.c:11
func WriteOutline(w io.Writer, o *report.Outline) error {
	b := newPrinter(w)
	f := &o.File
	width := 2 + 2*f.WordSize
	b.printf("%s", f.Name)
	for _, s := range []string{f.OS + " " + f.Arch, after("id ", f.DebugID), after("code id ", f.CodeID)} {
		if s = strings.TrimSpace(s); s != "" {
			b.printf("  %s", s)
		}
	}
	b.printf("\n")
	for _, p := range f.Parts {
		b.printf("  %s: %s %s\n", p.What, p.File, p.Section)
	}
	for _, m := range f.Missing {
		b.printf("  not here: %s\n", m)
	}
	if l := o.List; l != nil {
		writeOutlineList(b, l, width)
	}
	if p := o.Place; p != nil {
		b.printf("\n")
		writeOutlinePlace(b, p, width)
	}
	return b.flush()
}

// after returns a text with what it is before it, or "" without a text.
func after(what, s string) string {
	if s == "" {
		return ""
	}
	return what + s
}

func writeOutlineList(b *printer, l *report.OutlineList, width int) {
	b.printf("\n")
	if len(l.Rows) == 0 {
		b.printf("%s\n", l.Nothing())
		return
	}
	if l.Kind != report.OutlineFiles {
		b.printf("%-*s  %8s  function\n", width, "address", "size")
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		if l.Kind == report.OutlineFiles {
			b.printf("%s\n", r.File)
			continue
		}
		b.printf("0x%0*x  %8s  %s", width-2, r.Address, r.Bytes(), r.Name.Shown())
		if r.Public {
			b.printf(" (public)")
		}
		if r.Multiple {
			b.printf(" (folded)")
		}
		if r.File != "" {
			b.printf("  %s:%d", r.File, r.Line)
		}
		b.printf("\n")
	}
	if l.More {
		b.printf("… and more\n")
	}
}

func writeOutlinePlace(b *printer, p *report.OutlinePlace, width int) {
	b.printf("0x%0*x  %s\n", width-2, p.Address, p.Title(report.Name.Shown))
	for _, c := range p.Inlines {
		b.printf("  inlined: %s  %s\n", c.Name.Shown(), position(c.File, c.Line))
	}
	if p.HasLine {
		b.printf("  %s\n", position(p.File, p.Line))
	}
	if r := p.Rule; r != nil {
		b.printf("  rule: %s  %s\n", r.Short(), r.Origin)
	} else {
		b.printf("  rule: %s\n", p.NoRule)
	}
	if len(p.Lines) > 0 {
		b.printf("\n")
	}
	for i := range p.Lines {
		l := &p.Lines[i]
		line := fmt.Sprintf("  0x%0*x  %5d  %s", width-2, l.Address, l.Size, position(l.File, l.Line))
		b.printf("%s", line)
		for _, in := range l.Inlined {
			b.printf("  in %s", in.Shown())
		}
		b.printf("\n")
	}
}

// position is a source file and a line.
func position(file string, line uint32) string {
	file = cmp.Or(file, "(no file)")
	return fmt.Sprintf("%s:%d", file, line)
}
