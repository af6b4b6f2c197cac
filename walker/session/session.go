// Package session joins all other packages: it takes files in any order, recognizes them, matches
// symbols to modules, walks stacks, and builds reports. The page, the command and the tests all use
// it. It reads only the sources that it is given, and starts goroutines only if Options.Workers
// says so.
//
//	s := session.New(session.Options{})
//	s.Add(input.FromBytes("a.dmp", dump))
//	s.Add(input.FromBytes("a.sym", symbols))
//	r := s.Report(0)
//
// Start at Session.Add in this file, which recognizes files, and Session.Report (report.go), which
// walks all stacks. match.go takes each module's files from the store (walker/symbols); symbols.go
// and binary.go look up in them. staged.go walks one thread after the other, for a page that shows the
// first at once; prefetch.go reads ahead what many stacks need, and index.go indexes large symbol
// files in the background. If a source lacks bytes, Wants says which, and the next Report uses them.
package session

import (
	"errors"
	"fmt"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/analysis"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/core/microdump"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/walker"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// ItemKind says how the session uses a file.
type ItemKind string

const (
	KindDump    ItemKind = "minidump"
	KindSym     ItemKind = "sym"
	KindBinary  ItemKind = "binary"  // an executable, library or debug file
	KindArchive ItemKind = "archive" // a .zip or .gz, or a log with several microdumps; its members are items of their own
	KindOther   ItemKind = "other"   // not usable; Message says what the file seems to be
)

// Item is one file, or one member of an archive, and what became of it.
type Item struct {
	ID   int
	Name string // untrusted text
	Size int64
	Kind ItemKind
	// Detected is the format that the content was recognized as.
	Detected intake.Kind
	// Usable is false if the file could not be used; Message then says why: file, offset, what was
	// wrong. A usable file may have a Message too (an archive of which a member could not be read).
	Usable  bool
	Message string
	// Dump is the index of the dump that it became, or -1.
	Dump int
	// For symbol files and binaries: what the MODULE record says, or would say; ID is "" if there
	// is none, and the user has to assign the file.
	SymName, SymID, SymOS, SymArch string
	// NeedsDecoder: the file is a binary, or it or a member of it is compressed, and the Session
	// was given no reader of such files (Options.OpenBinary, Limits.Unpackers).
	NeedsDecoder bool
	// NeedsAssignment: no module can be matched without a person's word (no MODULE record).
	NeedsAssignment bool
	// Warnings are the first of a symbol file's or binary's warnings, WarningCount is how many there
	// are, see symbols.File.Warnings.
	Warnings     []string
	WarningCount int
}

// Progress is the progress of a long step. Total is 0 if unknown.
type Progress struct {
	Stage string // "reading symbols", "unpacking", "walking"
	Name  string // of the file
	Done  int64
	Total int64
	// Background: the step runs beside the session's other work.
	Background bool
}

// Options of a session.
type Options struct {
	// Policy to walk with; the zero value means walker.Best.
	Policy walker.Policy
	// Store has symbol files and binaries that several sessions share, each in a goroutine of its own
	// if it likes. It has settings of its own for reading them. If it is nil, the session has a store
	// of its own.
	Store *symbols.Store
	// Progress, if set, is called now and then from within long steps.
	Progress func(Progress)
	// Demangle makes readable names; nil leaves names as they are.
	Demangle func(string) string
	// IndexOnDemand: symbol files are indexed on demand (symfile.OpenOnDemand). Slice is the size
	// of one read in bytes; 0 is the size that suits a browser.
	IndexOnDemand bool
	Slice         int64
	// Workers are the goroutines that share the reading of a large symbol file, and of which two
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
	// OpenImage opens a module's program as the loader placed it in the dump's own memory. It
	// returns nil if the dump lacks it, or if it has no unwind data. If OpenImage is nil, programs
	// in memory are not read.
	OpenImage func(d *core.Dump, module int) symbols.Binary
	// InstructionAt is core/analysis' At. If it is nil, only the crash's frame shows its
	// instruction.
	InstructionAt func(d *core.Dump, regs *cpu.Regs, caller bool, function uint64) (in *analysis.Instruction, calls uint64, known bool)
	// Limits of unpacking; the zero value means intake's own.
	Limits intake.Limits
}

// Session is the files of one investigation.
type Session struct {
	opt   Options
	store *symbols.Store
	items []*item
	dumps []*dump
	// of has the items of files in the store. Other sessions may have added files, too.
	of map[*symbols.File]*item
	// passes are the full indexes to make (IndexFile), of which the first is being made if passRuns;
	// one that was stopped may be running too.
	passes   []*pass
	passRuns bool
}

// item is an Item with what it was read from.
type item struct {
	Item
	src *input.Source
	// file is the symbol file or binary in the store, or nil.
	file *symbols.File
	// idInUse is the debug id by which a module knows a binary, "" if none does.
	idInUse string
}

// dump is an opened minidump with what was found for it.
type dump struct {
	item *item
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
	needs    []*input.NeedError
}

// assignment is what the user's choice is for: a module, and a kind of file.
type assignment struct {
	module int
	binary bool
}

// New makes an empty session.
func New(opt Options) *Session {
	if opt.Policy.Name == "" {
		opt.Policy = walker.Best
	}
	if opt.Beside == nil {
		opt.Beside = func(work, then func()) { work(); then() }
	}
	s := &Session{opt: opt, store: opt.Store, of: map[*symbols.File]*item{}}
	if s.store != nil {
		return s
	}
	s.store = symbols.New(symbols.Options{OpenBinary: opt.OpenBinary, OnDemand: opt.IndexOnDemand, Progress: s.readingSymbols,
		Sym: symfile.Options{Slice: opt.Slice, Workers: opt.Workers, Indexers: opt.Indexers}})
	return s
}

// Items returns all files so far, in the order of arrival.
func (s *Session) Items() []Item {
	s.settleAll()
	out := make([]Item, len(s.items))
	for i, it := range s.items {
		out[i] = s.describe(it)
	}
	return out
}

// describe returns an item as it is known by now.
func (s *Session) describe(it *item) Item {
	out := it.Item
	if it.file == nil {
		return out
	}
	out.Warnings, out.WarningCount = it.file.Warnings()
	err := it.file.Err()
	if err == nil && !s.isOfModule(it.file) {
		err = it.file.Refusal()
	}
	if err != nil && out.Message == "" {
		out.Message = err.Error()
	}
	return out
}

// Dumps returns the usable dumps; Item.Dump counts them from 0.
func (s *Session) Dumps() []Item {
	out := make([]Item, len(s.dumps))
	for i, d := range s.dumps {
		out[i] = d.item.Item // a dump is not in the store
	}
	return out
}

// Dump returns the opened dump with an index as the policy reads it, for callers that need more of
// it than its report, or nil.
func (s *Session) Dump(i int) *core.Dump {
	if i < 0 || i >= len(s.dumps) {
		return nil
	}
	return s.dumps[i].Dump
}

// Add takes one file: recognizes it by its content, unpacks archives, opens dumps, and reads which
// module a symbol file is for. It returns the items that it made, the file's own first. Reports of
// dumps that a new symbol file concerns are made anew at the next Report.
func (s *Session) Add(src *input.Source) []Item {
	first := len(s.items)
	s.add(src, false)
	s.settleAll()
	out := make([]Item, 0, len(s.items)-first)
	for _, it := range s.items[first:] {
		out = append(out, s.describe(it))
	}
	return out
}

// add is Add for one file, or for a member of an archive.
func (s *Session) add(src *input.Source, member bool) {
	it := &item{Item: Item{ID: len(s.items), Name: src.Name, Size: src.Size, Dump: -1, Kind: KindOther}, src: src}
	src.Spool = s.opt.Limits.Spool
	s.items = append(s.items, it)
	guess := intake.Sniff(src)
	// Without a reader for the compression, the item says that the page should load the larger
	// program.
	it.Detected = guess.Kind
	if guess.Kind == intake.UTF16 {
		if guess = s.convert(it); it.Message != "" {
			return
		}
	}
	if s.opt.Limits.Lack(guess.Kind) {
		guess.Kind, it.NeedsDecoder = intake.Packed, true
	}
	switch k := guess.Kind; {
	case k == intake.Minidump:
		s.addDump(it)
	case k == intake.Microdump:
		s.addMicrodumps(it)
	case k == intake.Sym, k == intake.SymWithoutModule:
		s.addSym(it)
	case k.IsBinary():
		s.addBinary(it, guess.What)
	case k.IsPacked():
		if member {
			// Expand opens archives in archives itself, to its depth: an archive that holds itself
			// ends here.
			it.Kind = KindArchive
			it.Message = src.Name + ": an archive too deep inside other archives; it was not opened"
			return
		}
		s.addArchive(it)
	default:
		it.Message = fmt.Sprintf("%s: %s; not a dump, a symbol file, a program or an archive of these", src.Name, guess.What)
	}
}

// addSym adds a symbol file to the store. It is read when a stack needs it.
func (s *Session) addSym(it *item) {
	it.Kind = KindSym
	f, err := s.store.AddSym(it.src)
	if err != nil {
		it.Message = err.Error()
		return
	}
	s.has(it, f)
	if it.NeedsAssignment = f.Known.NoModule(); it.NeedsAssignment {
		it.Message = it.Name + ": a symbol file without a MODULE record; choose the module that it belongs to"
	}
}

// addBinary adds an executable, library or debug file to the store. If nobody can read it, the item
// says that it is one.
func (s *Session) addBinary(it *item, what string) {
	it.Kind = KindBinary
	if s.opt.OpenBinary == nil {
		it.NeedsDecoder = true
		it.Message = it.Name + ": " + what
		return
	}
	f, err := s.store.AddBinary(it.src)
	if err != nil {
		it.Message = err.Error()
		return
	}
	s.has(it, f)
}

// has records the file of an item.
func (s *Session) has(it *item, f *symbols.File) {
	it.Usable, it.file, s.of[f] = true, f, it
	k := &f.Known
	it.SymName, it.SymID, it.SymOS, it.SymArch = k.Name, k.ID, k.OS, k.Arch
}

// addDump opens a minidump. A file of which no stream could be read is refused, with the first
// error as the reason.
func (s *Session) addDump(it *item) {
	it.Kind = KindDump
	d, err := core.Open(it.src)
	if err != nil {
		it.Message = err.Error()
		return
	}
	if d.System == nil && len(d.Threads) == 0 && len(d.Modules) == 0 && d.Exception == nil {
		it.Message = it.Name + ": a minidump without threads, modules, an exception or a system"
		for _, g := range d.Diags {
			if g.Severity == core.Bad {
				it.Message = g.Err.Error() + "; the rest of the minidump has no crash information"
				break
			}
		}
		return
	}
	s.use(it, d)
}

// use makes an opened dump one of the session's.
func (s *Session) use(it *item, d *core.Dump) {
	it.Kind, it.Usable = KindDump, true
	it.Dump = len(s.dumps)
	one := &dump{item: it, Dump: d}
	if s.opt.OpenBinary != nil {
		d.Program = one.program
	}
	one.normalized = d.Normalized()
	one.readAs(s.opt.Policy)
	one.know()
	s.dumps = append(s.dumps, one)
}

// addMicrodumps opens the microdumps of a log: one is the file's own item, several are items of
// their own after it.
func (s *Session) addMicrodumps(it *item) {
	it.Kind = KindDump
	dumps, err := microdump.Read(it.src)
	if err != nil {
		it.Message = err.Error()
		return
	}
	if len(dumps) == 1 {
		s.use(it, dumps[0])
		return
	}
	it.Kind, it.Usable = KindArchive, true
	for _, d := range dumps {
		one := &item{Item: Item{ID: len(s.items), Name: d.Src.Name, Size: d.Micro.Size}, src: d.Src}
		s.items = append(s.items, one)
		s.use(one, d)
	}
}

// addArchive unpacks an archive and adds its members. What could be unpacked before an error is
// used.
func (s *Session) addArchive(it *item) {
	it.Kind = KindArchive
	members, err := intake.Expand(it.src, s.opt.Limits, func(name string, done, total int64) error {
		s.progress("unpacking", name, done, total)
		return nil
	})
	if err != nil {
		it.Message = err.Error()
		it.NeedsDecoder = errors.Is(err, intake.ErrNoUnpacker)
	}
	it.Usable = len(members) > 0
	if !it.Usable && it.Message == "" {
		it.Message = it.Name + ": an archive with no files in it"
	}
	for _, m := range members {
		s.add(m, true)
	}
}

// convert replaces a text in UTF-16 by one in UTF-8.
func (s *Session) convert(it *item) intake.Guess {
	texts, err := intake.Expand(it.src, s.opt.Limits, func(name string, done, total int64) error {
		s.progress("converting", name, done, total)
		return nil
	})
	if err != nil || len(texts) != 1 {
		it.Message = fmt.Sprintf("%s: cannot be converted from UTF-16: %v", it.Name, err)
		return intake.Guess{}
	}
	it.src = texts[0]
	it.src.Spool = s.opt.Limits.Spool
	return intake.Sniff(it.src)
}

// progress calls Options.Progress, if it is set.
func (s *Session) progress(stage, name string, done, total int64) {
	if s.opt.Progress != nil {
		s.opt.Progress(Progress{Stage: stage, Name: name, Done: done, Total: total})
	}
}

// SetPolicy changes how stacks are walked.
func (s *Session) SetPolicy(p walker.Policy) {
	s.opt.Policy = p
	for _, d := range s.dumps {
		d.readAs(p)
		d.invalidate()
	}
}

// readAs makes the dump what a policy sees.
func (d *dump) readAs(p walker.Policy) {
	d.Dump = d.normalized
	if !p.Normalized {
		d.Dump = d.normalized.AsRead()
	}
}

// Policy returns the unwind policy.
func (s *Session) Policy() walker.Policy { return s.opt.Policy }

// Assign uses a symbol file or binary for a module although nothing says that it belongs there: a
// file of another build ("use anyway"), or one without a MODULE record. Every frame that it touches
// says so. A file of another processor is refused.
func (s *Session) Assign(itemID, dumpIndex, module int) error {
	if itemID < 0 || itemID >= len(s.items) || s.items[itemID].file == nil {
		return fmt.Errorf("there is no symbol file number %d", itemID)
	}
	if dumpIndex < 0 || dumpIndex >= len(s.dumps) || module < 0 || module >= len(s.dumps[dumpIndex].Modules) {
		return fmt.Errorf("dump %d has no module number %d", dumpIndex, module)
	}
	d, it := s.dumps[dumpIndex], s.items[itemID]
	if why := d.wrongArch(it.SymArch); why != "" {
		return fmt.Errorf("%s cannot be used: %s", it.Name, why)
	}
	if d.assigned == nil {
		d.assigned = map[assignment]*symbols.File{}
	}
	d.assigned[assignment{module, it.file.IsBinary}] = it.file
	d.stale[module] = true
	return nil
}

// Unassign undoes the user's assignments to a module.
func (s *Session) Unassign(dumpIndex, module int) {
	if dumpIndex < 0 || dumpIndex >= len(s.dumps) || module < 0 || module >= len(s.dumps[dumpIndex].Modules) {
		return
	}
	d := s.dumps[dumpIndex]
	for _, binary := range []bool{false, true} {
		delete(d.assigned, assignment{module, binary})
	}
	d.stale[module] = true
}

// Wants returns the ranges of files that the last reports lacked and that the caller should fetch.
func (s *Session) Wants() []*input.NeedError {
	var out []*input.NeedError
	for _, d := range s.dumps {
		out = append(out, d.needs...)
	}
	return out
}
