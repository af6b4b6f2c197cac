package disk

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

// Library has the symbols that many dumps share. For each file it reads the beginning, when it is
// added; what a stack needs is read then.
type Library struct {
	Files *session.Files
	// Roots confine what is opened.
	Roots  Roots
	spools *Spools
	stderr io.Writer
	told   int
}

// NewLibrary makes an empty Library. What is of no use is a line on stderr.
func NewLibrary(stderr io.Writer) *Library {
	l := &Library{spools: &Spools{}, stderr: stderr}
	opt := session.Options{Demangle: msvc.Name, IndexOnDemand: true, Slice: ReadSize, Limits: intake.Limits{Spool: l.spools.Create}}
	readers.Add(&opt)
	l.Files = session.NewFiles(opt)
	return l
}

// Close removes temporary files.
func (l *Library) Close() { l.spools.Close() }

// Add adds a file, or all files below a folder. A file that is of no use is a line on stderr.
func (l *Library) Add(path string) error {
	st, err := os.Stat(path)
	switch {
	case err != nil:
		return err
	case !st.IsDir():
		return l.addFile(path)
	}
	return filepath.WalkDir(WalkRoot(path), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			err = l.addFile(path)
		}
		if err != nil {
			l.tell(err.Error())
		}
		return nil
	})
}

func (l *Library) addFile(path string) error {
	f, src, err := l.Roots.Source(path)
	if err != nil {
		return err
	}
	f.Close()
	src = input.New(path, openForReads{l.Roots, path}, src.Size)
	src.Parallel = true
	for _, it := range l.Files.Add(src) {
		if it.Message != "" {
			l.tell(it.Message)
		}
	}
	return nil
}

// tell prints a message, as far as there are few.
func (l *Library) tell(message string) {
	if l.told++; l.told <= MaxMessages {
		fmt.Fprintln(l.stderr, message)
	}
}

// Summary says how many messages there were in all.
func (l *Library) Summary() {
	if more := l.told - MaxMessages; more > 0 {
		fmt.Fprintf(l.stderr, "%d more files among the symbols are not used, or not wholly\n", more)
	}
}

// openForReads reads a file that is open only while it is read: a symbol store may have more files
// than a process may open.
type openForReads struct {
	roots Roots
	path  string
}

// ReadAt implements io.ReaderAt.
func (o openForReads) ReadAt(p []byte, off int64) (int, error) {
	var f *os.File
	var err error
	if len(o.roots) > 0 {
		f, _, err = o.roots.Open(o.path)
	} else {
		f, err = os.Open(o.path)
	}
	if err != nil {
		return 0, err
	}
	defer f.Close()
	return f.ReadAt(p, off)
}
