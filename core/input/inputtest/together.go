// Package inputtest has readers for tests.
package inputtest

import (
	"bytes"

	"github.com/crashpane/crashpane/core/input"
)

// Together is an input.ManyReader. It counts how often it is asked for one place and for many, and the
// bytes of both.
type Together struct {
	data         *bytes.Reader
	Single, Many int
	Bytes        int64
}

// NewTogether makes a Together of a file's bytes.
func NewTogether(data []byte) *Together { return &Together{data: bytes.NewReader(data)} }

func (r *Together) ReadAt(p []byte, off int64) (int, error) {
	r.Single++
	r.Bytes += int64(len(p))
	return r.data.ReadAt(p, off)
}

// ReadManyAt implements input.ManyReader.
func (r *Together) ReadManyAt(parts []input.Part) error {
	r.Many++
	for _, p := range parts {
		r.Bytes += int64(len(p.Data))
		if _, err := r.data.ReadAt(p.Data, p.Off); err != nil {
			return err
		}
	}
	return nil
}
