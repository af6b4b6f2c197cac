package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// openFiles opens the dump and the symbols that the arguments name, and walks. The caller closes the fileSet.
func openFiles(args []string, opt session.Options, stderr io.Writer) (*fileSet, *report.Report, error) {
	opt.Workers = runtime.GOMAXPROCS(0)
	files := &fileSet{session: session.New(opt), stderr: stderr, added: map[string]bool{}}
	if err := files.addAll(args); err != nil {
		files.close()
		return nil, nil, err
	}
	r := files.session.Report(0)
	if r == nil {
		files.close()
		return nil, nil, fmt.Errorf("%s: no stack could be walked", args[0])
	}
	return files, r, nil
}

// addAll adds the dump, the first path, and symbols, the others.
func (s *fileSet) addAll(paths []string) error {
	if err := s.addDump(paths[0]); err != nil {
		return err
	}
	for _, path := range paths[1:] {
		if err := s.addSymbols(path); err != nil {
			return err
		}
	}
	s.findWanted()
	return nil
}

// fileSet gives a session the files that the command line names.
type fileSet struct {
	session *session.Session
	stderr  io.Writer
	folders []*folder
	added   map[string]bool // paths that the session has
	open    []*os.File
}

func (s *fileSet) close() {
	for _, f := range s.open {
		f.Close()
	}
}

// add opens a file and gives it to the session, once.
func (s *fileSet) add(path string) ([]session.Item, error) {
	if s.added[path] {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &os.PathError{Op: "read", Path: path, Err: errors.New("not a file")}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	// The session reads when it needs to, so the file stays open until the end.
	s.open = append(s.open, f)
	s.added[path] = true
	return s.session.Add(input.New(path, f, st.Size())), nil
}

// addDump adds the file that must be, or hold, a dump.
func (s *fileSet) addDump(path string) error {
	items, err := s.add(path)
	if err != nil {
		return err
	}
	switch n := len(s.session.Dumps()); {
	case n == 1:
		return nil
	case n > 1:
		fmt.Fprintf(s.stderr, "%s: holds %d dumps; this is %s\n", path, n, s.session.Dumps()[0].Name)
		return nil
	}
	for _, it := range items {
		if it.Message != "" {
			return errors.New(it.Message)
		}
	}
	return fmt.Errorf("%s: not a minidump", path)
}

// addSymbols adds a symbol file or archive, or notes a folder for findWanted. What cannot be opened is an error; a file
// that is of no use is only told of.
func (s *fileSet) addSymbols(path string) error {
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.IsDir() {
		s.folders = append(s.folders, &folder{root: path})
		return nil
	}
	items, err := s.add(path)
	if err != nil {
		return err
	}
	for _, it := range items {
		switch {
		case it.NeedsAssignment:
			fmt.Fprintf(s.stderr, "%s: has no MODULE line, so that it is not known which module it belongs to; not used\n", it.Name)
		case it.Message != "":
			fmt.Fprintln(s.stderr, it.Message)
		}
	}
	return nil
}

// findWanted looks in the folders for what the stacks need. New symbols may lead to other frames, which need other
// modules' symbols, so it goes on until a walk wants nothing that is there. Files that no frame needs are never read.
func (s *fileSet) findWanted() {
	if len(s.folders) == 0 {
		return
	}
	asked := map[string]bool{}
	s.addStored(asked)
	for {
		r := s.session.Report(0)
		if r == nil {
			return
		}
		found := false
		for _, w := range r.Wanted {
			key := w.DebugFile + "\x00" + w.DebugID
			if asked[key] || w.DebugID == "" {
				continue
			}
			asked[key] = true
			for _, path := range s.find(r, w) {
				if _, err := s.add(path); err != nil {
					fmt.Fprintln(s.stderr, err)
				} else {
					found = true
				}
			}
		}
		if !found {
			return
		}
	}
}

// addStored adds what lies where a symbol store has it for the dump's modules: that is known without a walk, and a file that
// no frame needs costs a look at its first line.
func (s *fileSet) addStored(asked map[string]bool) {
	d := s.session.Dump(0)
	if d == nil {
		return
	}
	for i := range d.Modules {
		m := &d.Modules[i]
		file := report.BaseName(m.DebugFile)
		key := file + "\x00" + m.DebugID
		if m.DebugID == "" || file == "" || asked[key] {
			continue
		}
		if path, ok := s.stored(report.StorePath(file, m.DebugID), ""); ok {
			asked[key] = true
			if _, err := s.add(path); err != nil {
				fmt.Fprintln(s.stderr, err)
			}
		}
	}
}

// stored is the first folder's file at a path of the symbol store's layout, with one of the endings.
func (s *fileSet) stored(storePath string, endings ...string) (string, bool) {
	local := filepath.FromSlash(storePath)
	if !filepath.IsLocal(local) { // a name from a dump must not lead out of the folder
		return "", false
	}
	for _, f := range s.folders {
		for _, ext := range endings {
			if path := filepath.Join(f.root, local) + ext; isFile(path) {
				return path, true
			}
		}
	}
	return "", false
}

// find gives the first folder's file for a module; if there is none with the right id, one of the right name, so that the
// report can say that its id is another.
func (s *fileSet) find(r *report.Report, w report.Wanted) []string {
	if path, ok := s.stored(w.StorePath, "", ".gz"); ok {
		return []string{path}
	}
	var archives []string
	for _, f := range s.folders {
		f.scan(r, s.stderr)
		archives = append(archives, f.unread()...)
		if path := f.byID[w.DebugID]; path != "" {
			return append(archives, path)
		}
	}
	for _, f := range s.folders {
		if path := f.byName[w.DebugFile]; path != "" {
			return append(archives, path)
		}
	}
	return archives
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
