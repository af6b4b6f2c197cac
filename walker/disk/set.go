// Package disk opens a dump and the symbols for it on a file system: what is named, and what folders
// have of a dump's modules. It keeps files open, unpacks into temporary ones, and writes none.
//
// Start at Open (set.go). folder.go finds symbols in folders, unused.go says why a file is not used,
// library.go has symbols that many dumps share.
package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/walker/readers"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Open opens the dump and the symbols that the arguments name, and walks the stacks. The
// caller closes the Set.
//
// It returns an error if the dump cannot be opened, a path does
// not exist, or no stack can be walked; a symbol file that is not used is a line on stderr.
func Open(args []string, opt session.Options, choices Choices, stderr io.Writer) (*Set, *report.Report, error) {
	opt.Workers = runtime.GOMAXPROCS(0)
	files := New(opt, choices, stderr)
	r, err := files.Read(args)
	if err != nil {
		files.Close()
		return nil, nil, err
	}
	files.WarnProblems(r)
	return files, r, nil
}

// Read is Open for a Set that may have the dump already.
func (s *Set) Read(args []string) (*report.Report, error) {
	if err := s.AddAll(args); err != nil {
		return nil, err
	}
	r := s.Dump.Report()
	s.warnUnused(r, args[1:])
	return r, nil
}

// MoreUnpacked ends the message of what unpacks to more than is allowed.
const MoreUnpacked = "; --max-unpacked SIZE allows more"

// New makes an empty Set. The caller closes it.
func New(opt session.Options, choices Choices, stderr io.Writer) *Set {
	spools := &Spools{}
	opt.Limits = intake.Limits{Spool: spools.Create, Advice: MoreUnpacked}
	readers.Add(&opt)
	return &Set{Files: session.NewFiles(opt), opt: opt, spools: spools, stderr: stderr, added: map[string]bool{}, choices: choices}
}

// AddAll adds the first path, which is the dump, and the others, which are symbols. The order
// matters: what the user chose (ignore, useFiles) needs the dump's modules, and the search in
// folders needs to know which symbols are still missing.
func (s *Set) AddAll(paths []string) error {
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
		if err := s.AddSymbols(path); err != nil {
			return err
		}
	}
	s.findMissing()
	return nil
}

// Set gives a session the files that are named. The first of Files' dumps is Dump.
type Set struct {
	Files *session.Files
	opt   session.Options
	Dump  *session.Session // the first of them
	// Roots confine what is opened. With them the Set is one of several in a process, and leaves the garbage
	// collector alone.
	Roots Roots
	// Member is the name of a dump in an archive, as in "app.zip/MEMBER"; "" is the first.
	Member  string
	stderr  io.Writer
	folders []*folder
	added   map[string]bool // paths that the session has
	open    []*os.File
	spools  *Spools
	choices Choices
	given   int64 // bytes of the files
}

// Out returns a writer to stdout with the limit that follows from the size of the files.
func (s *Set) Out(stdout io.Writer) io.Writer { return s.Files.Budget().Writer(stdout) }

// Ended returns the error that ended the output. Without one it says what was left out for its
// cost.
func (s *Set) Ended(err error) error {
	if err == nil {
		if err = s.Files.Budget().Err(); err != nil {
			err = fmt.Errorf("something was left out: %w", err)
			if intake.Refused(err) {
				err = fmt.Errorf("%w%s", err, MoreUnpacked)
			}
		}
	}
	return err
}

