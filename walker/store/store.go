// Package store keeps symbol files in a folder as symbol servers have them, so that any static host or bucket
// serves it: in the layouts of Breakpad, of Microsoft's symbol server and of debuginfod at once.
//
//	app.pdb/<debug id>/app.sym                 Breakpad, with app.sym.index next to it
//	app.pdb/<debug id>/app.pdb                 Microsoft
//	app.exe/<time stamp><size>/app.exe
//	ap/app.pdb/<debug id>/app.pdb              the same in a store of two tiers, which has a file index2.txt
//	app.pdb/<debug id>/file.ptr                a file that is elsewhere
//	buildid/<build id>/executable, debuginfo   debuginfod
//	.content/<SHA-256>                         each file once; the names above are hard links to it
//
// Each file appears under its name whole or not at all, so that several writers may add files at once and a
// server may read meanwhile.
//
// Sources of the layouts: Breakpad's and Mozilla's symbol stores; Microsoft's documentation of SymStore;
// elfutils' debuginfod.
package store

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

const (
	contentFolder = ".content"
	twoTierFile   = "index2.txt" // as SymStore marks a store of two tiers
	pointerFile   = "file.ptr"
	indexEnding   = ".index"
	// temporary is the beginning of the names of files that are being written.
	temporary = "tmp-"
)

// Store is a folder with symbol files.
type Store struct {
	dir string
	// OpenBinary reads a binary (readers.Open).
	OpenBinary func(src *input.Source) (symbols.Binary, error)
	// Workers is how many goroutines make an index.
	Workers int
}

// Open returns the store in a folder. The folder is made if it is not there and make is set, else that is an error.
func Open(dir string, make bool) (*Store, error) {
	s := &Store{dir: dir, Workers: 1}
	if make {
		return s, os.MkdirAll(filepath.Join(dir, contentFolder), 0o755)
	}
	st, err := os.Stat(dir)
	if err == nil && !st.IsDir() {
		err = fmt.Errorf("%s: not a folder", dir)
	}
	return s, err
}

// MakeTwoTier marks a store as one of two tiers. One with files in Microsoft's layout stays as it is: that is an error.
func (s *Store) MakeTwoTier() error {
	if s.twoTier() {
		return nil
	}
	err := s.walk(func(path string, _ fs.DirEntry) error {
		if first, _, _ := strings.Cut(path, "/"); first == contentFolder || first == "buildid" || strings.HasSuffix(strings.TrimSuffix(path, indexEnding), ".sym") {
			return nil
		}
		return fmt.Errorf("the store has files in one tier (%s): make one of two tiers in another folder", path)
	})
	if err != nil {
		return err
	}
	return s.write(twoTierFile, strings.NewReader(""))
}

func (s *Store) twoTier() bool {
	_, err := os.Stat(filepath.Join(s.dir, twoTierFile))
	return err == nil
}

