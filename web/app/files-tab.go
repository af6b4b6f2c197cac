package app

import (
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
	"github.com/crashpane/crashpane/web/app/host"
	"github.com/crashpane/crashpane/web/app/table"
	"github.com/crashpane/crashpane/web/app/words"
	"github.com/crashpane/crashpane/web/protocol"
)

// Files lists every file that was added, with its type and status.
type Files struct {
	pane
	protocol.FilePage
	list  table.List
	table table.Table
}

func newFiles(t pane) Tab {
	z := &Files{pane: t}
	z.list = table.List{ID: "files", Visible: protocol.Span{Count: 8}, More: table.Overscan, Here: func() (rows.Page, int) { return z.Page, len(z.Rows) }}
	z.table = table.Table{List: &z.list, Label: "Files", Class: "table files"}
	return z
}

// Compute implements vugu's callback before each drawing.
func (z *Files) Compute() {
	kindOf, last := table.ColumnOf(protocol.FileColumns, "kind"), table.ColumnOf(protocol.FileColumns, "right")
	table.Fill(&z.table, z.Rows, protocol.FileColumns, func(f protocol.FileRow, to *table.Row) {
		kind := &to.Cells[kindOf]
		kind.Parts = []table.Part{table.Text(fileClass(f), kind.Text, "")}
		var parts []table.Part
		if f.Assign {
			parts = append(parts, table.Part{Kind: "choice", Class: "field small assign", Text: "Assign to…", Field: words.RowID("assign", f.Item),
				Label: "Module for " + f.Name, Choices: z.Modules})
		}
		if f.Refused {
			parts = append(parts, table.Button("link", "Unpack it anyway", "anyway", f.Name))
		}
		if f.Usable && (f.Kind == "sym" || f.Kind == "binary") {
			parts = append(parts, table.Button("link", "Outline", "outline", f.Item))
		}
		if f.IsBinary() {
			parts = append(parts, table.Button("link", "Download .sym", "make", f.Name))
		}
		to.Cells[last].Parts = parts
	})
	z.table.Heads[last].Parts = []table.Part{table.Button("small", "Add files", "pick-files", nil)}
}

// Want implements Zone.
func (z *Files) Want(q *protocol.Query) {
	w := z.list.Span()
	q.Files = &w
}

// Apply implements Zone.
func (z *Files) Apply(r *protocol.QueryResult) {
	if r.Files != nil {
		z.FilePage = *r.Files
		z.page.Panel.Outline.reopen()
		z.page.Reading.tellUnused(z.Unused)
	}
}

// Count is for Tab.
func (z *Files) Count() (n int, alert bool) { return z.Total, z.Problems > 0 }

// List is for Tab.
func (z *Files) List() *table.List { return &z.list }

// copyCommand copies the suggested command for a file that Crashpane cannot use.
func (z *Files) copyCommand(item string) {
	for _, f := range z.Rejected {
		if strconv.Itoa(f.Item) == item {
			z.page.Notices.Copy(z.nextCommand(f), "Command copied")
		}
	}
}

// canMake returns the first binaries among the files: the start screen offers to make symbol files
// from them, which needs no dump.
func (z *Files) canMake() []protocol.FileRow {
	var out []protocol.FileRow
	for _, f := range z.Rows {
		if f.IsBinary() && len(out) < 4 {
			out = append(out, f)
		}
	}
	return out
}

// nextStep returns the advice for a file that Crashpane cannot use, and a command that does it, or
// "".
func (z *Files) nextStep(f protocol.FileRow) (text, command string) {
	windows := z.page.Host.System() == host.Windows
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

func (z *Files) nextText(f protocol.FileRow) string {
	text, _ := z.nextStep(f)
	return text
}

func (z *Files) nextCommand(f protocol.FileRow) string {
	_, command := z.nextStep(f)
	return command
}

// rejectedText says how many unusable files are not listed.
func (z *Files) rejectedText() string {
	if more := z.Rejections - len(z.Rejected); more > 0 {
		return "Crashpane cannot use " + rows.Number(more) + " more."
	}
	return ""
}

// haveText says on the start screen that files were read, but no dump.
func (z *Files) haveText() string {
	if n := z.Rejections; n > 0 && n == z.Total {
		return words.Count(n, "file") + " read, but no crash dump that Crashpane can show."
	}
	return words.Count(z.Total, "file") + " read so far, but no crash dump that Crashpane can show."
}

// fileClass is the class of the Type cell, which colors its mark.
func fileClass(f protocol.FileRow) string {
	switch {
	case !f.Usable:
		return "state error"
	case f.Assign || f.WarningCount > 0:
		return "state warning"
	}
	return "state loaded"
}

// This file has the advice for files that Crashpane cannot use, with a command for the user's own
// system.

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
