package disk

import (
	"cmp"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/session"
)

// Choices are the user's decisions about single files.
type Choices struct {
	// IgnoreCFI are the modules whose call frame information is not used.
	IgnoreCFI []string
	// Use are files that are used although their ids do not match, as FILE or MODULE=FILE.
	Use []string
	// MaxUnpacked is what each may unpack to in bytes, if that is more than usual.
	MaxUnpacked int64
}

// UnpackedFlag declares --max-unpacked.
func (c *Choices) UnpackedFlag(fs *flag.FlagSet) {
	fs.Func("max-unpacked", "let each named file unpack to `SIZE` bytes (20G), in place of 16 GB for each file in it and 300 times its size for all", func(s string) (err error) {
		c.MaxUnpacked, err = ParseSize(s)
		return err
	})
}

// ParseSize reads a number of bytes, or of KB, MB, GB or TB of 1,024 each: 20000000, 500M, 20GB.
func ParseSize(s string) (int64, error) {
	digits := strings.TrimSuffix(strings.ToUpper(s), "B")
	shift := 0
	if n := len(digits); n > 0 {
		if unit := strings.IndexByte("KMGT", digits[n-1]); unit >= 0 {
			digits, shift = digits[:n-1], 10*(unit+1)
		}
	}
	n, err := strconv.ParseInt(digits, 10, 63)
	if err != nil || n <= 0 || n<<shift>>shift != n {
		return 0, fmt.Errorf("not a size such as 500M or 20G")
	}
	return n << shift, nil
}

// UseFlag declares --use, and --max-unpacked.
func (c *Choices) UseFlag(fs *flag.FlagSet) {
	c.UnpackedFlag(fs)
	fs.Func("use", "use the symbols in `file` for the module of that name, or with MODULE=FILE for MODULE, whatever their id; may be given several times",
		func(spec string) error {
			c.Use = append(c.Use, spec)
			return nil
		})
}

// useFiles assigns the files of --use to their modules.
func (s *Set) useFiles() error {
	for _, spec := range s.choices.Use {
		if err := s.useFile(spec); err != nil {
			return fmt.Errorf("--use %s: %w", spec, err)
		}
	}
	return nil
}

// useFile assigns one file. A spec that is itself the name of a file is not a MODULE=FILE, even if it
// has a "=".
//
// Without MODULE the names to look for are that of the MODULE record, and the file's with and
// without its ending: libfoo.so.sym is for libfoo.so.
func (s *Set) useFile(spec string) error {
	module, path := "", spec
	if name, file, ok := strings.Cut(spec, "="); ok && !s.Roots.isFile(spec) {
		module, path = name, file
	}
	path = InBundle(path)
	items, err := s.Add(path)
	if err != nil {
		return err
	}
	items = slices.DeleteFunc(items, func(it session.Item) bool {
		return !it.Usable || it.Kind != session.KindSym && it.Kind != session.KindBinary
	})
	if len(items) > 1 { // a file for several processors
		items = slices.DeleteFunc(items, func(it session.Item) bool { return s.Files.Unused(it.ID, 0).Reason == session.OtherProcessor })
	}
	switch {
	case len(items) == 0:
		return fmt.Errorf("the file has no symbols, or is named twice")
	case len(items) > 1:
		return fmt.Errorf("the file has symbols of %d modules; name one that has those of one", len(items))
	}
	it := items[0]
	names := []string{module}
	if module == "" {
		names = []string{it.SymName, strings.TrimSuffix(filepath.Base(path), filepath.Ext(path)), filepath.Base(path)}
	}
	used := false
	for i := range s.Dump.Dump.Modules {
		m := &s.Dump.Dump.Modules[i]
		if !slices.ContainsFunc(names, func(name string) bool {
			return name != "" && (s.Dump.SameName(i, name) || m.Name == name || report.ModuleTitle(m.Name, m.Base) == name)
		}) {
			continue
		}
		if err := s.Files.Assign(it.ID, 0, i); err != nil {
			return err
		}
		used = true
	}
	switch {
	case used:
		return nil
	case module != "":
		return fmt.Errorf("the dump has no module %q", module)
	}
	return fmt.Errorf("the dump has no module of its name; say which: --use MODULE=%s", path)
}

// warnUnused prints which symbol files are not used and why. named are the paths on the command
// line. Each of them has a line, and so has each file in a folder or archive that has the name of a
// module without symbols: the user expects these to be used. The others are only counted, and only
// if symbols are missing.
func (s *Set) warnUnused(r *report.Report, named []string) {
	files := map[string]bool{}
	for _, path := range named {
		files[InBundle(path)] = true
	}
	others, told := 0, 0
	tell := func(name, why string) {
		if told++; told <= MaxMessages {
			fmt.Fprintf(s.stderr, "%s: not used: %s\n", name, why)
		} else {
			others++
		}
	}
	for _, it := range s.Files.Items() {
		unused := s.Files.Unused(it.ID, 0)
		switch {
		case unused.Reason == session.NotUnused:
		case unused.Wanted || files[it.Name]:
			tell(it.Name, unused.Why+remedy(it.Name, &unused))
		default:
			others++
		}
	}
	for _, f := range s.folders {
		for _, file := range f.candidates {
			if s.added[file.path] {
				continue
			}
			if unused := s.Dump.Mismatch(file.known); unused.Wanted {
				tell(file.path, unused.Why+remedy(file.path, &unused))
			} else {
				others++
			}
		}
		others += f.others
	}
	if others > 0 && len(r.Missing) > 0 {
		fmt.Fprintf(s.stderr, "%s of no module that needs symbols\n", countFiles(others))
	}
	for i := range r.Missing {
		switch w := &r.Missing[i]; {
		case !w.Partial:
		case w.Program != "" && !r.Modules[w.Module].Has.NoProgram:
			fmt.Fprintf(s.stderr, "%s is missing (its build id is %s): it has functions and lines of %s\n", w.Program, w.CodeID, report.BaseName(r.Modules[w.Module].Name))
		case w.Program != "":
			fmt.Fprintf(s.stderr, "%s is missing (its identifier is %s): without it callers on %s are guesses\n", w.Program, w.CodeID, r.System.CPU)
		default:
			fmt.Fprintf(s.stderr, "%s is missing (its id is %s): it has the functions and lines of %s\n", w.DebugFile, w.DebugID, report.BaseName(r.Modules[w.Module].Name))
		}
	}
	for _, i := range r.AssignedModules() {
		m := &r.Modules[i]
		fmt.Fprintf(s.stderr, "%s: used for %s because of --use, although its id %s is not the module's, %s: what it says about frames may be wrong\n",
			m.SymbolFile, report.BaseName(m.Name), cmp.Or(m.SymbolID, "(none)"), cmp.Or(m.DebugID, "(none)"))
	}
}

func countFiles(n int) string {
	if n == 1 {
		return "1 more symbol file is"
	}
	return fmt.Sprintf("%d more symbol files are", n)
}

// remedy returns what the user can do about a file that is not used. It is "" if the file cannot
// help: it is for another processor, or a better file is in use.
func remedy(path string, unused *session.Unused) string {
	switch {
	case unused.Reason == session.OtherProcessor || unused.Reason == session.OtherFile:
		return ""
	case unused.Reason == session.OtherName || !unused.Wanted:
		return "; --use MODULE=" + path + " uses it anyway"
	}
	return "; --use " + path + " uses it anyway"
}
