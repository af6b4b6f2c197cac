package main

import (
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/dumptext"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/session"
)

var dumpCommand = command{
	name:  "dump",
	line:  "dump [--format text|json] [--all] [--memory] DUMP",
	about: "print everything that a dump says, stream by stream",
	help: `Prints every stream of the minidump, microdump or core file DUMP, or of each dump in an archive. Streams that this program knows are
decoded, others are printed as text or bytes. Symbols are not used.

Each line of the text has its whole context, for grep: thread[3].id = 0x1234. Formats: text, and json with the same names.
Several dumps in one file follow each other; each begins with its name.

The command line and the environment of the process may contain secrets, and are left out without --all. Its memory may too, and is
left out without --memory.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var d dumpRun
		fs.StringVar(&d.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		fs.BoolVar(&d.all, "all", false, "print the command line and the environment too")
		fs.BoolVar(&d.memory, "memory", false, "print the bytes of the memory too")
		d.UnpackedFlag(fs)
		return d.run
	},
}

// dumpRun is one run of the command.
type dumpRun struct {
	format      string
	all, memory bool
	disk.Choices
}

// run prints every dump of one file, which may be an archive. Problems of a dump are in the output
// and, if they are errors, on stderr too.
func (r *dumpRun) run(args []string, stdout, stderr io.Writer) error {
	if err := choice("format", r.format, plainFormats); err != nil {
		return err
	}
	switch len(args) {
	case 0:
		return usageError("name a dump")
	case 1:
	default:
		return usageError("one dump at a time")
	}
	files := disk.New(session.Options{}, r.Choices, stderr)
	defer files.Close()
	dumps, err := files.Dumps(args[0])
	if err != nil {
		return err
	}
	write := dumptext.Write
	if r.format == "json" {
		write = dumptext.WriteJSON
	}
	stdout = files.Out(stdout)
	for i, d := range dumps {
		if i > 0 && r.format == "text" {
			if _, err := io.WriteString(stdout, "\n"); err != nil {
				return err
			}
		}
		if err := write(stdout, d, dumptext.Options{All: r.all, Memory: r.memory}); err != nil {
			return err
		}
		// The output has the diagnostics too, somewhere in many lines.
		for _, g := range d.Diags {
			if g.Severity == core.Bad {
				fmt.Fprintln(stderr, g.Err.Error())
			}
		}
	}
	return files.Ended(nil)
}
