package protocol

// Export requests a text about a dump.
type Export struct {
	Kind         string // one of the Export… names
	Dump, Thread int    // Thread is -1 for the one that the dump starts with
}

// Kinds of an export.
const (
	ExportStack    = "stack"    // the selected thread, plain
	ExportMarkdown = "markdown" // the selected thread, for a bug tracker
	ExportText     = "text"     // Breakpad's text
	ExportMachine  = "machine"  // Breakpad's machine-readable text
	ExportJSON     = "json"     // rust-minidump's schema
	ExportMissing  = "wanted"   // the missing symbol files
	ExportCompare  = "compare"  // the selected thread, unwound by six policies
)

// Exported has the text, and a name for a file with it.
type Exported struct{ Text, FileName string }

// WriteSym requests a Breakpad symbol file made from the binary called Name. Its text is sent in
// parts, each beside a SymText.
type WriteSym struct{ Name string }

// SymWritten follows the text. Problem says what the file lacks because the binary could not be
// read completely.
type SymWritten struct{ FileName, Problem string }

// SymText is sent with the next part of the text beside it.
type SymText struct{}

func (*Export) request()   {}
func (*Exported) reply()   {}
func (*WriteSym) request() {}
func (*SymWritten) reply() {}
func (*SymText) reply()    {}
