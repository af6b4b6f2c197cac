package session

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core"
	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker/report"
)

// moduleSymbols is the state of one module's symbols. With a symbol file and a binary, lookups try
// the symbol file first, and use the binary where it knows more: a function where the symbol file
// has none or an export alone, a line where it has none, unwind rules where it has none. Rules of a
// Windows program come from the binary first.
type moduleSymbols struct {
	item *item // the file in use, or nil
	// assigned: the user assigned item, which is of another build, or of none that is known.
	assigned bool
	// bin is the binary in use, or nil. byName: it was known by its name and size alone;
	// binAssigned: it is of another build.
	bin                 *item
	byName, binAssigned bool
	// image is the program in the dump's memory, with bin, for a module whose bin does not hold the
	// program; imageLooked: it has been looked for.
	image       *item
	imageLooked bool
	// mismatch is a file of the right name and another id.
	mismatch  *item
	requested bool
	// unplaced: the dump does not say where the module's program begins, so that no file can be asked.
	unplaced bool
	// odd are the notes on unwind records that stacks were walked with, each once; oddLines are the
	// records' lines, or, where those are not known, their offsets as numbers below 0.
	odd      []string
	oddLines map[int64]bool
}

// keptWarnings is how many of a file's warnings are carried into items and reports.
const keptWarnings = 20

// addSym reads the MODULE record; the rest of the file is read when a stack needs it.
func (s *Session) addSym(it *item) {
	it.Kind, it.Usable = KindSym, true
	head, err := it.src.Bytes(0, min(it.src.Size, 4096))
	if err != nil {
		it.Usable, it.Message = false, err.Error()
		return
	}
	it.know(KnownSym(it.Name, head))
	if it.NeedsAssignment = it.known.NoModule(); it.NeedsAssignment {
		it.Message = it.Name + ": a symbol file without a MODULE record; choose the module that it belongs to"
	}
	s.matchNew(it)
}

// know sets what a file says of which module it is.
func (it *item) know(k Known) {
	it.known, it.keys = k, k.Keys()
	it.SymName, it.SymID, it.SymOS, it.SymArch = k.Name, k.ID, k.OS, k.Arch
}

// matchNew matches the dumps that a new file may concern.
func (s *Session) matchNew(it *item) {
	for _, d := range s.dumps {
		if d.concerns(it) {
			s.match(d)
		}
	}
}

// concerns reports whether a file could be of one of the dump's modules.
func (d *dump) concerns(it *item) bool {
	keys := d.keys()
	return slices.ContainsFunc(it.keys, func(k Key) bool { return len(keys[k.Text]) > 0 })
}

// sameName: the file is of a module of that name, in some build.
func (it *item) sameName(m *core.Module) bool {
	_, same := it.known.fits(m)
	return same
}

// SameName reports whether a symbol file's name in its MODULE record is that of a dump's module.
func (s *Session) SameName(dumpIndex, module int, name string) bool {
	return named(name).sameName(&s.dumps[dumpIndex].Modules[module])
}

// named stands for a file of which only the name is known.
func named(name string) *item {
	return &item{known: Known{Identity: symfile.Identity{Module: symfile.Module{Name: name}}}}
}

// match finds the symbol file of every module anew. If anything changed, the dump's report is out
// of date.
func (s *Session) match(d *dump) {
	// Everything is matched anew and then compared with what was in use, since a new file may be
	// better than one that is used, and the user's choice may have been taken back.
	fresh := make([]moduleSymbols, len(d.Modules))
	all := s.candidates(d)
	for i := range d.Modules {
		m, ms := &d.Modules[i], &fresh[i]
		s.matchBinary(d, i, all[i], ms)
		var mismatch *item
		candidates := all[i]
		assigned := d.assigned[assignment{i, KindSym}]
		if assigned != nil {
			sure, _ := assigned.known.fits(m)
			candidates = []candidate{{assigned, sure}}
		}
		for _, c := range candidates {
			it := c.it
			if it.Kind != KindSym || !it.Usable {
				continue
			}
			// A symbol file may have another of the build's ids than the dump: its binary knows
			// them all.
			exact := c.sure || ms.bin != nil && !ms.byName && !ms.binAssigned && ms.bin.answers(it.SymID)
			switch {
			case assigned != nil:
				ms.item, ms.assigned = it, !exact
			case exact && (ms.item == nil || !ms.item.sameName(m) && it.sameName(m)):
				ms.item = it
			case !exact && it.SymID != "" && it.sameName(m) && d.wrongArch(it.SymArch) == "":
				mismatch = it
			}
		}
		switch {
		case ms.item != nil || ms.bin != nil:
			ms.mismatch = nil
		case ms.mismatch == nil:
			ms.mismatch = mismatch
		}
	}
	if d.modules != nil {
		for i := range fresh {
			old := &d.modules[i]
			if f := &fresh[i]; old.item != f.item || old.assigned != f.assigned || old.mismatch != f.mismatch || old.bin != f.bin || old.binAssigned != f.binAssigned {
				d.invalidate()
			}
			fresh[i].requested = old.requested
			if old.bin == fresh[i].bin {
				fresh[i].image, fresh[i].imageLooked = old.image, old.imageLooked
			}
		}
	}
	d.modules = fresh
}

