package protocol

import (
	"fmt"
	"strings"

	"github.com/crashpane/crashpane/walker/report/rows"
)

// Add adds the files that are sent with it.
type Add struct {
	Names []string // their paths, as they were dropped
	// Symbols: a server has sent the one file, so it must be a symbol file, and must have the id
	// DebugID if that is not "".
	Symbols bool
	DebugID string
	// Anyway are those of Names that the user lets unpack to whatever there is room for.
	Anyway []string
	// Continue goes on with an archive instead: Added.Rest of the reply before.
	Continue int
	// Others: other files wait, which go before one that takes long.
	Others bool
}

// Added describes the files, or the files in an archive.
type Added struct {
	Items []FileRow
	// Dumps are those that were not listed before, All is how many dumps there are now.
	Dumps []DumpName
	All   int
	// Same is 1 plus the number of the dump that a file is a copy of; 0 for none.
	Same int
	// Rest is set if the file is an archive that has further members, for Add.Continue. PutOff: they
	// take long, and other files should be added first.
	Rest   int
	PutOff bool
}

// LeaveOut cancels what runs, and removes items: with Last also those of the last Add. The worker acts
// on it before it handles what came earlier. Its reply has the remaining dumps.
type LeaveOut struct {
	Items []int
	Last  bool
}

// CloseDump removes a dump from the lists.
type CloseDump struct{ Dump int }

// Closed has the remaining dumps.
type Closed struct{ Dumps []DumpName }

func (*Add) request()       {}
func (*Added) reply()       {}
func (*LeaveOut) request()  {}
func (*CloseDump) request() {}
func (*Closed) reply()      {}

// DumpName is a dump in the menu of dumps. ID is the same for the same dump under any name. Brief has
// its crash, time and process, as far as the dump has them.
type DumpName struct {
	Dump     int
	Name, ID string
	Brief    string
}

// FileRow describes one file, or one member of an archive.
type FileRow struct {
	Item     int
	Name     string
	Size     string
	Kind     string // "minidump", "sym", "archive", "binary", "sources", "other"
	Detected string // the format that was recognized by its content (intake.Kind)
	Usable   bool
	Message  string
	Refused  bool // it unpacks to more than is allowed, which Add.Anyway changes
	Dump     int  // number of the dump, or -1
	// SymName and SymID are the name and the id of a symbol file's MODULE record.
	SymName, SymID string
	Assign         bool // the user must assign it to a module
	// Unused says why no dump uses the file: a clause; "" if one does, or Message says it.
	Unused       string
	Warnings     []string
	WarningCount int
	Count        int // of source files in a folder of them
}

// IsBinary reports whether symbol files can be made from the file.
func (f *FileRow) IsBinary() bool { return f.Kind == "binary" && f.Usable }

// FileColumns are the columns of the list of files.
var FileColumns = []rows.Column[FileRow]{
	{Head: rows.Head{Title: "File", Class: "fn", Width: "minmax(0, 2.4fr)", Medium: "minmax(0, 2fr)"},
		Text: func(f FileRow) string { return rows.BaseName(f.Name) }, Tip: func(f FileRow) string { return f.Name },
		Find: func(f FileRow) []string { return []string{f.Name} }},
	{Head: rows.Head{Title: "Type", Class: "kind", Width: "168px", Medium: "112px", Narrow: "120px"}, Text: kindWord},
	{Head: rows.Head{Title: "Size", Class: "num", Width: "84px", Narrow: "-"}, Text: func(f FileRow) string { return f.Size }},
	{Head: rows.Head{Title: "Status", Class: "dim", Width: "minmax(0, 4fr)", Medium: "minmax(0, 3fr)", Narrow: "minmax(0, 2fr)"},
		Text: fileText, Tip: fileTip, Find: func(f FileRow) []string { return []string{f.SymName, f.SymID, f.Message} }},
	{Head: rows.Head{Class: "right", Width: "160px", Medium: "130px", Narrow: "minmax(70px, auto)"}, Text: func(FileRow) string { return "" }},
}

// kindWord is the Type cell of a file.
func kindWord(f FileRow) string {
	switch {
	case f.Kind == "minidump" && f.Usable:
		return "crash dump"
	case f.Kind == "sym" && f.Assign:
		return "symbols, no MODULE"
	case f.Kind == "sym" && f.Usable:
		return "symbols"
	case f.Kind == "archive" && f.Usable:
		return "archive"
	case f.IsBinary():
		return "binary"
	case f.Kind == "sources":
		return "source code"
	case f.Kind == "other" && f.Usable:
		return "part of a dSYM"
	case f.Kind == "other":
		return "not usable"
	}
	return f.Kind + ", not usable"
}

// fileText is the Status cell of a file, and fileTip its tooltip, which has all warnings.
func fileText(f FileRow) string {
	switch {
	case f.Message != "":
		return strings.TrimPrefix(f.Message, f.Name+": ")
	case f.Assign:
		return "The file does not say which module it belongs to."
	case f.Unused != "":
		return "Not used: " + f.Unused
	case f.WarningCount > 0 && len(f.Warnings) > 0:
		if f.WarningCount == 1 {
			return f.Warnings[0]
		}
		return fmt.Sprintf("%s warnings: %s", rows.Number(f.WarningCount), f.Warnings[0])
	case f.SymName != "":
		return f.SymName + "  " + f.SymID
	case f.Kind == "sources" && f.Count > 1:
		return rows.Number(f.Count) + " files, for the lines of frames (Code)"
	case f.Kind == "sources":
		return "For the lines of frames (Code)"
	case f.Dump >= 0:
		return "Open"
	case f.Kind == "archive" && f.Usable:
		return "Its files are listed below"
	}
	return ""
}

func fileTip(f FileRow) string {
	s := fileText(f)
	if len(f.Warnings) > 1 {
		s += "\n" + strings.Join(f.Warnings[1:], "\n")
	}
	return s
}

// FilePage is a window of the files. Problems is how many of all files are not usable or must be
// assigned.
type FilePage struct {
	rows.Page
	Problems int
	Rows     []FileRow
	// Rejected has the first files that cannot be used, Rejections how many there are.
	Rejected   []FileRow
	Rejections int
	// Unused has the last symbol files and binaries that no dump uses, the newest first.
	Unused []FileRow
	// Symbols has the symbol files and binaries that can be assigned to a module of the open dump.
	// Modules has the modules to which a file can be assigned, those without symbols first; it is
	// empty unless a file must be assigned.
	Symbols, Modules []Choice
}

// Choice is a file or a module, with its number.
type Choice struct {
	Item int
	Name string
}
