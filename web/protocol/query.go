package protocol

import "github.com/crashpane/crashpane/walker/report/rows"

// Query queries parts of the screen: those whose field is set.
type Query struct {
	Selection
	// Search is the searched text: rows that contain it are marked.
	Search string
	// Rest is for how many milliseconds after its answer the engine does no background work, or
	// UntilNext.
	Rest int
	// Wanted: many files are still to be read, and the page asks which of them to read first.
	Wanted bool

	Summary  bool
	Threads  *ThreadsQuery
	Stack    *Span
	Detail   bool // of the selected frame
	Code     *CodeQuery
	Modules  *ModulesQuery
	Missing  *Span
	Files    *Span
	Grid     *GridQuery
	Content  *ContentQuery
	System   *SystemQuery
	Compare  *CompareQuery
	Overview OverviewQuery
	Find     *FindQuery
	Memory   MemoryQuery
}

// UntilNext is a Query.Rest: another query follows as soon as the result is painted.
const UntilNext = -1

// Selection is the selected dump, thread and frame.
type Selection struct {
	Dump          int
	Thread        int // -1: the one that the dump starts with
	Frame, Inline int // Inline is -1 for the physical frame
	// Top: select the thread's first row, which may be an inlined call. The result's Detail says
	// which row it is.
	Top         bool
	HideInlines bool
	ShowGuesses bool
}

// Span is a window of a list: its first row, and the number of rows.
type Span struct{ From, Count int }

// ThreadsQuery is a window of the threads whose name or id contains Filter.
type ThreadsQuery struct {
	Span   Span
	Filter string
}

// CodeQuery is a window of the listing of code around the selected frame, or around the address At if
// that is not 0. The listing has Before instructions before that and After from there on. Span.From is
// counted from the row of the instruction that the listing is around, and may be negative.
// Source: the listing is the source file of the frame, around its line. Without a dump the code is that of the outline of the
// file Item, around At.
type CodeQuery struct {
	Item          int
	At            uint64
	Source        bool
	Before, After int
	Span          Span
}

// ModulesQuery is a window of the modules that contain Filter. Sort is the number of the column by which
// they are sorted, from 1; a negative one sorts the other way around, 0 is the usual order. Selected is the module whose details and row number are
// queried, or -1.
type ModulesQuery struct {
	Span           Span
	Selected, Sort int
	Filter         string
}

// GridQuery is a window of a table of the dump's own data.
type GridQuery struct {
	Name string
	Span Span
}

// ContentQuery is a window of a stream's content. Bytes: as a hex dump. Private: even if it may
// contain private data.
type ContentQuery struct {
	Stream         int
	Bytes, Private bool
	Span           Span
}

// SystemQuery queries the facts of the System tab. Private groups come without their contents
// unless their field is set.
type SystemQuery struct{ CommandLine, Environment bool }

// CompareQuery is a window of the comparison of unwind policies. Row is the one for which the
// result says how each policy continues, or -1.
type CompareQuery struct {
	Span Span
	Row  int
}

// OverviewQuery queries what is about all threads, two dumps, or a file of symbols.
type OverviewQuery struct {
	Dumps      *DumpTableQuery // then nothing else is queried but the files
	Merged     *MergedQuery
	Difference *DifferenceQuery
	Outline    *OutlineQuery
}

// OverviewPage has what was queried of it.
type OverviewPage struct {
	Dumps      *DumpTablePage
	Merged     *rows.MergedPage
	Difference *rows.DifferencePage
	Outline    *rows.OutlinePage
}

// MergedQuery is a window of the tree of all threads' stacks. Toggled are the branches that are open or
// folded, other than at first.
type MergedQuery struct {
	Span    Span
	Toggled []int
}

// DifferenceQuery is a window of the comparison with the dump Other.
type DifferenceQuery struct {
	Span  Span
	Other int
}

// FindQuery queries the number of hits of Search in the dump, and the position of hit number Hit,
// counted from 1; 0 for none.
type FindQuery struct{ Hit int }

// QueryResult has the parts that were queried, as far as they exist.
type QueryResult struct {
	ReportID
	// Pending is how many threads of the dump are not walked yet; Walked follows.
	Pending int
	// Unindexed has the items of symbol files without a full index, which the page should have
	// indexed.
	Unindexed []int
	// Wanted has the names of the modules whose symbols are missing, the most useful first.
	Wanted []string

	Summary  *rows.Summary
	Have     []string // with Summary: the tabs for which the dump has data
	Threads  *rows.ThreadPage
	Stack    *rows.StackPage
	Detail   *rows.FrameDetail
	Code     *CodePage
	Modules  *rows.ModulePage
	Missing  *rows.MissingPage
	Files    *FilePage
	Grid     *GridPage
	Content  *ContentPage
	System   *SystemPage
	Compare  *rows.ComparePage
	Overview OverviewPage
	Found    *FoundPage
	Memory   MemoryResult
}

// CodePage is a window of a listing of code, of the frame and the address that the query had.
type CodePage struct {
	rows.CodePage
	Thread, Frame int
	Around        uint64 // CodeQuery.At
	OfSource      bool   // CodeQuery.Source
}

// ReportID identifies a report of a dump. When symbols arrive or the unwind policy changes, there
// is a new report with the next Revision.
type ReportID struct{ Dump, Revision int }

// FoundPage has the number of hits of the searched text, and the position of hit number At, counted
// from 1; 0 for none.
type FoundPage struct {
	Total, At int
	Hit       rows.Hit
}

// GridRow is a row of a table of the dump's own data.
type GridRow struct {
	Index int
	Cells []string
	Mark  string // "danger", "stack", or ""
	// Points says what the address in the row points to, or is "".
	Points string
}

// GridPage is a window of such a table.
type GridPage struct {
	rows.Page
	Name    string
	Columns []rows.Head
	Rows    []GridRow
}

// ContentPage is a window of a stream's content.
type ContentPage struct {
	rows.Page
	Title string
	Lines []string
	Bytes bool // the lines are a hex dump; OnlyBytes: there is no other form
	// Private: it may contain private data, and is sent only if the query says so.
	OnlyBytes, Private bool
}

// SystemPage has further groups of the System tab.
type SystemPage struct{ Groups []rows.Group }

func (*Query) request()     {}
func (*QueryResult) reply() {}
