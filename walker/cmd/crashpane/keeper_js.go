package main

import (
	"errors"
	"flag"
	"io"
)

var errNoDatabase = errors.New("databases are not supported where the command is compiled for js/wasm")

func openKeeper(string) (sink, error) { return nil, errNoDatabase }

var groupsCommand = command{
	name: "groups", line: "groups FILE", about: "print the groups of dumps in a file that batch --db made",
	flags: func(*flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		return func([]string, io.Writer, io.Writer) error { return errNoDatabase }
	},
}