// WarnProblems prints the problems of the dump and of the symbols in use on stderr, because
// Breakpad's output formats have no place for them. For each file it prints the first warning and
// the number of the others, once, however many modules use the file.
func (s *Set) WarnProblems(r *report.Report) {
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
func (s *Set) ignore() error {
	for _, name := range s.choices.IgnoreCFI {
		found := false
		for i, m := range s.Dump.Dump.Modules {
			if report.ModuleTitle(m.Name, m.Base) == name || report.BaseName(m.DebugFile) == name || m.Name == name {
				s.Dump.IgnoreCFI(i, true)
				found = true
			}
		}
		if !found {
			return fmt.Errorf("the dump has no module %q whose call frame information could be ignored", name)
		}
	}
	return nil
}

// Close closes the files and removes temporary ones.
func (s *Set) Close() {
	for _, f := range s.open {
		f.Close()
	}
	s.spools.Close()
}

// Add opens a file and gives it to the session, once.
func (s *Set) Add(path string) ([]session.Item, error) {
	if s.added[path] {
		return nil, nil
	}
	f, src, err := s.Roots.Source(path)
	if err != nil {
		return nil, err
	}
	// The session reads on demand, so the file stays open until the end.
	s.open = append(s.open, f)
	s.added[path] = true
	src.Parallel, src.MaxUnpacked = true, s.choices.MaxUnpacked
	s.given += src.Size
	if len(s.Roots) == 0 {
		collectWithin(s.given)
	}
	items := s.Files.Add(src)
	return items, nil
}

// collectWithin has the garbage collector run more often where garbage would take more memory than
// files of so many bytes may take.
func collectWithin(given int64) {
	const least, program = 80 << 20, 16 << 20 // bytes; program is what the process takes besides
	b := input.Budget{}
	b.Give(given)
	debug.SetMemoryLimit(max(least, b.Limit(input.Memory)-program))
}

// addDump adds a file that must be a dump, or an archive with one. An archive's other dumps are released: their sessions
// and bytes would take memory for as long as the Set is open.
func (s *Set) addDump(path string) error {
	if _, err := s.Add(path); err != nil {
		return err
	}
	dumps := s.Files.Dumps()
	if len(dumps) == 0 {
		for _, it := range s.Files.Items() {
			if it.Message != "" {
				return errors.New(it.Message)
			}
		}
		return fmt.Errorf("%s: not a dump", path)
	}
	chosen := 0
	if s.Member != "" {
		chosen = slices.IndexFunc(dumps, func(d session.Item) bool { return d.Name == path+"/"+s.Member })
	}
	if chosen < 0 {
		return fmt.Errorf("%s: holds no dump %s; %s", path, s.Member, membersOf(path, dumps))
	}
	s.Dump = s.Files.Session(chosen)
	for i := range dumps {
		if i != chosen {
			s.Files.Release(i)
		}
	}
	if s.Member == "" && len(dumps) > 1 {
		fmt.Fprintf(s.stderr, "%s: holds %d dumps; this is %s\n", path, len(dumps), dumps[0].Name)
	}
	return nil
}

// membersOf names the first of an archive's dumps, as a part of a sentence.
func membersOf(path string, dumps []session.Item) string {
	const most = 3
	var names []string
	for _, d := range dumps {
		names = append(names, strings.TrimPrefix(d.Name, path+"/"))
	}
	slices.Sort(names)
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("it holds %s and %d more", strings.Join(names[:most], ", "), more)
	}
	return "it holds " + strings.Join(names, ", ")
}

// MaxMessages bounds the messages about single files of one archive. An archive of a symbol
// store may have thousands.
const MaxMessages = 20

// firstOf returns the first of a file's warnings, and how many more there are.
func firstOf(warnings []string, count int) string {
	if count < 2 {
		return warnings[0]
	}
	return fmt.Sprintf("%s (and %d more warnings)", warnings[0], count-1)
}

// AddSymbols adds a symbol file or archive, or records a folder for findMissing. It returns an
// error for a path that cannot be opened. A file that is not used is only a warning, because the
// stacks can be walked without it.
func (s *Set) AddSymbols(path string) error {
	path = InBundle(path)
	st, err := os.Stat(path)
	if err != nil {
		return err
	}
	if st.IsDir() {
		s.folders = append(s.folders, &folder{root: path, roots: s.Roots, stop: s.Files.Budget().Cancelled})
		return nil
	}
	items, err := s.Add(path)
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
		if told++; told <= MaxMessages {
			fmt.Fprintln(s.stderr, message)
		}
	}
	if told > MaxMessages {
		fmt.Fprintf(s.stderr, "%s: %d more files in it are not used, or not wholly\n", path, told-MaxMessages)
	}
	return nil
}

