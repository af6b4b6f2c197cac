package text

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/crashpane/crashpane/walker/report"
)

// WriteExplanation prints why a frame is where it is, with the numbers that were computed. Text of symbol files is printed with
// its control characters replaced.
func WriteExplanation(w io.Writer, r *report.Report, x *report.Explanation) error {
	b := bufio.NewWriter(w)
	t := &r.Threads[x.Thread]
	f := &t.Frames[x.Frame]
	fmt.Fprintf(b, "Thread %s, frame %d: %s\n", threadTitle(t), x.Frame, frameTitle(r, f))
	if x.Frame == 0 {
		fmt.Fprintf(b, "Given by the dump; %s.\n", strings.Join(x.Notes, "; "))
	} else {
		fmt.Fprintf(b, "Found by %s\n", foundBy(x))
	}
	writeSteps(b, r, x)
	if len(x.Checks) > 0 {
		fmt.Fprintf(b, "Checks: %s\n", printable(strings.Join(x.Checks, " · ")))
	}
	if x.Frame > 0 {
		for _, n := range x.Notes {
			fmt.Fprintf(b, "Note: %s\n", printable(n))
		}
	}
	writeRecord(b, x)
	writeScanned(b, r, x.Scanned, "before it", r.Dump.WordSize)
	writeAttempts(b, "Tried before, and rejected", x.Attempts)
	writeChanges(b, x, r.Dump.WordSize)
	if e := x.End; e != nil {
		fmt.Fprintf(b, "No frame follows: %s.\n", printable(e.Detail))
		if e.Suggestion != "" {
			fmt.Fprintf(b, "What would help: %s.\n", printable(e.Suggestion))
		}
		writeAttempts(b, "Tried for the next one, and rejected", e.Attempts)
		writeScanned(b, r, e.Scanned, "by the last scan", r.Dump.WordSize)
	}
	return b.Flush()
}

// WriteFindings prints what is wrong with the stacks, a line each.
func WriteFindings(w io.Writer, r *report.Report) error {
	b := bufio.NewWriter(w)
	for i := range r.Findings {
		f := &r.Findings[i]
		fmt.Fprintf(b, "%s: %s", f.Kind, printable(f.Text))
		if f.Suggestion != "" {
			fmt.Fprintf(b, "; %s", printable(f.Suggestion))
		}
		b.WriteByte('\n')
	}
	return b.Flush()
}

func threadTitle(t *report.Thread) string {
	s := fmt.Sprint(t.Index)
	if t.Name != "" {
		s += " \"" + printable(t.Name) + "\""
	}
	if t.Crashed {
		s += " (crashed)"
	}
	return s
}

// frameTitle is the function and the place in it, or the place in the module.
func frameTitle(r *report.Report, f *report.Frame) string {
	if f.Module < 0 {
		return fmt.Sprintf("0x%x, in no module", f.PC)
	}
	m := &r.Modules[f.Module]
	in := report.BaseName(m.Name)
	if f.HasFunction {
		return printable(fmt.Sprintf("%s + 0x%x, in %s", f.Function.Shown(), f.PC-f.FunctionStart, in))
	}
	return printable(fmt.Sprintf("%s + 0x%x", in, f.RVA+f.PC-f.Lookup))
}

// foundBy names the source and the place of its rules.
func foundBy(x *report.Explanation) string {
	words := sourceWords(x.Source)
	if x.Origin == "" || x.Origin == words {
		return words
	}
	return words + ", " + printable(x.Origin)
}

// sourceWords are a source in words.
func sourceWords(source string) string {
	switch source {
	case "cfi":
		return "call frame information"
	case "stack-win":
		return "STACK WIN frame data"
	case "frame-pointer":
		return "frame pointer"
	case "leaf":
		return "leaf function"
	case "shadow-stack":
		return "shadow stack"
	case "scan":
		return "stack scan"
	case "context":
		return "given"
	}
	return source
}

