package protocol

// Export requests a text about a dump.
type Export struct {
	Kind         string // ID of a row of Exports
	Dump, Thread int    // Thread is -1 for the one that the dump starts with
	// Private: it has private texts and the names of users, unless Call.Redact forbids them.
	Private bool
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
	// Title is its line in the menus, "" if it is in none. Ticket: it is a ticket about the selected
	// thread, which both menus have, else only that for downloads does.
	Title        string
	Ticket       bool
	Ending, MIME string // of a downloaded file
	Copied       string // the message when it is copied
}

// Exports has a row for each export. The functions that write them are in the engine (exportWriters).
var Exports = []ExportKind{
	{ExportStack, "Plain text", true, ".txt", plain, "Stack copied as text"},
	{"markdown", "Markdown", true, ".md", plain, "Stack copied as Markdown"},
	{"jira", "Jira", true, ".jira.txt", plain, "Stack copied for Jira"},
	{"windbg", "WinDbg’s k", true, ".k.txt", plain, "Stack copied as WinDbg prints it"},
	{"html", "HTML report", true, ".html", "text/html;charset=utf-8", "HTML report copied"},
	{"brief", "Brief of at most 8 KB", true, ".brief.txt", plain, "Brief copied"},
	{"modules", "Modules as CSV", true, ".modules.csv", "text/csv;charset=utf-8", "Modules copied as CSV"},
	{ExportMissing, "Missing symbols", true, ".missing.txt", plain, "List of missing symbols copied"},
	{"text", "Breakpad text", false, ".txt", plain, "Breakpad text copied"},
	{"machine", "Breakpad machine-readable text", false, ".machine.txt", plain, "Breakpad text copied"},
	{ExportJSON, "JSON", false, ".json", "application/json", "JSON copied"},
	{ExportCompare, "", false, ".txt", plain, "Comparison copied"}, // the selected thread, unwound by six policies
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

// Exported has the text, and a name for a file with it. Of a text in parts Next is what the request for the next one has, or 0.
type Exported struct {
	Text, FileName string
	Next           int
}

// WriteSym requests a Breakpad symbol file made from the binary called Name. Its text is sent in
// parts, each with a SymText.
type WriteSym struct{ Name string }

// SymWritten follows the text. Problem says what the file lacks because the binary could not be
// read completely.
type SymWritten struct{ FileName, Problem string }

// SymText is sent along with the next part of the text.
type SymText struct{}

func (*Export) request()   {}
func (*Exported) reply()   {}
func (*WriteSym) request() {}
func (*SymWritten) reply() {}
func (*SymText) reply()    {}