// open reads a symbol file's index, once.
func (s *Session) open(it *item) (*symfile.File, error) {
	if !it.opened {
		it.opened = true
		it.src.Materialize()
		open := symfile.Open
		if s.opt.IndexOnDemand {
			open = symfile.OpenOnDemand
		}
		it.sym, it.openErr = open(it.src, s.symOptions(it))
		if it.openErr != nil {
			it.Message = it.openErr.Error()
		} else {
			it.Warnings, it.WarningCount = warnings(it)
		}
	}
	return it.sym, it.openErr
}

func (s *Session) symOptions(it *item) symfile.Options {
	return symfile.Options{Slice: cmp.Or(it.src.Slice, s.opt.Slice), Workers: s.opt.Workers, Indexers: s.opt.Indexers, Progress: func(done, total int64) {
		stage := "reading symbols"
		if total < it.src.Size {
			stage = fmt.Sprintf("reading %d MB of unwind rules of", (total+500_000)/1_000_000)
		}
		s.progress(stage, it.Name, done, total)
	}}
}

// uses reports whether one of the dump's modules takes its symbols from a file.
func (d *dump) uses(it *item) bool {
	for i := range d.modules {
		if d.modules[i].item == it {
			return true
		}
	}
	return false
}

// revised reports whether lookups in a symbol file of the dump have to be made again.
func (d *dump) revised() bool {
	// Revised is asked of all files, so that the warnings of all are up to date.
	any := false
	for i := range d.modules {
		if it := d.modules[i].item; it != nil && it.sym != nil && it.sym.Revised() {
			any = true
			it.Warnings, it.WarningCount = warnings(it)
		}
	}
	return any
}

// warnings returns the warnings about a symbol file's text, and the errors of lookups in it.
func warnings(it *item) ([]string, int) {
	out := slices.Clone(it.failures)
	for _, w := range it.sym.Warnings {
		if len(out) >= keptWarnings {
			break
		}
		out = append(out, it.Name+": "+w.String())
	}
	return out, it.sym.WarningCount + len(it.failures)
}

// symbols implements walker.Symbols for one dump.
type symbols struct {
	s    *Session
	d    *dump
	arch *cpu.Arch
}

// file returns the module's opened symbol file, or nil.
func (y *symbols) file(module int) *symfile.File {
	ms := &y.d.modules[module]
	ms.requested = true
	if ms.item == nil || ms.unplaced {
		return nil
	}
	f, err := y.s.open(ms.item)
	if err != nil {
		return nil
	}
	return f
}

// Known implements walker.Symbols.
func (y *symbols) Known(module int) symbol.Answer {
	if y.file(module) == nil && y.binary(module) == nil {
		return symbol.NoFile
	}
	return symbol.Yes
}

// failed keeps what a file's reader says of a part that cannot be read as a warning of the file,
// and turns it into an answer: bytes that are not here yet are wanted, anything else is "no".
func (y *symbols) failed(it *item, ans symbol.Answer, err error) symbol.Answer {
	if err == nil {
		return ans
	}
	var need *input.NeedError
	if errors.As(err, &need) {
		y.d.needs = append(y.d.needs, need)
		return symbol.Needs
	}
	it.fail(err.Error())
	return symbol.No
}

// fail keeps what a lookup could not read, once.
func (it *item) fail(text string) {
	if n := len(it.failures); n < keptWarnings {
		if it.failures = once(it.failures, text); len(it.failures) > n {
			it.Warnings = once(it.Warnings, text)
			it.WarningCount++
		}
	}
}

