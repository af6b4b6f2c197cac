package disk

import (
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/symbols"
)

// folder is a directory tree that the user named, with symbol files at any depth.
type folder struct {
	root    string
	roots   Roots
	stop    func() error // why to end a scan, or nil
	scanned bool
	// symbols are the symbol files of the dump's modules, by each of their keys (symbols.Key). Of
	// several files, the first in the order of their paths wins.
	symbols map[string]string
	// binaries are programs, libraries and debug files, by their keys and the keys of their file names,
	// and binariesByName by their file names and the names that they contain, such as a library's SONAME.
	binaries, binariesByName map[string][]string
	// debugFiles are the separate debug files, by their symbol.Identity.CodeLayout.
	debugFiles map[string][]string
	// candidates are the symbol files that have a key of a module, such as its name. others counts
	// the symbol files that have none.
	candidates []symbolHead
	others     int
	// archives are zip files, tars and the like, whose members are unknown before they are opened.
	archives []string
	cache    bool // a part of a dyld shared cache was found
}

// symbolHead is a symbol file of a folder, known by its first lines.
type symbolHead struct {
	path  string
	known symbols.Known
}

// takeArchives returns the archives, at the first call only.
func (f *folder) takeArchives() []string {
	a := f.archives
	f.archives = nil
	return a
}

// scan reads the first lines of every file in the tree, once. A symbol store may have a hundred
// thousand files, so it skips those whose path shows that they are of other modules.
//
// A file is an archive, a binary or a symbol file by its first bytes, whatever its name. One that
// cannot be read is a line on stderr, and the scan continues.
func (f *folder) scan(d *core.Dump, stderr io.Writer) {
	if f.scanned {
		return
	}
	f.scanned = true
	f.symbols, f.binaries, f.binariesByName, f.debugFiles = map[string]string{}, map[string][]string{}, map[string][]string{}, map[string][]string{}
	wanted := map[string]bool{}
	for i := range d.Modules {
		for _, k := range symbols.ModuleKeys(&d.Modules[i]) {
			wanted[k.Text] = true
		}
	}
	filepath.WalkDir(WalkRoot(f.root), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			fmt.Fprintln(stderr, err)
			return nil
		}
		if f.stop != nil && f.stop() != nil {
			return fs.SkipAll
		}
		if !d.Type().IsRegular() || irrelevant(path, wanted) {
			return nil
		}
		first, packed, err := firstBytes(f.roots, path)
		if err != nil {
			fmt.Fprintln(stderr, err)
		}
		// A compressed tar is an archive too, and a fat file one of its slices.
		guess := intake.Sniff(input.FromBytes(path, first))
		switch guess.Kind {
		case intake.Zip, intake.Cab, intake.SevenZip, intake.Tar, intake.Ar, intake.Fat:
			f.archives = append(f.archives, path)
			return nil
		}
		if guess.Kind == intake.Cache {
			if !f.cache { // it has up to a hundred files
				fmt.Fprintf(stderr, "%s: %s\n", path, guess.What)
			}
			f.cache = true
			return nil
		}
		isBinary := binary.Is(input.FromBytes(path, first))
		// The headers of a packed binary are known only after it is unpacked as a whole.
		if isBinary && packed {
			if name := filepath.Base(path); wanted[symbols.NameKey(strings.TrimSuffix(name, filepath.Ext(name))).Text] {
				f.archives = append(f.archives, path)
			}
			return nil
		}
		if isBinary {
			if err := f.addBinary(path); err != nil {
				fmt.Fprintln(stderr, err)
			}
			return nil
		}
		known := symbols.KnownSym(path, intake.Plain(first))
		if !known.HasModule && known.CodeID == "" {
			return nil
		}
		candidate := false
		for _, k := range known.Keys() {
			if wanted[k.Text] && f.symbols[k.Text] == "" {
				f.symbols[k.Text] = path
			}
			candidate = candidate || wanted[k.Text]
		}
		// Kept for the message that a file of the right name is of another build, if none matches.
		if candidate {
			f.candidates = append(f.candidates, symbolHead{path, known})
		} else {
			f.others++
		}
		return nil
	})
}

// addBinary records the ids and names of a binary. It reads only headers.
func (f *folder) addBinary(path string) error {
	file, src, err := f.roots.Source(path)
	if err != nil {
		return err
	}
	defer file.Close()
	src.Budget = &input.Budget{}
	src.Budget.GiveFile(src)
	spools := &Spools{}
	defer spools.Close()
	src.Spool = spools.Create
	b, err := binary.Open(src)
	if err != nil {
		return err
	}
	id := b.Identity()
	known := symbols.KnownBinary(&id)
	names := []string{filepath.Base(path)}
	if id.Name != names[0] {
		names = append(names, id.Name)
	}
	for _, k := range append(known.Keys(), symbols.NameKey(names[0])) {
		if of := f.binaries[k.Text]; len(of) == 0 || of[len(of)-1] != path {
			f.binaries[k.Text] = append(of, path)
		}
	}
	if !id.Code && id.CodeLayout != "" {
		f.debugFiles[id.CodeLayout] = append(f.debugFiles[id.CodeLayout], path)
	}
	for _, name := range names {
		f.binariesByName[name] = append(f.binariesByName[name], path)
	}
	return nil
}

// irrelevant reports whether a path is name/ID/file of a symbol store, and neither the name nor the
// id is of a module of the dump.
//
// Example: syms/libfoo.so/5A98…F1/libfoo.so.sym is skipped if the dump has neither a module with
// the debug file libfoo.so nor one with the id.
func irrelevant(path string, wanted map[string]bool) bool {
	dir := filepath.Dir(path)
	var known symbols.Known
	known.ID, known.Name = filepath.Base(dir), filepath.Base(filepath.Dir(dir))
	return isDebugID(known.ID) && !slices.ContainsFunc(known.Keys(), func(k symbols.Key) bool { return wanted[k.Text] })
}

// isDebugID reports whether s has the form of a debug id: 32 hex digits and an age.
func isDebugID(s string) bool {
	return len(s) >= 33 && len(s) <= 40 && strings.Trim(s, "0123456789abcdefABCDEF") == ""
}

// firstBytes returns up to 2048 bytes from the start of a file, unpacked if it is packed. With an
// error it returns what could be read.
func firstBytes(roots Roots, path string) (first []byte, packed bool, err error) {
	file, _, err := roots.Open(path)
	if err != nil {
		return nil, false, err
	}
	defer file.Close()
	buf := make([]byte, 2048)
	n, err := io.ReadFull(file, buf)
	buf = buf[:n]
	if _, seek := file.Seek(0, io.SeekStart); seek != nil {
		return buf, false, seek
	}
	z, unpackErr := intake.Unpack(intake.Sniff(input.FromBytes(path, buf)).Kind, file, 64<<20)
	if unpackErr != nil {
		return nil, true, readError(path, unpackErr)
	}
	if z == nil {
		return buf, false, readError(path, err)
	}
	// A stream that is cut off still gives its first bytes.
	out := make([]byte, 2048)
	n, err = io.ReadFull(z, out)
	return out[:n], true, readError(path, err)
}

// IsDump reports whether a file is a dump, by its first bytes. It may be compressed.
func IsDump(path string) bool {
	first, _, _ := firstBytes(nil, path)
	return intake.Sniff(input.FromBytes(path, first)).Kind.IsDump()
}

// readError adds the file's name to a reader's error. It returns nil if the file is only short.
func readError(path string, err error) error {
	if err == nil || err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil
	}
	return fmt.Errorf("%s: %w", path, err)
}
