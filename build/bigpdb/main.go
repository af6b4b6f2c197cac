// Bigpdb makes a large Windows library with its PDB, and a minidump of it, for benchmarks of
// reading PDBs as they are:
//
//	bigpdb [-units 20000] [-functions 40] [-page 4096] -out DIR        big.dll, big.pdb (930 MB), big.dmp
//	bigpdb -units 500 -functions 4000 -page 8192 -out DIR              the same with large units (2.0 GB); compiling takes minutes
//	bigpdb -dll FILE -pdb FILE -dump FILE                              the dump alone, of a library that is there
//
// It needs clang++ and lld-link. One unit of C++ is compiled once; its copies have static functions
// only, so that the linker keeps all.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

func main() {
	units := flag.Int("units", 20000, "copies of the unit")
	functions := flag.Int("functions", 40, "functions of the unit")
	page := flag.Int("page", 4096, "the PDB's page size in bytes")
	out := flag.String("out", "", "folder to write to")
	dll, pdb := flag.String("dll", "", "library to make a dump of"), flag.String("pdb", "", "its PDB")
	dump := flag.String("dump", "", "file to write the dump to")
	flag.Parse()
	var err error
	switch {
	case *dump != "" && *dll != "" && *pdb != "":
		err = writeDump(*dll, *pdb, *dump)
	case *out != "" && *units > 0 && *functions > 0:
		err = build(*out, *units, *functions, *page)
	default:
		flag.Usage()
		os.Exit(2)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bigpdb:", err)
		os.Exit(1)
	}
}

// build makes all three files in a folder.
func build(dir string, units, functions, page int) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	work := filepath.Join(dir, "units") // which the files name, so that they are the same each time
	if err := os.Mkdir(work, 0o755); err != nil {
		return err
	}
	defer os.RemoveAll(work)
	if err := os.WriteFile(filepath.Join(work, "unit.cc"), source(functions), 0o644); err != nil {
		return err
	}
	if err := tool(work, "clang++", "--target=x86_64-pc-windows-msvc", "-O1", "-g", "-gcodeview", "-ffunction-sections",
		"-fno-rtti", "-fno-exceptions", "-fno-stack-protector", "-mno-stack-arg-probe", "-ffile-prefix-map="+work+"=.", "-c", "unit.cc", "-o", "unit.obj"); err != nil {
		return err
	}
	// Copies and no links: the linker takes files of one inode for one.
	object, err := os.ReadFile(filepath.Join(work, "unit.obj"))
	if err != nil {
		return err
	}
	var list bytes.Buffer
	for i := range units {
		name := fmt.Sprintf("unit%d.obj", i)
		fmt.Fprintln(&list, name)
		if err := os.WriteFile(filepath.Join(work, name), object, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(work, "list"), list.Bytes(), 0o644); err != nil {
		return err
	}
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := tool(work, "lld-link", "/nodefaultlib", "/dll", "/noentry", "/debug", "/brepro", "/opt:noref,noicf", fmt.Sprintf("/pdbpagesize:%d", page),
		"/pdbaltpath:big.pdb", "/out:"+at("big.dll"), "/pdb:"+at("big.pdb"), "@list"); err != nil {
		return err
	}
	return writeDump(at("big.dll"), at("big.pdb"), at("big.dmp"))
}

func tool(dir, name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", name, err, out)
	}
	return nil
}

// source is a unit of C++: functions with names that are long as those of templates are, and calls
// of members of a hundred classes in them, each inlined and with another inlined in it.
func source(functions int) []byte {
	const classes = 100
	var b bytes.Buffer
	io.WriteString(&b, `static volatile int sink;
template <int N> struct Counter {
  int values[N % 7 + 1];
  static inline __attribute__((always_inline)) int step(int x) {
    sink = x + N;
    if (x & 1)
      sink++;
    return sink * N;
  }
  static inline __attribute__((always_inline)) int twice(int x) {
    int first = step(x);
    if (first > N)
      first -= step(first);
    return first + N;
  }
};
namespace generated { namespace for_measuring {
`)
	for i := range functions {
		a, c, d := i%classes, i*7%classes, i*3%classes
		fmt.Fprintf(&b, `static __attribute__((used, noinline)) int function_number_%d_of_the_unit(int a, const Counter<%d> &counter, unsigned long long key) {
  int sum = Counter<%d>::twice(a);
  for (int k = 0; k < a; k++) {
    sum += Counter<%d>::twice(k + sum);
    if (sum & %d)
      sum ^= sink;
  }
  sum += Counter<%d>::step(sum + counter.values[0]);
  sink = sum + (int)key;
  return sum;
}
`, i, a, a, c, i&31, d)
	}
	io.WriteString(&b, "} }\n")
	return b.Bytes()
}
