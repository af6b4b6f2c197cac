package protocol

import "github.com/crashpane/crashpane/walker/report/rows"

// DumpTableQuery is a window of the table of all dumps, and one of their groups. Only dumps that
// have each word of Filter are in it: "tile", or "process:tile" in a column alone. With Grouped the
// dumps, and not the groups, are those with the signature Group. Sorts are those of ModulesQuery.
// Selected is a dump whose row number is queried, or -1.
type DumpTableQuery struct {
	Dumps, Groups         Span
	SortDumps, SortGroups int
	Filter                string
	Grouped               bool
	Group                 string
	Selected              int
}

// DumpTablePage has the windows.
type DumpTablePage struct {
	Dumps  rows.DumpPage
	Groups rows.DumpGroupPage
	// Days has the bars of the chart of the dumps, each of DaysEach days.
	Days     []rows.Bar
	DaysEach int
	// All is how many dumps there are, Known how many of them are described.
	All, Known int
}

// ExportDumps requests a text about all dumps of a DumpTableQuery, whose windows do not matter. It comes in parts: the
// first request has From 0, the next ones have Exported.Next.
type ExportDumps struct {
	Kind  string // ID of a row of DumpExports
	Table DumpTableQuery
	From  int
}

// DumpExports has a row for each export of the table of dumps.
var DumpExports = []ExportKind{
	{"csv", "CSV", false, ".csv", "text/csv;charset=utf-8", "Table copied as CSV"},
	{"json", "JSON", false, ".jsonl", "application/jsonl", "Dumps copied as JSON"},
}

// Described says that further dumps of the table are described, or that all are.
type Described struct{ Known, All int }

func (*ExportDumps) request() {}
func (*Described) reply()     {}
