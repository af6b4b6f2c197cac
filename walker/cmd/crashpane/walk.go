package main

import (
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/report"
	jsonreport "github.com/crashpane/crashpane/walker/report/json"
	"github.com/crashpane/crashpane/walker/report/text"
	"github.com/crashpane/crashpane/walker/session"
)

var walkCommand = command{
	name:  "walk",
	line:  "walk [--format text|machine|json] [--unwind POLICY] [--exact] [--ignore-cfi MODULE] [--use FILE] DUMP [SYMBOLS…]",
	about: "walk the stacks of a dump and print them",
	help: `Prints the crash reason and the stack of every thread of DUMP, a minidump or a core file. Archives with a dump,
Apport reports and uploads (multipart bodies, Sentry envelopes) work too.

SYMBOLS are Breakpad symbol files, ELF executables, libraries and debug files (.debug, .dwo, .dwp, dwz), PE files (.exe, .dll), PDBs,
Mach-O files with their dSYMs or objects, archives (.gz, .zip, .7z, .zst, .xz, .cab, .tar, .a) of them, or folders. In a folder, walk first
looks for DEBUG_FILE/ID/NAME.sym, the layout of symbol stores, and then in all files. It recognizes a symbol file by its MODULE line
and a binary by its build id, whatever their names and folders, and a binary without a build id by its name and size.

If a module has both, the symbol file comes first. The binary adds what the symbol file lacks: a function's name if the file has none or
only an export's, a line, unwind rules. The json says which of them answered. --ignore-cfi walks without a module's call frame information.

If a file that you name is not used, a line on standard error gives the reason: its id differs, or it has none, or it is for another
processor. The same goes for a file in a folder that has the name of a module without symbols. --use FILE uses the file anyway, for the
module of its name; --use MODULE=FILE uses it for that module. The json marks the frames that it names or finds ("forced").

walk does not read large symbol files as a whole, but searches them for what a stack needs. The answers are the same if the file is
sorted, and all known writers sort what matters. If walk finds that a part is unsorted, it reads that part as a whole. --exact reads
every file that is needed as a whole. The json says for each module whether its file was read as a whole ("symbols_exact").

Formats: text is what Breakpad's minidump_stackwalk prints; machine is its form with "|" between fields; json is the schema of
rust-minidump's minidump-stackwalk, with everything else under "crashpane". Function names are those of the symbol files. In text and
machine, names from binaries are as dumpsyms writes them; under "crashpane" all names are demangled.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var w walkRun
		fs.StringVar(&w.format, "format", "text", "`form` of the output: "+strings.Join(formatNames(), ", "))
		fs.StringVar(&w.unwind, "unwind", "best", "`policy` of walking: "+strings.Join(policyNames(), ", "))
		fs.StringVar(&w.explain, "explain", "crashed", "json: `which` frames to explain with their numbers: none, the first 128 of the crashed thread (crashed), all")
		fs.Func("ignore-cfi", "do without the call frame information of `module`; may be given several times", func(name string) error {
			w.IgnoreCFI = append(w.IgnoreCFI, name)
			return nil
		})
		w.UseFlag(fs)
		fs.BoolVar(&w.exact, "exact", false, "read symbol files as a whole")
		fs.BoolVar(&w.guesses, "guesses", false, "text: list all possible callers that scanning found, even if there are many")
		fs.BoolVar(&w.compact, "compact", false, "json on one line")
		fs.BoolVar(&w.private, "private", false, "json: include the messages that the program had in its memory, which may be private")
		fs.StringVar(&w.signatureLists, "signature-lists", "", "json: make the crash signature with the lists in `folder`, in the format of Mozilla's siggen")
		return w.run
	},
}

type format struct {
	name  string
	write func(w io.Writer, r *report.Report, run *walkRun) error
}

// formats are the forms of the output.
var formats = []format{
	{"text", func(w io.Writer, r *report.Report, _ *walkRun) error { return text.Write(w, r) }},
	{"machine", func(w io.Writer, r *report.Report, _ *walkRun) error { return text.WriteMachine(w, r) }},
	{"json", func(w io.Writer, r *report.Report, run *walkRun) error {
		opt := jsonreport.Options{Pretty: !run.compact, Private: run.private}
		if run.signatureLists != "" {
			lists, err := readSignatureLists(run.signatureLists)
			if err != nil {
				return err
			}
			opt.Signatures = lists
		}
		if run.explain != "none" {
			opt.Explain = run.dump.Explainer(run.explain == "all")
		}
		if err := jsonreport.Write(w, r, opt); err != nil {
			return err
		}
		_, err := io.WriteString(w, "\n")
		return err
	}},
}

// formatNames are the names of the formats, as the flag takes them.
func formatNames() []string { return namesOf(formats, func(f format) string { return f.name }) }

// policyNames are the names of the unwind policies.
func policyNames() []string {
	return namesOf(walker.Policies(), func(p walker.Policy) string { return p.Name })
}

// policyOf returns an unwind policy by its name.
func policyOf(name string) (walker.Policy, error) {
	policy, _ := walker.PolicyByName(name)
	return policy, choice("policy", name, policyNames())
}

// walkRun is one run of the command.
type walkRun struct {
	format, unwind string
	explain        string
	compact        bool
	guesses        bool
	private        bool
	exact          bool
	signatureLists string
	dump           *session.Session
	disk.Choices
}

// run checks the flags before it opens a file, so that a mistake is reported at once, and walks all
// threads. stdout has the report alone, in the format that the user chose.
func (w *walkRun) run(args []string, stdout, stderr io.Writer) error {
	if err := choice("format", w.format, formatNames()); err != nil {
		return err
	}
	policy, err := policyOf(w.unwind)
	if err != nil {
		return err
	}
	if len(args) == 0 {
		return usageError("name a dump")
	}
	if w.explain != "none" && w.explain != "crashed" && w.explain != "all" {
		return usageError(fmt.Sprintf("%q is not a choice for --explain; the choices are none, crashed, all", w.explain))
	}
	files, r, err := disk.Open(args, session.Options{Policy: policy, Demangle: msvc.Name,
		IndexOnDemand: !w.exact, Slice: disk.ReadSize}, w.Choices, stderr)
	if err != nil {
		return err
	}
	defer files.Close()
	w.dump = files.Dump
	if w.guesses {
		r.ListGuesses()
	}
	return files.Ended(formats[slices.Index(formatNames(), w.format)].write(files.Out(stdout), r, w))
}
