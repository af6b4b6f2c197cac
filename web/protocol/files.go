package protocol

import "github.com/crashpane/crashpane/walker/report/view"

// Add reads the file that comes with it.
type Add struct {
	Name string // its path, as it was dropped
	// Symbols: it comes from a server, and may be nothing but a symbol file, of the build DebugID if that is not "".
	Symbols bool
	DebugID string
}

// Added is what a file became.
type Added struct {
	Items []FileRow
	Dumps []DumpName // all that there are now
	// NeedsReader: among the items are some that the engine with all readers can read, and this one cannot. HoldsPrograms: this one reads the
	// dump, and not the programs that are in the dump's memory.
	NeedsReader, HoldsPrograms bool
	// Same is the number of the dump that the file is a copy of, plus 1; 0 for none.
	Same int
}

// CloseDump leaves a dump out of the lists.
type CloseDump struct{ Dump int }

// Closed has the dumps that are left.
type Closed struct{ Dumps []DumpName }

func (*Add) request()       {}
func (*Added) reply()       {}
func (*CloseDump) request() {}
func (*Closed) reply()      {}

// DumpName is a dump of the switcher. Says is its crash, time and process, as far as the dump has them.
type DumpName struct {
	Dump int
	Name string
	Says string
}

// FileRow is one file, or one member of an archive, and what became of it.
type FileRow struct {
	Item    int
	Name    string
	Size    string
	Kind    string // "minidump", "sym", "archive", "binary", "other"
	Taken   string // what its content was taken for (intake.Kind)
	Usable  bool
	Message string
	Dump    int // the dump that it is, or -1
	// Symbols: name and id of the MODULE record, and the modules that the file is used for.
	SymName, SymID string
	Assign         bool // waits to be assigned to a module by the user
	Warnings       []string
	WarningCount   int
}

// FilePage is a window of the files. Problems is how many of all files are not usable or wait to be assigned.
type FilePage struct {
	view.Page
	Problems int
	Rows     []FileRow
	// Rejected are the first files that cannot be used, Rejections how many there are.
	Rejected   []FileRow
	Rejections int
	// Symbols are the symbol files and binaries that can be assigned to a module of the open dump, Modules those that a file can be assigned
	// to, while one waits for that: those without symbols first.
	Symbols, Modules []Choice
}

// Choice is a file or a module by its number.
type Choice struct {
	Item int
	Name string
}
