package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/walker/disk"
)

var dumpsymsCommand = command{
	name:  "dumpsyms",
	line:  "dumpsyms [--no-cfi] [--mangled] [--id ID] [--arch CPU] [--max-unpacked SIZE] FILE [DEBUGFILE…]",
	about: "make a Breakpad symbol file of a binary or PDB",
	help: `Prints a Breakpad symbol file for the executable or library FILE, an ELF, PE or Mach-O file: its functions, source lines, inlined calls,
names of exports, and unwind rules.

DEBUGFILE is its separate debug file; .dwo and .dwp files, and the supplementary file that dwz made, may follow. Each must belong to
FILE: by its build id, by the name and checksum that FILE has for it, or because FILE has split debug information. FILE may
also be a debug file alone; the unwind rules are then those of its .debug_frame section, if it has one.

Give a PE file together with its PDB, in either order. The unwind rules for each instruction come from the program's function table
(.pdata), everything else from the PDB, including the rules of x86 (STACK WIN). Either also works alone: without a PDB, dumpsyms writes
the names of exports and DWARF.

A Mach-O file goes together with its dSYM (app.dSYM, or the file in it), in either order. If a file is for several processors, --arch
selects one (x86_64, arm64 …). Without a dSYM, name the objects and static libraries that the program was linked from; the program's
debug map says how to use their DWARF.

  crashpane dumpsyms app.exe app.pdb > app.sym
  crashpane dumpsyms --arch arm64 app app.dSYM > app.sym
  crashpane dumpsyms libfoo.so libfoo.so.debug > libfoo.so.sym

The symbol file's id comes from FILE's build id, or without one from a hash of its code. If the writer of a dump found no build id, as
minidump-writer does not for programs from Go's linker, the dump has another id, such as a hash. The symbol file lists these ids in INFO
OTHER_ID records, by which crashpane finds it; for other tools, --id hash writes Breakpad's hash as the id. --id build insists on the build
id. Any other ID must be one that a dump has; it is written if FILE answers to it.

For anything that could not be read, or is missing, there is a line on the error output.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var d dumpsymsRun
		fs.BoolVar(&d.noCFI, "no-cfi", false, "leave out the unwind rules (STACK CFI and STACK WIN records)")
		fs.BoolVar(&d.mangled, "mangled", false, "print names as the linker wrote them")
		fs.StringVar(&d.arch, "arch", "", "for a Mach-O file with several processors, the `CPU` to read")
		fs.StringVar(&d.id, "id", "", "the `ID` to write: build, hash, or a debug id that a dump has for FILE")
		d.Choices.UnpackedFlag(fs)
		return d.run
	},
}

// dumpsymsRun is one run of the command.
type dumpsymsRun struct {
	noCFI, mangled bool
	id, arch       string
	disk.Choices
}

// run writes the symbol file to stdout, and to stderr what could not be read, which rules a symbol
// file cannot express, and which files are missing. An incomplete symbol file is not an error.
func (d *dumpsymsRun) run(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usageError("name a file")
	}
	files, err := disk.OpenSources(args, d.Choices.MaxUnpacked)
	if err != nil {
		return err
	}
	defer files.Close()
	b, err := joined(files, d.arch)
	if err != nil {
		return err
	}
	opt := binary.SymOptions{NoCFI: d.noCFI, Demangle: msvc.Name, Spool: disk.OpenSpool}
	if d.mangled {
		opt.Demangle = nil
	}
	if opt.ID, err = chooseID(b, d.id); err != nil {
		return err
	}
	id := b.Identity()
	n, err := b.WriteSym(files[0].Budget.Writer(stdout), opt)
	for _, w := range b.Warnings() {
		fmt.Fprintln(stderr, w)
	}
	if err != nil {
		return err
	}
	if n.Inexpressible > 0 {
		fmt.Fprintf(stderr, "%s: %d unwind rules that a symbol file cannot express are left out, the first at %s\n", b.Name(), n.Inexpressible, n.InexpressibleFirst)
	}
	if core.NoID(id.DebugID) && d.id == "" {
		fmt.Fprintf(stderr, "%s: it has no id, by which a dump could find this symbol file\n", b.Name())
	}
	has := b.Has()
	if has.NoProgram {
		has.Missing = append(has.Missing, symbol.MissingProgram(has.ProgramName, id.Arch))
	}
	for _, m := range has.Missing {
		fmt.Fprintf(stderr, "%s: not here: %s\n", b.Name(), m)
	}
	return files[0].Budget.Err()
}

// chooseID returns the debug id that --id means; "" is the usual one.
//
// An id in either byte order is accepted (core.SameID) and written as the user gave it: the dump of
// a big-endian machine may have the other order.
func chooseID(b *binary.File, want string) (string, error) {
	id := b.Identity()
	switch {
	case want == "", want == "build" && id.CodeID != "":
		return "", nil
	case want == "build":
		return "", fmt.Errorf("%s has no build id", b.Name())
	case want == "hash" && len(id.OtherIDs) > 0:
		return id.OtherIDs[0], nil
	case want == "hash":
		return "", fmt.Errorf("%s has no code that could be hashed", b.Name())
	}
	ids := idsOf(id)
	for _, one := range ids {
		if core.SameID(one, want) {
			return strings.ToUpper(want), nil
		}
	}
	return "", fmt.Errorf("%s does not answer to the id %s: it has %s", b.Name(), want, cmp.Or(strings.Join(ids, ", "), "none"))
}

// idsOf returns all debug ids of a binary, the usual one first.
func idsOf(id symbol.Identity) []string {
	if id.DebugID == "" || slices.Contains(id.OtherIDs, id.DebugID) {
		return id.OtherIDs
	}
	return append([]string{id.DebugID}, id.OtherIDs...)
}

// described returns by which id a file and its debug file know each other, for the message that two
// files do not belong together.
func described(id symbol.Identity) string {
	switch {
	case id.CodeID != "" && !id.Stamped:
		return "the build id " + id.CodeID
	case id.DebugID != "" && !slices.Contains(id.OtherIDs, id.DebugID):
		return "the debug id " + id.DebugID
	}
	return "no id"
}

// madeOf returns an error that describes a file from which no symbol file can be made.
func madeOf(src *input.Source) error {
	if binary.Is(src) {
		return nil
	}
	return fmt.Errorf("%s is not an %s: it is %s", src.Name, binary.Formats(), intake.Sniff(src).What)
}

// joined opens the first file and attaches the others to it. The error names a file that does not
// belong to the first, with both ids. dumpsyms and rules call it.
func joined(files []disk.SourceFile, arch string) (*binary.File, error) {
	first, err := forCPU(files[0].Source, arch)
	if err != nil {
		return nil, err
	}
	if err := madeOf(first); err != nil {
		return nil, err
	}
	b, err := binary.Open(first)
	if err != nil {
		return nil, err
	}
	if is := b.Identity().Arch; arch != "" && b.Arch() != nil && !slices.Contains([]string{is, b.Arch().Name, appleNames[b.Arch().Name]}, arch) {
		return nil, fmt.Errorf("%s is for %s, and not for %s", files[0].Name, is, arch)
	}
	rest := files[1:]
	// "dumpsyms app.pdb app.exe" is as good as the other order: the file with the code is the one
	// that others belong to.
	if len(rest) > 0 && !b.Identity().Code {
		if other, err := binary.Open(rest[0].Source); err == nil && other.Identity().Code {
			b, rest = other, append([]disk.SourceFile{{Source: first}}, rest[1:]...)
		}
	}
	var other error // an object or a library of another program
	for _, f := range rest {
		err := attach(b, f.Source)
		if err != nil && !errors.Is(err, errOther) {
			return nil, err
		}
		other = cmp.Or(other, err)
	}
	// A folder may have more objects than the program was linked from.
	if other != nil && !b.Has().Functions {
		return nil, other
	}
	return b, nil
}

var errOther = errors.New("which was not linked from it")

// attach attaches a file, or those of an archive's members that belong to b.
func attach(b *binary.File, src *input.Source) error {
	archive := intake.Sniff(src).Kind.IsPacked()
	members := []*input.Source{src}
	if archive {
		var err error
		if members, err = intake.Expand(src, intake.Limits{Spool: src.Spool, Advice: disk.MoreUnpacked}, nil); err != nil {
			return err
		}
	}
	attached := 0
	for _, m := range members {
		took, err := b.Attach(m)
		switch {
		case err != nil:
			return err
		case took:
			attached++
		}
	}
	switch {
	case attached > 0:
		return nil
	case archive:
		return fmt.Errorf("%s does not belong to %s, %w", src.Name, b.Name(), errOther)
	}
	o, err := binary.Open(src)
	if err != nil {
		return err
	}
	if o.Identity().Object {
		return fmt.Errorf("%s does not belong to %s, %w", src.Name, b.Name(), errOther)
	}
	return fmt.Errorf("%s does not belong to %s: it has %s, and that one %s", src.Name, b.Name(), described(o.Identity()), described(b.Identity()))
}
