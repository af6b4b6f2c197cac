package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/disk"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/store"
)

var storeCommand = command{
	name:  "store",
	line:  "store [--replace] [--two-tier] [--pointer] add DIR FILE… | store check DIR | store [--older-than AGE] gc DIR",
	about: "keep symbol files in a folder as symbol servers have them",
	help: `add puts symbol files, programs and PDBs into the folder DIR, where a static server, a bucket or a shared folder offers them to crashpane,
debuggers and other tools: .sym files in the layout of Breakpad, each with its index; Windows programs and PDBs in that of Microsoft's symbol
server; ELF files in that of debuginfod. FILE is a file, a folder or an archive. A file that the store already has takes no more room, under
whatever name. Several processes may add files at once.

--pointer writes a file.ptr with the path of a Windows file in place of the file. --two-tier makes a new store a two-tier one.

check reads all files, and prints those that are damaged, are not where they belong by their ids, or have another file's index.

gc removes files without a name, what interrupted writers left behind, and empty folders; with --older-than 90d also files that were
added longer ago.

  crashpane store add /srv/symbols build/out
  crashpane fetch crash.dmp --from http://symbols.example`,
	flags: func(fs *flag.FlagSet) func([]string, io.Writer, io.Writer) error {
		var o storeOptions
		fs.BoolVar(&o.replace, "replace", false, "take the place of other files of the same ids")
		fs.BoolVar(&o.twoTier, "two-tier", false, "make DIR a store of two tiers (index2.txt)")
		fs.BoolVar(&o.pointer, "pointer", false, "write pointers to Windows files (file.ptr), not the files")
		fs.Var(&o.older, "older-than", "remove files that were added longer ago than `AGE` (90d, 36h)")
		return func(args []string, stdout, stderr io.Writer) error {
			if len(args) < 2 || args[0] != "add" && len(args) > 2 {
				return usageError("add, check or gc, and a folder")
			}
			s, err := store.Open(args[1], args[0] == "add")
			if err != nil {
				return err
			}
			s.OpenBinary, s.Workers = readers.Open, runtime.GOMAXPROCS(0)
			switch args[0] {
			case "add":
				return addToStore(s, args[2:], o, stdout, stderr)
			case "check":
				return checkStore(s, stdout)
			case "gc":
				return collectStore(s, time.Duration(o.older), stdout)
			}
			return usageError("add, check or gc, and a folder")
		}
	},
}

// storeOptions are the flags of store.
type storeOptions struct {
	replace, twoTier, pointer bool
	older                     age
}

// age is a duration that may be in days.
type age time.Duration

// String implements flag.Value.
func (a *age) String() string { return time.Duration(*a).String() }

// Set implements flag.Value.
func (a *age) Set(s string) error {
	const day = 24 * time.Hour
	var days int64
	if n, err := fmt.Sscanf(s+"\n", "%dd\n", &days); n == 1 && err == nil {
		if days < 0 || days > math.MaxInt64/int64(day) {
			return errors.New("not an age")
		}
		*a = age(days) * age(day)
		return nil
	}
	d, err := time.ParseDuration(s)
	if err == nil && d < 0 {
		err = errors.New("not an age")
	}
	*a = age(d)
	return err
}

// addToStore adds files, and what is in archives and folders. A file that has no place is a line on stderr, and the
// others are added.
func addToStore(s *store.Store, paths []string, o storeOptions, stdout, stderr io.Writer) error {
	if len(paths) == 0 {
		return usageError("name a file")
	}
	if o.twoTier {
		if err := s.MakeTwoTier(); err != nil {
			return err
		}
	}
	failed := false
	one := func(src *input.Source, path string, named bool) {
		if k := intake.Sniff(src).Kind; !named && k != intake.Sym && !k.IsBinary() {
			return // a folder and an archive have other files, too
		}
		f, err := s.Identify(src)
		if err == nil {
			pointer := ""
			if o.pointer {
				pointer, err = filepath.Abs(path)
			}
			var added store.Added
			if err == nil {
				added, err = s.Add(f, pointer, o.replace)
			}
			for _, p := range added.Paths {
				if added.Had {
					p += " (had it)"
				}
				fmt.Fprintln(stdout, p)
			}
		}
		if err != nil {
			fmt.Fprintln(stderr, err)
			failed = true
		}
	}
	for _, root := range paths {
		top := disk.WalkRoot(root)
		_ = filepath.WalkDir(top, func(path string, d os.DirEntry, err error) error {
			switch {
			case err == nil && d.IsDir():
			case err == nil:
				err = eachIn(path, func(src *input.Source) { one(src, path, path == top && src.Name == path) })
			}
			if err != nil {
				fmt.Fprintln(stderr, err)
				failed = true
			}
			return nil
		})
	}
	if failed {
		return errNotAll
	}
	return nil
}

// errNotAll ends a command that has said what went wrong.
var errNotAll = errors.New("not all files were added")

// eachIn calls found for a file, or for the members of an archive.
func eachIn(path string, found func(src *input.Source)) error {
	f, src, err := disk.OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	temp := &disk.Spools{}
	defer temp.Close()
	members, err := intake.Expand(src, intake.Limits{Spool: temp.Create}, nil)
	for _, m := range members {
		found(m)
	}
	return err
}

func checkStore(s *store.Store, stdout io.Writer) error {
	problems := 0
	files, err := s.Check(func(p store.Problem) {
		problems++
		fmt.Fprintf(stdout, "%s: %s\n", p.Path, p.What)
	})
	if err != nil {
		return err
	}
	if problems > 0 {
		return fmt.Errorf("%d files, %d problems", files, problems)
	}
	fmt.Fprintf(stdout, "%d files, no problem\n", files)
	return nil
}

func collectStore(s *store.Store, older time.Duration, stdout io.Writer) error {
	var before time.Time
	if older > 0 {
		before = time.Now().Add(-older)
	}
	c, err := s.Collect(before)
	fmt.Fprintf(stdout, "removed %d old files, %d contents without a name, %d empty folders: %d MB\n", c.Names, c.Contents, c.Folders, c.Bytes>>20)
	return err
}
