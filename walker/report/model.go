// Package report makes the report of a crash: plain data, with a version, which every renderer
// shows.
//
// Build (build.go) takes the dump, the walked stacks and what is known about symbols, and returns a
// Report (model.go). Compare (compare.go) compares several walks of a thread, Explain (explain.go)
// explains one frame, findings.go says why stacks are incomplete. The renderers are the packages
// text (terminal, Breakpad's and rust-minidump's output), json, and view (the page).
//
// Slices are never nil, so that JSON has empty lists and not null.
package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Version is the version of this model. It increases when a field changes its meaning.
const Version = 1

// Report is the report of one dump.
type Report struct {
	Version int
	Dump    Dump
	// Patterns are those with which the program's runtimes fill memory.
	Patterns analysis.Patterns
	Policy   string // the unwind policy: "best", "breakpad" …
	System   System
	Process  Process
	// Crash is nil for a dump without an exception.
	Crash *Crash
	// Assertion is the assertion that the dump's writer stored, as Breakpad prints it, or "".
	Assertion string
	// Messages has the program's own messages about its end (an assertion, an exception's message,
	// comments), the most important first.
	Messages []Message
	// Annotations are all texts that the program or the crash handler has left in the dump.
	Annotations []Annotation
	// Traces are the stacks that the program stored in annotations.
	Traces []Trace
	// Upload is what was sent together with the dump, if the dump was in a crash reporter's upload.
	Upload []Sent
	// FirstThread is the index of the thread to show first: the crashed one, else the requesting
	// one, else 0. It is -1 without threads.
	FirstThread int
	// HasRequesting: the dump names FirstThread, by its exception or BreakpadInfo. Otherwise it is
	// just the first in the list.
	HasRequesting bool
	// Threads are in the dump's order, including those that were not walked. The first Listed are
	// those of the dump's list; behind them are those of exceptions whose thread is in no list, and
	// second stacks of threads.
	Threads []Thread
	Listed  int
	// Exceptions are all of the dump's exceptions, in its order. Crash is about one of them.
	Exceptions []Exception
	// Wow64 is set if the process is a 32-bit one on a 64-bit system, and a 64-bit tool dumped it.
	Wow64   *Wow64
	Modules []Module // in the dump's order
	// ModuleMap finds modules by address.
	ModuleMap *core.ModuleMap
	// ModulesByAddress has the indexes of Modules as Breakpad lists them: sorted, with one module
	// for an address.
	ModulesByAddress []int
	// MainModule is the index of the executable, or -1.
	MainModule int
	Unloaded   []UnloadedModule
	// Missing are the missing symbol files: first the one that FirstThread's stack suggests, then
	// sorted by the number of frames that need them.
	Missing     []MissingFile
	Diagnostics []Diagnostic
	// Findings say why stacks are incomplete and what would help, causes before their effects.
	Findings []Finding
	// MapCount is the number of lines of /proc/PID/maps, or nil if the dump does not have it.
	MapCount *int
	// LSB is the Linux distribution, or nil if the dump has no lsb-release.
	LSB *LSBRelease
	// Handles are the process' open handles, valid if HasHandles.
	Handles    []Handle
	HasHandles bool
	// Limits are the process' resource limits on Linux, valid if HasLimits.
	Limits    []Limit
	HasLimits bool
	// MacCrashInfo has the modules' messages for macOS' crash reporter, valid if HasMacCrashInfo.
	MacCrashInfo    []MacCrashInfo
	HasMacCrashInfo bool
	// MacBootArgs are the kernel's boot arguments, or nil.
	MacBootArgs *string
	// SoftErrors is the JSON text of the writer's own errors, unchecked, or "".
	SoftErrors string
}

// Wow64 has the processors of a 32-bit process and of the 64-bit layer that it runs in. Program is ""
// if the dump has the registers of the layer alone.
type Wow64 struct{ Program, Host string }

// Dump is the dump file.
type Dump struct {
	Name  string
	Size  int64
	Time  uint32 // seconds since 1970, UTC; 0 if unknown
	Flags uint64
	// WordSize is the size of an address in bytes, 4 or 8.
	WordSize int
	// Micro: it is a microdump, text in a log. Size is that of its lines.
	Micro bool
	// Core: it is an ELF core, which has no flags and says about the system only its name and processor.
	Core bool
	// MicroArch is the processor as a microdump spells it.
	MicroArch string
}

