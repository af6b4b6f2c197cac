package session

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/elfcore"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/core/intake"
	"github.com/crashpane/crashpane/core/microdump"
	"github.com/crashpane/crashpane/core/sourcefile"
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
	KindSources ItemKind = "sources" // a source file, or all those of a folder
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
	// wrong. A usable file may have a Message too (an archive with a member that cannot be read).
	Usable  bool
	Message string
	// Dump is the index of the dump that it became, or -1.
	Dump int
	// For symbol files and binaries: what the MODULE record says, or would say; without an ID
	// the user has to assign the file.
	SymName, SymID, SymOS, SymArch string
	// Refused: it unpacks to more than is allowed, see intake.Refused.
	Refused bool
	// NeedsAssignment: no module can be matched without a person's word (no MODULE record).
	NeedsAssignment bool
	// Warnings are the first of a symbol file's or binary's warnings, WarningCount is how many there
	// are, see symbols.File.Warnings.
	Warnings     []string
	WarningCount int
	// Count is how many source files a KindSources is.
	Count int
}

// Progress is the progress of a long step. Total is 0 if unknown.
type Progress struct {
	Stage string // "reading symbols", "unpacking", "walking"
	Name  string // of the file
	Done  int64
	Total int64
	// Background: the step runs alongside the session's other work.
	Background bool
}

// Files are the files of one investigation, in the order of arrival. Each dump among them has a
// Session, and all Sessions find symbols in one store.
type Files struct {
	opt      Options
	budget   *input.Budget
	store    *symbols.Store
	items    []*item
	sessions []*Session // nil for a dump that was released
	dumps    []*item    // of the sessions
	byID     map[string][]int
	listedID int                    // how many of the dumps are in byID
	used     map[*symbols.File]bool // the files that released dumps use
	// of has the items of files in the store. Other investigations may have added files, too.
	of map[*symbols.File]*item
	// passes are the full indexes to make (IndexFile). The first is being made if passRuns; one that was
	// stopped may be running too.
	passes   []*pass
	passRuns bool
	cache    bool // a part of a dyld shared cache was refused
	sources  sourceFiles
}

// item is an Item with what it was read from.
type item struct {
	Item
	src *input.Source
	// file is the symbol file or binary in the store, or nil.
	file    *symbols.File
	removed bool
	// open reads the dump that the item is, from dump.
	open func() (*core.Dump, error)
	dump *input.Source
	// unpacking is of an archive that may have further members, gave: it had some.
	unpacking *intake.Expansion
	// members were unpacked and are not added yet; unpacked is what unpacking needed next when it gave them.
	members  []*input.Source
	unpacked intake.State
	gave     bool
}

// NewFiles makes an empty list of files.
func NewFiles(opt Options) *Files {
	opt = opt.withDefaults()
	fs := &Files{opt: opt, budget: &input.Budget{}, store: opt.Store, of: map[*symbols.File]*item{}, used: map[*symbols.File]bool{}, byID: map[string][]int{}}
	if fs.store == nil {
		fs.store = symbols.New(symbols.Options{OpenBinary: opt.OpenBinary, OnDemand: opt.IndexOnDemand, Progress: fs.readingSymbols,
			Sym: symfile.Options{Slice: opt.Slice, Workers: opt.Workers, Indexers: opt.Indexers}})
		fs.opt.Store = fs.store
	}
	return fs
}

// Store returns the store of the files, for other investigations that share it.
func (fs *Files) Store() *symbols.Store { return fs.store }

// HasSymbols reports whether there are symbol files or binaries among the files.
func (fs *Files) HasSymbols() bool { return len(fs.of) > 0 }

// settleAll matches new files to the modules of the dumps that are open.
func (fs *Files) settleAll() {
	for _, s := range fs.sessions {
		if s != nil && !s.closed {
			s.settle()
		}
	}
}

// Items returns all files so far, in the order of arrival.
func (fs *Files) Items() []Item {
	fs.settleAll()
	out := make([]Item, 0, len(fs.items))
	for _, it := range fs.items {
		if !it.removed {
			out = append(out, fs.describe(it))
		}
	}
	return out
}

