package disk

import (
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/sourcefile"
)

// AddSources gives the session the source files of a folder. None is opened before a line of it is wanted.
func (s *Set) AddSources(folder string) error {
	folder, err := filepath.Abs(folder) // its name is the first part of the files' paths
	if err != nil {
		return err
	}
	found := false
	root := WalkRoot(folder)
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintln(s.stderr, err)
			if path == root {
				return err
			}
			return nil
		}
		if !d.Type().IsRegular() || !sourcefile.Named(path) {
			return nil
		}
		info, err := d.Info()
		if err != nil { // it is gone since
			return nil
		}
		name, err := filepath.Rel(filepath.Dir(folder), path)
		if err != nil {
			return err
		}
		found = true
		s.Files.Add(input.New(filepath.ToSlash(name), input.ClosedFile(path), info.Size()))
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("%s: no source files", folder)
	}
	return err
}
