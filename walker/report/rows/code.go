package rows

// Kinds of rows in a listing of code.
const (
	CodeFunction    = "function" // a function begins
	CodeLine        = "line"     // a position in the source, before its instructions
	CodeInstruction = "code"
	CodeNote        = "note"   // about the instruction before it
	CodeSource      = "source" // a line of a source file
)

// Parts of a line of a jump in a row's margin.
const (
	LaneUp   = 1 << iota // from the row's middle to its top
	LaneDown             // to its bottom
	LaneOut              // the jump is in this row
	LaneIn               // the jump's target is
)

// CodeRow is a row of a listing of code.
type CodeRow struct {
	Kind string
	// Address is the instruction's, Offset the same in its function, or in its module without one.
	Address, Offset string
	Bytes           string
	// Text is the instruction without the address that it goes to, or what a row of another kind says.
	// Full is all of it.
	Text, Full string
	// Target is the address where the instruction goes, "0x4011d0", or ""; Goal names it: "main",
	// "+0x12 ↑" in the same function.
	Target, Goal string
	// Data: Target is where an operand is. IsCode: a function is there.
	Data, IsCode bool
	// From names the jumps to the instruction: "from +0x12 ↑". Lanes are the lines of jumps in the margin, the nearest
	// to the code first: a character each, which is ' ' plus Lane… bits.
	From, Lanes string
	At          bool // the frame is here
	// Line is the number of a line of a source file, "" in other rows. Source is the text of the line
	// that a CodeLine is about, if the file was added.
	Line, Source string
}

// CodePage is a window of a listing of code around an instruction.
type CodePage struct {
	Page
	// Title is the function, or the module; Source what the code was read from. Note says what is
	// missing or doubtful, Wanted which file has the code.
	Title, Source, Note, Wanted string
	Lanes                       int // how many lines of jumps are in the margin
	At                          int // row of the instruction that it is around
	Rows                        []CodeRow
	// MoreBefore, MoreAfter: there is further code.
	MoreBefore, MoreAfter bool
	// Path is the path of the source file in the debug information, and Line the line, where the frame
	// is; Path is "" if none is known. HasSource: the file was added. Link is the link that the debug
	// information has to the file, "https://…" or "".
	Path      string
	Line      int
	HasSource bool
	Link      string
}
