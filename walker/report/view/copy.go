package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// maxCopied is the most frames of a copied stack: a clipboard with tens of thousands of lines can
// hang other programs.
const maxCopied = 1000

// CopyStack returns one thread's stack as plain text.
//
//	app tried to read 8 bytes at 0x10 (null pointer plus 16, through rax) in parse.
//	SIGSEGV / SEGV_MAPERR at 0x10
//	Linux 6.5.0 …
//
//	Thread 0 (crashed), id 4711
//	 0  app!parse  [parse.c:12]  (context)
//	 ↳  app!next  [next.h:7]  (inline)
//	 1  app!main  [main.c:30]  (CFI)
//	End of the stack: …
func (v *View) CopyStack(ti int) string {
	t := v.thread(ti)
	if t == nil {
		return ""
	}
	var b strings.Builder
	b.WriteString(v.sentence() + "\n")
	for _, s := range v.r.Messages {
		b.WriteString(rows.Clean(s.Source) + ": " + rows.Clean(s.Text) + "\n")
	}
	if v.r.Crash != nil {
		fmt.Fprintf(&b, "%s at %s\n", rows.Clean(v.r.Crash.Reason.Name), short(v.r.Crash.Address))
	}
	fmt.Fprintf(&b, "%s\n\nThread %s%s, id %d\n", rows.Clean(v.r.System.Display), threadLabel(t), crashedWord(t), t.ID)
	v.eachRow(t, func(row rows.StackRow) {
		number := fmt.Sprintf("%2d ", row.Frame)
		switch row.Kind {
		case rows.RowInline:
			number = " ↳ "
		case rows.RowGuesses:
			number = " … "
		}
		b.WriteString(number + " " + rows.RowText(row) + "\n")
	})
	b.WriteString(stopSentence(t) + "\n")
	return b.String()
}

// CopyMarkdown returns one thread's stack as Markdown, for a bug tracker.
func (v *View) CopyMarkdown(ti int) string {
	t := v.thread(ti)
	if t == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "**%s**\n\n", markdown(v.sentence()))
	for _, s := range v.r.Messages {
		fmt.Fprintf(&b, "- %s: %s\n", markdown(rows.Clean(s.Source)), markdown(rows.Clean(s.Text)))
	}
	if v.r.Crash != nil {
		fmt.Fprintf(&b, "- Reason: `%s` at `%s`\n", ticks(v.r.Crash.Reason.Name), short(v.r.Crash.Address))
	}
	fmt.Fprintf(&b, "- System: %s\n- Thread: %s%s\n\n", markdown(v.r.System.Display), markdown(threadLabel(t)), crashedWord(t))
	line := func(cell func(c *rows.Column[rows.StackRow]) string) {
		for i := range rows.StackColumns {
			if c := &rows.StackColumns[i]; c.Copy != nil {
				b.WriteString("| " + cell(c) + " ")
			}
		}
		b.WriteString("|\n")
	}
	line(func(c *rows.Column[rows.StackRow]) string { return c.Title })
	line(func(c *rows.Column[rows.StackRow]) string {
		if c.Class == "num" {
			return "--:"
		}
		return "---"
	})
	v.eachRow(t, func(row rows.StackRow) {
		line(func(c *rows.Column[rows.StackRow]) string {
			text := c.Copy(row)
			if text != "" && row.Kind != rows.RowGuesses && (c.Class == "fn" || c.Class == "src") {
				return "`" + ticks(text) + "`"
			}
			return markdown(text)
		})
	})
	fmt.Fprintf(&b, "\n%s\n", markdown(stopSentence(t)))
	return b.String()
}

// sentence returns the verdict as plain text.
func (v *View) sentence() string {
	var b strings.Builder
	for _, s := range v.Verdict() {
		b.WriteString(s.Text)
	}
	return b.String()
}

func crashedWord(t *report.Thread) string {
	if t.Crashed {
		return " (crashed)"
	}
	return ""
}

// eachRow calls do for the rows of a stack, for copying; a deep stack is cut, and a run of guesses is
// one row.
func (v *View) eachRow(t *report.Thread, do func(rows.StackRow)) {
	for i := range t.Frames {
		if i == maxCopied {
			return
		}
		f := &t.Frames[i]
		if g := t.GuessesAt(i); g != nil {
			if i == g.From {
				do(v.guessesRow(t, g, ""))
			}
			continue
		}
		for k := range f.Inlines {
			do(v.inlineRow(f, i, k))
		}
		do(v.frameRow(f, i))
	}
}

// markdown escapes characters that are markup in Markdown or HTML.
//
//	a*b<c>|`    a\*b&lt;c>\|\`
func markdown(s string) string {
	var b strings.Builder
	for _, r := range rows.Clean(s) {
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

// ticks escapes text for a code span in a cell of a table.
func ticks(s string) string {
	return strings.NewReplacer("`", "'", "|", "\\|").Replace(rows.Clean(s))
}