// findMissing searches the folders for the symbols that the stacks need. New symbols may lead to
// other frames, which need other modules' symbols, so it repeats until a walk needs nothing more
// that the folders have. Files that no frame needs are not read.
//
// Example: the crashed frame is in app, whose symbols are in the folder. With them the walk finds a
// caller in libfoo.so, which the first walk did not reach; the second round looks for libfoo.so's.
func (s *Set) findMissing() {
	if len(s.folders) == 0 {
		return
	}
	asked := map[string]bool{}
	s.addStored(asked)
	// Each round walks, and looks for what that walk lacked. asked has what was looked for, so the
	// loop ends.
	for {
		r := s.Dump.Report()
		if r == nil {
			return
		}
		found := false
		for _, w := range r.Missing {
			key := w.DebugFile + "\x00" + w.DebugID
			if w.Partial { // what came for the module may name a further file
				key += "\x00" + w.Program + "\x00" + w.CodeID
			}
			if asked[key] {
				continue
			}
			asked[key] = true
			found = s.AddNew(s.find(w)) || found
		}
		for i := range r.Modules {
			has, named := &r.Modules[i].Has, false
			for _, missing := range has.Missing {
				if !asked[missing] {
					asked[missing] = true
					named = s.AddNew(s.findParts(missing)) || named
				}
			}
			// Only if no file of its name is the debug file: another one is, if it has the program's id, which the dump may
			// lack, or the CRC.
			if key := "layout\x00" + has.DebugLayout; has.DebugLayout != "" && !named && !asked[key] {
				asked[key] = true
				found = s.AddNew(s.findRenamed(has.DebugLayout)) || found
			}
			found = found || named
		}
		if !found {
			return
		}
	}
}

// AddNew adds files, and reports whether the session did not have one of them yet. Only then is it
// worth walking again.
func (s *Set) AddNew(paths []string) bool {
	found := false
	for _, path := range paths {
		items, err := s.Add(path)
		if err != nil {
			fmt.Fprintln(s.stderr, err)
		}
		found = found || len(items) > 0
	}
	return found
}

