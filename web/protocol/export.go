package protocol

// Export makes a text of a dump.
type Export struct {
	Kind         string // one of the Export… names
	Dump, Thread int    // Thread is -1 for the dump's first one
}

// Kinds of an export.
const (
	ExportStack    = "stack"    // the selected thread, plain
	ExportMarkdown = "markdown" // the selected thread, for a bug tracker
	ExportText     = "text"     // Breakpad's text
	ExportMachine  = "machine"  // Breakpad's machine-readable text
	ExportJSON     = "json"     // rust-minidump's schema
	ExportWanted   = "wanted"   // the missing symbol files
	ExportCompare  = "compare"  // the selected thread, unwound by six policies
)

// Exported is the text, and what a file of it is called.
type Exported struct{ Text, FileName string }

// WriteSym writes a Breakpad symbol file of the binary called Name. Its text comes as SymText.
type WriteSym struct{ Name string }

// SymWritten comes behind the text. Problem is what the file lacks since it could not be read.
type SymWritten struct{ FileName, Problem string }

// SymText comes with the next part of the text.
type SymText struct{}

func (*Export) request()   {}
func (*Exported) reply()   {}
func (*WriteSym) request() {}
func (*SymWritten) reply() {}
func (*SymText) reply()    {}
