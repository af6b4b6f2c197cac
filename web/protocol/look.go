package protocol

import "github.com/crashpane/crashpane/walker/report/view"

// Look asks for the parts of the screen that are to be drawn: those whose field is set.
type Look struct {
	Selection
	// Search is what is searched for: rows that hold it are marked.
	Search string
	// More: another question follows as soon as the answer is painted, and work that nobody waits for is not begun before that.
	More bool

	Summary bool
	Threads *ThreadsQuery
	Stack   *Span
	Detail  bool // of the selected frame
	Modules *ModulesQuery
	Wanted  *Span
	Files   *Span
	Grid    *GridQuery
	Content *ContentQuery
	System  *SystemQuery
	Compare *CompareQuery
	Find    *FindQuery
}

// Selection is the dump, thread and frame that are selected.
type Selection struct {
	Dump          int
	Thread        int // -1: the dump's first one
	Frame, Inline int // Inline is -1 for the physical frame
	// Top: the thread's first row is to be selected, whether it is an inlined call or not; the answer's Frame says which one that is.
	Top         bool
	HideInlines bool
}

// Span is a window of a list: from which row, how many.
type Span struct{ From, Count int }

// ThreadsQuery is a window of the threads whose name or id holds Filter.
type ThreadsQuery struct {
	Span   Span
	Filter string
}

// ModulesQuery is a window of the modules. Selected is the module whose details and row number are asked for, or -1.
type ModulesQuery struct {
	Span     Span
	Selected int
}

// GridQuery is a window of a table of the dump's own data.
type GridQuery struct {
	Name string
	Span Span
}

// ContentQuery is a window of a stream's content. Bytes: as bytes, whatever it is. Private: although it may hold private data.
type ContentQuery struct {
	Stream         int
	Bytes, Private bool
	Span           Span
}

// SystemQuery asks for the facts of the System tab, and for what is private among them only if that is named.
type SystemQuery struct{ CommandLine, Environment bool }

// CompareQuery is a window of the comparison of the thread's walks. Row is the one whose ways on are asked for, or -1.
type CompareQuery struct {
	Span Span
	Row  int
}

// FindQuery asks how often Search is in the dump, and where hit number Hit is: counted from 1, 0 for none.
type FindQuery struct{ Hit int }

// Looked has the parts that were asked for, as far as there are any.
type Looked struct {
	Edition
	// Pending is how many threads of the dump are not walked yet; Walked follows.
	Pending int
	// Unread are the items of symbol files that were indexed on demand only, and are to be indexed wholly.
	Unread []int

	Summary *view.Summary
	Have    []string // with Summary: the tabs of the dump's own data that are not empty
	Threads *view.ThreadPage
	Stack   *view.StackPage
	Detail  *view.FrameDetail
	Modules *view.ModulePage
	Wanted  *view.MissingPage
	Files   *FilePage
	Grid    *GridPage
	Content *ContentPage
	System  *SystemPage
	Compare *view.ComparePage
	Found   *FoundPage
}

// Edition is a report of a dump: symbols that come, and unwind policies, make a new one with the next Revision.
type Edition struct{ Dump, Revision int }

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
	// Private: it is not shown before the user asks for it.
	OnlyBytes, Private bool
}

// SystemPage are further groups of the System tab; the last Secrets of them are private.
type SystemPage struct {
	Groups  []view.Group
	Secrets int
}

func (*Look) request() {}
func (*Looked) reply() {}
