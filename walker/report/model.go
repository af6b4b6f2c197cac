// Package report is the plain, versioned description of a crash that every renderer prints: text, JSON and the page. It
// is built once from the dump and its walked stacks (Build); nothing flows back. Slices are never nil, so that JSON has
// lists and not null.
package report

import (
	"fmt"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// Version of this model; it goes up when a field changes its meaning.
const Version = 1

// Report is everything known of one dump.
type Report struct {
	Version int
	Dump    Dump
	Policy  string // how the stacks were walked: "best", "breakpad", …
	System  System
	Process Process
	// Crash is nil for a dump without an exception.
	Crash *Crash
	// Assertion is the writer's assertion text in Breakpad's words, or "".
	Assertion string
	// Said is what the program itself said of its end: an assertion, an exception's message, comments. The most telling comes first.
	Said []Said
	// FirstThread is the index of the thread to show first: the crashed one, else the requesting one, else 0; -1 if there
	// are no threads.
	FirstThread int
	// HasRequesting: FirstThread was named by the dump (exception or BreakpadInfo), not just the first in the list.
	HasRequesting bool
	Threads       []Thread // dump order, with those that were not walked
	Modules       []Module // dump order
	// Places finds modules by address.
	Places *core.ModuleMap
	// ModulesByAddress are the indices of Modules as Breakpad lists them: sorted, without a second module at the same address.
	ModulesByAddress []int
	// MainModule is the index of the executable, or -1.
	MainModule int
	Unloaded   []UnloadedModule
	// Wanted are the symbol files that are missing: the one that the stack of FirstThread asks for, then those that most frames need.
	Wanted      []Wanted
	Diagnostics []Diagnostic
	// Findings are what is wrong with the stacks, why, and what would help; the most important first.
	Findings []Finding
	// MapCount is the number of lines of /proc/PID/maps; nil if the dump has none.
	MapCount *int
	// LSB is the distribution; nil if the dump has no lsb-release.
	LSB *LSBRelease
	// Handles are what the process had open, if HasHandles is set.
	Handles    []Handle
	HasHandles bool
	// Limits are the process' resource limits on Linux, if HasLimits is set.
	Limits    []Limit
	HasLimits bool
	// MacCrashInfo is what modules left for macOS' crash reporter, if HasMacCrashInfo is set.
	MacCrashInfo    []MacCrashInfo
	HasMacCrashInfo bool
	// MacBootArgs are the kernel's boot arguments; nil if the dump has none.
	MacBootArgs *string
	// SoftErrors is the JSON text of what went wrong while the dump was written, unchecked; "" if the dump has none.
	SoftErrors string
	// HasCertInfo is always false: certificates come from outside the dump.
	HasCertInfo bool
}

// Dump is the file itself.
type Dump struct {
	Name  string
	Size  int64
	Time  uint32 // seconds since 1970, UTC; 0 if unknown
	Flags uint64
	// WordSize of addresses in bytes, 4 or 8.
	WordSize int
	// Micro: it was a microdump, text in a log; Size is that of its lines.
	Micro bool
}

// Words are one fact in both peers' words.
type Words struct {
	Breakpad string
	Rust     string
}

// System is the machine and its operating system.
type System struct {
	OS        Words // "Windows NT", "Mac OS X", "Linux" …
	OSVersion Words
	CPU       Words // "x86", "amd64", …
	CPUInfo   Words // "family 6 model 13 stepping 8"
	CPUCount  int
	Microcode *uint64
	// Display is one line for people: "Windows 10 (build 19041), amd64".
	Display string
	// GPU is the graphics driver's description of itself; nil if there is none. Only microdumps have it.
	GPU *GPU
}

// GPU is the graphics driver in its own words.
type GPU struct{ Version, Vendor, Renderer string }

// Process is the crashed process.
type Process struct {
	// Name is the program's file name, or "".
	Name string
	// PID is the process id; nil if it is not known. PIDRust is rust-minidump's, which takes the id of a thread for it in some Linux dumps.
	PID, PIDRust *uint32
	// Product, Version, Channel and Type are what annotations or a microdump say of the program: "Chrome_Linux", "156.0.8078.79", "stable",
	// "renderer"; or "".
	Product, Version, Channel, Type string
	// Uptime in seconds: dump time minus the process' creation time; nil if either is missing. UptimeRust is rust-minidump's,
	// which takes a time of 0 for a time.
	Uptime, UptimeRust *uint64
	// Aux is the auxiliary vector of Linux, in the kernel's order.
	Aux []Aux
}

// Aux is an entry of the auxiliary vector: its name in the kernel's headers, and the text that Value points to, or "".
type Aux struct {
	Name  string
	Value uint64
	Text  string
}

// Crash is the exception.
type Crash struct {
	Reason Words
	// Address is as Breakpad prints it. RustAddress differs on the processors where one of the two cuts it to 32 bits.
	Address, RustAddress uint64
	// Params are the exception record's parameters.
	Params []uint64
	// Thread is the index of the crashed thread in Threads, or -1 if the exception names a thread that is not in the dump.
	Thread   int
	ThreadID uint32
	// Event says what happened, in the parts of a sentence: "tried to read 8 bytes at", 0x10, "null pointer plus 16, through rax".
	Event analysis.Event
	// Recursion is what most of the crashed thread's frames are of, if its stack ran out; nil if there is no such function.
	Recursion *Recursion
	// Requested: the process did not crash, a dump was asked for.
	Requested bool
	// Analysis is what Event comes from: the instruction, its accesses, the memory map. It is never nil.
	Analysis *analysis.Result
}

// Recursion is a function that calls itself: Calls of the stack's Frames are of it.
type Recursion struct {
	Function      Name
	Calls, Frames int
}

// Why is why the event happened, as far as it is known: "it reached its guard page after 8192 KB; 9,000 of its 9,012 frames are parse"; or "".
func (c *Crash) Why() string {
	why := c.Event.Why
	if c.Recursion == nil {
		return why
	}
	return fmt.Sprintf("%s; %d of its %d frames are %s", why, c.Recursion.Calls, c.Recursion.Frames, c.Recursion.Function.Shown())
}

// Sentence is what happened, without the process: "tried to read 8 bytes at 0x10: null pointer plus 16, through rax".
func (c *Crash) Sentence() string {
	e := c.Event
	e.Why = c.Why()
	return e.String()
}

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
	Stop   Stop
	// Omitted: the thread wrote the dump and was not walked.
	Omitted bool
	// Pending: the thread is not walked yet; it has no frames.
	Pending bool
	Crashed bool
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

// Stop is why the walk of a thread ended.
type Stop struct {
	Kind   string
	Detail string
	// Suggestion is what would lead further, in a sentence; "" if nothing is known that would.
	Suggestion string
	// Wants is the module whose symbols Suggestion asks for, or -1.
	Wants    int
	Attempts []Attempt
}

// Attempt is a way of finding a frame that was tried and rejected.
type Attempt struct {
	Source string
	Rule   string // the rules in words; "" if there were none
	Origin string
	Reason string
}

// Name is a function name as the symbol file has it and as people read it.
type Name struct {
	Raw     string
	Display string // demangled; "" until somebody asks (Report.Demangle)
}

// Shown is the name for people.
func (n *Name) Shown() string {
	if n.Display != "" {
		return n.Display
	}
	return n.Raw
}

// Differs reports whether demangling changed the name.
func (n *Name) Differs() bool { return n.Display != "" && n.Display != n.Raw }

// Frame is one physical frame with the calls inlined into it.
type Frame struct {
	PC     uint64 // as recovered (a return address for callers)
	Lookup uint64 // as looked up: PC, or inside the call instruction for callers
	Source string // what found it: "context", "cfi", "stack-win", "frame-pointer", "leaf", "shadow-stack", "scan"
	Trust  string // "context", "cfi", "cfi_scan", "frame_pointer", "leaf", "scan", "prewalked", "none"
	// Module is an index into Report.Modules, or -1; RVA is Lookup relative to the module.
	Module int
	RVA    uint64
	// Listed is the entry of the dump's module list that covers Lookup: another than Module where several entries are one module. It is
	// Module where none covers it.
	Listed   int
	Function Name
	// HasFunction: symbols named it. FunctionStart is its absolute address.
	HasFunction   bool
	FunctionStart uint64
	Public        bool // the name is of a PUBLIC record
	Multiple      bool // the name stands for several folded functions
	// From is the file that answered, without folders, where the module has a symbol file and a binary.
	From string
	// File is the full path as stored, Line counts from 1. HasLine: a line record covers the address. LineStart is absolute.
	File      string
	Line      uint32
	HasLine   bool
	LineStart uint64
	// Inlines are innermost first.
	Inlines []Inline
	// Regs are the frame's registers as far as known; nil for none.
	Regs *cpu.Regs
	// MissingSymbols: the module's symbols were looked for and are not there.
	MissingSymbols bool
	// Forced: the symbols used for this frame are of another build (their id differs) and were assigned by hand.
	Forced bool
	// Unloaded are the unloaded modules that covered the address; only if Module is -1.
	Unloaded []UnloadedHit
	// Rule and Origin say how the frame was recovered, in words; Attempts what was rejected before.
	Rule     string
	Origin   string
	Attempts []Attempt
}

// farName is from where on an exported name is no longer taken for the name of an address behind it: hardly a function is longer.
const farName = 64 << 10

// Far reports whether a frame's name is that of an exported function which begins too far before it to be the frame's own.
func (f *Frame) Far() bool {
	return f.HasFunction && f.Public && f.Lookup-f.FunctionStart >= farName
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

// SymbolState is what is known of a module's symbols.
type SymbolState string

const (
	SymbolsNotNeeded SymbolState = "not-needed" // no frame lies in the module and no file was given
	SymbolsMissing   SymbolState = "missing"    // needed, and no file
	SymbolsLoaded    SymbolState = "loaded"
	SymbolsCorrupt   SymbolState = "corrupt"  // a file that could not be read, in whole or in part
	SymbolsMismatch  SymbolState = "mismatch" // a file of the right name and another id was given, and is not used
	SymbolsForced    SymbolState = "forced"   // the same, used because someone said so
)

// Module is a loaded module.
type Module struct {
	Base, Size uint64
	Name       string // path as stored
	DebugFile  string // path as stored
	DebugID    string
	CodeID     string // as rust-minidump prints it; Breakpad prints none
	// DebugFiles and DebugIDs are the peers' words, which differ where a module has an odd debug record or none.
	DebugFiles, DebugIDs Words
	Version              Words // "10.0.19041.1"; Breakpad's is "" where it prints "???"
	State                SymbolState
	// SymbolsSparse: the symbol file was searched where it lies, which is exact as far as it is sorted, and not read as a whole.
	SymbolsSparse bool
	// SymbolFile is the name of the file that is used; SymbolID its id, SymbolName its MODULE name.
	SymbolFile, SymbolID, SymbolName string
	// Binary is the executable, library or debug file that is used, beside SymbolFile or as SymbolFile itself; "" if there is none.
	// BinaryByName: nothing but its name and size says that it is the module's.
	Binary       string
	BinaryByName bool
	// Has is what the files know of the module, where each comes from, and what is missing.
	Has symbol.Contents
	// IgnoredCFI: a person does not want the module's call frame information used.
	IgnoredCFI bool
	// Warnings of the symbol file, the first few, with their lines.
	Warnings []string
	// Looked: somebody looked for symbols of this module during the walk.
	Looked bool
	// Frames is how many physical frames of all threads lie in the module.
	Frames int
	Main   bool
	// Mappings are the parts of a module that is several entries of the dump's list, or has code that is in none, by address; empty for
	// the others.
	Mappings []Mapping
	// Merged: the entry is such a part, and the module is another entry.
	Merged bool
}

// Mapping is a part of a module in memory: Size bytes from Start on, the first of which has the module-relative address RVA.
type Mapping struct {
	Start, Size, RVA uint64
	Listed           int // its entry of the dump's module list; the module's, if it is in no entry
}

// UnloadedModule is a module that was no longer loaded.
type UnloadedModule struct {
	Base, Size uint64
	Name       string
	CodeID     string
}

// Wanted is a missing symbol file.
type Wanted struct {
	Module    int
	DebugFile string // base name
	DebugID   string
	StorePath string // "app.pdb/1234…/app.sym"
	// OtherPath is where a store may have it too: under core.TurnedID of the id, if the dump is of a big-endian machine, else "".
	OtherPath string
	Frames    int // how many frames would gain by it
	// MismatchFile and MismatchID name a given file of the right name and another id; "" if there is none.
	MismatchFile, MismatchID string
	MismatchItem             int // the session's item of that file, or -1
	// Program is the base name of the module's program and CodeID its identifier, where that is missing and has the unwind rules; "" elsewhere.
	// Partial: the module has its program or its debug information, and only the other is missing.
	Program, CodeID string
	Partial         bool
	// Stores is where symbol servers have the files that would help.
	Stores []StoreFile
}

// Diagnostic is something wrong with the dump or a symbol file.
type Diagnostic struct {
	Severity string // "note", "warning", "error"
	Text     string // with file, offset and what was wrong
}

// LSBRelease is the Linux distribution.
type LSBRelease struct{ ID, Release, Codename, Description string }