// findParts returns the binaries that a missing part may be: those whose name is in its
// description.
func (s *Set) findParts(missing string) []string {
	var out []string
	for _, f := range s.folders {
		f.scan(s.Dump.Dump, s.stderr)
		for name, paths := range f.binariesByName {
			if containsName(missing, name) {
				out = append(out, paths...)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// findRenamed returns the separate debug files whose sections of code are a program's.
func (s *Set) findRenamed(layout string) (out []string) {
	for _, f := range s.folders {
		f.scan(s.Dump.Dump, s.stderr)
		out = append(out, f.debugFiles[layout]...)
	}
	return out
}

// containsName reports whether a text contains a file's name, not as a part of a longer one.
//
// Example: "split debug information: obj/a.dwo" contains "a.dwo" and not "dwo". A dSYM is named after
// its program, and so is the file in it: "the debug information app.dSYM" contains "app".
func containsName(text, name string) bool {
	for rest := text; name != ""; {
		at := strings.Index(rest, name)
		if at < 0 {
			return false
		}
		before, after := rest[:at], rest[at+len(name):]
		if (before == "" || strings.ContainsAny(before[len(before)-1:], " /\\(")) && (after == "" || strings.ContainsAny(after[:1], " ,;:()") || strings.HasPrefix(after, ".dSYM")) {
			return true
		}
		rest = after
	}
	return false
}

// addStored adds the files of the dump's modules that are in the layout of a symbol store:
// app.pdb/ID/app.sym. Their paths are known without a walk, so this saves the first walks. A file
// that no frame needs costs only a read of its first line.
func (s *Set) addStored(asked map[string]bool) {
	d := s.Dump.Dump
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
			if _, err := s.Add(path); err != nil {
				fmt.Fprintln(s.stderr, err)
			}
		}
	}
}

// stored returns the file at a module's path in a symbol store, from the first folder that has it,
// with one of the endings. The id may be in either byte order (core.SameID).
//
//	FOLDER/app.pdb/5A9832E5287241C1838ED98914E9B7FF1/app.sym
func (s *Set) stored(debugFile, id string, endings ...string) (string, bool) {
	for _, f := range s.folders {
		for _, form := range []string{id, core.ByteSwappedID(id)} {
			local := filepath.FromSlash(report.StorePath(debugFile, form))
			if !filepath.IsLocal(local) { // a name from a dump must not lead out of the folder
				continue
			}
			for _, ext := range endings {
				if path := filepath.Join(f.root, local) + ext; s.Roots.isFile(path) {
					return path, true
				}
			}
		}
	}
	return "", false
}

// find returns files for a module, from the first folder that has some: by the layouts of symbol
// stores, then its symbol file and binaries by id, then any of its name. The last are of another
// build; the session does not use them, but the report can say that they do not match. Archives are
// always among the files, because their members are unknown before they are opened.
//
// It returns more than one file where the session must choose: a binary and its debug file have one
// build id.
func (s *Set) find(w report.MissingFile) []string {
	if path, ok := s.stored(w.DebugFile, w.DebugID, append([]string{""}, intake.Endings()...)...); ok {
		return []string{path}
	}
	var out []string
	for _, f := range s.folders {
		for _, st := range w.Stores {
			for _, path := range []string{st.Path, st.Else} {
				if local := filepath.FromSlash(path); filepath.IsLocal(local) && s.Roots.isFile(filepath.Join(f.root, local)) {
					out = append(out, filepath.Join(f.root, local))
					break
				}
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	keys := symbols.ModuleKeys(&s.Dump.Dump.Modules[w.Module])
	for _, f := range s.folders {
		f.scan(s.Dump.Dump, s.stderr)
		out = append(out, f.takeArchives()...)
		files := f.with(keys, true)
		if len(files) > 0 {
			return append(out, files...)
		}
	}
	for _, f := range s.folders {
		if files := f.with(keys, false); len(files) > 0 {
			return append(out, files...)
		}
	}
	return out
}

// with returns the files that have one of the keys that are sure, or one of the others: a symbol
// file, and all binaries, from which the session takes what belongs together.
func (f *folder) with(keys []symbols.Key, sure bool) []string {
	var out, binaries []string
	for _, k := range keys {
		if k.Sure != sure {
			continue
		}
		if path := f.symbols[k.Text]; path != "" && len(out) == 0 {
			out = append(out, path)
		}
		for _, path := range f.binaries[k.Text] {
			if !slices.Contains(binaries, path) {
				binaries = append(binaries, path)
			}
		}
	}
	return append(out, binaries...)
}

// Check returns an error unless a downloaded file has an id. It opens it apart from the session, which
// must not take what is refused.
func (s *Set) Check(path, id string) error {
	f, src, err := OpenFile(path)
	if err != nil {
		return err
	}
	defer f.Close()
	src.MaxUnpacked = s.choices.MaxUnpacked
	b := &input.Budget{}
	b.Give(src.Size)
	src.Budget = b
	_, err = session.FromServer(src, id, s.opt, nil)
	return err
}

// Dumps opens a file and returns every dump in it. A minidump without crash information is no use
// to a session, but it has streams.
func (s *Set) Dumps(path string) ([]*core.Dump, error) {
	items, err := s.Add(path)
	if err != nil {
		return nil, err
	}
	var out []*core.Dump
	for i := range s.Files.Dumps() {
		out = append(out, s.Files.Session(i).Dump)
	}
	if len(out) > 0 {
		return out, nil
	}
	if len(s.open) > 0 && len(items) == 1 && items[0].Kind == session.KindDump {
		if d, err := core.Open(input.New(path, s.open[0], items[0].Size)); err == nil {
			return []*core.Dump{d}, nil
		}
	}
	for _, it := range items {
		if it.Message != "" {
			return nil, errors.New(it.Message)
		}
	}
	return nil, fmt.Errorf("%s: not a dump", path)
}