// places returns where the store has a file, relative to its folder.
func (s *Store) places(f *symbols.File) (out []string, err error) {
	id := &f.Identity
	switch windows := strings.EqualFold(f.Known.OS, "windows"); {
	case !f.IsBinary:
		if path := report.StorePath(f.Known.Name, f.Known.ID); path != "" {
			out = append(out, path)
		}
	case windows && id.Stamped && len(id.CodeID) > 8: // a program
		name := cmp.Or(id.CodeName, id.Name)
		out = append(out, s.microsoft(name, strings.ToUpper(id.CodeID[:8])+id.CodeID[8:]))
	case windows && !id.Code && id.DebugID != "":
		out = append(out, s.microsoft(id.Name, id.DebugID))
	case id.CodeID != "" && !id.Stamped && strings.EqualFold(f.Known.OS, "linux"):
		if id.Code {
			out = append(out, "buildid/"+id.CodeID+"/executable")
		}
		if b, err := s.OpenBinary(f.Source()); err == nil && (!id.Code || b.Has().Lines) {
			out = append(out, "buildid/"+id.CodeID+"/debuginfo")
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no layout of symbol stores has a place for it: it has no id, or it is an Apple file (crashpane dumpsyms makes a .sym of it)")
	}
	for _, p := range out {
		if !filepath.IsLocal(p) || strings.Contains(p, "/.") {
			return nil, fmt.Errorf("its name is not a file name: %q", p)
		}
	}
	return out, nil
}

// microsoft is a path of Microsoft's layout.
func (s *Store) microsoft(name, id string) string {
	path := name + "/" + id + "/" + name
	if s.twoTier() {
		path = strings.ToLower(name[:min(2, len(name))]) + "/" + path // walker/fetch reads them there
	}
	return path
}

// Added says what Add did: the files' names in the store, and whether it had them all.
type Added struct {
	Paths []string
	Had   bool
}

// Add adds a file under all its names. If pointer is not "", it is the path or the address of the file, which
// file.ptr gets in place of the file in Microsoft's layout. A name that has another content already is an
// error, unless replace is set.
func (s *Store) Add(f *symbols.File, pointer string, replace bool) (a Added, err error) {
	paths, err := s.places(f)
	if err != nil {
		return a, fmt.Errorf("%s: %w", f.Name(), err)
	}
	if pointer != "" {
		return s.point(f, paths[0], pointer)
	}
	content, err := s.content(f.Source(), replace)
	if err != nil {
		return a, fmt.Errorf("%s: %w", f.Name(), err)
	}
	a.Had = true
	for _, path := range paths {
		had, err := s.link(content, path, replace)
		if err != nil {
			return a, fmt.Errorf("%s: %w", f.Name(), err)
		}
		a.Paths, a.Had = append(a.Paths, path), a.Had && had
		if !f.IsBinary && (!had || s.checkIndex(path+indexEnding) != "") { // an interrupted writer has made none
			if err := s.index(path); err != nil {
				return a, fmt.Errorf("%s: its index: %w", f.Name(), err)
			}
		}
	}
	return a, nil
}

// point writes a file.ptr.
func (s *Store) point(f *symbols.File, path, pointer string) (a Added, err error) {
	if !strings.EqualFold(f.Known.OS, "windows") || !f.IsBinary {
		return a, fmt.Errorf("%s: only Microsoft's layout has pointers to files", f.Name())
	}
	a.Paths = []string{filepath.ToSlash(filepath.Join(filepath.Dir(path), pointerFile))}
	return a, s.write(a.Paths[0], strings.NewReader("PATH:"+pointer))
}

// content copies a file into the store, under its SHA-256, and returns that name. A damaged file there is
// replaced if replace is set.
func (s *Store) content(src *input.Source, replace bool) (string, error) {
	t, err := os.CreateTemp(filepath.Join(s.dir, contentFolder), temporary)
	if err != nil {
		return "", err
	}
	defer os.Remove(t.Name())
	sum := sha256.New()
	_, err = io.Copy(io.MultiWriter(t, sum), io.NewSectionReader(readDirect{src}, 0, src.Size))
	if err = errors.Join(err, t.Chmod(0o644), t.Close()); err != nil {
		return "", err
	}
	base := hex.EncodeToString(sum.Sum(nil))
	name := filepath.Join(s.dir, contentFolder, base)
	err = os.Link(t.Name(), name)
	if errors.Is(err, fs.ErrExist) {
		if replace && s.checkContent(contentFolder+"/"+base) != "" {
			return name, os.Rename(t.Name(), name)
		}
		now := time.Now()
		err = os.Chtimes(name, now, now) // it is added again, and Collect leaves it alone
	}
	return name, err
}

// readDirect reads a Source that is read once.
type readDirect struct{ *input.Source }

// ReadAt implements io.ReaderAt.
func (r readDirect) ReadAt(p []byte, off int64) (int, error) { return r.ReadDirect(p, off) }

// link makes a name for a content. had: it was there.
func (s *Store) link(content, path string, replace bool) (had bool, err error) {
	to := filepath.Join(s.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return false, err
	}
	err = os.Link(content, to)
	if !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	same, err := sameFile(content, to)
	switch {
	case err != nil || same:
		return same, err
	case !replace:
		return false, fmt.Errorf("the store has another file as %s; --replace takes this one", path)
	}
	t := filepath.Join(filepath.Dir(to), temporary+filepath.Base(content)[:16])
	if err := os.Link(content, t); err != nil && !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	return false, os.Rename(t, to)
}

func sameFile(a, b string) (bool, error) {
	x, err := os.Stat(a)
	if err != nil {
		return false, err
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y), err
}

// write writes a small file.
func (s *Store) write(path string, from io.Reader) error {
	to := filepath.Join(s.dir, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	t, err := os.CreateTemp(filepath.Dir(to), temporary)
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	_, err = io.Copy(t, from)
	if err = errors.Join(err, t.Chmod(0o644), t.Close()); err != nil {
		return err
	}
	return os.Rename(t.Name(), to)
}

// index makes the index of a symbol file in the store, which is next to it.
func (s *Store) index(path string) error {
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(path)))
	if err != nil {
		return err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return err
	}
	src := input.New(path, f, st.Size())
	src.Parallel = true
	file, err := symfile.Open(src, symfile.Options{Workers: s.Workers})
	if err != nil {
		return err
	}
	index, err := file.Index()
	if err != nil {
		return err
	}
	return s.write(path+indexEnding, strings.NewReader(string(index)))
}

// Problem is what is wrong with a file of the store.
type Problem struct{ Path, What string }

// Check reads all files of the store: that each is whole, is where its ids say, and has an index that
// fits. It calls problem for what is wrong, and returns how many files there are under their names.
func (s *Store) Check(problem func(Problem)) (files int, err error) {
	err = s.walk(func(path string, d fs.DirEntry) error {
		what := ""
		switch base := filepath.Base(path); {
		case strings.HasPrefix(path, contentFolder+"/"):
			what = s.checkContent(path)
		case base == twoTierFile, base == pointerFile, strings.HasPrefix(base, temporary):
		case strings.HasSuffix(base, ".sym"+indexEnding):
			what = s.checkIndex(path)
		default:
			files++
			what = s.checkPlace(path)
		}
		if what != "" {
			problem(Problem{path, what})
		}
		return nil
	})
	return files, err
}

