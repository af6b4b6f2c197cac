package symbol

// Range is a range of code: its first address and its size in bytes. Addresses are module-relative
// (RVA).
type Range struct{ Start, Size uint64 }

// Function is all information about one function, as a FUNC record of a symbol file and the records
// below it have it. A lookup returns a Symbol for one address; code that writes or compares whole
// files uses Functions.
type Function struct {
	// Name as the file has it: the linkage name if there is one, else the name with its namespaces
	// and classes.
	Name string
	// Ranges of code, sorted, at least one, none empty. A function that the compiler split has
	// several.
	Ranges []Range
	// ParamSize is the size of the parameters on the stack in bytes, or 0.
	ParamSize uint32
	// Multiple: the linker folded other functions into this one.
	Multiple bool
	// Lines are the line records, sorted, without overlaps, all inside Ranges. Code without a known
	// line has none.
	Lines []Line
	// Inlines are the inlined calls, each before the calls inside it.
	Inlines []InlineCall
}

// Line is the source line of a range of code.
type Line struct {
	Range
	// File is the path as stored, joined to the compilation directory. Line counts from 1; 0 is
	// code that belongs to no line.
	File string
	Line uint32
}

// InlineCall is one inlined call. CallFile and CallLine are the call site.
type InlineCall struct {
	// Depth is 0 for calls made by the function itself, 1 for calls made by those, and so on.
	Depth    int
	Name     string
	CallFile string
	CallLine uint32
	Ranges   []Range
}

// Functions is a file that can list its functions. Each calls f for every function, at least within
// a compilation unit sorted by the address of the first range. If f returns an error, Each stops
// and returns it. Of two functions at one address, Each reports the first in the file.
type Functions interface {
	Each(f func(Function) error) error
}
