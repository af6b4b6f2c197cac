package rows

import "strconv"

// Kinds of rows in a stack.
const (
	RowFrame  = "frame"
	RowInline = "inline"
	// RowGuesses is for many possible callers that scanning found, which follow if they are shown.
	RowGuesses = "guesses"
	// RowRepeat is for the frames of a recursion that repeat those above, which follow if they are shown.
	RowRepeat = "repeat"
	RowStop   = "stop" // after the last frame: why the walk ended, and what would make the stack more complete
)

// StackRow is one row of a stack.
type StackRow struct {
	Kind   string
	Frame  int // number of the physical frame
	Inline int // number of the inlined call, innermost first; -1 for the frame itself
	// Function is folded for the row, Full is the full name, both with the offset in the function if
	// the function may have ended before the address. Without symbols Function is the module
	// and the offset in it, or the address if there is no module, and Full also says why there is
	// no name.
	Function, Full string
	NoSymbol       bool // Function is not a name
	// InFunction is how far the address is from the beginning of the function: "+0x12". It is "" for
	// inlined calls, without a name, and where the names have it.
	InFunction     string
	Source, Path   string
	Trust, Word    string // the report's word, and the page's
	Module, Offset string
	// Address is the lookup address: for a caller it is inside the call instruction, as in every
	// export. Offset is that of Address.
	Address         string
	ModuleIndex     int  // -1 for none
	Other           int  // a loaded file with another id that could be used for the module, or -1
	Missing         bool // symbols of the module are missing
	AssignedSymbols bool // it uses symbols with another id, which the user assigned
	Unreliable      bool // found by scanning
	Suggestion      bool // of RowStop: a suggestion
	Hit             bool // it contains the searched text
}

// IsFold reports whether the row is for several frames.
func (r StackRow) IsFold() bool { return r.Kind == RowGuesses || r.Kind == RowRepeat }

// StackColumns are the columns of a stack. As wide as the stack's texts need are the custom
// properties of StackPage.SourceWidth and WhereWidth. The first has as many characters as its numbers need: the
// page measures the width of a character by it.
var StackColumns = []Column[StackRow]{
	{Head: Head{Title: "#", Class: "num", Width: "var(--cp-number, 4ch)"}, Text: FrameNumber, Copy: FrameNumber},
	{Head: Head{Title: "Function", Class: "fn", Width: "minmax(32%, 1fr)", Narrow: "minmax(55%, 1fr)"},
		Text: func(r StackRow) string { return r.Function }, Tip: func(r StackRow) string { return r.Full },
		Find: func(r StackRow) []string { return []string{Place(r)} }, Copy: NameOf},
	{Head: Head{Title: "Source", Class: "src", Width: "minmax(0, var(--cp-source, 20ch))"},
		Text: func(r StackRow) string { return r.Source }, Tip: func(r StackRow) string { return r.Path },
		Find: func(r StackRow) []string { return []string{r.Path} }, Copy: func(r StackRow) string { return r.Source }},
	{Head: Head{Title: "Trust", Class: "trust", Width: "112px", Narrow: "18px"},
		Text: func(r StackRow) string { return r.Word }, Tip: trustTip,
		Find: func(r StackRow) []string { return []string{r.Word} }, Copy: func(r StackRow) string { return r.Word + AssignedWord(r) }},
	{Head: Head{Title: "Where", Class: "mod", Width: "minmax(0, var(--cp-where, 30ch))", Medium: "minmax(0, min(18ch, var(--cp-where, 18ch)))", Narrow: "-"},
		Text: StackRow.Where, Tip: whereTip, Find: func(r StackRow) []string { return []string{r.Module + r.Offset, r.Address} }, Copy: StackRow.Where},
}

// FrameNumber is the number of a frame. Inlined calls have an arrow, and the rows after the last
// frame nothing.
func FrameNumber(r StackRow) string {
	switch r.Kind {
	case RowInline:
		return "↳"
	case RowStop:
		return ""
	case RowGuesses, RowRepeat:
		return "…"
	}
	return strconv.Itoa(r.Frame)
}