// System is the machine and its operating system. Without a SystemInfo stream all is empty.
type System struct {
	OS        string // "Windows NT", "Mac OS X", "Linux" …
	OSVersion string
	CPU       string // "x86", "amd64", …
	CPUInfo   string // "family 6 model 13 stepping 8"
	CPUCount  int
	Microcode *uint64
	// Known: the dump is a minidump with a SystemInfo stream. Numbers and BuildText are the system's version as
	// stored there, Processor is its number of the CPU. BuildText is nil if there is no text.
	Known     bool
	Numbers   [3]uint32
	BuildText *string
	Processor uint16
	// Display is one line for users: "Windows 10 (build 19041), amd64".
	Display string
	// GPU is the graphics driver's description, or nil. Only microdumps have it.
	GPU *GPU
}

// GPU is the graphics driver's description of itself.
type GPU struct{ Version, Vendor, Renderer string }

// Process is the crashed process.
type Process struct {
	// Name is the program's file name, or "".
	Name string
	// PID is the process id, or nil.
	PID *uint32
	// Product, Version, Channel and Type are from annotations or a microdump: "Chrome_Linux",
	// "156.0.8078.79", "stable", "renderer". Each may be "".
	Product, Version, Channel, Type string
	// Uptime is in seconds: the dump's time minus the process' creation time, or nil if either is
	// missing.
	Uptime *uint64
	// Aux is the auxiliary vector of Linux, in the kernel's order.
	Aux []Aux
}

// Aux is an entry of the auxiliary vector: its name in the kernel's headers, and the text that
// Value points to, or "".
type Aux struct {
	Name  string
	Value uint64
	Text  string
}

// Reason is an exception's name, "SIGSEGV / SEGV_MAPERR", with the numbers that it was decoded from:
// of Linux the signal and its si_code.
type Reason struct {
	Name        string
	Code, Flags uint32
}

// Crash is the exception.
type Crash struct {
	Reason  Reason
	Address uint64
	// Params are the exception record's parameters.
	Params []uint64
	// Thread is the index of the crashed thread in Threads, or -1 if the exception names a thread
	// that is not in the dump.
	Thread   int
	ThreadID uint32
	// Index is the index of the exception in Exceptions.
	Index int
	// Event says what happened, as parts of a sentence: "tried to read 8 bytes at", 0x10, "null
	// pointer plus 16, through rax".
	Event analysis.Event
	// Recursion are the functions of most of the crashed thread's frames, if its stack overflowed,
	// or nil.
	Recursion *Recursion
	// Ended is how many of the crashed thread's first frames are of functions that end the program
	// and of what they called, or of a signal's handler: the crash's place is not in them. It is 0 unless the program ended
	// itself.
	Ended int
	// Runtimes: all frames of the crashed thread are those of a runtime that ended the program, and of what
	// runs a program there.
	Runtimes bool
	// Thrown is the name of the type of a C++ exception that nothing caught, if it is known.
	Thrown Name
	// Answer: the exception is only what a signal's handler answered to an earlier one, which Event and
	// Analysis are about.
	Answer bool
	// Requested: the process did not crash; the dump was requested.
	Requested bool
	// Analysis has what Event is derived from: the instruction, its accesses, the memory map. It is
	// never nil.
	Analysis *analysis.Result
}

// Recursion is a function that calls itself, or functions that call each other, the first to be
// called last. Calls of the stack's Frames belong to them.
type Recursion struct {
	Functions     []Name
	Nearest       bool // a name is only the nearest of its last frame, and may not be the function's
	Calls, Frames int
}

// maxCycle is how many functions of a recursion are named.
const maxCycle = 4

// names lists the functions: "a", "a and b", "a, b, c, d and 2 more".
func (r *Recursion) names() string {
	var shown []string
	for i := range r.Functions[:min(len(r.Functions), maxCycle)] {
		shown = append(shown, r.Functions[i].Shown())
	}
	if more := len(r.Functions) - len(shown); more > 0 {
		shown = append(shown, fmt.Sprintf("%d more", more))
	}
	last := len(shown) - 1
	if last == 0 {
		return shown[0]
	}
	return strings.Join(shown[:last], ", ") + " and " + shown[last]
}

// Why returns the cause of the event, or "": "it reached its guard page after 8192 KB; 9,000 of its
// 9,012 frames are parse".
func (c *Crash) Why() string {
	why := c.Event.Why
	if c.Thrown.Raw != "" {
		if why != "" {
			why += ", "
		}
		// Demangled, the names say what they name, too.
		why += "of type " + strings.TrimSuffix(strings.TrimPrefix(c.Thrown.Shown(), "typeinfo name for "), " `RTTI Type Descriptor'")
	}
	if c.Recursion == nil {
		return why
	}
	are := "are"
	if c.Recursion.Nearest {
		are = "are after"
	}
	return fmt.Sprintf("%s; %s of its %s frames %s %s", why, grouped(c.Recursion.Calls), grouped(c.Recursion.Frames), are, c.Recursion.names())
}

