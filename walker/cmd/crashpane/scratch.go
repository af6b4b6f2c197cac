package main

import (
	"os"

	"github.com/crashpane/crashpane/symfile/dumpsyms"
)

// scratchFile is a temporary file, which is removed when it is closed.
type scratchFile struct{ *os.File }

func openScratch() (dumpsyms.Scratch, error) {
	f, err := os.CreateTemp("", "crashpane-*")
	if err != nil {
		return nil, err
	}
	// Where a file that is open can be removed, it does not stay behind whatever becomes of the program.
	os.Remove(f.Name())
	return scratchFile{f}, nil
}

// Close implements io.Closer.
func (f scratchFile) Close() error {
	err := f.File.Close()
	os.Remove(f.Name())
	return err
}
