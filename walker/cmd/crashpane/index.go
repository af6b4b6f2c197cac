package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/disk"
)

var indexCommand = command{
	name:  "index",
	line:  "index [-o INDEX] FILE.sym",
	about: "make the index of a symbol file, to put next to it on a server",
	help: `Writes the index of a Breakpad symbol file to FILE.sym.index. Put both next to each other on a symbol server: the page asks for the index of a
large symbol file, and with it reads only the few megabytes that a stack needs, in whatever order the file's records are.

The index belongs to this one file: make it again when the file changes. An index that does not fit is not used.

  crashpane index libfoo.so.sym`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		out := fs.String("o", "", "write the index to the file `INDEX`; - is the standard output")
		return func(args []string, stdout, stderr io.Writer) error {
			if len(args) != 1 {
				return usageError("name one symbol file")
			}
			return writeIndex(args[0], cmp.Or(*out, args[0]+".index"), stdout)
		}
	},
}

// writeIndex makes the index of the symbol file at a path. It writes to a temporary file next to the
// result and renames it: a server never sees a part of an index.
func writeIndex(path, to string, stdout io.Writer) error {
	files, err := disk.OpenSources([]string{path}, 0)
	if err != nil {
		return err
	}
	src := files[0]
	defer src.Close()
	src.Parallel = true
	if g := intake.Sniff(src.Source); g.Kind != intake.Sym {
		return fmt.Errorf("%s is not a symbol file: it is %s", path, g.What)
	}
	f, err := symfile.Open(src.Source, symfile.Options{Workers: runtime.GOMAXPROCS(0)})
	if err != nil {
		return err
	}
	index, err := f.Index()
	if err != nil {
		return err
	}
	if to == "-" {
		_, err = stdout.Write(index)
		return err
	}
	part, err := os.CreateTemp(filepath.Dir(to), filepath.Base(to)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(part.Name())
	_, err = part.Write(index)
	if err = cmp.Or(err, part.Chmod(0o644), part.Close()); err != nil {
		return err
	}
	return os.Rename(part.Name(), to)
}
