package main

import (
	"flag"
	"io"
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

var threadsCommand = command{
	name:  "threads",
	line:  "threads [--merged [--whole]] [--format text|json] [--use FILE] DUMP [SYMBOLS…]",
	about: "tell what each thread was doing, or merge their stacks into a tree",
	help: `Prints a line for each thread: what it was doing, and the function that shows it. A state inferred from names of functions is
marked as a guess. If the dump has the words of a lock that threads wait for, threads names the thread that holds it.

--merged prints the stacks of all threads as one tree, from the outermost frames on, with the number of threads in each branch.
Branches that are only in system libraries take one line; --whole prints their frames. SYMBOLS are as for crashpane walk.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var t threadsRun
		fs.BoolVar(&t.merged, "merged", false, "one tree of all stacks")
		fs.BoolVar(&t.whole, "whole", false, "with --merged: all frames of branches in the system's libraries")
		fs.StringVar(&t.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		t.UseFlag(fs)
		return t.run
	},
}

// threadsRun is one run of threads.
type threadsRun struct {
	merged, whole bool
	format        string
	disk.Choices
}

func (t *threadsRun) run(args []string, stdout, stderr io.Writer) error {
	if err := checkPlain(t.format, args); err != nil {
		return err
	}
	files, r, err := disk.Open(args, session.Options{Demangle: msvc.Name}, t.Choices, stderr)
	if err != nil {
		return err
	}
	defer files.Close()
	asText, asJSON := text.WriteThreads, jsonreport.WriteThreads
	if t.merged {
		asText = func(w io.Writer, r *report.Report, m *report.Merged) error { return text.WriteMerged(w, r, m, t.whole) }
		asJSON = jsonreport.WriteMerged
	}
	return files.Ended(writePlain(files.Out(stdout), t.format, r, files.Dump.Merged(), asText, asJSON, true))
}
