package walker

import (
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// Source is a method of finding a caller, by a Row that it makes.
type Source string

const (
	SourceContext      Source = "context"
	SourceSignal       Source = "signal-code"   // the kernel's frame below the code that returns from a signal's handler
	SourceCFI          Source = "cfi"           // STACK CFI and every other call frame information
	SourceWin          Source = "stack-win"     // STACK WIN
	SourceFramePointer Source = "frame-pointer" // the CPU's standard frame
	SourceCode         Source = "code"          // what the function's instructions do to the stack
	SourceLeaf         Source = "leaf"          // return address at sp (Windows amd64) or in lr
	SourceGo           Source = "go-stack"      // the stack pointer that Go's runtime saved when it switched stacks
	SourceShadow       Source = "shadow-stack"  // the CPU's own list of return addresses
	SourceScan         Source = "scan"
)

// words names a source in a sentence, with the term that debuggers have for it.
func (s Source) words() string {
	switch s {
	case SourceCFI:
		return "its unwind rules (CFI)"
	case SourceWin:
		return "its unwind rules (STACK WIN)"
	case SourceFramePointer:
		return "the frame pointer"
	case SourceCode:
		return "the function's code"
	case SourceLeaf:
		return "the place where the call put it (leaf)"
	case SourceGo:
		return "the stack pointer that Go's runtime saved"
	case SourceShadow:
		return "the shadow stack"
	case SourceScan:
		return "a search of the stack (scan)"
	}
	return string(s)
}

// Symbols looks up symbols and unwind rules for the walker. Modules are indices of the dump's
// module list, addresses are module-relative. It is synchronous and reads only what is at hand: for
// other bytes it returns symbol.Needs, and records which they are for the session's caller.
type Symbols interface {
	// Lookup finds the function, line and inlined calls at an address. For a module without a file it
	// answers NoFile.
	Lookup(module int, rva uint64) (symbol.Symbol, symbol.Answer)
	// Row finds the call frame information that covers an address. No with an Origin means that a
	// record covers it but has no usable rules; the Origin's Note says why.
	Row(module int, rva uint64) (unwind.Row, symbol.Answer)
	// FrameData finds the STACK WIN record that covers an address, type 4 before type 0.
	FrameData(module int, rva uint64) (unwind.FrameData, symbol.Answer)
	// Function finds the code that unwind information has as a function's at an address. It may be
	// that of several functions which have equal rules.
	Function(module int, rva uint64) (symbol.Range, bool)
}