// writeSteps prints the rules with their numbers in columns.
func writeSteps(b *bufio.Writer, r *report.Report, x *report.Explanation) {
	wide, name := 0, 0
	for _, s := range x.Steps {
		wide, name = max(wide, min(utf8.RuneCountInString(s.Rule), 40)), max(name, len(label(s.For)))
	}
	for _, s := range x.Steps {
		computed := s.Computed
		if computed == s.Rule {
			computed = "" // a place that a search found
		}
		line := fmt.Sprintf("  %-*s %s  %s", name, label(s.For), pad(printable(s.Rule), wide), computed)
		for i := range x.Words {
			if w := &x.Words[i]; w.For == s.For && w.Value == s.Value {
				if p := w.Place.Text(r, shown); p != "" {
					line += "   " + printable(p)
				}
				break
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
		// A rule that reads several words shows them one by one.
		if n := words(x, s.For); n > 1 || n == 1 && strings.HasPrefix(s.Computed, "[") {
			for i := range x.Words {
				if w := &x.Words[i]; w.For == s.For {
					fmt.Fprintf(b, "  %-*s %s    word at 0x%x = 0x%x\n", name, "", pad("", wide), w.Addr, w.Value)
				}
			}
		}
	}
}

func label(target string) string {
	if target == "cfa" || target == "ra" {
		target = "." + target
	}
	return target + ":"
}

func words(x *report.Explanation, target string) int {
	n := 0
	for i := range x.Words {
		if x.Words[i].For == target {
			n++
		}
	}
	return n
}

func pad(s string, width int) string {
	if n := utf8.RuneCountInString(s); n < width {
		return s + strings.Repeat(" ", width-n)
	}
	return s
}

func shown(n report.Name) string { return n.Shown() }

func writeRecord(b *bufio.Writer, x *report.Explanation) {
	if len(x.Record) == 0 {
		return
	}
	b.WriteString("Record:\n")
	for _, l := range x.Record {
		if l.Line > 0 {
			fmt.Fprintf(b, "  line %d: %s\n", l.Line, printable(l.Text))
		} else {
			fmt.Fprintf(b, "  %s\n", printable(l.Text))
		}
	}
}

func writeScanned(b *bufio.Writer, r *report.Report, s *report.Scanned, which string, wordSize int) {
	if s == nil {
		return
	}
	fmt.Fprintf(b, "Scanned: %d words from 0x%x", s.Words, s.From)
	if len(s.Rejected) == 0 {
		b.WriteString("; none of the others points into a module\n")
		return
	}
	fmt.Fprintf(b, "; rejected %s:\n", which)
	for _, w := range s.Rejected {
		m := &r.Modules[w.Module]
		fmt.Fprintf(b, "  0x%x: 0x%0*x  %s + 0x%x: %s\n", w.Addr, 2*wordSize, w.Value, printable(report.BaseName(m.Name)), w.RVA, w.Reason)
	}
	if s.More > 0 {
		fmt.Fprintf(b, "  and %d more\n", s.More)
	}
}

func writeAttempts(b *bufio.Writer, title string, all []report.Attempt) {
	if len(all) == 0 {
		return
	}
	b.WriteString(title + ":\n")
	for _, a := range all {
		fmt.Fprintf(b, "  %s: %s", sourceWords(a.Source), printable(a.Reason))
		if a.Rule != "" {
			fmt.Fprintf(b, " (%s)", printable(a.Rule))
		}
		if a.Origin != "" && a.Origin != sourceWords(a.Source) {
			fmt.Fprintf(b, " [%s]", printable(a.Origin))
		}
		b.WriteByte('\n')
	}
}

// writeChanges prints the registers before and after, those that are known in neither left out.
func writeChanges(b *bufio.Writer, x *report.Explanation, wordSize int) {
	if x.Frame == 0 {
		b.WriteString("Registers:\n")
	} else {
		b.WriteString("Registers, in the called frame and in this one:\n")
	}
	value := func(v uint64, known bool) string {
		if !known {
			return pad("unknown", 2+2*wordSize)
		}
		return fmt.Sprintf("0x%0*x", 2*wordSize, v)
	}
	for _, c := range x.Registers {
		switch c.How {
		case "unknown":
		case "given":
			fmt.Fprintf(b, "  %-4s %s\n", c.Name, value(c.After, true))
		default:
			fmt.Fprintf(b, "  %-4s %s → %s  %s\n", c.Name, value(c.Before, c.HadBefore), value(c.After, c.HasNow), c.How)
		}
	}
}

// printable replaces what would move a terminal's cursor or change its state.
func printable(s string) string {
	return strings.Map(func(c rune) rune {
		if c == '\t' {
			return ' '
		}
		if !unicode.IsPrint(c) {
			return '\uFFFD'
		}
		return c
	}, s)
}