// Remove takes items off the list, and their files out of the store. The dumps among them are closed,
// and all others are walked again, so that nothing is left of work that was cancelled.
func (fs *Files) Remove(ids []int) {
	gone := map[*symbols.File]bool{}
	for _, id := range ids {
		if it := fs.items[id]; it.file != nil {
			gone[it.file] = true
			delete(fs.of, it.file)
			it.file = nil
		}
		fs.items[id].removed, fs.items[id].unpacking, fs.items[id].members = true, nil, nil
	}
	for _, s := range fs.sessions {
		if s == nil {
			continue
		}
		s.Close()
		maps.DeleteFunc(s.assigned, func(_ assignment, f *symbols.File) bool { return gone[f] })
	}
	fs.store.Remove(gone)
	fs.sources.remove(ids)
}

// describe returns an item as it is known by now.
func (fs *Files) describe(it *item) Item {
	out := it.Item
	if it.file == nil {
		return out
	}
	out.Warnings, out.WarningCount = it.file.Warnings()
	out.Refused = out.Refused || it.src.Refused()
	err := it.file.Err()
	ofModule := func(s *Session) bool { return s != nil && s.isOfModule(it.file) }
	if err == nil && !slices.ContainsFunc(fs.sessions, ofModule) {
		err = it.file.Refusal()
	}
	if err != nil && out.Message == "" {
		out.Message, out.Refused = err.Error(), intake.Refused(err)
	}
	return out
}

// Budget returns what the files may cost.
func (fs *Files) Budget() *input.Budget { return fs.budget }

// Dumps returns the usable dumps; Item.Dump counts them from 0.
func (fs *Files) Dumps() []Item {
	out := make([]Item, len(fs.dumps))
	for i, it := range fs.dumps {
		out[i] = it.Item // a dump is not in the store
	}
	return out
}

// Session returns the session of the dump with an index. It is nil if there is no such dump, or if one
// that was released cannot be read again.
func (fs *Files) Session(dump int) *Session {
	if dump < 0 || dump >= len(fs.sessions) {
		return nil
	}
	if fs.sessions[dump] == nil {
		if d, err := fs.dumps[dump].open(); err == nil {
			fs.sessions[dump] = fs.newSession(d)
		}
	}
	return fs.sessions[dump]
}

// DumpCount returns how many usable dumps there are, and DumpSource what one of them is read from.
func (fs *Files) DumpCount() int { return len(fs.dumps) }

func (fs *Files) DumpSource(dump int) *input.Source { return fs.dumps[dump].dump }

// Release gives back what the session of a dump holds, and the dump as it was read. The next Session
// reads it again. A session with choices of the user is only closed.
func (fs *Files) Release(dump int) {
	s := fs.sessions[dump]
	if s == nil {
		return
	}
	for i := range s.modules {
		for _, f := range []*symbols.File{s.modules[i].item, s.modules[i].bin} {
			if f != nil {
				fs.used[f] = true
			}
		}
	}
	s.Close()
	if len(s.assigned) == 0 && len(s.ignored) == 0 {
		fs.sessions[dump] = nil
		fs.dumps[dump].dump.Forget()
	}
}

// Report is Session.Report of the dump with an index, or nil if there is no such dump.
func (fs *Files) Report(dump int) *report.Report {
	if s := fs.Session(dump); s != nil {
		return s.Report()
	}
	return nil
}

// Add takes one file: recognizes it by its content, unpacks archives, opens dumps, and reads which
// module a symbol file is for. It returns the items that it made, the file's own first. Reports of
// dumps that a new symbol file concerns are made again at the next Report.
func (fs *Files) Add(src *input.Source) []Item {
	items, _ := fs.AddPart(src, intake.Turn{})
	return items
}

// AddPart is Add until the turn is over, or until an archive has given a first dump. state is that of
// an archive that has further members; Continue goes on with it.
func (fs *Files) AddPart(src *input.Source, turn intake.Turn) (items []Item, state intake.State) {
	first := len(fs.items)
	fs.budget.GiveFile(src)
	if sourcefile.Named(src.Name) {
		src.Budget = fs.budget
		return []Item{fs.addSource(src).Item}, intake.Done
	}
	fs.add(src, false)
	if it := fs.items[first]; it.unpacking != nil {
		state = fs.unpack(it, turn)
	}
	return fs.since(first), state
}

