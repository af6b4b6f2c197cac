package app

import "github.com/crashpane/crashpane/walker/report/view"

// The page and the engine speak in small messages (package wire): a Request goes to the engine, a Reply with the same ID comes
// back, and Replies with Progress may come before it. Files go beside the message, as the browser's File objects.

// Ops of a Request.
const (
	OpAdd      = "add"      // read one file
	OpLook     = "look"     // make the parts of the screen that Look asks for
	OpAssign   = "assign"   // use Item's symbols for Module of Dump, whatever the ids say
	OpUnassign = "unassign" // take that back
	OpPolicy   = "policy"   // walk in another way
	OpExport   = "export"   // make a text of Kind
	OpPlan     = "plan"     // say how the file of Item is divided for Cores workers, and what its index is called
	OpIndex    = "index"    // make the index of the file that comes with it, from From to To; needs no other request before it
	OpPiece    = "piece"    // take the index of piece Part of Parts of Item's file; with the last one the file is exact
	OpComplete = "complete" // read Item's file as a whole, here, while nobody asks for anything (On), or stop that; the answer comes when it is read
	OpIgnore   = "ignore"   // do without the call frame information of Module of Dump, or with it (On)
	OpMissing  = "missing"  // list the symbol files that Dump lacks, those of the first thread's frames first
	OpClose    = "close"    // leave Dump out of the lists; the answer has the dumps that are left
	OpSym      = "sym"      // write a symbol file of the binary called Name, in Chunks
)

// Ops of a Reply that nobody asked for.
const (
	OpWalked = "walked" // the stacks of Dump that were Pending are there
	OpRemote = "remote" // parts of the file at the address Text cannot be read any more: Error; Kind may be RemoteChanged
)

// Parts of the screen, as bits.
const (
	PartSummary = 1 << iota
	PartThreads
	PartStack
	PartFrame
	PartModules
	PartWanted
	PartFiles
	PartGrid
	PartContent
	PartSystem
	PartCompare
	PartFound

	PartsAll = PartSummary | PartThreads | PartStack | PartFrame | PartModules | PartWanted | PartFiles |
		PartGrid | PartContent | PartSystem | PartCompare | PartFound
)

// Kinds of an export.
const (
	ExportStack    = "stack"    // the selected thread, plain
	ExportMarkdown = "markdown" // the selected thread, for a bug tracker
	ExportText     = "text"     // Breakpad's text
	ExportMachine  = "machine"  // Breakpad's machine-readable text
	ExportJSON     = "json"     // rust-minidump's schema
	ExportWanted   = "wanted"   // the missing symbol files
	ExportCompare  = "compare"  // the selected thread walked in six ways
)

// KindSymbols is the Kind of an OpAdd whose file may be nothing but a symbol file: it comes from a server.
const KindSymbols = "symbols"

// RemoteChanged is the Kind of an OpRemote of a file that is another one by now.
const RemoteChanged = "changed"

// Request is a message to the engine.
type Request struct {
	ID   int
	Op   string
	Name string // add: the file's path, as it was dropped; sym: the name of an item
	Look *Look
	// DebugID: the file of an OpAdd with KindSymbols is of that build, or not taken; "" if it is not known.
	DebugID string

	Item, Dump, Module int    // assign, unassign
	Thread             int    // export
	Kind               string // export
	Policy             string
	Redact             bool  // all: texts come without what is private, see engine/redact.go
	Cores              int   // plan
	From, To           int64 // index
	Part, Parts        int   // piece
	Keep               bool  // plan, piece: the index is to be kept
	On                 bool  // ignore, complete; plan: the page does not have the file, which was unpacked, and gets it, or the answer is Apart
}

// Span is a window of a list: from which row, how many.
type Span struct{ From, Count int }

