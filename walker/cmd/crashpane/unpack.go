package main

import (
	"os"

	"github.com/crashpane/crashpane/core/intake"
)

// spools are temporary files for what those unpack. They have no name any more where the system allows that.
type spools struct{ files []*os.File }

func (s *spools) create() (intake.Spool, error) {
	f, err := os.CreateTemp("", "crashpane-")
	if err != nil {
		return nil, err
	}
	os.Remove(f.Name())
	s.files = append(s.files, f)
	return f, nil
}

func (s *spools) close() {
	for _, f := range s.files {
		f.Close()
		os.Remove(f.Name())
	}
}
