package rows

// FrameDetail is the details of one row of a stack.
type FrameDetail struct {
	Thread, Frame, Inline int
	Title                 string // the full name, or the address
	Facts                 []Fact
	Registers             []Register
	// Note is about the registers as a whole, such as how many are unknown.
	Note string
	Why  Why
	// Warning is shown above the rest: symbols that may not match, a guessed frame.
	Warning string
	// Fault says what the crash's address points to, or is "": the headline has the address.
	Fault string
}

// Register is one register of the frame.
type Register struct {
	Name, Value string // Value is "" if it is unknown
	Note        string // what the value may be
	Role        string // "pc", "sp", "fp", "lr", or ""
}

// Why says how a frame was found.
//
// Example, of a frame that call frame information found:
//
//	Sentence   Found by call frame information, which describes the frame of each function.
//	Rules      cfa = $rsp + 48:  0x7ffe3d0 + 48 = 0x7ffe400
//	           ra = [cfa - 8]:  …
//	Origin     libfoo.so.sym line 812
//	Attempts   those that the walker tried before and rejected
type Why struct {
	Sentence string
	Rules    []string // the rules that produced the frame, one per line
	Origin   string
	Attempts []Attempt // what was rejected before
	// Stop says why the stack has no frame after frame Last. StopAttempts is set for that frame
	// only.
	Stop         string
	Last         int
	StopAttempts []Attempt
	// Suggestion is what would make the stack more complete, or "".
	Suggestion string
	// The rest needs explanations (ExplainBy). Steps are the Rules in parts; Rules then have
	// numbers too.
	Steps   []Step
	Record  []string // the lines of the symbol file: "line 812: STACK CFI INIT …"
	Words   []ReadWord
	Checks  []string
	Notes   []string
	Scanned []string // words that a scan rejected, and why
	Changes []Change
}

// Step is a rule with its numbers: "cfa", "$rsp + 48", "0x7ffe3d0 + 48 = 0x7ffe400". Place is what
// a return address points to.
type Step struct{ For, Rule, Computed, Place string }

// ReadWord is a word of memory that was read.
type ReadWord struct{ Addr, Value, For, Place string }

// Change is a register's value in the called frame and in this one, "" if unknown. How is "rule",
// "unchanged" or "lost".
type Change struct{ Name, Before, After, How string }

// Attempt is an attempt to find a frame that the walker rejected.
type Attempt struct{ Source, Rule, Origin, Reason string }

// SourceWord returns the words for a source of rules, with the term that debuggers have.
func SourceWord(s string) string {
	switch s {
	case "cfi":
		return "Unwind rules (CFI)"
	case "signal-code":
		return "Code that returns from a signal's handler"
	case "go-stack":
		return "Stack pointer saved by Go's runtime"
	case "code":
		return "Code of the function"
	case "stack-win":
		return "Unwind rules (STACK WIN)"
	case "frame-pointer":
		return "Frame pointer"
	case "leaf":
		return "Direct return (leaf function)"
	case "shadow-stack":
		return "Shadow stack"
	case "scan":
		return "Search of the stack (scan)"
	case "context":
		return "Registers in the dump (context)"
	}
	return Clean(s)
}
