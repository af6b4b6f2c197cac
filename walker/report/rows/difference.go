package rows

// DifferenceRow is a property of two dumps.
type DifferenceRow struct {
	Index      int
	Part, Key  string
	A, B       string
	Same       bool
	FirstOther bool // the first frame that differs
}

// DifferencePage is a window of the comparison of two dumps. Title says how much is the same.
type DifferencePage struct {
	Page
	Title string
	Rows  []DifferenceRow
}

// DifferenceColumns are the columns of that comparison. The page puts the dumps' names into the heads of
// the last two.
var DifferenceColumns = []Column[DifferenceRow]{
	{Head: Head{Title: "Part", Class: "dim", Width: "88px", Narrow: "-"}, Text: func(r DifferenceRow) string { return r.Part }},
	{Head: Head{Title: "What", Class: "fn", Width: "minmax(0, 1fr)"}, Text: func(r DifferenceRow) string { return r.Key }, Tip: func(r DifferenceRow) string { return r.Key }},
	{Head: Head{Title: "This dump", Class: "code", Width: "minmax(0, 2fr)"}, Text: func(r DifferenceRow) string { return r.A }, Tip: func(r DifferenceRow) string { return r.A }},
	{Head: Head{Title: "Other dump", Class: "code", Width: "minmax(0, 2fr)"}, Text: func(r DifferenceRow) string { return r.B }, Tip: func(r DifferenceRow) string { return r.B }},
}
