// Package symbols holds symbol files and binaries of all sessions, and finds those of a module. A
// Store is safe for several goroutines, and so are its Files: many sessions can share one, with its
// indexes.
//
// Start at Store. keys.go says by what a file and a module are known, file.go is a file's lookups,
// and parts.go says which files belong to a binary.
package symbols

import (
	"errors"
	"slices"
	"sort"
	"sync"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
)

// Options of a Store.
type Options struct {
	// OpenBinary opens executables, libraries and debug files. It reads only their headers.
	// If it is nil, a Store takes symbol files only.
	OpenBinary func(src *input.Source) (Binary, error)
	// OnDemand: symbol files are indexed on demand (symfile.OpenOnDemand). The other settings are
	// those of reading them; a Source's own Slice counts before that of Sym.
	OnDemand bool
	Sym      symfile.Options
	// Progress, if it is set, is called now and then while a symbol file is read, with what is done
	// of total bytes.
	Progress func(f *File, done, total int64)
}

// Store is a collection of symbol files and binaries. Adding one costs the same however many there
// are: it is entered under each of its keys, and nothing is read but its beginning.
type Store struct {
	opt Options

	mu    sync.Mutex
	files []*File
	byKey map[string][]*File
	idle  []*File // opened and in no use, longest first
	// waiting are the binaries in use, by the keys of files that may be parts of them.
	waiting map[string][]*File
}

// New makes an empty Store.
func New(opt Options) *Store {
	return &Store{opt: opt, byKey: map[string][]*File{}, waiting: map[string][]*File{}}
}

// headSize is how much of a symbol file is read to find out which module it belongs to.
const headSize = 4 << 10

// AddSym adds a symbol file. An error is one of the Source.
func (s *Store) AddSym(src *input.Source) (*File, error) {
	head, err := src.Bytes(0, min(src.Size, headSize))
	if err != nil {
		return nil, err
	}
	return s.add(&File{store: s, src: src, Known: KnownSym(src.Name, head)}), nil
}

// ErrFormat is the error of Options.OpenBinary for a format that it does not read.
var ErrFormat = errors.New("its symbols must be made into a .sym file first")

// AddBinary adds an executable, library or debug file. The error says why it cannot be read.
func (s *Store) AddBinary(src *input.Source) (*File, error) {
	release := src.Hold()
	b, err := s.opt.OpenBinary(src)
	if err != nil {
		release()
		return nil, err
	}
	id := b.Identity()
	return s.add(&File{store: s, src: src, release: release, Known: KnownBinary(&id), Identity: id, binary: b, header: b.Warnings(), IsBinary: true}), nil
}

func (s *Store) add(f *File) *File {
	f.keys = f.Known.Keys()
	s.mu.Lock()
	f.number = len(s.files)
	s.files = append(s.files, f)
	for _, k := range append(f.keys, f.partKeys()...) {
		if of := s.byKey[k.Text]; len(of) == 0 || of[len(of)-1] != f {
			s.byKey[k.Text] = append(of, f)
		}
	}
	s.mu.Unlock()
	s.offer(f)
	return f
}

// Since returns the files but for the first n.
func (s *Store) Since(n int) []*File {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.files[min(n, len(s.files)):]
}

// Candidate is a file that has a key in common with a module. Sure: it is the module's. SameName:
// it has the module's name.
type Candidate struct {
	*File
	Sure, SameName bool
}

// Of returns the file as a candidate for a module.
func (f *File) Of(m *core.Module) *Candidate {
	sure, sameName := f.Known.Fits(m)
	return &Candidate{f, sure, sameName}
}

// For returns the files that have a key of a module, in the order in which they were added. keys
// are ModuleKeys' of it.
func (s *Store) For(keys []Key) []Candidate {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Candidate
	for _, k := range keys {
		for _, f := range s.byKey[k.Text] {
			out = append(out, Candidate{f, k.Sure, k.IsName()})
		}
	}
	// sort.Slice and not slices.SortFunc, which adds kilobytes to the page's program for each type.
	sort.Slice(out, func(i, j int) bool { return out[i].number < out[j].number })
	merged := out[:0]
	for _, c := range out {
		if n := len(merged); n > 0 && merged[n-1].File == c.File {
			merged[n-1].Sure, merged[n-1].SameName = merged[n-1].Sure || c.Sure, merged[n-1].SameName || c.SameName
		} else {
			merged = append(merged, c)
		}
	}
	return merged
}

// keptIdle is how many files stay open that are not in use: those of the last dump are often those
// of the next. The stacks of a dump need some ten.
const keptIdle = 64

// Use says that a caller uses a file, until it calls Release. A binary in use takes in the files of
// the Store that are parts of it, also those that come later.
func (s *Store) Use(f *File) {
	s.mu.Lock()
	f.users++
	first := f.users == 1
	if first {
		s.idle = slices.DeleteFunc(s.idle, func(g *File) bool { return g == f })
	}
	s.mu.Unlock()
	if first && f.IsBinary {
		s.findParts(f)
	}
}

// Release ends a use of a file. Of the files that are not in use, those that were used last stay
// open.
func (s *Store) Release(f *File) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.users--; f.users > 0 {
		return
	}
	s.stopWaiting(f)
	s.idle = append(s.idle, f)
	for len(s.idle) > keptIdle {
		s.idle[0].close()
		s.idle = s.idle[1:]
	}
}

// Remove takes files out of the Store. They must not be in use. Binaries forget those that they
// have taken in, and are offered the others again.
func (s *Store) Remove(gone map[*File]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	isGone := func(f *File) bool { return gone[f] }
	for f := range gone {
		for _, k := range append(f.partKeys(), f.keys...) {
			s.byKey[k.Text] = slices.DeleteFunc(s.byKey[k.Text], isGone)
		}
		f.close()
	}
	s.idle = slices.DeleteFunc(s.idle, isGone)
	for _, f := range s.files {
		f.mu.Lock()
		if slices.ContainsFunc(f.parts, isGone) {
			f.parts = slices.DeleteFunc(f.parts, isGone)
			f.forget()
			f.revision.Add(1)
		}
		f.tried = map[*File]bool{}
		for _, part := range f.parts {
			f.tried[part] = true
		}
		f.mu.Unlock()
	}
}

// IsBinaryOf says how a binary belongs to a module: by a key, or, where one of the two has no id,
// by its name and size. What MinGW links has no debug id, and loads its DWARF sections with the
// program, so that strip changes the size: the file from before strip has the name and the time
// stamp of the module, and so has its separate debug file.
func (c *Candidate) IsBinaryOf(m *core.Module) (exact, byName bool) {
	id := &c.Identity
	if c.Sure || c.SameName && c.hasChecksum(m.DebugID) {
		return true, false
	}
	// Loaders round sizes up to pages, and writers of dumps take the size from the file or from
	// memory.
	const page = 4096
	noModuleID := core.NoID(m.DebugID)
	noID := m.CodeID == "" && noModuleID || id.DebugID == "" && (id.CodeID == "" || m.CodeID == "")
	same := noID && id.Code && (id.Size+page-1)/page == (m.Size+page-1)/page
	if id.Stamped && noModuleID {
		same = same || sameStamp(id.CodeID, m.CodeID)
	}
	return false, same && c.SameName
}
