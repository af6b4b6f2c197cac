package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

var mcpCommand = command{
	name:  "mcp",
	line:  "mcp [--symbols FOLDER]… [--private] FOLDER…",
	about: "let an assistant ask about the dumps in folders, by the Model Context Protocol",
	help: `Starts crashpane-mcp, a separate program next to this one or in PATH. It answers an assistant's questions over standard input
and output: which dumps there are, why one crashed and where, stacks, code, memory, differences, groups. It reads only files in and below
the folders, changes none, and uses no network. docs/COMMAND.md explains how to configure a client.

Answers leave out private texts, the contents of memory and names of users in paths, unless you give --private.`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var args []string
		fs.Func("symbols", "a `folder` with symbol files, programs or PDBs; may be given several times", func(path string) error {
			args = append(args, "--symbols", path)
			return nil
		})
		fs.BoolFunc("private", "also answer with private texts, contents of memory and names of users", func(string) error {
			args = append(args, "--private")
			return nil
		})
		return func(folders []string, _, _ io.Writer) error {
			if len(folders) == 0 {
				return usageError("name a folder with dumps")
			}
			path, err := findMCP()
			if err != nil {
				return err
			}
			return become(path, append(append(args, "--"), folders...))
		}
	},
}

// findMCP returns the path of the program that speaks the protocol.
func findMCP() (string, error) {
	name := "crashpane-mcp"
	if runtime.GOOS == "windows" {
		name += ".exe"
	}
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("there is no program %s next to this one or in PATH; make cli builds both", name)
	}
	return path, nil
}
