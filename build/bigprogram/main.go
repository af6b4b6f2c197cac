// Bigprogram makes a large program with debug information, and a minidump of it, for benchmarks of
// reading programs without symbol files:
//
//	bigprogram [-units 480] -out DIR            an ELF file "big" by gcc (some 1.2 MB a unit, like those of large C++ programs), big.dmp
//	bigprogram -clang [-gdb-index] -out DIR     the same by clang and lld, whose units no section lists, or with .gdb_index
//	bigprogram -macho [-units 780] -out DIR     a Mach-O file by clang, big.dSYM (some 1.3 MB a unit), big.dmp
//
// It compiles one unit of C once, and links copies of the object file.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	units := flag.Int("units", 0, "copies of the unit")
	out := flag.String("out", "", "folder to write to")
	macho := flag.Bool("macho", false, "make a Mach-O file and its dSYM")
	clang := flag.Bool("clang", false, "compile with clang, link with lld")
	gdbIndex := flag.Bool("gdb-index", false, "with -clang: have lld write .gdb_index")
	flag.Parse()
	if *out == "" || *units < 0 {
		flag.Usage()
		os.Exit(2)
	}
	if *units == 0 {
		if *units = 480; *macho {
			*units = 780
		}
	}
	make := func() error { return makeELF(*out, *units, *clang, *gdbIndex) }
	if *macho {
		make = func() error { return makeMachO(*out, *units) }
	}
	if err := make(); err != nil {
		fmt.Fprintln(os.Stderr, "bigprogram:", err)
		os.Exit(1)
	}
}

// inFolder calls do with a folder for intermediate files, and returns a function that makes paths in
// it.
func inFolder(dir string, do func(at func(name string) string) error) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	work, err := os.MkdirTemp(dir, "units")
	if err != nil {
		return err
	}
	defer os.RemoveAll(work)
	return do(func(name string) string { return filepath.Join(work, name) })
}

func tool(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}