// Continue goes on with an archive that AddPart has begun. It returns its further members, and last the
// archive itself when there are no more.
func (fs *Files) Continue(item int, turn intake.Turn) (items []Item, state intake.State) {
	if item < 0 || item >= len(fs.items) || fs.items[item].unpacking == nil {
		return nil, intake.Done
	}
	first, it := len(fs.items), fs.items[item]
	state = fs.unpack(it, turn)
	if items = fs.since(first); state == intake.Done {
		items = append(items, fs.describe(it))
	}
	return items, state
}

// StopUnpacking ends what Continue would go on with.
func (fs *Files) StopUnpacking() {
	for _, it := range fs.items {
		if it.unpacking != nil {
			it.unpacking, it.members = nil, nil
			it.Message = it.Name + ": cancelled before all its files were unpacked"
		}
	}
}

// since returns the items from one on, as they are known when those are matched to the modules.
func (fs *Files) since(first int) []Item {
	fs.settleAll()
	out := make([]Item, 0, len(fs.items)-first)
	for _, it := range fs.items[first:] {
		out = append(out, fs.describe(it))
	}
	return out
}

// add is Add for one file, or for a member of an archive.
func (fs *Files) add(src *input.Source, member bool) {
	if member && sourcefile.Named(src.Name) {
		src.Spool, src.Budget = fs.opt.Limits.Spool, fs.budget
		fs.addSource(src)
		return
	}
	it := &item{Item: Item{ID: len(fs.items), Name: src.Name, Size: src.Size, Dump: -1, Kind: KindOther}, src: src}
	src.Spool, src.Budget = fs.opt.Limits.Spool, fs.budget
	fs.items = append(fs.items, it)
	guess := intake.Sniff(src)
	it.Detected = guess.Kind
	if guess.Kind.IsConverted() {
		if guess = fs.convert(it, guess.What); it.Message != "" {
			return
		}
	}
	switch k := guess.Kind; {
	case k == intake.Minidump:
		fs.addDump(it)
	case k == intake.Microdump:
		fs.addMicrodumps(it)
	case k == intake.ELFCore:
		fs.addCore(it)
	case k == intake.Sym, k == intake.SymWithoutModule:
		fs.addSym(it)
	case k.IsBinary():
		fs.addBinary(it, guess.What)
	case k == intake.BundlePart:
		it.Usable = true // it comes with a program, and says nothing that is needed
	case k == intake.Cache && fs.cache:
		it.Usable = true // a cache has up to a hundred files; the first has the message
	case k.IsPacked():
		if member {
			// Expand opens archives in archives itself, to its depth: an archive that holds itself
			// ends here.
			it.Kind = KindArchive
			it.Message = src.Name + ": an archive too deep inside other archives; it was not opened"
			return
		}
		fs.addArchive(it)
	default:
		fs.cache = fs.cache || k == intake.Cache
		it.Message = fmt.Sprintf("%s: %s. Crashpane reads dumps, symbol files, programs, and archives of these", src.Name, guess.What)
	}
}

// addSym adds a symbol file to the store. It is read when a stack needs it.
func (fs *Files) addSym(it *item) {
	it.Kind = KindSym
	f, err := fs.store.AddSym(it.src)
	if err != nil {
		it.Message = err.Error()
		return
	}
	fs.has(it, f)
	if it.NeedsAssignment = f.Known.NoModule(); it.NeedsAssignment {
		it.Message = it.Name + ": a symbol file without a MODULE record; choose the module that it belongs to"
	}
}

// addBinary adds an executable, library or debug file to the store. If nobody can read it, the item
// says what it is.
func (fs *Files) addBinary(it *item, what string) {
	it.Kind = KindBinary
	if fs.opt.OpenBinary == nil {
		it.Message = it.Name + ": " + what
		return
	}
	f, err := fs.store.AddBinary(it.src)
	switch {
	case errors.Is(err, symbols.ErrFormat):
		it.Kind, it.Message = KindOther, fmt.Sprintf("%s: %s; %v", it.Name, what, symbols.ErrFormat)
	case err != nil:
		it.Message = err.Error()
	default:
		fs.has(it, f)
	}
}

