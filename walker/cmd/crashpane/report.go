package main

import (
	"flag"
	"io"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report/ticket"
	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/walker/session"
)

var reportCommand = command{
	name:  "report",
	line:  "report [--html | --format FORM] [--thread N] [--private] [--use FILE] DUMP [SYMBOLS…]",
	about: "write what a ticket needs: what happened, the stack, versions and ids",
	help: `Prints what happened, the dump's name and time, the product, the uptime, the system, the exception, the signature, the stack of a thread,
and the version and ids of each module on it.

Formats: ` + aboutForms() + `.
The page is smaller than 200 KB, needs no network, and has the other threads' first 20 frames.

Texts that may be private are hidden: what the program wrote into the dump or said about its end. Names of users in paths
become USER. --private prints them all. No format has the command line, the environment or memory.

Without --thread, report takes the thread that crashed or asked for the dump. SYMBOLS are as for crashpane walk.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var r reportRun
		fs.StringVar(&r.form, "format", "text", "`form` of the output: "+strings.Join(ticketNames(), ", "))
		fs.BoolFunc("html", "write a page in one file; the same as --format html", func(string) error { r.form = "html"; return nil })
		r.flags(fs)
		return r.run
	},
}

var briefCommand = command{
	name:  "brief",
	line:  "brief [--thread N] [--private] [--use FILE] DUMP [SYMBOLS…]",
	about: "write at most 8 KB for a ticket or an assistant: what happened, the stack, what is missing",
	help: `Prints what happened, the stack of the crashed thread, how each frame was found, and what is missing, in at most 8 KB of whole lines.
The same dump and symbols always give the same text. Texts that may be private are hidden, as by crashpane report.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		r := reportRun{form: "brief"}
		r.flags(fs)
		return r.run
	},
}

// ticketNames are the names of the forms, as the flag takes them.
func ticketNames() []string {
	return namesOf(ticket.Forms, func(f ticket.Form) string { return f.ID })
}

// aboutForms lists the forms: "text, jira (its wiki markup), …".
func aboutForms() string {
	return strings.Join(namesOf(ticket.Forms, func(f ticket.Form) string {
		if f.About == "" {
			return f.ID
		}
		return f.ID + " (" + f.About + ")"
	}), ", ")
}

// reportRun is one run of report or of brief.
type reportRun struct {
	form    string
	thread  int
	private bool
	disk.Choices
}

// flags declares what both commands have.
func (c *reportRun) flags(fs *flag.FlagSet) {
	fs.IntVar(&c.thread, "thread", -1, "`number` of the thread in the dump")
	fs.BoolVar(&c.private, "private", false, "also print private texts and names of users")
	c.UseFlag(fs)
}

// run walks all threads and writes the ticket.
func (c *reportRun) run(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usageError("name a dump")
	}
	if err := choice("form", c.form, ticketNames()); err != nil {
		return err
	}
	files, r, err := disk.Open(args, session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: disk.ReadSize}, c.Choices, stderr)
	if err != nil {
		return err
	}
	defer files.Close()
	if c.thread >= 0 {
		if _, err := theThread(r, c.thread); err != nil {
			return err
		}
	}
	form := ticket.Forms[slices.Index(ticketNames(), c.form)]
	t := view.Ticket(r, msvc.Name, view.TicketOptions{Thread: c.thread, All: form.All, Private: c.private})
	return files.Ended(form.Write(files.Out(stdout), t))
}
