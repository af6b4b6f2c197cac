package rows

import (
	"fmt"
	"strings"
)

// ThreadRow is one thread of the list.
type ThreadRow struct {
	Index      int
	ID         string
	Name       string
	Crashed    bool
	Requesting bool
	Stack      StackSummary
	Hits       int  // rows of its stack that contain the searched text
	Hit        bool // its name or id contains it
	Pending    bool // not walked yet
	HasSecond  bool // Other is the index of its second stack
	Other      int
	Unlisted   bool // not in the dump's list
}

// StackSummary is what a row of the list of threads says of a thread's stack.
type StackSummary struct {
	Frames int
	Top    string // the first function that has a name
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
	// Publisher is whose it is: "system", the name of a publisher, or "".
	Publisher string
	// First: it has the first frame of the stack that is not the system's. Unloaded: the process had
	// unloaded it; it has no symbols.
	First, Unloaded bool
}

// Named is a module's name, with what is particular about it.
func (m ModuleRow) Named() string {
	if m.First {
		return m.Name + " · first on the stack"
	}
	return m.Name
}

// ModuleColumns are the columns of the list of modules. Debug ids are not cut: they often differ only
// in their last digits.
var ModuleColumns = []Column[ModuleRow]{
	{Head: Head{Title: "Module", Class: "fn", Width: "minmax(0, 2.2fr)", Medium: "minmax(0, 1.4fr)", Narrow: "minmax(0, 1fr)", Beside: "minmax(0, 2fr)"},
		Text: ModuleRow.Named, Tip: func(m ModuleRow) string { return m.Path },
		Find: func(m ModuleRow) []string { return []string{m.Path} }},
	{Head: Head{Title: "Symbols", Class: "state", Width: "minmax(204px, 1.8fr)", Medium: "minmax(120px, 1.4fr)", Narrow: "minmax(0, 1fr)", Beside: "minmax(180px, 3fr)"},
		Text: symbolWords, Tip: symbolTip, Find: func(m ModuleRow) []string { return []string{m.SymbolFile, m.Other} }},
	{Head: Head{Title: "Frames", Class: "num", Width: "52px", Medium: "48px"}, Text: func(m ModuleRow) string { return Some(m.Frames) }},
	{Head: Head{Title: "Debug id", Class: "code dim", Width: "252px", Medium: "246px", Narrow: "-", Beside: "-"},
		Text: func(m ModuleRow) string { return m.DebugID }, Tip: idTip, Find: func(m ModuleRow) []string { return []string{m.DebugFile, m.DebugID, m.CodeID} }},
	{Head: Head{Title: "Address", Class: "code dim", Width: "minmax(0, 1.5fr)", Medium: "138px", Narrow: "-", Beside: "-"},
		Text: func(m ModuleRow) string { return m.Base }, Tip: func(m ModuleRow) string { return m.Base + " to " + m.End },
		Find: func(m ModuleRow) []string { return []string{m.Base, m.End} }},
	{Head: Head{Title: "Version", Class: "dim", Width: "minmax(0, 1.2fr)", Medium: "-", Beside: "-"},
		Text: func(m ModuleRow) string { return m.Version }, Tip: func(m ModuleRow) string { return m.Version },
		Find: func(m ModuleRow) []string { return []string{m.Version} }},
	{Head: Head{Title: "Publisher", Class: "dim", Width: "88px", Medium: "-", Beside: "-"},
		Text: func(m ModuleRow) string { return m.Publisher }, Find: func(m ModuleRow) []string { return []string{m.Publisher} }},
}

// Natural compares two texts like a person: numbers in them by their value, letters whatever their case.
func Natural(a, b string) int {
	isDigit := func(c byte) bool { return c >= '0' && c <= '9' }
	number := func(s string) (digits, rest string) {
		n := 0
		for n < len(s) && isDigit(s[n]) {
			n++
		}
		return strings.TrimLeft(s[:n], "0"), s[n:]
	}
	a, b = strings.ToLower(strings.ReplaceAll(a, ",", "")), strings.ToLower(strings.ReplaceAll(b, ",", ""))
	for a != "" && b != "" {
		if isDigit(a[0]) && isDigit(b[0]) {
			var x, y string
			x, a = number(a)
			y, b = number(b)
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
			continue
		}
		if a[0] != b[0] {
			return int(a[0]) - int(b[0])
		}
		a, b = a[1:], b[1:]
	}
	return len(a) - len(b)
}

