package symbol

// Range is a stretch of code: its first address and its length in bytes. Addresses are module-relative (RVA).
type Range struct{ Start, Size uint64 }

// Function is all that a file says of one function: what a symbol file's FUNC record and the records under it hold. A lookup
// answers for one address and makes a Symbol; whoever writes or compares whole files wants Functions.
type Function struct {
	// Name as the file has it: the linker's name if there is one, else the name with its namespaces and classes.
	Name string
	// Ranges of code by address, at least one, none of length 0; a function that the compiler split has several.
	Ranges []Range
	// ParamSize is the size of the parameters on the stack, in bytes, or 0.
	ParamSize uint32
	// Multiple: other functions were folded into this one.
	Multiple bool
	// Lines are the line records by address, none over another, all of them inside Ranges. Code without a line has none.
	Lines []Line
	// Inlines are the inlined calls, each before those made from inside of it.
	Inlines []InlineCall
}

// Line says where the code of a range comes from.
type Line struct {
	Range
	// File is the path as stored, made whole with the directory of its compilation; Line counts from 1, 0 is code of no line.
	File string
	Line uint32
}

// InlineCall is one call that was inlined. CallFile and CallLine are the place of the call.
type InlineCall struct {
	// Depth is 0 for calls made by the function itself, 1 for calls made from inside of those, and so on.
	Depth    int
	Name     string
	CallFile string
	CallLine uint32
	Ranges   []Range
}

// Functions is a file that can tell all its functions. Each calls f for every function, those of a unit of the file at least by the address
// of their first range, until f answers an error, which it returns. Of two functions at one address the file's first comes.
type Functions interface {
	Each(f func(Function) error) error
}
