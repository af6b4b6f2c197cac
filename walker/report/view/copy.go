package view

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
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
		b.WriteString(Clean(s.Source) + ": " + Clean(s.Text) + "\n")
	}
	if v.r.Crash != nil {
		fmt.Fprintf(&b, "%s at %s\n", Clean(v.r.Crash.Reason.Name), short(v.r.Crash.Address))
	}
	fmt.Fprintf(&b, "%s\n\nThread %s%s, id %d\n", Clean(v.r.System.Display), threadLabel(t), crashedWord(t), t.ID)
	v.eachRow(t, func(row StackRow) {
		number := fmt.Sprintf("%2d ", row.Frame)
		if row.Kind == RowInline {
			number = " ↳ "
		}
		b.WriteString(number + " " + RowText(row) + "\n")
	})
	b.WriteString(stopSentence(t) + "\n")
	return b.String()
}

// RowText returns a row of a stack as a line of text, without its number.
func RowText(row StackRow) string {
	line := place(row)
	if row.Source != "" {
		line += "  [" + row.Source + "]"
	}
	return line + "  (" + row.Word + ")" + assignedWord(row)
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
		fmt.Fprintf(&b, "- %s: %s\n", markdown(Clean(s.Source)), markdown(Clean(s.Text)))
	}
	if v.r.Crash != nil {
		fmt.Fprintf(&b, "- Reason: `%s` at `%s`\n", ticks(v.r.Crash.Reason.Name), short(v.r.Crash.Address))
	}
	fmt.Fprintf(&b, "- System: %s\n- Thread: %s%s\n\n", markdown(v.r.System.Display), markdown(threadLabel(t)), crashedWord(t))
	b.WriteString("| # | Function | Source | Module | Trust |\n|--:|---|---|---|---|\n")
	v.eachRow(t, func(row StackRow) {
		number := fmt.Sprint(row.Frame)
		if row.Kind == RowInline {
			number = "↳"
		}
		src := ""
		if row.Source != "" {
			src = "`" + ticks(row.Source) + "`"
		}
		fmt.Fprintf(&b, "| %s | `%s` | %s | %s%s | %s%s |\n", number, ticks(nameOf(row)), src, markdown(row.Module), row.Offset,
			row.Word, assignedWord(row))
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

func assignedWord(row StackRow) string {
	if row.AssignedSymbols {
		return ", assigned symbols"
	}
	return ""
}

// nameOf returns a row's full name, or its address.
func nameOf(row StackRow) string {
	if row.NoSymbol {
		return row.Function
	}
	return row.Full
}

// place returns "module!function", or what of it is known, as debuggers print it.
//
//	app!parse           with a name
//	app+0x4f3a          in a module, without a name
//	0x7f75c0de1234      in no module
func place(row StackRow) string {
	switch {
	case row.Module == "":
		return nameOf(row)
	case row.NoSymbol:
		return row.Module + row.Offset
	}
	return row.Module + "!" + row.Full
}

// eachRow calls do for the rows of a stack, for copying; a deep stack is cut.
func (v *View) eachRow(t *report.Thread, do func(StackRow)) {
	for i := range t.Frames {
		if i == maxCopied {
			return
		}
		f := &t.Frames[i]
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
	for _, r := range Clean(s) {
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
	return strings.NewReplacer("`", "'", "|", "\\|").Replace(Clean(s))
}
