// Package symbol has the types that readers of symbols return, whatever the file format: Symbol for
// the lookup of an address, Function for a list of all functions, Identity and Contents for what a
// file is. It has no code that reads files.
package symbol

// Answer reports whether a source of symbols or unwind rules has a value. A source never waits for
// bytes: it returns Needs.
type Answer uint8

const (
	// NoFile: there is no file for the module.
	NoFile Answer = iota
	// No: the file has nothing for this address.
	No
	// Yes: the value is there.
	Yes
	// Needs: the lookup needs bytes of the file that are not loaded yet. The source's Wants says
	// which.
	Needs
)

// Symbol is the function, source line and inlined calls at an address. Addresses are
// module-relative (RVA).
type Symbol struct {
	// Name as the file has it, not demangled. It is empty if no function or public symbol covers
	// the address.
	Name string
	// Start and Size are the function's first address and its size in bytes (0 for a PUBLIC record,
	// whose end is unknown).
	Start, Size uint64
	// ParamSize is the size of the parameters on the stack, in bytes (STACK WIN needs it).
	ParamSize uint32
	// Public: the name comes from a PUBLIC record (an export), not from a FUNC.
	Public bool
	// Multiple: the linker folded several functions into this address ("m" in a symbol file).
	Multiple bool
	// File is the path of the source file as stored. It is empty without a line record. File and
	// Line are the position in the function itself: with inlined calls, the outermost call site.
	File string
	// Line is the source line, counted from 1, or 0 if unknown. HasLine distinguishes a line record
	// with line 0 from none.
	Line    uint32
	HasLine bool
	// LineStart is the first address of the line record.
	LineStart uint64
	// Inlines are the inlined calls that cover the address, innermost first; never nil in a Yes
	// answer's JSON.
	Inlines []Inline
	// From is the file that answered, if the module has several, else "".
	From string
	// Linked: the names are as compiler and linker have them, because a binary answered. Those of a
	// symbol file are as its writer chose.
	Linked bool
}

// Inline is one inlined call. File and Line are the position inside it, as for a frame: the call
// site of the next inner call, or for the innermost the line of the address.
type Inline struct {
	Name    string
	File    string
	Line    uint32
	HasLine bool
	// Start is the first address of the inlined range, as an RVA.
	Start uint64
}
