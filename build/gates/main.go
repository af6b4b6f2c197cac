// Gates checks the repository as a whole, for rules that neither the compiler nor the tests of one
// package check: which packages may import which, what is linked into the page, file names and
// lengths, files in a folder, formats, generated files, sizes. It prints one line for each violation and exits with 1
// if there is any. The list of checks is gates, below.
//
//	gates [-root .] [-site dist/site] [NAME...]
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// gate is one check. It returns the violations, one line each, and a summary to print if there is
// none.
type gate struct {
	name  string
	check func(*tree) (wrong []string, summary string, err error)
}

var gates = []gate{
	{"imports", checkImports},
	{"linked", checkLinked},
	{"gomod", checkGoMod},
	{"names", checkNames},
	{"length", checkLength},
	{"folders", checkFolders},
	{"types", checkTypes},
	{"paths", checkPaths},
	{"gofmt", checkFormat},
	{"vet", checkVet},
	{"generated", checkGenerated},
	{"size", checkSize},
}

func main() {
	root := flag.String("root", ".", "the root of the repository")
	site := flag.String("site", "dist/site", "the built page")
	flag.Parse()
	t, err := openTree(*root, *site)
	if err != nil {
		fmt.Fprintln(os.Stderr, "gates:", err)
		os.Exit(1)
	}
	failed := false
	for _, g := range gates {
		if flag.NArg() > 0 && !contains(flag.Args(), g.name) {
			continue
		}
		start := time.Now()
		wrong, summary, err := g.check(t)
		if err != nil {
			wrong = append(wrong, err.Error())
		}
		for _, line := range wrong {
			failed = true
			fmt.Printf("gate %s: %s\n", g.name, strings.TrimSpace(line))
		}
		if len(wrong) == 0 {
			fmt.Printf("ok   %-10s %5.1f s  %s\n", g.name, time.Since(start).Seconds(), summary)
		}
	}
	if failed {
		os.Exit(1)
	}
}

func contains(list []string, s string) bool {
	for _, item := range list {
		if item == s {
			return true
		}
	}
	return false
}

// tree is the repository under check.
type tree struct {
	root  string   // absolute
	site  string   // the built page
	files []string // all files of the repository, with slashes, sorted
}

func openTree(root, site string) (*tree, error) {
	absolute, err := filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	files, err := listFiles(absolute)
	if err != nil {
		return nil, err
	}
	return &tree{root: absolute, site: site, files: files}, nil
}

func (t *tree) read(name string) ([]byte, error) {
	return os.ReadFile(filepath.Join(t.root, filepath.FromSlash(name)))
}
