package tabs

import (
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/protocol"
)

// NextStep returns the advice, for a system (host.Windows …), for a file that Crashpane cannot use, and a command that does it, or
// "".
func NextStep(f protocol.FileRow, system string) (text, command string) {
	windows := system == host.Windows
	kind := f.Detected
	if f.Kind == "binary" {
		kind = damaged
	}
	for _, n := range nextSteps {
		if n.kind == kind {
			command = n.command
			if windows && n.windows != "" {
				command = n.windows
			}
			return n.text, commandFor(command, rows.BaseName(f.Name), windows)
		}
	}
	return "", ""
}

// damaged is a binary of a format that is read, which can only be unusable because it is truncated or
// damaged.
const damaged = "damaged"

// copyAgain is the advice for files of supported formats.
const copyAgain = "Copy it again, and compare its size with the original’s:"

// nextSteps has the advice for each kind of file (intake.Kind, or damaged). command has FILE in place
// of the file's name; windows is the command for PowerShell, if it is another one.
var nextSteps = []struct{ kind, text, command, windows string }{
	{"empty", "Copy it again.", "", ""},
	{"minidump", copyAgain, "ls -l FILE", "(Get-Item FILE).Length"},
	{damaged, copyAgain, "ls -l FILE", "(Get-Item FILE).Length"},
	{"elf-core", "Open it in a debugger, together with the program:", "gdb -c FILE", ""},
	{"macho-core", "Open it in a debugger, together with the program:", "lldb -c FILE", ""},
	{"dyld-cache", "Extract the libraries of the stack, and drop them:", "ipsw dyld extract FILE UIKitCore", ""},
	{"disk-image", "Open it, and drop what is in it:", "hdiutil attach FILE", "7z x FILE"},
	{"kernel-dump", "Open it in a debugger:", "windbg -z FILE", ""},
	{"user-dump", "Open it in a debugger:", "windbg -z FILE", ""},
	{"apple-crash", "It is a text report of the crash. Open it in an editor.", "", ""},
	{"packed", "Unpack it, and drop its files:", "tar -xf FILE", ""},
	{"7z", "Unpack it, and drop its files:", "7z x FILE", ""},
	{"cab", "Unpack it, and drop its files:", "cabextract FILE", "expand FILE -F:* ."},
	{"gzip", "Copy it again, or unpack it yourself:", "gzip -dk FILE", "tar -xf FILE"},
	{"zip", "Copy it again, or unpack it yourself:", "unzip FILE", "Expand-Archive FILE"},
	{"text", "Leave it out.", "", ""},
	{"binary", "Leave it out.", "", ""},
}

// commandFor puts a file's name into a command. It quotes the name as one word for the shell, and
// begins it with ./ where the program would take it for an option: users paste these commands, and
// the name comes from an untrusted file.
func commandFor(command, file string, windows bool) string {
	quote := func(name string) string {
		if name[0] == '-' {
			name = "./" + name
		}
		if strings.Trim(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-+/") == "" {
			return name
		}
		if windows { // PowerShell takes four more characters for single quotation marks (SpecialChars in its CharTraits.cs)
			return "'" + strings.NewReplacer("'", "''", "‘", "‘‘", "’", "’’", "‚", "‚‚", "‛", "‛‛").Replace(name) + "'"
		}
		return "'" + strings.ReplaceAll(name, "'", `'\''`) + "'"
	}
	if command == "" || file == "" {
		return ""
	}
	// In one pass, since a name may have FILE in it.
	return strings.NewReplacer("FILE.sym", quote(file+".sym"), "FILE.pdb", quote(file+".pdb"), "FILE", quote(file)).Replace(command)
}
