package rows

// FindingRow is a finding: a reason why stacks are shorter or less reliable than they could be.
type FindingRow struct {
	Title            string // the kind of finding
	Text, Suggestion string // sentences without full stops
	Thread, Module   int    // the ones that it concerns, or -1
	ModuleName       string
	Assign           bool // the user must assign symbols: the module has no id, or the loaded file has another one
	Adds             bool // Suggestion asks for symbols
	Minor            bool // no stack is the worse for it: it is in the list only
}

// FindingText returns a finding as text to copy.
func FindingText(f FindingRow) string {
	s := f.Title + ": " + f.Text + "."
	if f.Suggestion != "" {
		s += " " + f.Suggestion + "."
	}
	return s
}
