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

// Extent says how far the function of a name reaches.
type Extent uint8

const (
	// Covers: the function covers the address, by its size or by an unwind record that begins where
	// the name is.
	Covers Extent = iota
	// Nearest: the name is the last one before the address. Where its function ends is not known.
	Nearest
	// Passed: the name is the last one before the address, and another function begins between the
	// two, or the name's own function is known to have ended.
	Passed
)

// ExtentOf compares a name without a size with the code [start, end) that an unwind record, or the
// last one before the address, describes. start is at or before the address.
//
//	0x100 f                  record [0x100, 0x140)
//	at 0x120                 Covers
//	at 0x150                 Passed: f has ended
//	record [0x148, 0x160)    Passed: another function begins at 0x148
func ExtentOf(name, start, end, address uint64) Extent {
	switch {
	case start == name && address < end:
		return Covers
	case start > name, address >= end && name < end:
		return Passed
	}
	return Nearest
}

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
	// Extent says whether the name's function covers the address. It is not Covers only for a
	// Public name.
	Extent Extent
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

// Sum is a checksum of a source file, as the compiler read it. Kind is "MD5", "SHA-1" or "SHA-256"; of
// the zero value nothing is known. Hex are its digits, in lower case.
type Sum struct{ Kind, Hex string }

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
