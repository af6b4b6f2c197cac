package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis/arm64text"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake/unpack"
	"github.com/crashpane/crashpane/symfile/binary"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// openBinary reads executables, libraries and debug files for a session.
func openBinary(src *input.Source) (session.Binary, error) {
	b, err := binary.Open(src)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// openImage reads programs in the memory of Windows' dumps.
func openImage(d *core.Dump, module int) session.Binary {
	m := &d.Modules[module]
	if d.OS() == core.Windows {
		if b, err := binary.OpenImage("memory of "+core.FileName(m.Name), d.Memory.Read, m.Base, m.Size); err == nil {
			return b
		}
	}
	return nil
}

// openFiles opens the dump and the symbols that the arguments name, and walks. The caller closes the fileSet.
func openFiles(args []string, opt session.Options, choices choices, stderr io.Writer) (*fileSet, *report.Report, error) {
	opt.Workers = runtime.GOMAXPROCS(0)
	opt.OpenBinary, opt.OpenImage, opt.InstructionAt = openBinary, openImage, arm64text.At
	spools := &spools{}
	opt.Limits.Unpackers, opt.Limits.Archives, opt.Limits.Spool = unpack.Formats, unpack.Archives, spools.create
	files := &fileSet{session: session.New(opt), spools: spools, stderr: stderr, added: map[string]bool{}, choices: choices}
	if err := files.addAll(args); err != nil {
		files.close()
		return nil, nil, err
	}
	r := files.session.Report(0)
	if r == nil {
		files.close()
		return nil, nil, fmt.Errorf("%s: no stack could be walked", args[0])
	}
	files.tellUnused(r, args[1:])
	return files, r, nil
}

// addAll adds the dump, the first path, and symbols, the others.
func (s *fileSet) addAll(paths []string) error {
	if err := s.addDump(paths[0]); err != nil {
		return err
	}
	if err := s.ignore(); err != nil {
		return err
	}
	if err := s.useFiles(); err != nil {
		return err
	}
	for _, path := range paths[1:] {
		if err := s.addSymbols(path); err != nil {
			return err
		}
	}
	s.findMissing()
	return nil
}

// fileSet gives a session the files that the command line names.
type fileSet struct {
	session *session.Session
	stderr  io.Writer
	folders []*folder
	added   map[string]bool // paths that the session has
	open    []*os.File
	spools  *spools
	choices choices
}

// tellProblems says what the printed formats have no place for: what is broken in the dump itself, and in the symbols that were used.
func (s *fileSet) tellProblems(r *report.Report) {
	for _, d := range r.Diagnostics {
		if d.Severity == "error" {
			fmt.Fprintln(s.stderr, d.Text)
		}
	}
	told := map[string]bool{}
	for i := range r.Modules {
		if w := r.Modules[i].Warnings; len(w) > 0 && !told[w[0]] {
			told[w[0]] = true
			fmt.Fprintln(s.stderr, firstOf(w, len(w)))
		}
	}
}

// ignore tells the session which modules' call frame information the user wants ignored.
func (s *fileSet) ignore() error {
	for _, name := range s.choices.ignoreCFI {
		found := false
		for i, m := range s.session.Dump(0).Modules {
			if report.BaseName(m.Name) == name || report.BaseName(m.DebugFile) == name || m.Name == name {
				s.session.IgnoreCFI(0, i, true)
				found = true
			}
		}
		if !found {
			return fmt.Errorf("the dump has no module %q whose call frame information could be ignored", name)
		}
	}
	return nil
}

func (s *fileSet) close() {
	for _, f := range s.open {
		f.Close()
	}
	if s.spools != nil {
		s.spools.close()
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
	src := input.New(path, f, st.Size())
	src.Parallel = true
	return s.session.Add(src), nil
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

// toldFiles bounds the messages about single files of one archive.
const toldFiles = 20

// firstOf is the first of a file's warnings, and how many more there are.
func firstOf(warnings []string, count int) string {
	if count < 2 {
		return warnings[0]
	}
	return fmt.Sprintf("%s (and %d more warnings)", warnings[0], count-1)
}

// addSymbols adds a symbol file or archive, or notes a folder for findMissing. What cannot be opened is an error; a file
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
	told := 0
	for _, it := range items {
		message := it.Message
		switch {
		case it.NeedsAssignment:
			message = it.Name + ": has no MODULE line, so that it is not known which module it belongs to; not used; --use MODULE=" + it.Name + " takes it for that module"
		case message == "" && it.Kind == session.KindBinary && len(it.Warnings) > 0:
			message = firstOf(it.Warnings, it.WarningCount)
		}
		if message == "" {
			continue
		}
		if told++; told <= toldFiles {
			fmt.Fprintln(s.stderr, message)
		}
	}
	if told > toldFiles {
		fmt.Fprintf(s.stderr, "%s: %d more files in it are not used, or not wholly\n", path, told-toldFiles)
	}
	return nil
}

// findMissing looks in the folders for what the stacks need. New symbols may lead to other frames, which need other
// modules' symbols, so it goes on until a walk wants nothing that is there. Files that no frame needs are never read.
func (s *fileSet) findMissing() {
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
		for _, w := range r.Missing {
			key := w.DebugFile + "\x00" + w.DebugID
			if asked[key] {
				continue
			}
			asked[key] = true
			found = s.addFound(s.find(r, w)) || found
		}
		for i := range r.Modules {
			for _, missing := range r.Modules[i].Has.Missing {
				if !asked[missing] {
					asked[missing] = true
					found = s.addFound(s.findPart(r, missing)) || found
				}
			}
		}
		if !found {
			return
		}
	}
}

// addFound adds files that were looked for, and says whether there is one among them that the session did not have.
func (s *fileSet) addFound(paths []string) bool {
	found := false
	for _, path := range paths {
		items, err := s.add(path)
		if err != nil {
			fmt.Fprintln(s.stderr, err)
		}
		found = found || len(items) > 0
	}
	return found
}

// findPart returns the binaries that a missing part may be: those whose name is in its description.
func (s *fileSet) findPart(r *report.Report, missing string) []string {
	var out []string
	for _, f := range s.folders {
		f.scan(r, s.stderr)
		for name, paths := range f.binariesByName {
			if containsName(missing, name) {
				out = append(out, paths...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// containsName reports whether a text contains a file's name, not as a part of a longer one.
func containsName(text, name string) bool {
	for rest := text; name != ""; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		before, after := rest[:at], rest[at+len(name):]
		if (before == "" || strings.ContainsAny(before[len(before)-1:], " /\\")) && (after == "" || strings.ContainsAny(after[:1], " ,;:")) {
			return true
		}
		rest = after
	}
	return false
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
		if path, ok := s.stored(file, m.DebugID, ""); ok {
			asked[key] = true
			if _, err := s.add(path); err != nil {
				fmt.Fprintln(s.stderr, err)
			}
		}
	}
}

// stored is the first folder's file where the symbol store's layout has it, under either form of its id, with one of the endings.
func (s *fileSet) stored(debugFile, id string, endings ...string) (string, bool) {
	for _, f := range s.folders {
		for _, form := range []string{id, core.ByteSwappedID(id)} {
			local := filepath.FromSlash(report.StorePath(debugFile, form))
			if !filepath.IsLocal(local) { // a name from a dump must not lead out of the folder
				continue
			}
			for _, ext := range endings {
				if path := filepath.Join(f.root, local) + ext; isFile(path) {
					return path, true
				}
			}
		}
	}
	return "", false
}

// find gives the first folder's files for a module: its symbol file, and the binaries of its id; if there is none with the right
// id, one of the right name, so that the report can say that its id is another.
func (s *fileSet) find(r *report.Report, w report.MissingFile) []string {
	if path, ok := s.stored(w.DebugFile, w.DebugID, "", ".gz", ".zst", ".xz"); ok {
		return []string{path}
	}
	var out []string
	for _, f := range s.folders {
		for _, st := range w.Stores {
			for _, path := range []string{st.Path, st.Else} {
				if local := filepath.FromSlash(path); filepath.IsLocal(local) && isFile(filepath.Join(f.root, local)) {
					out = append(out, filepath.Join(f.root, local))
					break
				}
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for _, f := range s.folders {
		f.scan(r, s.stderr)
		out = append(out, f.unread()...)
		var files []string
		if path := f.byID[idKey(w.DebugID)]; path != "" && w.DebugID != "" {
			files = append(files, path)
		}
		for _, id := range []string{w.DebugID, r.Modules[w.Module].CodeID} {
			if id != "" {
				files = append(files, f.binariesByID[idKey(id)]...)
			}
		}
		if len(files) > 0 {
			return append(out, files...)
		}
	}
	for _, f := range s.folders {
		if path := f.byName[w.DebugFile]; path != "" && w.DebugID != "" {
			return append(out, path)
		}
	}
	for _, f := range s.folders {
		if files := f.binariesByName[w.DebugFile]; len(files) > 0 {
			return append(out, files...)
		}
	}
	return out
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}