// Look says what is to be seen.
type Look struct {
	Parts         int
	Dump          int
	Thread        int // -1: the dump's first one
	Frame, Inline int
	// Top: the first row of the thread is to be selected, inlined or not; the answer's Frame says which one that is.
	Top bool
	// More: another question follows as soon as the answer is painted, and what nobody waits for is not begun before that.
	More         bool
	HideInlines  bool
	Module       int // whose row number is asked for, or -1
	ThreadFilter string
	Search       string
	Hit          int // of the Search, that is gone to: counted from 1, 0 for none

	Threads, Stack, Modules, Wanted, Files Span

	// Grid names the table of the dump's own data that is open, or is "".
	Grid     string
	GridSpan Span
	// Stream is the stream whose content is shown; Bytes: as bytes, whatever it is. Private: it was asked for although it may
	// hold what is nobody's business.
	Stream         int
	Bytes, Private bool
	Content        Span
	// Compare is the window of the comparison of the thread's walks, Compared the row whose ways on are asked for, or -1.
	Compare  Span
	Compared int
	// What of the System tab was asked for by name.
	CommandLine, Environment bool
}

// FoundPage is how often the text that is searched for is in the dump, and where hit number At is; At counts from 1, 0 is none.
type FoundPage struct {
	Total, At int
	Hit       view.Hit
}

// GridRow is a row of a table of the dump's own data.
type GridRow struct {
	Index int
	Cells []string
	Mark  string // "danger", "stack", or ""
}

// GridPage is a window of such a table.
type GridPage struct {
	view.Page
	Name    string
	Columns []string
	Rows    []GridRow
}

// ContentPage is a window of a stream's content.
type ContentPage struct {
	view.Page
	Stream int
	Title  string
	Lines  []string
	Bytes  bool // the lines are a hex dump; OnlyBytes: there is no other form
	// Private: it is not shown before somebody asks for it.
	OnlyBytes, Private bool
}

// Reply is a message of the engine.
type Reply struct {
	ID int
	Op string
	// Error says why the request was not done; the engine lives.
	Error    string
	Progress *Progress

	// add: the items that the file became, and after every change the dumps there are.
	Items []FileRow
	Dumps []DumpName
	// NeedsReader: among the items are some that the full engine can read, and this one cannot. HoldsPrograms: it reads the dump, and not the
	// programs that are in the dump's memory.
	NeedsReader, HoldsPrograms bool
	// Same is the number of the dump that the file is a copy of, plus 1; 0 for none.
	Same int

	// look: Revision counts the dump's reports, since new symbols make a new one.
	Parts          int
	Dump, Revision int
	// Pending is how many threads of the dump are not walked yet; OpWalked follows.
	Pending int

	Summary *view.Summary
	Threads *view.ThreadPage
	Stack   *view.StackPage
	Frame   *view.FrameDetail
	Modules *view.ModulePage
	Wanted  *view.WantedPage
	Files   *FilePage
	// Have are the tabs of the dump's own data that are not empty.
	Have    []string
	Grid    *GridPage
	Content *ContentPage
	Compare *view.ComparePage
	Found   *FoundPage
	// System: further groups of the System tab; the last Secrets of them are private.
	System  []view.Group
	Secrets int

	// sym: a piece of the text comes beside the reply; others follow.
	More bool

	// export, sym
	Kind     string
	Text     string
	FileName string

	// Unread are the items of symbol files that the dump's stacks were found in by searching, to be read as a whole.
	Unread []int
	// plan, piece, complete: the file. Cuts are where its pieces begin and end, Key is the name under which its index is kept.
	Item int
	Cuts []int64
	Key  string
	// Exact: the file was read as a whole. Apart: its pieces cannot be joined, it must be read at once.
	Exact, Apart bool
	// walked: how many frames are others than before a file was read as a whole, Rows of them that were shown.
	Changed int
}

// Progress says how far a long step is. Total is 0 if it is not known.
type Progress struct {
	Stage, Name string
	Done, Total int64
	Later       bool // it belongs to work that nobody waits for
}

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
	Kind    string // "minidump", "sym", "archive", "other"
	Taken   string // what its content was taken for (intake.Kind)
	Usable  bool
	Message string
	Dump    int // the dump that it is, or -1
	// Symbols: name and id of the MODULE record, and the modules that the file is used for.
	SymName, SymID string
	Assign         bool // waits to be assigned by hand
	Warnings       []string
	WarningCount   int
}

// FilePage is a window of the files. Problems is how many of all files are not usable or wait for a hand.
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