// has records the file of an item.
func (fs *Files) has(it *item, f *symbols.File) {
	it.Usable, it.file, fs.of[f] = true, f, it
	k := &f.Known
	it.SymName, it.SymID, it.SymOS, it.SymArch = k.Name, k.ID, k.OS, k.Arch
}

// addDump opens a minidump. A file whose streams cannot be read is refused, with the first
// error as the reason.
func (fs *Files) addDump(it *item) {
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
	fs.use(it, d, func() (*core.Dump, error) { return core.Open(it.src) })
}

// use makes a session of an opened dump. open reads the dump again.
func (fs *Files) use(it *item, d *core.Dump, open func() (*core.Dump, error)) {
	it.Kind, it.Usable, it.open, it.dump = KindDump, true, open, d.Src
	it.Dump = len(fs.sessions)
	fs.sessions, fs.dumps = append(fs.sessions, fs.newSession(d)), append(fs.dumps, it)
}

func (fs *Files) newSession(d *core.Dump) *Session {
	s := New(d, fs.opt)
	s.itemOf = fs.itemOf
	return s
}

// addMicrodumps opens the microdumps of a log: one is the file's own item, several are items of
// their own after it.
func (fs *Files) addMicrodumps(it *item) {
	it.Kind = KindDump
	dumps, err := microdump.Read(it.src)
	if err != nil {
		it.Message = err.Error()
		return
	}
	again := func(i int) func() (*core.Dump, error) {
		return func() (*core.Dump, error) {
			all, err := microdump.Read(it.src)
			if err == nil && i >= len(all) {
				err = fmt.Errorf("it has %d now", len(all))
			}
			if err != nil {
				return nil, fmt.Errorf("%s: microdump %d cannot be read again: %w", it.Name, i+1, err)
			}
			return all[i], nil
		}
	}
	if len(dumps) == 1 {
		fs.use(it, dumps[0], again(0))
		return
	}
	it.Kind, it.Usable = KindArchive, true
	for i, d := range dumps {
		one := &item{Item: Item{ID: len(fs.items), Name: d.Src.Name, Size: d.Micro.Size}, src: d.Src}
		fs.items = append(fs.items, one)
		fs.use(one, d, again(i))
	}
}

// addCore opens a core file.
func (fs *Files) addCore(it *item) {
	it.Kind = KindDump
	d, err := elfcore.Read(it.src)
	switch {
	case err != nil:
		it.Message = err.Error()
	case len(d.Threads) == 0 && len(d.Modules) == 0:
		it.Message = it.Name + ": a core file without threads and modules"
	default:
		fs.use(it, d, func() (*core.Dump, error) { return elfcore.Read(it.src) })
	}
}

// addArchive begins to unpack an archive.
func (fs *Files) addArchive(it *item) {
	it.Kind, it.Usable = KindArchive, true
	it.unpacking = intake.Begin(it.src, fs.opt.Limits, func(name string, done, total int64) error {
		fs.opt.progress("unpacking", name, done, total)
		return nil
	})
}

// unpack adds further members of an archive. What could be unpacked before an error is used.
func (fs *Files) unpack(it *item, turn intake.Turn) (state intake.State) {
	dumps := len(fs.dumps)
	for more := true; more; {
		if len(it.members) == 0 {
			it.members, it.unpacked = it.unpacking.Next(turn)
		}
		over := false
		for len(it.members) > 0 && !over {
			it.gave = true
			fs.add(it.members[0], true)
			it.members = it.members[1:]
			over = turn.Over != nil && (turn.Over() || dumps == 0 && len(fs.dumps) > 0)
		}
		if len(it.members) > 0 {
			return intake.Waiting
		}
		more = !over && it.unpacked == intake.Waiting && (turn.Over == nil || !turn.Over())
	}
	if it.unpacked != intake.Done {
		return it.unpacked
	}
	if err := it.unpacking.Err(); err != nil {
		it.Message, it.Refused = err.Error(), intake.Refused(err)
	}
	it.unpacking, it.members = nil, nil
	if it.Usable = it.gave; !it.Usable && it.Message == "" {
		it.Message = it.Name + ": an archive with no files in it"
	}
	return intake.Done
}