// Named returns the crash with other display names: thrown for a C++ exception's type, function for the
// functions of a recursion.
func (c Crash) Named(thrown, function func(Name) string) *Crash {
	c.Thrown.Display = thrown(c.Thrown)
	if c.Recursion != nil {
		named := *c.Recursion
		named.Functions = slices.Clone(named.Functions)
		for i := range named.Functions {
			named.Functions[i].Display = function(named.Functions[i])
		}
		c.Recursion = &named
	}
	return &c
}

// Sentence returns what happened, without a subject: "tried to read 8 bytes at 0x10: null pointer
// plus 16, through rax".
func (c *Crash) Sentence() string {
	e := c.Event
	e.Why = c.Why()
	return e.String()
}

// Sent is a value of an upload: a form's field, or what an envelope says. Origin is "upload" or
// "envelope".
type Sent struct{ Origin, Key, Value string }

// Thread is one thread with its stack.
type Thread struct {
	Index     int // in the dump's thread list
	ID        uint32
	Name      string
	Named     bool // the dump has a name for it, which may be ""
	LastError *LastError
	// Times are nil if the dump does not have them.
	Times  *ThreadTimes
	Frames []Frame
	// Guesses are the runs of Frames that a search of the stack found, where they are too many to be
	// shown one by one.
	Guesses []Guesses
	// Repeats are the recursions, in which Frames repeat those before them.
	Repeats []Repeat
	Stop    Stop
	// Omitted: the thread wrote the dump and was not walked.
	Omitted bool
	// Pending: the thread is not walked yet and has no frames.
	Pending bool
	Crashed bool
	// Unlisted: the thread had an exception and is not in the dump's list.
	Unlisted bool
	// HasSecond: Other is the index of the thread's second stack: what it was doing in the 64-bit
	// layer under a 32-bit process, or where the exception was in that, the process' own. IsSecond:
	// this is the second stack of the thread Other.
	HasSecond, IsSecond bool
	Other               int
}

// WordSizeOf returns the size of an address on a frame's processor, in bytes: the 64-bit layer of a
// 32-bit process has another than the process.
func (r *Report) WordSizeOf(f *Frame) int {
	if f.Regs != nil && f.Regs.Arch != nil {
		return f.Regs.Arch.WordSize
	}
	return r.Dump.WordSize
}

// SecondName says what a second stack is.
func (t *Thread) SecondName(r *Report) string {
	if len(t.Frames) > 0 && t.Frames[0].Regs.Arch.WordSize == 4 {
		return "the 32-bit process' own stack"
	}
	return "the 64-bit layer under it (" + r.Wow64.Host + ")"
}

// ThreadTimes is when a thread of Windows ran, and how much.
type ThreadTimes struct {
	// Created and Ended are seconds since 1970, UTC; 0 if unknown, or if the thread runs.
	Created, Ended uint32
	// Kernel and User are what it spent there, in units of 100 ns.
	Kernel, User uint64
	// Start is the address of its first function; 0 if unknown.
	Start uint64
	// ExitStatus is what it ended with, where Ended is known.
	ExitStatus uint32
}

// LastError is the thread's GetLastError() value.
type LastError struct {
	Value uint32
	Text  string // "ERROR_SUCCESS"
}

// Stop says why the walk of a thread ended.
type Stop struct {
	Kind   string
	Detail string
	// Suggestion is a sentence about what would make the stack more complete, or "".
	Suggestion string
	// Wants is the module whose symbols Suggestion asks for, or -1.
	Wants    int
	Attempts []Attempt
}

// Attempt is an attempt to find a frame that the walker rejected, for the Reason.
type Attempt struct {
	Source string
	Rule   string // the rules as text, or "" if there were none
	Origin string
	Reason string
}

// Name is a function's name as the symbol file or the binary has it, and demangled.
type Name struct {
	Raw     string
	Display string // demangled, or "" before Report.Demangle
	// Linked: the name is a binary's, as compiler and linker have it.
	Linked bool
}

// Printed returns the name for Breakpad's formats: as in the symbol file, and a binary's as in the
// symbol file that would be made of it.
func (n Name) Printed() string {
	if n.Linked {
		return n.Shown()
	}
	return n.Raw
}

// Shown returns the name for users: demangled if possible.
func (n Name) Shown() string {
	if n.Display != "" {
		return n.Display
	}
	return n.Raw
}