// symbolWords is the state of a module's symbols, and what the files contain.
func symbolWords(m ModuleRow) string {
	if m.Has == "" || m.Word == m.Has || m.State == "missing" || m.State == "mismatch" || m.State == "forced" {
		return m.Word
	}
	return m.Word + ": " + m.Has
}

// symbolTip also has both ids if they differ, and all warnings.
func symbolTip(m ModuleRow) string {
	s := m.Word
	if m.SymbolFile != "" {
		s += ": " + m.SymbolFile
	}
	if m.Other != "" {
		s += "; the module has id " + m.DebugID + ", the file has " + m.Other
	}
	if m.IndexedOnDemand {
		s += "\nThe symbol file is not fully indexed. Crashpane searches it, which is right if the file is sorted."
	}
	for _, w := range m.Warnings {
		s += "\n" + w
	}
	return s
}

// idTip also has the code id.
func idTip(m ModuleRow) string {
	s := m.DebugFile + " " + m.DebugID
	if m.CodeID != "" {
		s += "\ncode id " + m.CodeID
	}
	return s
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
	Published          string // who publishes the file, and where, or ""
}

// MissingColumns are the columns of the list of missing symbols. Next to the panel of servers, the
// buttons of the last head take the place of the id's.
var MissingColumns = []Column[MissingRow]{
	{Head: Head{Title: "Frames", Class: "num", Width: "48px", Narrow: "44px", Beside: "44px"}, Text: func(w MissingRow) string { return Some(w.Frames) }},
	{Head: Head{Title: "File", Class: "fn", Width: "minmax(0, 1.6fr)", Medium: "minmax(0, 1fr)", Narrow: "minmax(0, 1.4fr)", Beside: "minmax(0, 1fr)"},
		Text: func(w MissingRow) string { return w.DebugFile }, Tip: func(w MissingRow) string { return strings.TrimSpace(w.DebugFile + "\n" + w.Published) },
		Find: func(w MissingRow) []string { return []string{w.DebugFile} }},
	{Head: Head{Title: "Id", Class: "code id", Width: "252px", Narrow: "minmax(0, 2fr)", Beside: "minmax(0, 252px)"},
		Text: func(w MissingRow) string { return w.DebugID }, Tip: func(w MissingRow) string { return w.DebugID },
		Find: func(w MissingRow) []string { return []string{w.DebugID} }},
	{Head: Head{Title: "Path in a symbol store", Class: "code dim", Width: "minmax(0, 2fr)", Medium: "-", Beside: "-"},
		Text: func(w MissingRow) string { return w.StorePath }, Tip: func(w MissingRow) string { return w.StorePath },
		Find: func(w MissingRow) []string { return []string{w.StorePath} }},
	{Head: Head{Class: "right", Width: "minmax(390px, auto)", Medium: "380px", Narrow: "minmax(96px, auto)", Beside: "auto"},
		Text: otherWords, Tip: otherTip, Find: func(w MissingRow) []string { return []string{w.OtherFile, w.OtherID} }},
}

// otherWords says that the user has added a file of the right name with another id; otherTip compares
// the two.
func otherWords(w MissingRow) string {
	if w.OtherFile == "" {
		return ""
	}
	return "file has " + w.OtherID
}

func otherTip(w MissingRow) string {
	if w.OtherFile == "" {
		return ""
	}
	return fmt.Sprintf("missing: %s\n%s has %s\n%s", w.DebugID, w.OtherFile, w.OtherID, w.Differs)
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
	// Command makes a missing symbol file of File, the file that it needs: "crashpane dumpsyms FILE >
	// FILE.sym". Stores are the paths of the missing files on servers.
	Command, File string
	Stores        []Fact
}

// StoreFile is a file as servers of a layout have it (walker/report).
type StoreFile struct{ Layout, Path, Else string }

// LayoutBreakpad is the layout of symbol stores.
const LayoutBreakpad = "breakpad"
