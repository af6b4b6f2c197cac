//go:build unix

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// dumpers are the programs that make a symbol file of a binary.
var dumpers = []tool{
	{name: "crashpane", bin: "dist/bin/crashpane", args: func(file string, _ []string) []string { return []string{"dumpsyms", file} }},
	{name: "dump_syms", bin: "dump_syms", args: func(file string, _ []string) []string { return []string{"-j1", "--inlines", file} }},
}

// runDumpsyms compares the dumpers on this repository's own command, built with debug information,
// and on another binary if there is one.
func runDumpsyms(runs int, binary, dir string) error {
	here := installed(dumpers)
	own := filepath.Join(dir, "crashpane")
	build := exec.Command("go", "build", "-o", own, "./walker/cmd/crashpane")
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return fmt.Errorf("building a binary with debug information: %w", err)
	}
	for _, file := range []string{own, binary} {
		if file == "" {
			continue
		}
		st, err := os.Stat(file)
		if err != nil {
			return err
		}
		name := fmt.Sprintf("symbol file of %s (%d MB)", filepath.Base(file), st.Size()/1e6)
		if err := compare(bench{name: name, dump: file}, here, runs); err != nil {
			return err
		}
	}
	return nil
}
