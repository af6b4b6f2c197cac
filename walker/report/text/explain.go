package text

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/crashpane/crashpane/core/visible"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/report/rows"
)

// WriteExplanation prints how a frame was found, with the computed numbers.
//
//	Thread 0 (crashed), frame 1: main + 0x1f, in app
//	Found by call frame information, app.sym line 7
//	  .cfa: $rsp + 16  0x7ffe0000 + 16 = 0x7ffe0010
//	  .ra:  [cfa − 8]  word at 0x7ffe0008 = 0x402020   main + 0x20
//	Checks: in module app · in a named function · stack moved up 16 bytes · …
//	Record:
//	  line 7: STACK CFI INIT 1000 100 .cfa: $rsp 16 + .ra: .cfa -8 + ^
//	Registers, in the called frame and in this one:
//	  rsp  0x000000007ffe0000 → 0x000000007ffe0010  rule
//	No frame follows: by its unwind rules (CFI), the next return address is 0x0.
func WriteExplanation(w io.Writer, r *report.Report, x *report.Explanation) error {
	b := newPrinter(w)
	t := &r.Threads[x.Thread]
	f := &t.Frames[x.Frame]
	b.printf("Thread %s, frame %d: %s\n", threadTitle(r, t), t.Number(x.Frame), frameTitle(r, f))
	if x.Frame == 0 {
		b.printf("From the dump's context; %s.\n", strings.Join(x.Notes, "; "))
	} else {
		b.printf("Found by %s\n", foundBy(x.Source, x.Origin))
	}
	if in := x.Instruction; in != nil && in.Text != "" {
		target := ""
		if in.HasTarget {
			at := fmt.Sprintf("0x%x", in.Target)
			target = ": "
			if !strings.HasSuffix(in.Text, at) {
				target += at + ", "
			}
			target = strings.TrimRight(target+in.Place.Text(r, report.Name.Shown), ":, ")
		}
		b.printf("Instruction at 0x%x: %s%s\n", in.Address, in.Text, target)
	}
	writeSteps(b, r, x)
	if len(x.Checks) > 0 {
		b.printf("Checks: %s\n", strings.Join(x.Checks, " · "))
	}
	if x.Frame > 0 {
		for _, n := range x.Notes {
			b.printf("Note: %s\n", n)
		}
	}
	writeRecord(b, x)
	wordSize := r.WordSizeOf(&r.Threads[x.Thread].Frames[x.Frame])
	writeScanned(b, r, x.Scanned, "before it", wordSize)
	writeAttempts(b, "Tried before, and rejected", x.Attempts)
	writeChanges(b, x, wordSize)
	if e := x.End; e != nil {
		b.printf("No frame follows: %s.\n", e.Detail)
		if e.Suggestion != "" {
			b.printf("What would help: %s.\n", e.Suggestion)
		}
		writeAttempts(b, "Tried for the next one, and rejected", e.Attempts)
		writeScanned(b, r, e.Scanned, "by the last search", wordSize)
	}
	return b.flush()
}

// WriteFindings prints the findings, one per line.
func WriteFindings(w io.Writer, r *report.Report) error {
	b := newPrinter(w)
	for i := range r.Findings {
		f := &r.Findings[i]
		b.printf("%s: %s", f.Kind, f.Text)
		if f.Suggestion != "" {
			b.printf("; %s", f.Suggestion)
		}
		b.printf("\n")
	}
	return b.flush()
}

func threadTitle(r *report.Report, t *report.Thread) string {
	s := fmt.Sprint(t.Index)
	if t.IsSecond {
		s = fmt.Sprintf("%d, %s", t.Other, t.SecondName(r))
	}
	if t.Name != "" {
		s += " \"" + t.Name + "\""
	}
	if t.Unlisted {
		s += " (not in the dump's list)"
	}
	if t.Crashed {
		s += " (crashed)"
	}
	return s
}

// frameTitle returns a frame's function and the offset in it, or its module and the offset in that.
func frameTitle(r *report.Report, f *report.Frame) string {
	if f.Module < 0 {
		return fmt.Sprintf("0x%x, in no module", f.Lookup)
	}
	m := &r.Modules[f.Module]
	in := m.Title()
	if f.Named() {
		return visible.Text(fmt.Sprintf("%s + 0x%x, in %s", f.Function.Shown(), f.Lookup-f.FunctionStart, in)) // as printf would print it, because the caller measures its width
	}
	return visible.Text(fmt.Sprintf("%s + 0x%x", in, f.RVA))
}

