package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

var outlineCommand = command{
	name:  "outline",
	line:  "outline [--files] [--arch CPU] [--format text|json] [--max-unpacked SIZE] FILE [ADDRESS|NAME|SOURCE:LINE] [DEBUGFILE…]",
	about: "list what a symbol file, program or PDB says: functions, files, lines, rules",
	help: `Prints what FILE says about its code, without a dump. FILE is a symbol file, a program or library, its debug file, a PDB or a dSYM. With
FILE alone, outline lists all functions by address, with the public names; --files lists the source files.

  crashpane outline app.sym                   all functions
  crashpane outline app.sym parse             those whose names contain the text, in any case; of a single one also its lines
  crashpane outline app.sym parser.c:120      where the code of a line is; parser.c: lists the functions with code of the file
  crashpane outline app.sym 0x4011d0          the function, line and inlined calls at an address, and how its caller is found

DEBUGFILE is a separate debug file, PDB, program or dSYM that belongs to FILE; to name one without a text, write "" before it. Addresses
are link-time addresses, or in symbol files offsets from the module's start. Unwind rules are as "crashpane rules" prints them.

For a binary the functions are those that "crashpane dumpsyms" would write. What could not be read is reported on the error output.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var o outlineRun
		fs.BoolVar(&o.files, "files", false, "list source files; NAME is then a part of their paths")
		fs.StringVar(&o.arch, "arch", "", "for a Mach-O file with several processors, the `CPU` to read")
		fs.StringVar(&o.format, "format", "text", "`form` of the output: "+strings.Join(plainFormats, ", "))
		o.Choices.UnpackedFlag(fs)
		return o.run
	},
}

// outlineRun is one run of outline.
type outlineRun struct {
	files        bool
	arch, format string
	disk.Choices
}

func (o *outlineRun) run(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usageError("name a file")
	}
	if err := choice("format", o.format, plainFormats); err != nil {
		return err
	}
	what := ""
	if len(args) > 1 {
		what = args[1]
	}
	// A full index tells all warnings of a symbol file. An address does not need it.
	_, _, onDemand := session.ParseOutline(what)
	files := disk.New(session.Options{Demangle: msvc.Name, IndexOnDemand: onDemand, Slice: disk.ReadSize, Workers: runtime.GOMAXPROCS(0)}, o.Choices, stderr)
	defer files.Close()
	items, err := files.Add(disk.InBundle(args[0]))
	if err != nil {
		return err
	}
	item, err := choose(args[0], items, o.arch)
	if err != nil {
		return err
	}
	for i := 2; i < len(args); i++ {
		if err := files.AddSymbols(args[i]); err != nil {
			return err
		}
	}
	opened, err := files.Files.Outline(item)
	if err != nil {
		return err
	}
	defer opened.Close()
	out, err := o.ask(opened, what)
	if err != nil {
		return err
	}
	out.File = opened.File()
	for _, w := range out.File.Warnings {
		fmt.Fprintln(stderr, w)
	}
	if more := out.File.WarningCount - len(out.File.Warnings); more > 0 {
		fmt.Fprintf(stderr, "%s: %d more warnings\n", out.File.Name, more)
	}
	out.Demangle(msvc.Name)
	stdout = files.Out(stdout)
	if o.format == "text" {
		return files.Ended(text.WriteOutline(stdout, out))
	}
	if err = jsonreport.WriteOutline(stdout, out); err == nil {
		_, err = io.WriteString(stdout, "\n")
	}
	return files.Ended(err)
}

// hasCode reports whether an item is a symbol file or a binary.
func hasCode(it session.Item) bool {
	return it.Usable && (it.Kind == session.KindSym || it.Kind == session.KindBinary)
}

// choose returns the symbol file or binary that a file is, or that is in it. arch is the processor that the user chose,
// or "".
func choose(path string, items []session.Item, arch string) (int, error) {
	var names []string
	item := -1
	for _, it := range items {
		if !hasCode(it) {
			continue
		}
		if arch != "" && !slices.Contains([]string{it.SymArch, appleNames[it.SymArch]}, cmp.Or(appleNames[arch], arch)) {
			names = append(names, it.SymArch)
			continue
		}
		if names = append(names, it.SymArch); item >= 0 {
			return 0, fmt.Errorf("%s has several files (%s): --arch says for which processor to read it, or name one of them", path, strings.Join(names, ", "))
		}
		item = it.ID
	}
	if item >= 0 {
		return item, nil
	}
	for _, it := range items {
		if it.Message != "" {
			return 0, errors.New(it.Message)
		}
	}
	if len(names) > 0 {
		return 0, fmt.Errorf("%s has no part for %s; it has %s", path, arch, strings.Join(names, ", "))
	}
	return 0, fmt.Errorf("%s: not a symbol file, program or debug information", path)
}

// ask makes the outline that the user wants.
func (o *outlineRun) ask(of *session.Outline, what string) (*report.Outline, error) {
	wish, address, is := session.ParseOutline(what)
	if o.files {
		wish, is = session.OutlineWish{Kind: report.OutlineFiles, Text: what}, false
	}
	out := &report.Outline{}
	var err error
	if is {
		out.Place, err = of.At(address, false, 0, 0)
		return out, err
	}
	for ended := false; !ended; ended = out.List.Ended {
		if out.List, err = of.List(wish, 0, allRows, 1<<40); err != nil {
			return nil, err
		}
	}
	if rows := out.List.Rows; what != "" && wish.Kind == report.OutlineFunctions && len(rows) == 1 {
		out.Place, err = of.At(rows[0].Address, true, 0, allRows)
	}
	return out, err
}

// allRows is more than a list has.
const allRows = 1 << 40
