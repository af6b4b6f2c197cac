// Package symbol holds what a lookup of an address answers, whatever kind of file answered it.
package symbol

// Answer is how a source of symbols or unwind rules answered. A source never blocks or fetches: what it lacks, it says.
type Answer uint8

const (
	// NoFile: there is no file for the module at all.
	NoFile Answer = iota
	// No: there is a file, and it has nothing at this address.
	No
	// Yes: the value is there.
	Yes
	// Needs: there is a file, and bytes of it are needed first; the source keeps which (its Wants).
	Needs
)

// Symbol is the function, source line and inlined calls at an address. Addresses are module-relative (RVA).
type Symbol struct {
	// Name as the file has it, not demangled. Empty if no function or public symbol covers the address.
	Name string
	// Start and Size are the function's first address and its length in bytes (0 for a PUBLIC, whose end is unknown).
	Start, Size uint64
	// ParamSize is the size of the parameters on the stack, in bytes (STACK WIN needs it).
	ParamSize uint32
	// Public: the name comes from a PUBLIC record (an export), not from a FUNC.
	Public bool
	// Multiple: several symbols were folded into this address ("m").
	Multiple bool
	// File is the source file with its full path as stored; empty if there is no line record. It is the file of the
	// function itself, which with inlined calls is the file of the outermost call site.
	File string
	// Line is the source line, counted from 1; 0 if unknown. HasLine tells a line record that says 0 from none.
	Line    uint32
	HasLine bool
	// LineStart is the first address of the line record.
	LineStart uint64
	// Inlines are the inlined calls that cover the address, innermost first; never nil in a Yes answer's JSON.
	Inlines []Inline
	// From is the file that answered, where a module has several; else "".
	From string
}

// Inline is one inlined call. File and Line are the place inside it (of the next inner call, or of the address itself for
// the innermost), so that it prints like a frame.
type Inline struct {
	Name    string
	File    string
	Line    uint32
	HasLine bool
	// Start is the first address of the inlined range, as an RVA.
	Start uint64
}
