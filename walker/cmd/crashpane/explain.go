package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

var explainCommand = command{
	name:  "explain",
	line:  "explain [--thread N] [--frame M] [--unwind POLICY] [--format text|json] [--use FILE] DUMP [SYMBOLS…]",
	about: "explain why a frame is where it is, with the numbers",
	help: `Computes frames again and prints the rules that gave each, with numbers in place of names, the words of memory that were
read, the registers before and after, the checks that it passed, and what was tried first and why it was rejected. For the
last frame of a stack it explains why no frame follows, and what would help.

Threads are numbered as in the dump, from 0. Without --thread, explain takes the thread that crashed or asked for the dump. Without
--frame it explains all frames of the thread, and then what is wrong with the dump's stacks as a whole. SYMBOLS are as for
crashpane walk. json is one object, or without --frame one object per line.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var e explainRun
		fs.IntVar(&e.thread, "thread", -1, "`number` of the thread in the dump")
		fs.IntVar(&e.frame, "frame", -1, "`number` of the frame, 0 is the innermost")
		fs.StringVar(&e.unwind, "unwind", "best", "`policy` of walking: "+strings.Join(policyNames(), ", "))
		fs.StringVar(&e.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		e.UseFlag(fs)
		return e.run
	},
}

var compareCommand = command{
	name:  "compare",
	line:  "compare [--thread N] [--format text|json] [--use FILE] DUMP [DUMP] [SYMBOLS…]",
	about: "walk a thread in six ways, or show two dumps, side by side",
	help: `Walks one thread by call frame information alone, by frame pointers alone, by scanning alone, as Breakpad does, as rust-minidump
does, and as crashpane walk does. Prints the frames that any of them found, with marks where they differ, and where each stopped. For
each place where they part, it explains how each went on, and why not otherwise. The address of a caller is inside its call, where its
name and offset are looked up; the return address comes after it.

Without --thread, compare takes the thread that crashed or asked for the dump. SYMBOLS are as for crashpane walk.

With a second dump it prints both side by side: the crash, the stacks of the threads that crashed or asked for the dumps, modules that
differ, registers, annotations. Lines that differ are marked.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var c compareRun
		fs.IntVar(&c.thread, "thread", -1, "`number` of the thread in the dump")
		fs.StringVar(&c.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		c.UseFlag(fs)
		return c.run
	},
}

// plainFormats are the formats of explain, compare and rules.
var plainFormats = []string{"text", "json"}

// checkPlain checks what explain and compare have in common: the format, and that a dump is named.
func checkPlain(format string, args []string) error {
	if len(args) == 0 {
		return usageError("name a dump")
	}
	return choice("format", format, plainFormats)
}

// choice checks that the value of a flag, which is the name of a thing of a kind, is one of those that there are.
func choice(kind, value string, all []string) error {
	if slices.Contains(all, value) {
		return nil
	}
	return usageError(fmt.Sprintf("there is no %s %q; there are %s", kind, value, strings.Join(all, ", ")))
}

// namesOf are the names of the rows of a table.
func namesOf[R any](table []R, name func(R) string) []string {
	var names []string
	for _, row := range table {
		names = append(names, name(row))
	}
	return names
}

// writePlain writes an answer about a dump in one of plainFormats: as text, or as JSON with a newline after it.
func writePlain[T any](w io.Writer, format string, r *report.Report, answer T, asText func(io.Writer, *report.Report, T) error,
	asJSON func(io.Writer, *report.Report, T, jsonreport.Options) error, pretty bool) error {
	if format == "text" {
		return asText(w, r, answer)
	}
	if err := asJSON(w, r, answer, jsonreport.Options{Pretty: pretty}); err != nil {
		return err
	}
	_, err := io.WriteString(w, "\n")
	return err
}

// theThread returns the thread that the user chose, or the one to show first.
func theThread(r *report.Report, asked int) (int, error) {
	switch {
	case asked < 0 && r.FirstThread >= 0:
		return r.FirstThread, nil
	case asked < 0 || asked >= len(r.Threads):
		return 0, fmt.Errorf("there is no thread %d; the dump has %d, counted from 0", asked, len(r.Threads))
	}
	return asked, nil
}

