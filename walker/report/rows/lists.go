package rows

// ThreadRow is one thread of the list.
type ThreadRow struct {
	Index      int
	ID         string
	Name       string
	Crashed    bool
	Requesting bool
	Frames     int
	Top        string // the first function that has a name
	Hits       int    // rows of its stack that contain the searched text
	Hit        bool   // its name or id contains it
	Pending    bool   // not walked yet
	HasSecond  bool   // Other is the index of its second stack
	Other      int
	Unlisted   bool // not in the dump's list
}

// ThreadPage is a window of the threads, the crashed one first.
type ThreadPage struct {
	Page
	Selected int // row number of the requested thread, or -1
	Rows     []ThreadRow
}

// ModuleRow is a module with the state of its symbols.
type ModuleRow struct {
	Index             int
	Name, Path        string
	Base, End         string
	Version           string
	DebugFile         string
	DebugID, CodeID   string
	State, Word       string
	SymbolFile, Other string // Other is the id of symbols of another build
	Item              int    // of the file that "use anyway" would use, or -1
	Frames            int
	Warnings          []string
	IndexedOnDemand   bool   // the symbol file has no full index; lookups search it
	Has               string // what its files contain
}

// ModulePage is a window of the modules.
type ModulePage struct {
	Page
	Selected int // row number of the requested module, or -1
	Rows     []ModuleRow
	Detail   *ModuleDetail // of the requested module, or nil
}

// MissingRow is a symbol file that is missing.
type MissingRow struct {
	Module             int
	DebugFile, DebugID string
	StorePath          string
	Frames             int
	Stores             []StoreFile // the paths on symbol servers
	OtherFile, OtherID string      // a loaded file with the right name and another id
	Differs            string      // how the two ids differ
	Item               int
}

// MissingPage is a window of the missing symbol files.
type MissingPage struct {
	Page
	Rows []MissingRow
}

// ModuleDetail is the details of one module and its symbols.
type ModuleDetail struct {
	Index int
	Name  string
	// Status is the state of its symbols as a sentence.
	Status string
	Facts  []Fact
	// Has says what its files contain, and which file has it: "Unwind rules", "libfoo.so,
	// .eh_frame".
	Has []Fact
	// Missing lists files and kinds of information that the module lacks.
	Missing  []string
	Warnings []string
	// Rules: it has call frame information, which the user can disable. Ignored: the user has
	// disabled it.
	Rules, Ignored bool
	// Binary is the name of the item from which a symbol file can be made, or "".
	Binary string
	// Assign: the user may assign symbols to it.
	Assign bool
}

// StoreFile is a file as servers of a layout have it (walker/report).
type StoreFile struct{ Layout, Path, Else string }

// LayoutBreakpad is the layout of symbol stores.
const LayoutBreakpad = "breakpad"