// demangle sets the name's Display.
func (n *Name) demangle(f func(string) string) {
	if n.Raw != "" {
		n.Display = f(n.Raw)
	}
}

// Differs reports whether demangling changed the name.
func (n Name) Differs() bool { return n.Display != "" && n.Display != n.Raw }

// Frame is one physical frame with the calls inlined into it.
type Frame struct {
	PC     uint64 // the recovered value: for callers a return address
	Lookup uint64 // the address for symbol lookups: PC, or for callers an address inside the call instruction
	Source string // the source that found it: "context", "signal-code", "cfi", "stack-win", "frame-pointer", "code", "leaf", "go-stack", "shadow-stack", "scan"
	Trust  string // "context", "cfi", "cfi_scan", "frame_pointer", "leaf", "scan", "prewalked", "none"
	// Module is an index into Report.Modules, or -1; RVA is Lookup relative to the module.
	Module int
	RVA    uint64
	// Listed is the entry of the dump's module list that covers Lookup. It differs from Module if
	// several entries are one module, and is Module if no entry covers Lookup.
	Listed   int
	Function Name
	// HasFunction: symbols have the function's name. FunctionStart is its absolute address.
	HasFunction   bool
	FunctionStart uint64
	Public        bool // the name is from a PUBLIC record
	// Nearest: the name is the last one before the address, and its function may have ended. Passed:
	// it has ended, or is too far away to reach the address, so the frame has no name.
	Nearest, Passed bool
	Multiple        bool // the linker folded several functions into this one
	// From is the file with the name, without folders, if the module has both a symbol file and a
	// binary.
	From string
	// File is the full path as stored, Line counts from 1. HasLine: a line record covers the
	// address. LineStart is absolute.
	File      string
	Line      uint32
	HasLine   bool
	LineStart uint64
	// Inlines are the inlined calls, innermost first.
	Inlines []Inline
	// Regs are the frame's known registers, or nil.
	Regs *cpu.Regs
	// MissingSymbols: the walk needed the module's symbols and there are none.
	MissingSymbols bool
	// AssignedSymbols: this frame uses symbols with another id, which the user assigned.
	AssignedSymbols bool
	// Unloaded are the unloaded modules that covered the address. It is empty unless Module is -1.
	Unloaded []UnloadedHit
	// TailCall is the function that the frame called, if that jumped on to the frame below and so has
	// no frame itself; else its Raw is "".
	TailCall Name
	// Skipped is how many frames of a recursion the walk found before this one without keeping them. They repeat
	// the frames before, and SkippedInlines are their inlined calls. LeftOut is how many there are before the frame in all.
	Skipped, SkippedInlines, LeftOut int
	// Rule and Origin say how the frame was recovered, Attempts what was rejected before.
	Rule     string
	Origin   string
	Attempts []Attempt
}

// Named reports whether symbols have the name of the frame's function.
func (f *Frame) Named() bool { return f.HasFunction && !f.Passed }

// Scanned reports whether a search of the stack found the frame: it may be left over from an earlier call.
func (f *Frame) Scanned() bool { return f.Trust == "scan" || f.Trust == "cfi_scan" }

// InFunction says where a frame is, without what another run of the program has at another address: its
// function, or without a name the offset in its module.
//
//	parse in app · app + 0x4f3a · 0x7ffe0010
func (r *Report) InFunction(f *Frame, name func(Name) string) string {
	switch {
	case f.Module < 0 && !f.Named():
		return fmt.Sprintf("0x%x", f.Lookup)
	case f.Module < 0:
		return name(f.Function)
	case !f.Named():
		return fmt.Sprintf("%s + 0x%x", r.Modules[f.Module].Title(), f.RVA)
	}
	return name(f.Function) + " in " + r.Modules[f.Module].Title()
}

// IsPlaceholder reports whether a name is only what writers of symbol files put in place of one.
func IsPlaceholder(name string) bool {
	return strings.HasPrefix(name, "<unknown in ") || name == "<name omitted>"
}

// Inline is an inlined call inside a frame.
type Inline struct {
	Function Name
	File     string
	Line     uint32
	HasLine  bool
	Start    uint64 // absolute
}

// UnloadedHit is an unloaded module and the offsets inside it.
type UnloadedHit struct {
	Module  string
	Offsets []uint64
}

// SymbolState is the state of a module's symbols.
type SymbolState string

