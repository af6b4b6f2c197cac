package report

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/symfile/symbol"
)

// Outline is what a symbol file, a program or its debug information says about the code, without a dump.
// Addresses are those that the file is linked at, or those in the process of a dump.
type Outline struct {
	File OutlineFile
	// List and Place are what was asked for, else nil.
	List  *OutlineList
	Place *OutlinePlace
}

// OutlineFile is what the file says about itself.
type OutlineFile struct {
	Name, Module, DebugID, CodeID, OS, Arch string
	// Base is the address of the file's first byte in memory, from which symbol files count. WordSize is the
	// size of an address in bytes.
	Base     uint64
	WordSize int
	Parts    []symbol.Part
	Missing  []string
	// Warnings are the first ones, WarningCount is how many there are.
	Warnings     []string
	WarningCount int
}

// Kinds of lists of an outline.
const (
	OutlineFunctions = "functions" // functions and public names, by address
	OutlineFiles     = "files"     // source files
	OutlineLines     = "lines"     // code of a source file's line
)

// OutlineList is a window of a list. Total is how many rows there are so far: Done of Size bytes were read,
// and Ended says that this was all. More: there are further rows, which are too many.
type OutlineList struct {
	Kind, Text  string
	From, Total int
	Rows        []OutlineRow
	Done, Size  int64
	Ended, More bool
	// NextLine is, of a line without code, the next one that has some, or 0.
	NextLine uint32
}

// OutlineRow is a function, a source file, or code of a line. ID identifies it in its list.
type OutlineRow struct {
	ID int
	// Address and Size are of the function, or of the line's code. The Size of a public name is 0.
	Address, Size uint64
	Name          Name
	Public        bool
	// Multiple: the linker folded other functions into this one.
	Multiple bool
	File     string
	Line     uint32
}

// OutlinePlace is what the file says about an address.
type OutlinePlace struct {
	Address uint64
	// Function is the function there; its Name is empty if none is known. Known says whether it covers the
	// address, or is only the last one before it.
	Function  OutlineRow
	Extent    symbol.Extent
	ParamSize uint32
	// File and Line are the position in the function itself, Inlines the inlined calls, the innermost first.
	File    string
	Line    uint32
	HasLine bool
	Inlines []OutlineCall
	// Rule is how the caller is found there; nil if the file does not say it, and NoRule says why.
	Rule   *OutlineRule
	NoRule string
	// Lines are a window of the function's lines, LinesFrom is the first one's number, LinesTotal how many there
	// are. At is the number of the line that has the address, or -1.
	Lines                     []OutlineLine
	LinesFrom, LinesTotal, At int
}

// OutlineCall is an inlined call, with the position in it.
type OutlineCall struct {
	Name Name
	File string
	Line uint32
}

// OutlineLine is code of one source line. Inlined are the inlined calls that it is in, the innermost first.
type OutlineLine struct {
	Address, Size uint64
	File          string
	Line          uint32
	Inlined       []Name
}

// OutlineRule is how a caller is found, in the words of "crashpane rules". Text is it in place of the others
// for a rule of another form.
type OutlineRule struct {
	CFA, RA, Origin, Text string
	Registers             []OutlineRegister
	Marks                 []string
}

// OutlineRegister is where a register of the caller is.
type OutlineRegister struct{ Name, Rule string }

// Demangle sets the display name of every function.
func (o *Outline) Demangle(f func(string) string) {
	if o.List != nil {
		for i := range o.List.Rows {
			o.List.Rows[i].Name.demangle(f)
		}
	}
	if p := o.Place; p != nil {
		p.Function.Name.demangle(f)
		for i := range p.Inlines {
			p.Inlines[i].Name.demangle(f)
		}
		for i := range p.Lines {
			for k := range p.Lines[i].Inlined {
				p.Lines[i].Inlined[k].demangle(f)
			}
		}
	}
}

// Nothing says why a list is empty.
func (l *OutlineList) Nothing() string {
	switch {
	case l.Kind == OutlineLines && l.NextLine > 0:
		return fmt.Sprintf("That line has no code. The next line with code is %d.", l.NextLine)
	case l.Kind == OutlineLines:
		return "That source line has no code."
	case l.Text != "" && l.Kind == OutlineFiles:
		return "No source file has this name."
	case l.Text != "":
		return "No function has this name."
	case l.Kind == OutlineFiles:
		return "The file names no source files."
	}
	return "The file names no functions."
}

// Bytes is the size of the code as a number, "" if it is not known.
func (r *OutlineRow) Bytes() string {
	if r.Size == 0 {
		return ""
	}
	return strconv.FormatUint(r.Size, 10)
}

// Title is "main + 0x12": the function that the address is in, or says that none is known.
func (p *OutlinePlace) Title(name func(Name) string) string {
	f := &p.Function
	if f.Name.Raw == "" {
		return "in no function that the file knows"
	}
	text := name(f.Name)
	if p.Address != f.Address {
		text += fmt.Sprintf(" + 0x%x", p.Address-f.Address)
	}
	switch p.Extent {
	case symbol.Nearest:
		text += " (the nearest name below)"
	case symbol.Passed:
		text += " (the nearest name below; its function has ended)"
	}
	return text
}

// Short is the rule in one line.
func (r *OutlineRule) Short() string {
	if r.Text != "" {
		return r.Text
	}
	return r.Words()
}

// Words are the rules of a row: "cfa rsp+16, ra cfa-8, rbp cfa-16, signal".
func (r *OutlineRule) Words() string {
	words := []string{"cfa " + r.CFA, "ra " + r.RA}
	for _, g := range r.Registers {
		words = append(words, g.Name+" "+g.Rule)
	}
	return strings.Join(append(words, r.Marks...), ", ")
}
