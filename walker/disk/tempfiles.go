package disk

import (
	"os"

	"github.com/crashpane/crashpane/core/intake"
)

// tempFile is a temporary file, which is removed when it is closed.
type tempFile struct{ *os.File }

func newTempFile() (tempFile, error) {
	f, err := os.CreateTemp("", "crashpane-*")
	if err != nil {
		return tempFile{}, err
	}
	// If a file that is open can be removed, it does not stay behind whatever becomes of the
	// program.
	os.Remove(f.Name())
	return tempFile{f}, nil
}

// Close implements io.Closer.
func (f tempFile) Close() error {
	err := f.File.Close()
	os.Remove(f.Name())
	return err
}

// OpenSpool makes a temporary file.
func OpenSpool() (intake.Spool, error) { return newTempFile() }

// Spools are the temporary files for data that is unpacked.
type Spools struct{ files []tempFile }

// Create makes one more.
func (s *Spools) Create() (intake.Spool, error) {
	f, err := newTempFile()
	if err != nil {
		return nil, err
	}
	s.files = append(s.files, f)
	return f, nil
}

// Close removes them.
func (s *Spools) Close() {
	for _, f := range s.files {
		f.Close()
	}
}
