package disk

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/crashpane/crashpane/core/input"
)

// ReadSize is the size of one read of a symbol file that is indexed on demand, in bytes. On a
// disk, small reads are cheap.
const ReadSize = 4 << 10

// SourceFile is an open file. Close also removes the temporary files of what was unpacked from it.
type SourceFile struct {
	*input.Source
	Close func() error
}

// SourceFiles are open files.
type SourceFiles []SourceFile

// Close closes them all.
func (files SourceFiles) Close() {
	for _, f := range files {
		f.Close()
	}
}

// OpenSources opens files, which the caller closes. They share a budget.
func OpenSources(paths []string, maxUnpacked int64) (out SourceFiles, err error) {
	budget, given := &input.Budget{}, int64(0)
	for _, path := range paths {
		f, src, err := OpenFile(InBundle(path))
		if err != nil {
			out.Close()
			return nil, err
		}
		src.Budget, src.MaxUnpacked = budget, maxUnpacked
		budget.GiveFile(src)
		given += src.Size
		unpacked := &Spools{}
		src.Spool = unpacked.Create
		out = append(out, SourceFile{src, func() error {
			unpacked.Close()
			return f.Close()
		}})
	}
	collectWithin(given)
	return out, nil
}

// Roots are folders to which opening is confined, whatever names and symbolic links say. Without any, every file may
// be opened.
type Roots []*os.Root

// in returns the innermost root that a path is in, and the path in it: a link in another root may lead to it, which that
// one does not follow.
func (r Roots) in(path string) (*os.Root, string, error) {
	var in *os.Root
	var at string
	for _, root := range r {
		if local, err := filepath.Rel(root.Name(), path); err == nil && filepath.IsLocal(local) && (in == nil || len(local) < len(at)) {
			in, at = root, local
		}
	}
	if in == nil {
		return nil, "", &os.PathError{Op: "open", Path: path, Err: errors.New("outside of the folders that may be read")}
	}
	return in, at, nil
}

// Open opens a regular file. To open a FIFO would wait for its writer.
func (r Roots) Open(path string) (*os.File, os.FileInfo, error) {
	stat := os.Stat
	open := func(path string) (*os.File, error) { return os.Open(path) }
	if len(r) > 0 {
		root, local, err := r.in(path)
		if err != nil {
			return nil, nil, err
		}
		path, stat = local, root.Stat
		// Another file may be there since it was looked at.
		open = func(path string) (*os.File, error) { return root.OpenFile(path, os.O_RDONLY|notWaiting, 0) }
	}
	st, err := stat(path)
	if err == nil {
		err = regular(path, st)
	}
	if err != nil {
		return nil, nil, err
	}
	f, err := open(path)
	if err != nil {
		return nil, nil, err
	}
	if st, err = f.Stat(); err == nil {
		err = regular(path, st)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// regular returns an error unless what is at a path is a file.
func regular(path string, st os.FileInfo) error {
	switch {
	case st.IsDir():
		return &os.PathError{Op: "read", Path: path, Err: errors.New("a folder, not a file")}
	case !st.Mode().IsRegular():
		return &os.PathError{Op: "read", Path: path, Err: errors.New("not a file")}
	}
	return nil
}

// isFile reports whether a path is that of a regular file, also through a symbolic link.
func (r Roots) isFile(path string) bool {
	stat := os.Stat
	if len(r) > 0 {
		root, local, err := r.in(path)
		if err != nil {
			return false
		}
		path, stat = local, root.Stat
	}
	st, err := stat(path)
	return err == nil && st.Mode().IsRegular()
}

// Source opens a regular file as a Source, whose file the caller closes.
func (r Roots) Source(path string) (*os.File, *input.Source, error) {
	f, st, err := r.Open(path)
	if err != nil {
		return nil, nil, err
	}
	src := input.New(path, f, st.Size())
	src.Modified = st.ModTime().Unix()
	return f, src, nil
}

// OpenFile opens a regular file as a Source, whose file the caller closes.
func OpenFile(path string) (*os.File, *input.Source, error) { return Roots(nil).Source(path) }

// WalkRoot returns a path as filepath.WalkDir must be given it: WalkDir does not follow a link to a folder, unless a
// separator ends its path.
func WalkRoot(path string) string {
	if st, err := os.Lstat(path); err == nil && st.Mode()&os.ModeSymlink != 0 {
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			return filepath.Clean(path) + string(filepath.Separator)
		}
	}
	return path
}

// InBundle returns the file with the debug information of a dSYM bundle, and other paths as they
// are. A bundle has one such file for each program, and nearly all have one.
func InBundle(path string) string {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path
	}
	files, err := filepath.Glob(filepath.Join(path, "Contents", "Resources", "DWARF", "*"))
	if err != nil || len(files) != 1 {
		return path // opening it says what is wrong
	}
	return files[0]
}
