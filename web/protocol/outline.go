package protocol

// OutlineQuery queries what a symbol file or binary says about its code, with or without a dump. Item is the
// file's number, or -1 for that of the module Module.
type OutlineQuery struct {
	Item, Module int
	// List: also a window of a list: of functions whose names contain Text, of the code of "file.c:12", or of the source Files whose
	// paths contain it. Each such query reads on until the list is complete.
	List, Files bool
	Text        string
	Span        Span
	// Place: also what is at the address At, with a window of the lines of its function. Around: the window is
	// around that address.
	Place, Around bool
	At            uint64
	Lines         Span
}

// SymbolsQuery queries functions whose names contain Text in the symbol files of all modules of the dump, and in the
// symbol tables of the programs and PDBs of modules without one, reading on with each query.
type SymbolsQuery struct{ Text string }

// SymbolsPage has those that were found so far; Ended: there are no others. Files and Tables are how many symbol files,
// and binaries, were searched.
type SymbolsPage struct {
	PlacesPage
	Ended         bool
	Files, Tables int
}
