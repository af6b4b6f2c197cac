package app

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report/view"
	"github.com/crashpane/crashpane/web/protocol"
)

// What to do with a file that could not be used, in the command line of the system that the browser runs on.

// Systems that a Host names.
const (
	SystemWindows = "windows"
	SystemMac     = "mac"
	SystemLinux   = "linux" // and all others
)

// copyAgain is for files that are read if they are whole.
const copyAgain = "Copy it again, and compare its size with that of the original:"

// nextSteps are by what a file is (intake.Kind). command has FILE where the file's name belongs; windows is PowerShell's where it is another one.
var nextSteps = []struct{ taken, text, command, windows string }{
	{"empty", "Copy it again: nothing of it has arrived.", "", ""},
	{"minidump", copyAgain, "ls -l FILE", "(Get-Item FILE).Length"},
	{"pe", copyAgain, "ls -l FILE", "(Get-Item FILE).Length"},
	{"pdb", copyAgain, "ls -l FILE", "(Get-Item FILE).Length"},
	{"macho", "Make a symbol file of it or of its dSYM, and drop that:", "dump_syms --inlines FILE -o FILE.sym", ""},
	{"dsym-part", "Make a symbol file of the whole dSYM folder, and drop that.", "", ""},
	{"elf-core", "Open it with a debugger, beside the program:", "gdb -c FILE", ""},
	{"kernel-dump", "Open it with a debugger:", "windbg -z FILE", ""},
	{"user-dump", "Open it with a debugger:", "windbg -z FILE", ""},
	{"apple-crash", "It is text, and says where the program crashed. Open it in an editor.", "", ""},
	{"packed", "Unpack it, and drop what was in it:", "tar -xf FILE", ""},
	{"cab", "Unpack it, and drop what was in it:", "cabextract FILE", "expand FILE -F:* ."},
	{"gzip", "Copy it again, or unpack it yourself:", "gzip -dk FILE", "tar -xf FILE"},
	{"zip", "Copy it again, or unpack it yourself:", "unzip FILE", "Expand-Archive FILE"},
	{"text", "It is neither a dump nor symbols: leave it out.", "", ""},
	{"binary", "It is neither a dump nor symbols: leave it out.", "", ""},
}

// nextStep is what to do, and the command that does it or "".
func (p *Page) nextStep(f protocol.FileRow) (text, command string) {
	windows := p.Host.System() == SystemWindows
	for _, n := range nextSteps {
		if n.taken == f.Taken {
			command = n.command
			if windows && n.windows != "" {
				command = n.windows
			}
			return n.text, named(command, view.BaseName(f.Name), windows)
		}
	}
	return "", ""
}

// named puts a file's name into a command, so that the shell takes it for one word and the program for no option.
func named(command, file string, windows bool) string {
	quote := func(name string) string {
		if name[0] == '-' {
			name = "./" + name
		}
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/") == "" {
			return name
		}
		if windows {
			return "'" + strings.ReplaceAll(name, "'", "''") + "'"
		}
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	if command == "" || file == "" {
		return ""
	}
	return strings.ReplaceAll(strings.ReplaceAll(command, "FILE.sym", quote(file+".sym")), "FILE", quote(file))
}

func (p *Page) nextText(f protocol.FileRow) string {
	text, _ := p.nextStep(f)
	return text
}

func (p *Page) nextCommand(f protocol.FileRow) string {
	_, command := p.nextStep(f)
	return command
}

// rejectedText says how many more files could not be used than are listed.
func (p *Page) rejectedText() string {
	if more := p.Files.Rejections - len(p.Files.Rejected); more > 0 {
		return "And " + files(more) + " more that cannot be used."
	}
	return ""
}

// symbolsText says that symbols are being read, "" if none are: what is missing is only known when all are there.
func (p *Page) symbolsText() string {
	switch {
	case p.Summary == nil:
	case p.Job.Active && (p.reading != nil || len(p.queue) > 0):
		if n := p.Job.Count(); n != "" {
			return "Reading symbols: file " + n
		}
		return "Reading symbols"
	case p.Readers.state == readersComing, p.Sources.running > 0:
		return p.jobText()
	}
	return ""
}

// policyText names the unwind policy where it is another than the usual one.
func (p *Page) policyText() string {
	if p.State.Policy == "" {
		return ""
	}
	return "Unwind policy: " + p.State.Policy + ". Use the default"
}

// canAssign reports whether the selected module may be given a symbol file that does not name it.
func (p *Page) canAssign() bool { return p.detail().Assign && len(p.Files.Symbols) > 0 }

// assignText says what to do to give the selected module symbols.
func (p *Page) assignText() string {
	switch d := p.detail(); {
	case !d.Assign:
		return ""
	case len(p.Files.Symbols) == 0:
		return "Add its symbol file, then choose it here."
	}
	return "Use the symbols of a file that does not name this module:"
}