// trustTip says how the frame was found.
func trustTip(r StackRow) string {
	if r.Word == "" {
		return ""
	}
	_, s := Word(r.Trust)
	if r.AssignedSymbols {
		s += " You assigned the symbols that found or named it. They may not match this build."
	}
	return s
}

// whereTip says what is particular about the symbols of a row's module.
func whereTip(r StackRow) string {
	switch {
	case r.AssignedSymbols:
		return r.Module + ": uses symbols that you assigned"
	case r.Missing:
		return r.Module + ": its symbols are missing"
	}
	return r.Where()
}

// StackPage is a window of a stack.
type StackPage struct {
	Page
	Thread int
	Name   string // of the thread
	// Title says what the stack is, if it is not simply that of a thread with a number, else "".
	Title string
	// Switch is the text of a button to the thread's other stack, whose index is Other; "" if it has
	// one alone.
	Switch string
	Other  int
	// Frames is the number of physical frames of the stack. Folds are those that are one row, unless
	// the user has asked for them, or one is selected.
	Frames int
	Folds  []Run
	// Quality says in one line how reliable the stack is.
	Quality string
	// Selected is the row number of the requested frame, or -1.
	Selected int
	// SourceWidth and WhereWidth are the lengths of the longest Source and Where of the stack, in
	// characters.
	SourceWidth, WhereWidth int
	Rows                    []StackRow
}

// Run is Count frames from the frame From on: guesses, or frames that repeat those before them.
type Run struct {
	From, Count int
	Repeats     bool
}

// Word returns the page's word for a trust, and a sentence that explains it.
func Word(trust string) (word, sentence string) {
	switch trust {
	case "context":
		return "recorded", "The dump has its registers (the thread's context)."
	case "cfi":
		return "unwind rule", "Found by the compiler's unwind rules for the called function (CFI, call frame information)."
	case "cfi_scan":
		return "rule + guess", "Found by the symbol file's frame data (STACK WIN) and a search of the stack (scan)."
	case "frame_pointer":
		return "frame pointer", "Found by following the frame pointer: reliable in code that keeps one, wrong elsewhere."
	case "leaf":
		return "direct return", "The return address is where the call put it: the called function needed no room on the stack (a leaf function)."
	case "scan":
		return "guess", "A word on the stack that looks like a return address, found by searching (scan). It may be left over from an earlier call."
	case "prewalked":
		return "shadow stack", "The CPU's own list of return addresses, which no program can overwrite, names this caller."
	case "inline":
		return "inlined", "The compiler put this function's code into its caller, so the two share a frame."
	case "none":
		return "unproven", "The unwind rules (CFI) give this return address, which is in no module, and nothing in the dump shows that there is code. It may have been overwritten."
	}
	return "unknown", "How this frame was found is not known."
}

// Where returns the text of a row's column Where: the module and the offset, or the address if
// Function has these already.
func (r StackRow) Where() string {
	switch {
	case r.Kind == RowFrame && r.Module == "":
		return "in no module"
	case r.NoSymbol:
		return r.Address
	case r.Offset == "":
		return r.Module
	}
	return r.Module + " " + r.Offset
}

// RowText returns a row of a stack as a line of text, without its number.
func RowText(row StackRow) string {
	if row.IsFold() {
		return row.Function
	}
	line := Place(row)
	if row.Source != "" {
		line += "  [" + row.Source + "]"
	}
	return line + "  (" + row.Word + ")" + AssignedWord(row)
}

// AssignedWord is what follows the word of a row's trust if the user assigned the symbols, else "".
func AssignedWord(row StackRow) string {
	if row.AssignedSymbols {
		return ", assigned symbols"
	}
	return ""
}

// NameOf returns a row's full name with the offset in the function, or its address.
func NameOf(row StackRow) string {
	if row.NoSymbol || row.IsFold() {
		return row.Function
	}
	return row.Full + row.InFunction
}

// Place returns "module!function", or what of it is known, as debuggers print it.
//
//	app!parse+0x1f      with a name
//	app+0x4f3a          in a module, without a name
//	0x7f75c0de1234      in no module
func Place(row StackRow) string {
	switch {
	case row.Module == "":
		return NameOf(row)
	case row.NoSymbol:
		return row.Module + row.Offset
	}
	return row.Module + "!" + row.Full + row.InFunction
}
