// Command crashpane shows crash dumps in a terminal, with the engine of the page. It reads only the
// files and folders that its arguments name; fetch alone uses a network, to ask the servers that are
// named.
//
// Start at the table of commands in this file. walk.go is the main command; walker/disk opens
// what the arguments name and finds symbols in folders.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/crashpane/crashpane/core/visible"
)

// Exit codes.
const (
	exitOK     = 0
	exitFailed = 1 // something could not be read or written; stderr says what and why
	exitUsage  = 2 // the command line is not understood
	// exitInterrupted is the status of a program that SIGINT has ended, as shells have it.
	exitInterrupted = 130
)

// version may be set by the linker; otherwise it is read from the build information.
var version string

// collectLate lets the first garbage collection wait until the heap has 32 MB instead of 4: most
// runs are over by then. After the first collection the usual setting holds: the runtime calls the
// finalizer of an object without references after it.
func collectLate() {
	debug.SetGCPercent(800)
	runtime.SetFinalizer(new([64]byte), func(*[64]byte) { debug.SetGCPercent(100) })
}

func main() {
	collectLate()
	interrupted := make(chan os.Signal, 1)
	signal.Notify(interrupted, os.Interrupt)
	go func() {
		<-interrupted
		fmt.Fprintln(os.Stderr, "crashpane: interrupted")
		os.Exit(exitInterrupted)
	}()
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// command is one row of the table of commands. run declares its flags, parses the arguments, and
// calls the function that flags returned.
type command struct {
	name string
	// line is the command line after "crashpane", about what it does in half a sentence, help the
	// rest.
	line, about, help string
	// flags declares the command's flags and returns what runs it with the arguments that are no
	// flags.
	flags func(fs *flag.FlagSet) func(args []string, stdout, stderr io.Writer) error
}

var commands = []command{walkCommand, batchCommand, groupsCommand, reportCommand, briefCommand, fetchCommand, explainCommand, compareCommand, threadsCommand, disassembleCommand, memoryCommand, dumpCommand, rulesCommand, dumpsymsCommand, outlineCommand, indexCommand, storeCommand, mcpCommand}

// usageError is a command line that is not understood.
type usageError string

func (e usageError) Error() string { return string(e) }

// run is the whole program. Tests call it.
//
// It returns the exit code. An error of a command is one line on stderr; a usageError adds the
// command's line of the help.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		writeHelp(stderr)
		return exitUsage
	}
	switch args[0] {
	case "--help", "-h", "-help", "help":
		if len(args) > 1 {
			return helpFor(args[1], stdout, stderr)
		}
		writeHelp(stdout)
		return exitOK
	case "--version", "-version":
		fmt.Fprintf(stdout, "crashpane %s\n", versionText())
		return exitOK
	}
	stderr = messages{stderr}
	c := findCommand(args[0])
	if c == nil {
		fmt.Fprintf(stderr, "crashpane: there is no command %q; crashpane --help lists them\n", args[0])
		return exitUsage
	}
	err := c.run(args[1:], stdout, stderr)
	var usage usageError
	switch {
	case err == nil:
		return exitOK
	case errors.Is(err, flag.ErrHelp):
		c.writeHelp(stdout)
		return exitOK
	case errors.As(err, &usage):
		fmt.Fprintf(stderr, "crashpane %s: %v\n", c.name, err)
		fmt.Fprintf(stderr, "usage: crashpane %s\n", c.line)
		return exitUsage
	}
	fmt.Fprintf(stderr, "crashpane %s: %v\n", c.name, err)
	return exitFailed
}

// messages is the error output of all commands: each Write is one message, and one line. Messages
// have names and texts of files in them, which may neither command a terminal nor forge a line (see
// package visible).
type messages struct{ w io.Writer }

// Write writes one message as one line, with unsafe characters made visible.
func (m messages) Write(p []byte) (int, error) {
	line := visible.Text(strings.TrimSuffix(string(p), "\n")) + "\n"
	if _, err := io.WriteString(m.w, line); err != nil {
		return 0, err
	}
	return len(p), nil
}

// findCommand returns a command by its name, or nil.
func findCommand(name string) *command {
	for i := range commands {
		if commands[i].name == name {
			return &commands[i]
		}
	}
	return nil
}

// run parses the command's arguments and runs it. A wrong command line gives a usageError.
func (c *command) run(args []string, stdout, stderr io.Writer) error {
	fs := c.flagSet()
	do := c.flags(fs)
	rest, err := parse(fs, args)
	if errors.Is(err, flag.ErrHelp) {
		return err
	}
	if err != nil {
		return usageError(err.Error())
	}
	return do(rest, stdout, stderr)
}

// flagSet returns the command's set of flags, still empty.
func (c *command) flagSet() *flag.FlagSet {
	fs := flag.NewFlagSet(c.name, flag.ContinueOnError)
	fs.SetOutput(io.Discard) // run prints the error, once
	return fs
}

// parse takes flags from anywhere among the arguments and returns the others; "--" ends the flags.
// Package flag stops at the first argument that is not a flag, so parse takes that one out and
// continues after it.
//
// Example: "walk app.dmp --format json syms -- --odd-name" has the flag --format and the rest
// app.dmp, syms, --odd-name.
func parse(fs *flag.FlagSet, args []string) (rest []string, err error) {
	for len(args) > 0 {
		if err := fs.Parse(args); err != nil {
			return nil, err
		}
		used := len(args) - fs.NArg()
		if used > 0 && args[used-1] == "--" {
			return append(rest, fs.Args()...), nil
		}
		if args = fs.Args(); len(args) > 0 {
			rest, args = append(rest, args[0]), args[1:]
		}
	}
	return rest, nil
}

// helpFor prints the help of one command.
func helpFor(name string, stdout, stderr io.Writer) int {
	c := findCommand(name)
	if c == nil {
		fmt.Fprintf(stderr, "crashpane: there is no command %q; crashpane --help lists them\n", name)
		return exitUsage
	}
	c.writeHelp(stdout)
	return exitOK
}

// writeHelp prints the help of the command, with its flags.
func (c *command) writeHelp(w io.Writer) {
	fmt.Fprintf(w, "usage: crashpane %s\n\n%s\n\nFlags:\n", c.line, c.help)
	fs := c.flagSet()
	c.flags(fs)
	fs.SetOutput(w)
	fs.VisitAll(func(f *flag.Flag) {
		if f.DefValue == "-1" { // not given; PrintDefaults leaves zeros out
			f.DefValue = "0"
		}
	})
	fs.PrintDefaults()
}

// writeHelp prints the list of commands.
func writeHelp(w io.Writer) {
	fmt.Fprint(w, "crashpane reads minidumps and core files, and shows what crashed.\n\nusage: crashpane COMMAND …\n\nCommands:\n")
	for i := range commands {
		fmt.Fprintf(w, "  %-11s %s\n", commands[i].name, commands[i].about)
	}
	fmt.Fprint(w, "\ncrashpane help COMMAND says more; crashpane --version says which build this is.\n")
	fmt.Fprint(w, "Exit status: 0 done, 1 something could not be read, 2 the command line is wrong, 130 interrupted.\n")
}

// versionText is the version that the linker set, else that of the module in the build information.
func versionText() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(unknown)"
}
