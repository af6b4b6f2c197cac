package protocol

import "github.com/crashpane/crashpane/walker/report/rows"

// MemoryQuery queries what is about the memory of the process: windows of its rows, of what was found in
// it, and of the words of the selected thread's stack, and places that a text may mean.
type MemoryQuery struct {
	Rows   *MemoryRows
	Hits   *Span
	Places *PlacesQuery
	Stack  *StackWordsQuery
	// Symbols are further places: functions of symbol files.
	Symbols *SymbolsQuery
}

// StackWordsQuery is a window of the words of the selected thread's stack. Around: the window is around the first word
// of the selected frame.
type StackWordsQuery struct {
	Span   Span
	Around bool
}

// MemoryResult has what was queried.
type MemoryResult struct {
	Rows    *rows.MemoryPage
	Hits    *rows.HitPage
	Places  *PlacesPage
	Stack   *rows.StackWordPage
	Symbols *SymbolsPage
}

// PlacesQuery queries the places in the process that a text may mean: an address, or a part of the name
// of a function or a module.
type PlacesQuery struct{ Text string }

// PlacesPage has the places that the text Of may mean.
type PlacesPage struct {
	Of   string
	Rows []rows.PlaceRow
}

// MemoryRows is a window of the memory of the process, in one of the forms of rows.MemoryPage, of the
// list that has Address; 0 is the stack pointer of the selected frame. Around: the window is around the
// address. Texts: also texts that may be private.
type MemoryRows struct {
	Address       uint64
	Form          string
	Span          Span
	Around, Texts bool
}

// Kinds of a FindMemory.
const (
	FindText       = "text"     // in UTF-8 and in UTF-16
	FindBytes      = "bytes"    // in hexadecimal digits
	FindPointers   = "pointers" // to an address
	FindStackTexts = "stack"    // all texts in the stack of Thread, and those that its words point to
)

// FindMemory searches the memory for a text. A search has many steps, each with its answer, so that
// other requests come between them, and so that it ends when the page does not ask for the next one.
type FindMemory struct {
	Dump, Thread int
	Kind, Text   string
	Next         bool // go on with the search
}

// MemoryFound says how far a search is, in bytes, and how many hits it has, which MemoryQuery.Hits queries;
// Rows have headings besides. More: there are more hits than a search keeps.
type MemoryFound struct {
	Done, Total int64
	Hits, Rows  int
	More, Ended bool
}

func (*FindMemory) request() {}
func (*MemoryFound) reply()  {}