// once adds a text to a list that does not have it yet.
func once(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// Lookup implements walker.Symbols. The order of a symbol file and a binary is that of
// moduleSymbols.
func (y *symbols) Lookup(module int, rva uint64) (symbol.Symbol, symbol.Answer) {
	var sym symbol.Symbol
	ans := symbol.NoFile
	if f := y.file(module); f != nil {
		var err error
		sym, ans, err = f.Lookup(rva)
		it := y.d.modules[module].item
		if ans = y.failed(it, ans, err); ans == symbol.Yes && sym.HasLine && sym.File == "" {
			it.fail(it.Name + ": no FILE record names the source file of some lines")
		}
	}
	b := y.binary(module)
	if b == nil {
		return sym, ans
	}
	if ans == symbol.Yes {
		sym.From = y.d.modules[module].item.Name
		// The binary cannot know more than this.
		if !sym.Public && sym.HasLine {
			return sym, ans
		}
	}
	other, answer, err := b.Lookup(rva)
	answer = y.failed(y.d.modules[module].program(), answer, err)
	other.Linked = true
	switch {
	case ans == symbol.NoFile, ans != symbol.Yes && answer == symbol.Yes,
		answer == symbol.Yes && (sym.Public && !other.Public || !sym.HasLine && other.HasLine || sym.Extent == symbol.Passed && other.Extent != symbol.Passed):
		if ans != symbol.NoFile {
			other.From = y.d.modules[module].program().Name
		}
		return other, answer
	case answer == symbol.Yes && other.Extent != symbol.Nearest && other.Start == sym.Start:
		sym.Extent = other.Extent // the program has unwind tables that the symbol file lacks
	}
	return sym, ans
}

// Row implements walker.Symbols. A binary's row counts first where exact says so, else the symbol
// file's.
func (y *symbols) Row(module int, rva uint64) (unwind.Row, symbol.Answer) {
	f, b := y.file(module), y.binary(module)
	if f == nil && b == nil {
		return unwind.Row{}, symbol.NoFile
	}
	if y.d.ignored[module] {
		return unwind.Row{Origin: unwind.Origin{Part: "call frame information, ignored by hand"}}, symbol.No
	}
	var row unwind.Row
	ans := symbol.No
	if f != nil && y.d.modules[module].exact() {
		if row, ans, err := b.Row(rva); ans == symbol.Yes && err == nil {
			return row, ans
		}
	}
	if f != nil {
		if row, ans = y.symRow(f, module, rva); ans == symbol.Yes || b == nil {
			return row, ans
		}
	}
	other, answer, err := b.Row(rva)
	if answer = y.failed(y.d.modules[module].program(), answer, err); answer == symbol.Yes || row.Origin.Part == "" {
		return other, answer
	}
	return row, ans
}

// symRow returns the STACK CFI of a symbol file.
func (y *symbols) symRow(f *symfile.File, module int, rva uint64) (unwind.Row, symbol.Answer) {
	row, ans, err := f.Row(y.arch, rva)
	var bad *unwind.RuleError
	if errors.As(err, &bad) {
		row.Origin.Note, ans, err = bad.Error(), symbol.No, nil
	}
	y.d.modules[module].note(row.Origin, f.RowNotes(rva))
	return row, y.failed(y.d.modules[module].item, ans, err)
}

// FrameData implements walker.Symbols.
func (y *symbols) FrameData(module int, rva uint64) (unwind.FrameData, symbol.Answer) {
	var fd unwind.FrameData
	ans := symbol.NoFile
	if f := y.file(module); f != nil {
		var err error
		fd, ans, err = f.FrameData(rva)
		if ans = y.failed(y.d.modules[module].item, ans, err); ans == symbol.Yes {
			return fd, ans
		}
	}
	if b := y.binary(module); b != nil {
		other, answer, err := b.FrameData(rva)
		if answer = y.failed(y.d.modules[module].program(), answer, err); ans == symbol.NoFile || answer == symbol.Yes {
			return other, answer
		}
	}
	return fd, ans
}

// note keeps what was passed over in a record. Registers without a place here (xmm6) are left out:
// nothing is lost by them.
func (ms *moduleSymbols) note(at unwind.Origin, notes []string) {
	// Offsets count from 0, so they are kept as −1, −2, … beside the numbers of lines.
	key, text := -at.Offset-1, fmt.Sprintf("at offset 0x%x", at.Offset)
	if at.Line > 0 {
		key, text = int64(at.Line), fmt.Sprintf("line %d", at.Line)
	}
	for _, n := range notes {
		if strings.Contains(n, "no general register") || ms.oddLines[key] {
			continue
		}
		if ms.oddLines == nil {
			ms.oddLines = map[int64]bool{}
		}
		ms.oddLines[key] = true
		if len(ms.odd) < 3 {
			ms.odd = append(ms.odd, text+": "+n)
		}
	}
}

// symbolsOf returns what the report says of a module's symbols.
func (d *dump) symbolsOf(module int) report.ModuleSymbols {
	ms := &d.modules[module]
	out := report.ModuleSymbols{Requested: ms.requested, Unplaced: ms.unplaced}
	if ms.unplaced {
		return out
	}
	if it := ms.mismatch; it != nil {
		out.Mismatch = report.Mismatch{File: it.Name, ID: it.SymID, Item: it.ID}
		out.State = report.SymbolsMismatch
	}
	if it := ms.item; it != nil {
		out.File, out.ID, out.Name = it.Name, it.SymID, it.SymName
		out.Warnings = it.Warnings
		out.NoUnwind = it.sym != nil && !it.sym.HasUnwind()
		out.IndexedOnDemand = it.sym != nil && !it.sym.FullyIndexed()
		out.UnwindNotes, out.UnwindNoted = ms.odd, len(ms.oddLines)
		switch {
		case it.openErr != nil:
			out.State = report.SymbolsCorrupt
			out.Warnings = []string{it.openErr.Error()}
		case ms.assigned:
			out.State = report.SymbolsAssigned
		case ms.requested:
			out.State = report.SymbolsLoaded
		}
		if it.sym != nil {
			out.Has = it.symContents()
		}
	}
	if ms.bin != nil {
		ms.describe(&d.Modules[module], &out)
	} else if ms.image != nil && ms.requested {
		out.Has = merge(out.Has, ms.image.bin.Has())
	}
	out.IgnoredCFI = d.ignored[module]
	return out
}
