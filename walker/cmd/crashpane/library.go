package main

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/symfile/demangle/msvc"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/session"
)

// library has the symbols that many dumps share. Of each file it reads the beginning, when it is
// added; what a stack needs is read then.
type library struct {
	files  *session.Files
	spools *spools
	stderr io.Writer
	told   int
}

func newLibrary(stderr io.Writer) *library {
	l := &library{spools: &spools{}, stderr: stderr}
	opt := session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: diskSlice, Limits: intake.Limits{Spool: l.spools.create}}
	readers.Add(&opt)
	l.files = session.NewFiles(opt)
	return l
}

func (l *library) close() { l.spools.close() }

// add adds a file, or all files below a folder. A file that is of no use is a line on stderr.
func (l *library) add(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !st.IsDir():
		return l.addFile(path)
	}
	return filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = l.addFile(path)
		}
		if err != nil {
			l.tell(err.Error())
		}
		return nil
	})
}

func (l *library) addFile(path string) error {
	f, src, err := openFile(path)
	if err != nil {
		return err
	}
	f.Close()
	src = input.New(path, openForReads(path), src.Size)
	src.Parallel = true
	for _, it := range l.files.Add(src) {
		if it.Message != "" {
			l.tell(it.Message)
		}
	}
	return nil
}

// tell prints a message, as far as there are few.
func (l *library) tell(message string) {
	if l.told++; l.told <= maxFileMessages {
		fmt.Fprintln(l.stderr, message)
	}
}

// summary says how many messages there were in all.
func (l *library) summary() {
	if more := l.told - maxFileMessages; more > 0 {
		fmt.Fprintf(l.stderr, "%d more files among the symbols are not used, or not wholly\n", more)
	}
}

// openForReads reads a file that is open only while it is read: a symbol store may have more files
// than a process may open.
type openForReads string

// ReadAt implements io.ReaderAt.
func (path openForReads) ReadAt(p []byte, off int64) (int, error) {
	f, err := os.Open(string(path))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(p, off)
}
