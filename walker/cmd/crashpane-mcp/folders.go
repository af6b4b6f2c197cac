package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/session"
)

// folder is a folder with dumps that the user named. Answers call its files NAME/path/below/it.
type folder struct {
	name string
	root *os.Root
}

// addFolder opens a folder, and names it by the last part of its path, or NAME-2 where two have the same.
func (s *server) addFolder(path string) error {
	root, err := openRoot(path)
	if err != nil {
		return err
	}
	base := strings.ReplaceAll(filepath.Base(root.Name()), string(filepath.Separator), "dumps") // of the root of all files
	name := base
	for n := 2; s.folder(name) != nil; n++ {
		name = fmt.Sprintf("%s-%d", base, n)
	}
	s.folders = append(s.folders, &folder{name, root})
	return nil
}

// folder returns a folder by its name, or nil.
func (s *server) folder(name string) *folder {
	for _, f := range s.folders {
		if f.name == name {
			return f
		}
	}
	return nil
}

// locate returns the folder that a name is in, and the path in it. The error says what names there are.
func (s *server) locate(name string) (*folder, string, error) {
	first, local, _ := strings.Cut(name, "/")
	f := s.folder(first)
	if f == nil {
		var names []string
		for _, f := range s.folders {
			names = append(names, f.name+"/")
		}
		return nil, "", fmt.Errorf("there is no dump or folder %q: names begin with %s; the tool list has them all", name, strings.Join(names, " or "))
	}
	local = cmp.Or(local, ".")
	if !fs.ValidPath(local) || !filepath.IsLocal(filepath.FromSlash(local)) {
		return nil, "", fmt.Errorf("%q is not the name of a file in the folder %s; the tool list has the names", name, first)
	}
	return f, filepath.FromSlash(local), nil
}

// symbolFiles says whether the folders of symbols have changed.
type symbolFiles struct {
	mu    sync.Mutex
	last  uint64
	until time.Time // last is not looked for again before
}

// stamp returns another number when a file below the folders was added, removed or written again. Looking takes at
// most a twentieth of the time, however many files there are.
func (f *symbolFiles) stamp(folders disk.Roots) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	began := time.Now()
	if began.Before(f.until) {
		return f.last
	}
	h := fnv.New64a()
	for i, root := range folders {
		fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return nil // what cannot be read has no symbols
			}
			if st, err := d.Info(); err == nil {
				fmt.Fprintf(h, "%d/%s\x00%d %d\n", i, path, st.Size(), st.ModTime().UnixNano())
			}
			return nil
		})
	}
	now := time.Now()
	f.last, f.until = h.Sum64(), now.Add(20*now.Sub(began))
	return f.last
}

// file opens the file of a dump. What leads out of the folders, and what is not a file, is an error. member is what
// comes after the file's name, of a dump in an archive.
func (s *server) file(name string) (file *os.File, st os.FileInfo, member string, err error) {
	f, local, err := s.locate(name)
	if err != nil {
		return nil, nil, "", err
	}
	for rest := local; ; {
		if file, st, err = (disk.Roots{f.root}).Open(filepath.Join(f.root.Name(), rest)); err == nil {
			return file, st, filepath.ToSlash(strings.TrimPrefix(local[len(rest):], string(filepath.Separator))), nil
		}
		above := filepath.Dir(rest)
		if st, statErr := f.root.Stat(above); above == "." || statErr == nil && st.IsDir() {
			return nil, nil, "", notOpened(name, err)
		}
		rest = above
	}
}

// notOpened says why a file was not opened, without the folder's own path.
func notOpened(name string, err error) error {
	var at *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no dump %q; the tool list has the names", name)
	case errors.As(err, &at):
		return fmt.Errorf("%q cannot be read: %v", name, at.Err)
	}
	return fmt.Errorf("%q cannot be read", name)
}

// unreadable counts files and folders that cannot be read.
type unreadable struct {
	count int
	first error
}

func (u *unreadable) add(err error) {
	if u.count++; u.count == 1 {
		u.first = err
	}
}

