package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/symfile/demangle"
)

var dumpsymsCommand = command{
	name:  "dumpsyms",
	line:  "dumpsyms [--no-cfi] [--mangled] FILE [DEBUGFILE…]",
	about: "make a Breakpad symbol file of a binary",
	help: `Prints what is known of the executable or library FILE, an ELF or PE file, as a Breakpad symbol file: its functions, source lines,
inlined calls, names of exports, and unwind rules. Of a PE file these are the DWARF that is in it, its names, and what its function
table (.pdata) says of each instruction.

DEBUGFILE is its separate debug file; .dwo and .dwp files, and the supplementary file that dwz made, may follow. Each must belong to
FILE: by its build id, by the name and check sum that FILE has for it, or, of split debug information, by FILE having such. FILE may
also be a debug file alone; the unwind rules are then those of its .debug_frame section, if it has one.

What could not be read, and what is missing, is told of on the error output.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var d dumpsymsRun
		fs.BoolVar(&d.noCFI, "no-cfi", false, "leave the unwind rules (STACK CFI records) out")
		fs.BoolVar(&d.mangled, "mangled", false, "print names as the linker has them")
		return d.run
	},
}

// dumpsymsRun is one run of the command.
type dumpsymsRun struct {
	noCFI, mangled bool
}

func (d *dumpsymsRun) run(args []string, stdout, stderr io.Writer) error {
	if len(args) == 0 {
		return usageError("no file is named")
	}
	files, err := openSources(args)
	if err != nil {
		return err
	}
	defer func() {
		for _, f := range files {
			f.close()
		}
	}()
	b, err := joined(files)
	if err != nil {
		return err
	}
	opt := binary.SymOptions{NoCFI: d.noCFI, Demangle: demangle.Name}
	if d.mangled {
		opt.Demangle = nil
	}
	n, err := b.WriteSym(stdout, opt)
	for _, w := range b.Warnings() {
		fmt.Fprintln(stderr, w)
	}
	if err != nil {
		return err
	}
	if n.Unsayable > 0 {
		fmt.Fprintf(stderr, "%s: %d unwind rules that symbol files have no words for are left out, the first at %s\n", b.Name(), n.Unsayable, n.UnsayableFirst)
	}
	for _, m := range b.Has().Missing {
		fmt.Fprintf(stderr, "%s: not here: %s\n", b.Name(), m)
	}
	return nil
}

// sourceFile is an open file.
type sourceFile struct {
	*input.Source
	close func() error
}

func openSources(paths []string) (out []sourceFile, err error) {
	for _, path := range paths {
		f, err := os.Open(path)
		var st os.FileInfo
		if err == nil {
			if st, err = f.Stat(); err == nil && !st.Mode().IsRegular() {
				err = &os.PathError{Op: "read", Path: path, Err: errors.New("not a file")}
			}
			if err != nil {
				f.Close()
			}
		}
		if err != nil {
			for _, s := range out {
				s.close()
			}
			return nil, err
		}
		out = append(out, sourceFile{input.New(path, f, st.Size()), f.Close})
	}
	return out, nil
}

// joined is the binary that the files make together: the first, or the second if that is the one that holds the program.
func joined(files []sourceFile) (*binary.File, error) {
	b, err := binary.Open(files[0].Source)
	if err != nil {
		return nil, err
	}
	rest := files[1:]
	if len(rest) > 0 && !b.Identity().Code {
		if other, err := binary.Open(rest[0].Source); err == nil && other.Identity().Code {
			b, rest = other, append([]sourceFile{files[0]}, rest[1:]...)
		}
	}
	for _, f := range rest {
		took, err := b.Attach(f.Source)
		if err != nil {
			return nil, err
		}
		if !took {
			id := "no build id"
			if o, err := binary.Open(f.Source); err != nil {
				return nil, err
			} else if c := o.Identity().CodeID; c != "" {
				id = "the build id " + c
			}
			own := b.Identity().CodeID
			if own == "" {
				own = "no build id"
			}
			return nil, fmt.Errorf("%s does not belong to %s: it has %s, and that one %s", f.Name, b.Name(), id, own)
		}
	}
	return b, nil
}
