//go:build !unix

package main

import (
	"os"
	"os/exec"
)

// become runs another program with this one's input and output.
func become(path string, args []string) error {
	c := exec.Command(path, args...)
	c.Stdin, c.Stdout, c.Stderr = os.Stdin, os.Stdout, os.Stderr
	return c.Run()
}
