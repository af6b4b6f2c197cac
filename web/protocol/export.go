package protocol

// Export requests a text about a dump.
type Export struct {
	Kind         string // ID of a row of Exports
	Dump, Thread int    // Thread is -1 for the one that the dump starts with
}

// Kinds of an export that something else than a menu asks for.
const (
	ExportStack   = "stack"
	ExportMissing = "wanted"
	ExportJSON    = "json"
	ExportCompare = "compare"
)

// ExportKind is a text that the page copies or downloads.
type ExportKind struct {
	ID string
	// Menu is the menu that has it, "copy" or "download"; "" for none. Title is its line there.
	Menu, Title  string
	Ending, MIME string // of a downloaded file
	Copied       string // the message when it is copied
}

// Exports has a row for each export. The functions that write them are in the engine (exportWriters).
var Exports = []ExportKind{
	{ExportStack, "copy", "Stack as text", ".txt", plain, "Stack copied"}, // the selected thread
	{"markdown", "copy", "Stack as Markdown", ".txt", plain, "Stack copied as Markdown"},
	{ExportMissing, "copy", "Missing symbols", ".txt", plain, "List of missing symbols copied"},
	{"text", "download", "Breakpad text", ".txt", plain, ""},
	{"machine", "download", "Breakpad machine-readable text", ".machine.txt", plain, ""},
	{ExportJSON, "download", "JSON", ".json", "application/json", ""},
	{ExportCompare, "", "", ".txt", plain, "Comparison copied"}, // the selected thread, unwound by six policies
}

const plain = "text/plain;charset=utf-8"

// ExportOf returns the row of a kind, or nil.
func ExportOf(id string) *ExportKind {
	for i := range Exports {
		if Exports[i].ID == id {
			return &Exports[i]
		}
	}
	return nil
}

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
