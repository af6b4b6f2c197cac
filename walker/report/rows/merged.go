package rows

// MergedRow is a row of the tree of all threads' stacks: a frame of a branch, or a whole branch that is
// folded.
type MergedRow struct {
	Branch, Level int
	// First: it is the branch's first row, with the number of its threads, of all threads Share percent.
	// Foldable branches can be folded; Open says whether it is not.
	First, Foldable, Open bool
	Count, Share          int
	Function, Full        string
	Module                string
	// Note names the threads that are here, and says what they were doing.
	Note    string
	Crashed bool // on the crashed thread's path
	Hit     bool // it contains the searched text
	// Thread and Frame are an example of the row's frame.
	Thread, Frame int
}

// MergedPage is a window of the tree.
type MergedPage struct {
	Page
	Title string
	// Lines say which threads others wait for, and what is not known.
	Lines []string
	// Selected is the number of the first row with the selected thread's frame, or -1.
	Selected int
	Rows     []MergedRow
}