// checkContent compares a content with its name.
func (s *Store) checkContent(path string) string {
	if strings.HasPrefix(filepath.Base(path), temporary) {
		return ""
	}
	f, err := os.Open(filepath.Join(s.dir, filepath.FromSlash(path)))
	if err != nil {
		return err.Error()
	}
	defer f.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, f); err != nil {
		return err.Error()
	}
	if hex.EncodeToString(sum.Sum(nil)) != filepath.Base(path) {
		return "its content has changed: the SHA-256 is another"
	}
	return ""
}

// checkIndex says whether the symbol file of an index is there and not newer.
func (s *Store) checkIndex(path string) string {
	sym := strings.TrimSuffix(path, indexEnding)
	index, err := s.source(path)
	if err != nil {
		return err.Error()
	}
	src, err := s.source(sym)
	if err != nil {
		return "the index of a symbol file that is not there"
	}
	if _, err := symfile.OpenIndexed(src, index, symfile.Options{}); err != nil {
		return err.Error()
	}
	return ""
}

// checkPlace compares where a file is with where it should be.
func (s *Store) checkPlace(path string) string {
	src, err := s.source(path)
	if err != nil {
		return err.Error()
	}
	f, err := s.Identify(src)
	if err != nil {
		return err.Error()
	}
	places, err := s.places(f)
	switch {
	case err != nil:
		return err.Error()
	case !slices.Contains(places, path):
		return "by its ids it belongs to " + strings.Join(places, ", ")
	case !f.IsBinary:
		if _, err := os.Stat(filepath.Join(s.dir, filepath.FromSlash(path+indexEnding))); err != nil {
			return "it has no index; adding the file again makes it"
		}
	}
	return ""
}

// source opens a file of the store, which is read when it is needed.
func (s *Store) source(path string) (*input.Source, error) {
	full := filepath.Join(s.dir, filepath.FromSlash(path))
	st, err := os.Stat(full)
	if err != nil {
		return nil, err
	}
	return input.New(path, input.ClosedFile(full), st.Size()), nil
}

// Identify says what a file is, for Add. A file that is neither a binary nor a symbol file has no id.
func (s *Store) Identify(src *input.Source) (*symbols.File, error) {
	known := symbols.New(symbols.Options{OpenBinary: s.OpenBinary})
	if f, err := known.AddBinary(src); err == nil {
		return f, nil
	}
	return known.AddSym(src)
}

// Collected counts what Collect removed.
type Collected struct {
	Names, Contents, Folders int
	Bytes                    int64
}

// leftover is how old a temporary file is when its writer is taken to be gone.
const leftover = time.Hour

// Collect removes names that are older than before, if that is not zero; contents without a name, what writers
// that were interrupted left behind, indexes without their file, and empty folders.
func (s *Store) Collect(before time.Time) (c Collected, err error) {
	remove := func(path string) error { return os.Remove(filepath.Join(s.dir, filepath.FromSlash(path))) }
	var folders []string
	err = s.walk(func(path string, d fs.DirEntry) error {
		st, err := d.Info()
		if err != nil {
			return nil // another process has removed it
		}
		base := filepath.Base(path)
		switch {
		case strings.HasPrefix(base, temporary):
			if time.Since(st.ModTime()) > leftover {
				c.Bytes += st.Size()
				return remove(path)
			}
		case strings.HasPrefix(path, contentFolder+"/"), base == twoTierFile, strings.HasSuffix(base, ".sym"+indexEnding): // which goes with its file
		case !before.IsZero() && st.ModTime().Before(before):
			c.Names++
			return remove(path)
		}
		return nil
	})
	if err != nil {
		return c, err
	}
	err = filepath.WalkDir(s.dir, func(full string, d fs.DirEntry, err error) error {
		path, _ := filepath.Rel(s.dir, full)
		path = filepath.ToSlash(path)
		switch {
		case err != nil || path == "." || path == contentFolder:
			return err
		case d.IsDir():
			folders = append(folders, full)
			return nil
		}
		st, err := d.Info()
		if err != nil {
			return nil
		}
		unnamed := strings.HasPrefix(path, contentFolder+"/") && !strings.HasPrefix(d.Name(), temporary) && links(st) == 1 && time.Since(st.ModTime()) > leftover
		if unnamed {
			c.Contents, c.Bytes = c.Contents+1, c.Bytes+st.Size()
			return remove(path)
		}
		if sym, isIndex := strings.CutSuffix(full, indexEnding); isIndex && strings.HasSuffix(sym, ".sym") {
			if _, err := os.Stat(sym); errors.Is(err, fs.ErrNotExist) {
				return remove(path)
			}
		}
		return nil
	})
	for _, f := range slices.Backward(folders) { // inner ones first; one that has a file stays
		if os.Remove(f) == nil {
			c.Folders++
		}
	}
	return c, err
}

// walk calls found for each file of the store, by its path relative to the folder.
func (s *Store) walk(found func(path string, d fs.DirEntry) error) error {
	return filepath.WalkDir(s.dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		path, err := filepath.Rel(s.dir, full)
		if err != nil {
			return err
		}
		return found(filepath.ToSlash(path), d)
	})
}