// foundBy returns a source and where its rules come from, unless that repeats the source.
func foundBy(source, origin string) string {
	words := sourceWords(source)
	if origin == "" || strings.Contains(words, origin) || source == "scan" {
		return words
	}
	return words + ", " + origin
}

// sourceWords returns the words for a source within a sentence.
func sourceWords(source string) string {
	words := rows.SourceWord(source)
	if strings.HasPrefix(words, "STACK") || words == "" {
		return words
	}
	return strings.ToLower(words[:1]) + words[1:]
}

// writeSteps prints the rules and their numbers in columns.
//
// The column of rules is at most 40 characters wide; a longer rule moves the rest of its line.
func writeSteps(b *printer, r *report.Report, x *report.Explanation) {
	wide, name := 0, 0
	for _, s := range x.Steps {
		wide, name = max(wide, min(utf8.RuneCountInString(visible.Text(s.Rule)), 40)), max(name, len(label(s.For)))
	}
	for _, s := range x.Steps {
		computed := s.Computed
		if computed == s.Rule {
			computed = "" // a constant that a search found
		}
		line := fmt.Sprintf("  %-*s %s  %s", name, label(s.For), pad(visible.Text(s.Rule), wide), computed)
		if p := x.PlaceOf(&s, r, report.Name.Shown); p != "" {
			line += "   " + p
		}
		b.printf("%s\n", strings.TrimRight(line, " "))
		// If a rule reads several words, print each on its own line.
		if n := words(x, s.For); n > 1 || n == 1 && strings.HasPrefix(s.Computed, "[") {
			for i := range x.Words {
				if w := &x.Words[i]; w.For == s.For {
					b.printf("  %-*s %s    word at 0x%x = 0x%x\n", name, "", pad("", wide), w.Addr, w.Value)
				}
			}
		}
	}
}

// label writes a value's name as symbol files do: ".cfa:" and ".ra:" have a dot.
func label(target string) string {
	if target == "cfa" || target == "ra" {
		target = "." + target
	}
	return target + ":"
}

// words counts the words of memory that a value needed.
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

// writeRecord writes the lines of the symbol file that the rules are from.
func writeRecord(b *printer, x *report.Explanation) {
	if len(x.Record) == 0 {
		return
	}
	b.printf("Record:\n")
	for _, l := range x.Record {
		if l.Line > 0 {
			b.printf("  line %d: %s\n", l.Line, l.Text)
		} else {
			b.printf("  %s\n", l.Text)
		}
	}
}

// writeScanned writes which words a scan rejected and why.
func writeScanned(b *printer, r *report.Report, s *report.Scanned, which string, wordSize int) {
	if s == nil {
		return
	}
	b.printf("Searched: %s from 0x%x", wordCount(s.Words), s.From)
	if len(s.Rejected) == 0 {
		b.printf("; no other points into a module\n")
		return
	}
	b.printf("; rejected %s:\n", which)
	for _, w := range s.Rejected {
		m := &r.Modules[w.Module]
		b.printf("  0x%x: 0x%0*x  %s + 0x%x: %s\n", w.Addr, 2*wordSize, w.Value, m.Title(), w.RVA, w.Reason)
	}
	if s.More > 0 {
		b.printf("  and %d more\n", s.More)
	}
}

func wordCount(n int) string {
	if n == 1 {
		return "1 word"
	}
	return fmt.Sprintf("%d words", n)
}

func writeAttempts(b *printer, title string, all []report.Attempt) {
	if len(all) == 0 {
		return
	}
	b.printf("%s:\n", title)
	for _, a := range all {
		b.printf("  %s: %s", sourceWords(a.Source), a.Reason)
		if a.Rule != "" {
			b.printf(" (%s)", a.Rule)
		}
		if foundBy(a.Source, a.Origin) != sourceWords(a.Source) {
			b.printf(" [%s]", a.Origin)
		}
		b.printf("\n")
	}
}

// writeChanges prints the registers in the called frame and in this one, without those that are
// unknown in both.
func writeChanges(b *printer, x *report.Explanation, wordSize int) {
	if x.Frame == 0 {
		b.printf("Registers:\n")
	} else {
		b.printf("Registers, in the called frame and in this one:\n")
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
		case "context":
			b.printf("  %-4s %s\n", c.Name, value(c.After, true))
		default:
			b.printf("  %-4s %s → %s  %s\n", c.Name, value(c.Before, c.HadBefore), value(c.After, c.HasNow), c.How)
		}
	}
}