// explainRun is one run of explain.
type explainRun struct {
	thread, frame  int
	unwind, format string
	disk.Choices
}

// run walks the dump first, since a frame is explained by the walk that found it. It prints one
// frame, or all frames of the thread and then the report's findings. For a thread without frames,
// or a frame that does not exist, it returns the session's error, which says what there is.
func (e *explainRun) run(args []string, stdout, stderr io.Writer) error {
	if err := checkPlain(e.format, args); err != nil {
		return err
	}
	policy, err := policyOf(e.unwind)
	if err != nil {
		return err
	}
	files, r, err := disk.Open(args, session.Options{Policy: policy, Demangle: msvc.Name}, e.Choices, stderr)
	if err != nil {
		return err
	}
	defer files.Close()
	thread, err := theThread(r, e.thread)
	if err != nil {
		return err
	}
	e.frame = r.Threads[thread].FrameAt(e.frame)
	if n := len(r.Threads[thread].Frames); n == 0 || e.frame >= n {
		// The session says what there is.
		_, err := files.Dump.Explain(thread, max(e.frame, 0))
		return err
	}
	stdout = files.Out(stdout)
	from, to := 0, len(r.Threads[thread].Frames)
	if e.frame >= 0 {
		from, to = e.frame, e.frame+1
	}
	for f := from; f < to; f++ {
		x, err := files.Dump.Explain(thread, f)
		if err != nil {
			return err
		}
		if f > from && e.format == "text" {
			fmt.Fprintln(stdout)
		}
		if err := e.write(stdout, r, x); err != nil {
			return err
		}
	}
	if t := &r.Threads[thread]; t.HasSecond && e.frame < 0 && e.format == "text" {
		fmt.Fprintf(stdout, "\nThread %d has a second stack, %s: --thread %d\n", thread, r.Threads[t.Other].SecondName(r), t.Other)
	}
	if e.frame < 0 && e.format == "text" && len(r.Findings) > 0 {
		fmt.Fprintln(stdout, "\nOf the dump's stacks:")
		return files.Ended(text.WriteFindings(stdout, r))
	}
	return files.Ended(nil)
}

func (e *explainRun) write(w io.Writer, r *report.Report, x *report.Explanation) error {
	return writePlain(w, e.format, r, x, text.WriteExplanation, jsonreport.WriteExplanation, e.frame >= 0)
}

// compareRun is one run of compare.
type compareRun struct {
	thread int
	format string
	disk.Choices
}

// dumps compares two dumps, each with all symbols.
func (c *compareRun) dumps(args []string, stdout, stderr io.Writer) error {
	var reports [2]*report.Report
	var last *disk.Set
	for i := range reports {
		files, r, err := disk.Open(append([]string{args[i]}, args[2:]...), session.Options{Demangle: msvc.Name}, c.Choices, stderr)
		if err != nil {
			return err
		}
		defer files.Close()
		reports[i], last = r, files
	}
	d := report.Differ(reports[0], reports[1], report.Name.Shown)
	return last.Ended(writePlain(last.Out(stdout), c.format, reports[0], d, text.WriteDifference, jsonreport.WriteDifference, true))
}

// run walks one thread by all policies.
func (c *compareRun) run(args []string, stdout, stderr io.Writer) error {
	if err := checkPlain(c.format, args); err != nil {
		return err
	}
	if len(args) > 1 && disk.IsDump(args[1]) {
		return c.dumps(args, stdout, stderr)
	}
	files, r, err := disk.Open(args, session.Options{Demangle: msvc.Name}, c.Choices, stderr)
	if err != nil {
		return err
	}
	defer files.Close()
	thread, err := theThread(r, c.thread)
	if err != nil {
		return err
	}
	cmp, err := files.Dump.Compare(thread)
	if err != nil {
		return err
	}
	return files.Ended(writePlain(files.Out(stdout), c.format, r, cmp, text.WriteComparison, jsonreport.WriteComparison, true))
}
