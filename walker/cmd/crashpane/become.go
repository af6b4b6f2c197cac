//go:build unix

package main

import (
	"os"
	"syscall"
)

// become runs another program in place of this one, so that signals reach it.
func become(path string, args []string) error {
	return syscall.Exec(path, append([]string{path}, args...), os.Environ())
}
