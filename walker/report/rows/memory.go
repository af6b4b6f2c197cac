package rows

// PlaceRow is a place in the process that a text may mean: a function, a module, an address. Note says
// where that is, or what is there. Address is in hexadecimal, with "0x".
type PlaceRow struct{ Title, Note, Address string }

// Forms of a MemoryPage: 16 bytes in a row, a word in a row, 64 characters in a row.
const (
	MemoryBytes = "bytes"
	MemoryWords = "words"
	MemoryText  = "text"
)

// MemoryPage is a window of the rows of all memory that the dump and the programs that were added have.
type MemoryPage struct {
	Page
	Form string
	// Address is selected; Points says what it is in. Selected is its row's number. Absent: neither the dump
	// nor a program has its byte.
	Address, Points string
	Absent          bool
	Selected        int
	Rows            []MemoryRow
	// Earlier and Later are addresses in the lists before and after this one, or "".
	Earlier, Later string
	// Withheld says why texts, or also bytes, are not shown, or is "".
	Withheld string
}

// MemoryRow is a row of memory. From is the file that has it.
type MemoryRow struct {
	Address string
	Gap     string // says what is not there, in place of the rest
	From    string
	Hex     string // "01 00 …", with blanks where the row begins or ends within 16 bytes
	Text    string // the bytes as characters
	Word    string // "0x0000…", and what it is or points to
	Points  string
	// Selected: the selected address is in the row; Byte is which of its bytes it is.
	Selected bool
	Byte     int
}

// StackWordPage is a window of the words of a thread's stack.
type StackWordPage struct {
	Page
	Thread   int
	Selected int // number of the selected frame's first word, or -1
	Rows     []StackWordRow
	// Withheld says which words are not shown, or is "".
	Withheld string
}

// StackWordRow is a word of a stack. Kind is what the walk found it to be: "return", "saved",
// "frame-pointer", "argument", "canary", "skipped" (a scan passed it by), or "".
type StackWordRow struct {
	Address, Word string
	// Frame is the one whose memory it is, or -1. Label has its number and name at its first word in the window,
	// Trust its trust.
	Frame         int
	Label, Trust  string
	Kind, Meaning string
	Points        string
}

// HitPage is a window of what a search of the memory found: a row for each region, and those of its hits.
type HitPage struct {
	Page
	Rows []HitRow
}

// HitRow is a hit, or with Region the heading of those in a region.
type HitRow struct {
	Region, Address, Points string
	// As is the form of the hit, "UTF-16", or the text found.
	As string
}