const (
	SymbolsNotNeeded SymbolState = "not-needed" // no frame is in the module, and no file is loaded
	SymbolsMissing   SymbolState = "missing"    // frames need symbols, and no file is loaded
	SymbolsLoaded    SymbolState = "loaded"
	SymbolsCorrupt   SymbolState = "corrupt"  // the file could not be read, or only in part
	SymbolsMismatch  SymbolState = "mismatch" // a loaded file has the right name and another id, and is not used
	SymbolsAssigned  SymbolState = "forced"   // the same, but used because the user assigned it
)

// Module is a loaded module.
type Module struct {
	Base, Size uint64
	Name       string // path as stored
	DebugFile  string // path as stored
	DebugID    string
	CodeID     string
	// StoredDebugFile and StoredID are what the debug record has, or "". An id of zeros is one too.
	StoredDebugFile, StoredID string
	Version                   string    // "10.0.19041.1", or ""
	FileVersion               [2]uint32 // its first two fields, as stored
	State                     SymbolState
	// IndexedOnDemand: there is no full index of the symbol file. Lookups search the file, which is
	// exact if the file is sorted.
	IndexedOnDemand bool
	// SymbolFile is the name of the symbol file in use, SymbolID its id, SymbolName the name in its
	// MODULE record.
	SymbolFile, SymbolID, SymbolName string
	// Binary is the executable, library or debug file in use, in addition to SymbolFile or equal to
	// it, or "". BinaryByName: only its name, and its size or time stamp, show that it is the
	// module's.
	Binary       string
	BinaryByName bool
	// Completes is the file that has what the module's files lack, names or unwind rules, if nothing says that there
	// is one: then it is not among Report.Missing. It is nil where nothing is known to be lacking.
	Completes *MissingFile
	// Has says what the files contain, which file has what, and which files are missing.
	Has symbol.Contents
	// Publisher is who publishes the program that the module is of, as its name and folder suggest, or "".
	// System: it is a library of the system, by its folder or name.
	Publisher string
	System    bool
	// IgnoredCFI: the user has disabled the module's call frame information.
	IgnoredCFI bool
	// Warnings are the first few of the symbol file's warnings, with their lines.
	Warnings []string
	// SymbolsRequested: the walk looked for the symbols of this module.
	SymbolsRequested bool
	// Frames is how many physical frames of all threads are in the module.
	Frames int
	Main   bool
	// Mappings are the parts of a module that has several entries in the dump's list, or code
	// outside of its entry, by address. It is empty for other modules.
	Mappings []Mapping
	// Merged: the entry is a part of a module that is another entry.
	Merged bool
}

// Title returns the module's file name, or what it is called without one.
func (m *Module) Title() string { return ModuleTitle(m.Name, m.Base) }

// ModuleTitle returns a module's file name, or for one without a name where it is: "module@0x10000".
func ModuleTitle(path string, base uint64) string {
	if nameless(path) {
		return fmt.Sprintf("module@0x%x", base)
	}
	return BaseName(path)
}

// Mapping is a part of a module in memory: Size bytes at the address Start, which is at the
// module-relative address RVA.
type Mapping struct {
	Start, Size, RVA uint64
	Listed           int // its entry of the dump's module list, or the module's if it is in no entry
}

// UnloadedModule is a module that the process had unloaded before the crash.
type UnloadedModule struct {
	Base, Size uint64
	Name       string
	CodeID     string
}

// MissingFile is a missing symbol file.
type MissingFile struct {
	Module    int
	DebugFile string // base name
	DebugID   string
	StorePath string // "app.pdb/1234…/app.sym"
	// OtherPath is a second path at which a store may have it, for dumps of big-endian machines
	// (see core.ByteSwappedID), else "".
	OtherPath string
	Frames    int // how many frames need it
	// Mismatch is a loaded file with the right name and another id.
	Mismatch Mismatch
	// Program is the base name of the module's program (PE file) and CodeID its identifier, if the
	// program is missing and has the unwind rules, else "".
	Program, CodeID string
	// Partial: the session has the module's program or its debug information, and only the other is
	// missing.
	Partial bool
	// Stores are the paths of the files on symbol servers.
	Stores []StoreFile
	// Published says who publishes the symbols, on a Server of a Layout; each is "" if that is not known.
	Published, Server, Layout string
}

// Mismatch is a loaded symbol file that has the name of a module's but another id, or the zero value.
// Item is the session's number of the file.
type Mismatch struct {
	File, ID string
	Item     int
}

// Diagnostic is a problem of the dump or of a symbol file.
type Diagnostic struct {
	Severity string // "note", "warning", "error"
	Text     string // with the file, the offset and the problem
}

// LSBRelease is the Linux distribution.
type LSBRelease struct{ ID, Release, Codename, Description string }
