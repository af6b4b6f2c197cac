// Command manysym writes a dump of many modules and a folder of many symbol files, for measuring
// what it costs to find the files of a dump's modules.
//
//	go run ./build/manysym -modules 300 -files 4000 -o DIR
//
// The dump has one thread that is in the first modules, some of them, one after the other. The
// folder has one symbol file for each module; the others are of other builds of the same modules,
// as a folder of several releases has them.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/crashpane/crashpane/walker/symbols/symbolstest"
)

func main() {
	modules := flag.Int("modules", 300, "number of modules")
	files := flag.Int("files", 4000, "number of symbol files")
	functions := flag.Int("functions", 50, "functions of each symbol file")
	out := flag.String("o", "", "folder to write to")
	flag.Parse()
	if *out == "" || *modules < 1 {
		flag.Usage()
		os.Exit(2)
	}
	if err := write(*out, *modules, *files, *functions); err != nil {
		log.Fatal(err)
	}
}

func write(out string, modules, files, functions int) error {
	if err := os.MkdirAll(filepath.Join(out, "symbols"), 0o777); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(out, "many.dmp"), symbolstest.Dump(modules), 0o666); err != nil {
		return err
	}
	for i := range files {
		m, build := i%modules, i/modules
		name := filepath.Join(out, "symbols", fmt.Sprintf("lib%04d-%03d.so.sym", m, build))
		if err := os.WriteFile(name, []byte(symbolstest.Symbols(m, build, functions)), 0o666); err != nil {
			return err
		}
	}
	return nil
}
