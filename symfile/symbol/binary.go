package symbol

import "strings"

// Identity is what the headers of a binary or debug file say of it.
type Identity struct {
	// Name is the file's own name for itself (a library's SONAME), else that of the file, without folders.
	Name string
	// DebugID is the id as in a symbol store: 32 upper-case hexadecimal digits and an age. CodeID is the binary's own
	// identifier in lower case (of ELF files the build id), "" if it has none; DebugID is then made of the code.
	DebugID, CodeID string
	// CodeName is the program's own name where Name is that of its debug information (a PE file that names a PDB), else "".
	CodeName string
	// HashIDs are debug ids that are made of the code, for writers that find no identifier; DebugID is the first of them where CodeID is
	// "". Another file may have the same.
	HashIDs []string
	// OS and Arch are the words of a symbol file's MODULE record.
	OS, Arch string
	// Size is how much of the address space the module takes, in bytes; 0 if that is not known.
	Size uint64
	// Kind says in words what it is: "executable", "library", "debug file", "split DWARF" …
	Kind string
	// Code: the file holds the program itself, and not only what is known of it.
	Code bool
}

// Contents is what is known of a module, whatever kind of file knows it.
type Contents struct {
	// CFI: call frame information (STACK CFI, .eh_frame, .debug_frame, .ARM.exidx). SFrame: that too, in the short form.
	CFI, SFrame bool
	// Functions with their sizes; Lines of sources; Inlines, calls that were inlined.
	Functions, Lines, Inlines bool
	// OnlyExports: the only names are those that other modules may use.
	OnlyExports bool
	// Parts says where each comes from, Missing what is known to exist and is not here: "libfoo.so.debug, the debug information
	// (build id 1234…)".
	Parts   []Part
	Missing []string
	// NoProgram: the unwind rules are in the program itself, and only its debug information is here, which does not know what the program
	// is called (see MissingProgram).
	NoProgram bool
	// NoDebugFile: the program names a file with its functions and lines, which is not here.
	NoDebugFile bool
}

// WithoutUnderscore is the name of a C function out of a linker's name for it, where x86's compilers for Windows put an underscore before
// it (__cdecl). Names that also say how large their parameters are ("_f@8", __stdcall) stay as they are: those can be told from others.
func WithoutUnderscore(linked string) string {
	name, ok := strings.CutPrefix(linked, "_")
	if !ok || name == "" || strings.Contains(name, "@") {
		return linked
	}
	return name
}

// MissingProgram is what Missing says for NoProgram, by whoever knows the program's name.
func MissingProgram(name, arch string) string {
	return "the program itself, " + name + ": without it " + arch + " stacks are guessed"
}

// Part is one thing that is known of a module, and where it comes from: "unwind rules", "libfoo.so", ".eh_frame".
type Part struct{ What, File, Section string }
