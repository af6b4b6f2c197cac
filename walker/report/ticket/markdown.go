package ticket

import (
	"io"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// WriteMarkdown writes Markdown with tables (GitHub Flavored Markdown, sections 4.10 and 6.3). Names
// are in code spans, in which nothing but the fence and, in a table, "|" means anything.
func WriteMarkdown(w io.Writer, t *Ticket) error {
	p := &printer{w: w}
	p.print("**", markdown(t.Verdict), "**\n\n")
	for _, m := range t.Messages {
		p.print("- ", markdown(m.Key), ": ", markdown(m.Value), "\n")
	}
	for _, f := range t.Facts {
		value := markdown(f.Value)
		if f.Code {
			value = codeSpan(f.Value)
		}
		p.print("- ", markdown(f.Key), ": ", value, "\n")
	}
	for i := range t.Stacks {
		markdownStack(p, &t.Stacks[i])
	}
	if len(t.Modules) > 0 {
		p.print("\n| Module | Version | Debug id | Code id |\n| --- | --- | --- | --- |\n")
	}
	for i := range t.Modules {
		m := &t.Modules[i]
		p.print("| ", cellSpan(m.Name), " | ", markdown(m.Version), " | ", cellSpan(strings.TrimSpace(m.DebugFile+" "+m.DebugID)), " | ", cellSpan(m.CodeID), " |\n")
	}
	return p.err
}

func markdownStack(p *printer, s *Stack) {
	p.print("\n**", markdown(s.Title), "**\n\n")
	line := func(cell func(c *rows.Column[rows.StackRow]) string) {
		for i := range rows.StackColumns {
			if c := &rows.StackColumns[i]; c.Copy != nil {
				p.print("| ", cell(c), " ")
			}
		}
		p.print("|\n")
	}
	line(func(c *rows.Column[rows.StackRow]) string { return c.Title })
	line(func(c *rows.Column[rows.StackRow]) string {
		if c.Class == "num" {
			return "--:"
		}
		return "---"
	})
	for k := range s.Frames {
		f := &s.Frames[k]
		line(func(c *rows.Column[rows.StackRow]) string {
			if f.Several == 0 && (c.Class == "fn" || c.Class == "src") {
				return cellSpan(c.Copy(f.StackRow))
			}
			return markdown(c.Copy(f.StackRow))
		})
	}
	p.print("\n")
	for i, text := range s.end() {
		if i > 0 {
			p.print("  \n")
		}
		p.print(markdown(text))
	}
	p.print("\n")
}

// markdown escapes characters that are markup in Markdown or HTML.
//
//	a*b<c>|`    a\*b&lt;c>\|\`
func markdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\\', '`', '*', '_', '[', ']', '|', '#', '~':
			b.WriteByte('\\')
			b.WriteRune(r)
		case '<':
			b.WriteString("&lt;")
		case '&':
			b.WriteString("&amp;")
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// codeSpan returns text as a code span, unchanged: its fence is longer than each run of backticks in
// the text, and a space keeps one at the text's start or end apart from it (CommonMark, section 6.1).
//
//	f                          `f`
//	`anonymous namespace'::f   `` `anonymous namespace'::f ``
func codeSpan(s string) string {
	if s == "" {
		return ""
	}
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if s[0] == '`' || s[len(s)-1] == '`' || strings.Trim(s, " ") != "" && s[0] == ' ' && s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return fence + s + fence
}

// cellSpan is codeSpan in a cell of a table, where "|" is escaped in code spans, too.
func cellSpan(s string) string { return strings.ReplaceAll(codeSpan(s), "|", `\|`) }
