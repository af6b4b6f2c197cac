package symbol

import "strings"

// Identity identifies a binary or debug file, by its headers.
type Identity struct {
	// Name is the name that the file states for itself (a library's SONAME), else the file's name
	// without folders.
	Name string
	// DebugID is the id by which symbol stores find symbols: 32 upper-case hexadecimal digits and
	// an age. CodeID is the binary's own identifier in lower case, in ELF files the build id.
	// Without a build id, CodeID is "" and DebugID is a hash of the code.
	DebugID, CodeID string
	// CodeName is the program's name if Name is that of its debug information (a PE file names a
	// PDB), else "".
	CodeName string
	// OtherIDs are debug ids that writers of dumps and symbol files use if they do not find the
	// build id, such as hashes of the code. If CodeID is "", DebugID is the first of them. Another
	// file may have the same. IDLoaded: every writer of dumps finds the build id.
	OtherIDs []string
	IDLoaded bool
	// Stamped: CodeID is not a build id. It is the time stamp and the size of the program in memory, as
	// linkers for Windows write them; another file may have the same time or size.
	Stamped bool
	// ExactRules: the program's unwind rules are those of each instruction, where the STACK CFI records
	// that tools make of them have one rule for a whole function.
	ExactRules bool
	// OS and Arch are as in the MODULE record of a symbol file.
	OS, Arch string
	// Size is the size in bytes of the module's address range, or 0 if unknown.
	Size uint64
	// Segments are the parts of that range that the program's headers load, of ELF files.
	Segments []Segment
	// Sections are the parts of that range that have a name, of ELF and PE files.
	Sections []Section
	// Kind is the kind of file for users: "executable", "library", "debug file", "split DWARF" …
	Kind string
	// Code: the file has the program's code, and not only debug information.
	Code bool
	// CodeLayout is the same for a program and its separate debug file: a hash of the names, addresses
	// and sizes of the sections with code, which the debug file has without their bytes. It is "" for a
	// file without such sections, and for one that has neither code nor debug information.
	CodeLayout string
	// LinkedNames and LinkedIDs are the names and code ids of the files that the headers name as
	// having parts of the debug information. NeedsSplit: some units of it are in files of split
	// units. SplitUnits: the file is one of these.
	LinkedNames, LinkedIDs []string
	NeedsSplit, SplitUnits bool
	// NeedsObjects: a debug map may say where the code of objects is, whose DWARF the file does not have.
	// Object: the file is an object, for a linker.
	NeedsObjects, Object bool
}

// Segment is a part of a program in memory. Its first FileSize bytes are in the file from Offset on.
// Exec: it may be executed.
type Segment struct {
	Range
	Offset, FileSize uint64
	Exec             bool
}

// Section is a part of a program in memory. Write, Exec: the program may write to it, may execute it.
type Section struct {
	Range
	Name        string
	Write, Exec bool
}

// Contents says what kinds of information the files of a module have.
type Contents struct {
	// CFI: call frame information (STACK CFI, .eh_frame, .debug_frame, .ARM.exidx). SFrame: unwind
	// information in that format.
	CFI, SFrame bool
	// Functions with their sizes; source Lines; Inlines, inlined calls.
	Functions, Lines, Inlines bool
	// OnlyExports: the only names are those of exported symbols.
	OnlyExports bool
	// Parts says which file has each kind of information. Missing names files that should exist and
	// are not loaded: "libfoo.so.debug, the debug information (build id 1234…)".
	Parts   []Part
	Missing []string
	// NoProgram: the program, which has the unwind rules, is not loaded. Only its debug information
	// is, which does not have the program's name (see MissingProgram). ProgramName is what the name of
	// the file suggests: "app.exe or app.dll".
	NoProgram   bool
	ProgramName string
	// DebugFile and DebugID are the file with the functions and lines that the program names, and
	// its id, if the session does not have it.
	DebugFile, DebugID string
	// AltFile and AltID are the supplementary debug file that dwz made, and its build id in hexadecimal
	// digits, if the session does not have it.
	AltFile, AltID string
	// DebugLayout is the CodeLayout of a separate debug file that the session does not have.
	DebugLayout string
}

// WithoutUnderscore removes the underscore that x86's compilers for Windows put before the name of
// a C function (__cdecl): "_main" becomes "main". A name with the size of its parameters ("_f@8",
// __stdcall) stays as it is.
func WithoutUnderscore(linked string) string {
	name, ok := strings.CutPrefix(linked, "_")
	if !ok || name == "" || strings.Contains(name, "@") {
		return linked
	}
	return name
}

// MissingProgram returns the entry of Missing for NoProgram, for callers that know the program's
// name.
func MissingProgram(name, arch string) string {
	return "the program itself, " + name + ": without it callers on " + arch + " are guesses"
}

// Part is a kind of information about a module, and its file and section: "unwind rules",
// "libfoo.so", ".eh_frame".
type Part struct{ What, File, Section string }
