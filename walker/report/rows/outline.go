package rows

// OutlinePage is what a symbol file or binary says about its code: a window of a list, and what is at an
// address.
type OutlinePage struct {
	Page
	Item int // of the file, or -1
	// Name is the file's name, Module the name and id that it is known by. Facts say what it has, and Warnings
	// what its reader passed over, of WarningCount.
	Name, Module string
	Facts        []Fact
	Warnings     []string
	WarningCount int
	// Kind and Text are those of the list. Status says how many rows there are, and how far it is; Empty is the
	// text in place of rows. Listed: the list was begun. Ended: all rows are there.
	Kind, Text    string
	Rows          []OutlineRow
	Status, Empty string
	Listed, Ended bool
	// Selected is the number of the row that has the address of Place, or -1.
	Selected int
	Place    *OutlinePlace
}

// OutlineRow is a function, code of a line, or a source file, whose Name is its path. Full is all of Name.
// Where is the position in the source, WherePath all of it.
type OutlineRow struct {
	Address, Size, Name, Full, Where, WherePath string
}

// OutlineColumns are the columns of the list of functions and of lines.
var OutlineColumns = []Column[OutlineRow]{
	{Head: Head{Title: "Address", Class: "code", Width: "164px", Narrow: "148px", Beside: "148px"}, Text: func(r OutlineRow) string { return r.Address }},
	{Head: Head{Title: "Size", Class: "num", Width: "72px", Narrow: "-", Beside: "60px"}, Text: func(r OutlineRow) string { return r.Size }},
	{Head: Head{Title: "Function", Class: "fn", Width: "minmax(0, 1fr)"}, Text: func(r OutlineRow) string { return r.Name }, Tip: func(r OutlineRow) string { return r.Full }},
}

// OutlineLineColumns are those of code of lines.
var OutlineLineColumns = append(OutlineColumns[:3:3], Column[OutlineRow]{Head: Head{Title: "Source", Class: "code", Width: "minmax(0, 0.5fr)", Narrow: "-"},
	Text: func(r OutlineRow) string { return r.Where }, Tip: func(r OutlineRow) string { return r.WherePath }})

// OutlineFileColumns are those of source files.
var OutlineFileColumns = []Column[OutlineRow]{
	{Head: Head{Title: "Source file", Class: "code", Width: "minmax(0, 1fr)"}, Text: func(r OutlineRow) string { return r.Name }, Tip: func(r OutlineRow) string { return r.Full }},
}

// OutlinePlace is what a file says about an address: Title is the function and the offset. Lines are a window of
// the function's lines. At is the number of the line with the address, or -1.
type OutlinePlace struct {
	Page
	Address, Title, Full string
	Facts                []Fact
	Lines                []OutlineRow
	At                   int
}

// OutlineLineRows are the columns of a function's lines, whose Names are the inlined calls that they are in, the
// innermost first.
var OutlineLineRows = []Column[OutlineRow]{
	{Head: Head{Title: "Address", Class: "code", Width: "148px"}, Text: func(r OutlineRow) string { return r.Address }},
	{Head: Head{Title: "Size", Class: "num", Width: "48px"}, Text: func(r OutlineRow) string { return r.Size }},
	{Head: Head{Title: "Source", Class: "code", Width: "minmax(104px, 1fr)"}, Text: OutlineLineColumns[3].Text, Tip: OutlineLineColumns[3].Tip},
	{Head: Head{Title: "Inlined call", Class: "fn", Width: "minmax(0, 1fr)"}, Text: OutlineColumns[2].Text, Tip: OutlineColumns[2].Tip},
}