// convert replaces a text in another form, such as UTF-16, by the one that its reader knows.
func (fs *Files) convert(it *item, what string) intake.Guess {
	texts, err := intake.Expand(it.src, fs.opt.Limits, func(name string, done, total int64) error {
		fs.opt.progress("converting", name, done, total)
		return nil
	})
	if err != nil || len(texts) != 1 {
		it.Message, it.Refused = fmt.Sprintf("%s: %s, cannot be converted: %v", it.Name, what, err), intake.Refused(err)
		return intake.Guess{}
	}
	it.src = texts[0]
	it.src.Spool, it.src.Budget = fs.opt.Limits.Spool, fs.budget
	return intake.Sniff(it.src)
}

// SetPolicy changes how the stacks of all dumps are walked.
func (fs *Files) SetPolicy(p walker.Policy) {
	fs.opt.Policy = p
	for _, s := range fs.sessions {
		if s != nil {
			s.SetPolicy(p)
		}
	}
}

// file returns the symbol file or binary of an item, or nil.
func (fs *Files) file(itemID int) *symbols.File {
	if itemID < 0 || itemID >= len(fs.items) {
		return nil
	}
	return fs.items[itemID].file
}

// itemOf returns the number of a file's item, or -1 if another investigation added the file.
func (fs *Files) itemOf(f *symbols.File) int {
	if it := fs.of[f]; it != nil {
		return it.ID
	}
	return -1
}

// Assign uses the symbol file or binary of an item for a dump's module (Session.Assign).
func (fs *Files) Assign(itemID, dump, module int) error {
	f, s := fs.file(itemID), fs.Session(dump)
	if f == nil {
		return fmt.Errorf("there is no symbol file number %d", itemID)
	}
	if s == nil {
		return fmt.Errorf("there is no dump %d", dump)
	}
	return s.Assign(f, module)
}

// WithBinary calls do with the opened binary of an item, with the files that are parts of it, and
// returns false if the item is not a binary. do must not keep it.
func (fs *Files) WithBinary(itemID int, do func(b symbols.Binary)) bool {
	f := fs.file(itemID)
	if f == nil {
		return false
	}
	fs.store.Use(f)
	defer fs.store.Release(f)
	return f.WithBinary(do)
}

// IDInUse returns the debug id by which a dump's module knows the binary of an item; "" if none
// does. It is what a symbol file of the binary needs to be found for that dump.
func (fs *Files) IDInUse(itemID int) string {
	f := fs.file(itemID)
	if f == nil {
		return ""
	}
	for _, s := range fs.sessions {
		if s == nil {
			continue
		}
		if id := s.idOf(f); id != "" {
			return id
		}
	}
	return ""
}

// Unused says why a dump does not use the symbol file or binary of an item.
func (fs *Files) Unused(itemID, dump int) Unused {
	f := fs.file(itemID)
	if f == nil || fs.used[f] || fs.items[itemID].NeedsAssignment {
		return Unused{}
	}
	s := fs.Session(dump)
	if s == nil {
		return Unused{}
	}
	return s.Unused(f)
}

// Fits reports whether a file may be of the dump's processor: Assign refuses others.
func (fs *Files) Fits(itemID, dump int) bool {
	f, s := fs.file(itemID), fs.Session(dump)
	return f == nil || s == nil || s.wrongArch(f.Known.Arch) == ""
}

// FileID identifies the dump's file, whatever its name is, by its size and first bytes: a dump begins
// with its time and where its parts are. It is "" if the file cannot be read.
func (fs *Files) FileID(dump int) string {
	const begin = 4 << 10
	src := fs.dumps[dump].dump
	head, err := src.Bytes(0, min(begin, src.Size))
	if err != nil {
		return ""
	}
	h := fnv.New64a()
	h.Write(strconv.AppendInt(head[:len(head):len(head)], src.Size, 10))
	return fmt.Sprintf("%016x", h.Sum64())
}

// SameAs returns the first dump with the same bytes as a dump, which may be the dump itself.
func (fs *Files) SameAs(dump int) int {
	for ; fs.listedID <= dump; fs.listedID++ {
		id := fs.FileID(fs.listedID)
		fs.byID[id] = append(fs.byID[id], fs.listedID)
	}
	for _, k := range fs.byID[fs.FileID(dump)] {
		if k < dump && sameBytes(fs.dumps[k].dump, fs.dumps[dump].dump) {
			return k
		}
	}
	return dump
}
