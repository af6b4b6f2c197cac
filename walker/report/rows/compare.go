package rows

// ComparePage is a window of the comparison of one thread's stacks under several unwind policies.
type ComparePage struct {
	Page
	// Problem is why there is nothing to compare, or "".
	Problem string
	Walks   []CompareWalk
	Rows    []CompareRow
	// Found is how many frames the walks found that use all sources, Agreed how many of them all
	// these walks have. Walks that use a single source do not count, since they have gaps by
	// design.
	Found, Agreed int
	// Selected is the requested row, or -1. Title is its name, Branches are what the walks found
	// after it.
	Selected int
	Title    string
	Branches []CompareBranch
}

// CompareWalk is a column: an unwind policy, how many frames it found and why it stopped.
type CompareWalk struct {
	Policy, What string
	Frames       int
	Stop         string
}

// CompareRow is a frame that some of the walks found. Cells are in the order of the columns, ""
// where a walk does not have it.
//
// Example, with the columns best, breakpad, fp:
//
//	f      context   context   context   Same
//	g      CFI       CFI                 Same: fp uses one source and does not count
//	h      CFI       scan      fp        Same
//	main   CFI                           not Same, and the first after g's walks parted: Diverges
type CompareRow struct {
	Index          int
	Function, Full string
	NoSymbol       bool
	SP, Address    string
	Cells          []CompareCell
	Same           bool // all walks that use all sources have it, or none does
	Diverges       bool // the first row after walks diverge
}

// CompareCell is the trust of a frame in a walk, and a short word for it.
type CompareCell struct{ Trust, Word string }

// CompareBranch is what some walks found after a row, and what they rejected before.
type CompareBranch struct {
	Walks, Text, Rule string
	Attempts          []Attempt
}
