// Package session joins all other packages. A Session is a dump, a store of symbol files and
// binaries (walker/symbols), and an unwind policy; it walks the dump's stacks and builds its report.
// Files are the files of an investigation in any order: it recognizes them, puts symbols into the
// store, and makes a Session of each dump. The page, the command and the tests all use both. They
// read only the sources that they are given, and start goroutines only if Options.Workers says so.
//
//	files := session.NewFiles(session.Options{})
//	files.Add(input.FromBytes("a.dmp", dump))
//	files.Add(input.FromBytes("a.sym", symbols))
//	r := files.Report(0)
//
// Start at Files.Add (files.go), which recognizes files, and Session.Report (report.go), which walks
// all stacks. match.go takes each module's files from the store; symbols.go and binary.go look up in
// them. staged.go walks one thread after the other, for a page that shows the first at once;
// prefetch.go reads ahead what many stacks need, and index.go indexes large symbol files in the
// background. If a source lacks bytes, Wants says which, and the next Report uses them.
package session

import (
	"fmt"
	"io"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// Options of Files and of their Sessions.
type Options struct {
	// Policy to walk with; the zero value means walker.Best.
	Policy walker.Policy
	// Store has symbol files and binaries that several investigations share, each in a goroutine of
	// its own if it likes. It has settings of its own for reading them. If it is nil, NewFiles makes
	// one.
	Store *symbols.Store
	// Progress, if set, is called now and then from within long steps.
	Progress func(Progress)
	// Demangle makes readable names; nil leaves names as they are.
	Demangle func(string) string
	// IndexOnDemand: symbol files are indexed on demand (symfile.OpenOnDemand). Slice is the size
	// of one read in bytes; 0 is the size that suits a browser.
	IndexOnDemand bool
	Slice         int64
	// Workers are the goroutines that share the reading of a large symbol file; two of them
	// share the walking; 0 and 1 mean none besides the caller's.
	Workers int
	// Indexers share the reading of a large symbol file instead, if they are set.
	Indexers []symfile.ChunkIndexer
	// Beside does work in a goroutine, and then calls then between two calls of the session's
	// methods. If it is nil, both are done at once.
	Beside func(work, then func())
	// Indexes stores full indexes of symbol files; nil if there is no place for them.
	Indexes IndexStore
	// OpenBinary opens executables, libraries and debug files. It reads only their headers.
	// If it is nil, such files are not read.
	OpenBinary func(src *input.Source) (symbols.Binary, error)
	// WriteSym writes the symbols of such a file as the text of a symbol file, without unwind rules. If it is
	// nil, an Outline lists nothing of binaries.
	WriteSym func(w io.Writer, b symbols.Binary) error
	// OpenImage opens a module's program as the loader placed it in the dump's own memory. It
	// returns nil if the dump lacks it, or if it has no unwind data. If OpenImage is nil, programs
	// in memory are not read.
	OpenImage func(d *core.Dump, module int) symbols.Binary
	// Limits of unpacking; the zero value means intake's own.
	Limits intake.Limits
}

// Session is a dump with what was found for it, the store it takes symbols from, and the policy that
// its stacks are walked with.
type Session struct {
	opt Options
	// Dump is as the policy reads it; normalized is what Policy.Normalized wants.
	*core.Dump
	normalized *core.Dump
	modules    []moduleSymbols
	// keys are the modules' keys, byKey the modules that have a key.
	keys  [][]symbols.Key
	byKey map[string][]int
	// seen is how many files of the store were matched to the modules; stale are modules to be matched
	// anew.
	seen  int
	stale map[int]bool
	// assigned are modules whose symbols the user chose: a symbol file, a binary, or one of each.
	assigned map[assignment]*symbols.File
	// ignored are the modules whose call frame information the user has disabled.
	ignored map[int]bool
	report  *report.Report
	// searched is the report before a symbol file was fully indexed, until it is compared with the
	// new one (Corrected).
	searched *report.Report
	walked   walked // what report was made of, and its making
	// itemOf numbers files for the report, which offers them for use.
	itemOf func(*symbols.File) int
	closed bool
}

// assignment is what the user's choice is for: a module, and a kind of file.
type assignment struct {
	module int
	binary bool
}

// withDefaults sets what every caller may leave out.
func (o Options) withDefaults() Options {
	if o.Policy.Name == "" {
		o.Policy = walker.Best
	}
	if o.Beside == nil {
		o.Beside = func(work, then func()) { work(); then() }
	}
	return o
}

// New makes the session of an opened dump. Options.Store must be set.
func New(d *core.Dump, opt Options) *Session {
	s := &Session{opt: opt.withDefaults(), Dump: d, itemOf: func(*symbols.File) int { return -1 }}
	if opt.OpenBinary != nil {
		d.Program, d.Section = s.programBytes, s.programSection
	}
	s.normalized = d.Normalized()
	s.readAs(s.opt.Policy)
	s.know()
	return s
}

// Close gives back what the session holds: its stacks, its report and its modules' files, which the
// store closes when it needs the memory. What the user chose stays. The next use opens it again.
func (s *Session) Close() {
	for i := range s.modules {
		s.useInstead(s.modules[i].item, nil)
		s.useInstead(s.modules[i].bin, nil)
		s.stale[i] = true
	}
	s.modules = make([]moduleSymbols, len(s.Modules))
	s.searched, s.closed = nil, true
	s.invalidate()
}

// SetPolicy changes how stacks are walked.
func (s *Session) SetPolicy(p walker.Policy) {
	s.opt.Policy = p
	s.readAs(p)
	s.invalidate()
}

// progress calls Options.Progress, if it is set.
func (o *Options) progress(stage, name string, done, total int64) {
	if o.Progress != nil {
		o.Progress(Progress{Stage: stage, Name: name, Done: done, Total: total})
	}
}

// readAs makes the dump what a policy sees.
func (s *Session) readAs(p walker.Policy) {
	s.Dump = s.normalized
	if !p.Normalized {
		s.Dump = s.normalized.AsRead()
	}
}

// Assign uses a symbol file or binary for a module although nothing says that it belongs there: a
// file of another build ("use anyway"), or one without a MODULE record. Every frame that it touches
// says so. A file of another processor is refused.
func (s *Session) Assign(f *symbols.File, module int) error {
	if module < 0 || module >= len(s.Modules) {
		return fmt.Errorf("the dump has no module number %d", module)
	}
	if why := s.wrongArch(f.Known.Arch); why != "" {
		return fmt.Errorf("%s cannot be used: %s", f.Name(), why)
	}
	if s.assigned == nil {
		s.assigned = map[assignment]*symbols.File{}
	}
	s.assigned[assignment{module, f.IsBinary}] = f
	s.stale[module] = true
	return nil
}

// Unassign undoes the user's assignments to a module.
func (s *Session) Unassign(module int) {
	if module < 0 || module >= len(s.Modules) {
		return
	}
	for _, binary := range []bool{false, true} {
		delete(s.assigned, assignment{module, binary})
	}
	s.stale[module] = true
}