// note is for the answer; "" if all could be read.
func (u *unreadable) note() string {
	switch u.count {
	case 0:
		return ""
	case 1:
		return u.first.Error()
	}
	return fmt.Sprintf("%v (and %d more)", u.first, u.count-1)
}

// walk calls do with the name of each regular file below a folder, or of all folders if within is "", that comes after
// the name after, in an order that stays. do returns fs.SkipAll to end it. Folders that cannot be read are added to un.
func (s *server) walk(ctx context.Context, within, after string, un *unreadable, do func(name string, d fs.DirEntry) error) error {
	folders, below := s.folders, "."
	if within != "" {
		f, local, err := s.locate(strings.TrimSuffix(within, "/"))
		if err != nil {
			return err
		}
		if st, err := f.root.Stat(local); err != nil || !st.IsDir() {
			return fmt.Errorf("there is no folder %q", within)
		}
		folders, below = []*folder{f}, filepath.ToSlash(local)
	}
	passed := strings.Split(after, "/")
	begun := after == ""
	for _, f := range folders {
		if !begun && f.name != passed[0] {
			continue
		}
		ended := false
		err := fs.WalkDir(f.root.FS(), below, func(local string, d fs.DirEntry, err error) error {
			name := path.Join(f.name, local)
			parts := strings.Split(name, "/")
			switch {
			case ctx.Err() != nil:
				return context.Cause(ctx)
			case err != nil:
				un.add(notOpened(name, err))
				return nil
			case d.IsDir() && !begun && slices.Compare(parts, passed) < 0 && !slices.Equal(parts, passed[:min(len(parts), len(passed))]):
				return fs.SkipDir
			case d.IsDir() || !d.Type().IsRegular():
				return nil
			case !begun && slices.Compare(parts, passed) <= 0:
				return nil
			}
			err = do(name, d)
			ended = err == fs.SkipAll
			return err
		})
		if err != nil || ended {
			return err
		}
		begun = true
	}
	return nil
}

// entry is a dump in a list.
type entry struct {
	name           string
	kind           intake.Kind
	size, modified int64 // bytes, seconds since 1970
	session.Brief
	trouble string // why it cannot be read
}

// describe returns what the header of a dump says. is: the file is a dump, or an archive that may have one.
func (s *server) describe(ctx context.Context, name string) (out entry, is bool, err error) {
	f, st, _, err := s.file(name)
	if err != nil {
		return out, false, err
	}
	defer f.Close()
	src := input.New(name, f, st.Size())
	out = entry{name: name, kind: intake.Sniff(src).Kind, size: st.Size(), modified: st.ModTime().Unix()}
	switch out.kind {
	case intake.Minidump, intake.Microdump, intake.ELFCore:
	default:
		return out, mayHaveDump(out.kind, src, f), nil
	}
	files := session.NewFiles(session.Options{})
	defer files.Budget().Until(ctx)()
	items := files.Add(src)
	if dump := files.Session(0); dump != nil {
		out.Brief = dump.Brief()
	} else if len(items) > 0 {
		out.trouble = items[0].Message
	}
	return out, true, nil
}

// mayHaveDump reports whether a file is an archive, or a dump that is compressed. What archives have is known when they
// are unpacked.
func mayHaveDump(kind intake.Kind, src *input.Source, f *os.File) bool {
	switch {
	case kind == intake.Ar || kind == intake.Fat:
		return false
	case kind.HasMembers() || kind == intake.Apport:
		return true
	}
	const window = 8 << 20 // bytes that the decompressor may look back
	unpacked, err := intake.Unpack(kind, f, window)
	if err != nil || unpacked == nil {
		return false
	}
	first := make([]byte, 2048)
	n, _ := io.ReadFull(unpacked, first) // what is cut off still has a beginning
	switch k := intake.Sniff(input.FromBytes(src.Name, first[:n])).Kind; k {
	case intake.Minidump, intake.Microdump, intake.ELFCore:
		return true
	default:
		return k.HasMembers() && k != intake.Ar && k != intake.Fat
	}
}
