package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/crashpane/crashpane/core/cpu"
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
	"github.com/crashpane/crashpane/walker/report"
	"github.com/crashpane/crashpane/walker/symbols"
)

// moduleSymbols is the state of one module's symbols. With a symbol file and a binary, lookups try
// the symbol file first, and use the binary where it knows more: a function where the symbol file
// has none or an export alone, a line where it has none, unwind rules where it has none. Rules of a
// Windows program come from the binary first.
type moduleSymbols struct {
	item *symbols.File // the symbol file in use, or nil
	// assigned: the user assigned item, which is of another build, or of none that is known.
	assigned bool
	// bin is the binary in use, or nil. byName: it was known by its name and size alone;
	// binAssigned: it is of another build.
	bin                 *symbols.File
	byName, binAssigned bool
	// revision and binRevision are those that the last walk saw of the two.
	revision, binRevision int64
	// image is the program in the dump's memory, with bin, for a module whose bin does not hold the
	// program; imageLooked: it has been looked for.
	image       *symbols.File
	imageLooked bool
	// mismatch is a file of the right name and another id.
	mismatch  *symbols.File
	requested bool
	// unplaced says why it is not known where the module's program begins, so that no file can be
	// asked; "" if it is.
	unplaced string
	// odd are the notes on unwind records that stacks were walked with, each once; oddLines are the
	// records' lines, or, where those are not known, their offsets as numbers below 0.
	odd      []string
	oddLines map[int64]bool
}

// readingSymbols reports the progress of reading a symbol file.
func (fs *Files) readingSymbols(f *symbols.File, done, total int64) {
	stage := "reading symbols"
	if total < f.Source().Size {
		stage = fmt.Sprintf("reading %d MB of unwind rules of", (total+500_000)/1_000_000)
	}
	fs.opt.progress(stage, f.Name(), done, total)
}

// uses reports whether one of the dump's modules takes its symbols from a file.
func (s *Session) uses(f *symbols.File) bool {
	return slices.ContainsFunc(s.modules, func(ms moduleSymbols) bool { return ms.item == f })
}

// revised reports whether lookups in a symbol file of the dump have to be made again.
func (s *Session) revised() bool {
	revised := false
	for i := range s.modules {
		if ms := &s.modules[i]; ms.item != nil && ms.item.Revision() != ms.revision {
			ms.revision, revised = ms.item.Revision(), true
		}
	}
	return revised
}

// lookups implements walker.Symbols for one dump.
type lookups struct {
	s      *Session
	arch   *cpu.Arch
	images bool // of the policy
}

// file returns the module's opened symbol file, or nil.
func (y *lookups) file(module int) *symbols.File {
	ms := &y.s.modules[module]
	ms.requested = true
	if ms.item == nil || ms.unplaced != "" || ms.item.Open() != nil {
		return nil
	}
	return ms.item
}

// failed keeps what a file's reader says about a part that cannot be read as a warning of the file,
// and turns it into an answer: bytes that a round still has to read are needed, anything else is "no".
func (y *lookups) failed(f *symbols.File, ans symbol.Answer, err error) symbol.Answer {
	if err == nil {
		return ans
	}
	if input.Needs(err) {
		return symbol.Needs
	}
	f.Fail(err)
	return symbol.No
}

// Lookup implements walker.Symbols. The order of a symbol file and a binary is that of
// moduleSymbols.
func (y *lookups) Lookup(module int, rva uint64) (symbol.Symbol, symbol.Answer) {
	var sym symbol.Symbol
	ans := symbol.NoFile
	if f := y.file(module); f != nil {
		var err error
		sym, ans, err = f.Lookup(rva)
		if ans = y.failed(f, ans, err); ans == symbol.Yes && sym.HasLine && sym.File == "" {
			f.Fail(errors.New(f.Name() + ": no FILE record names the source file of some lines"))
		}
	}
	b := y.binary(module)
	if b == nil {
		return sym, ans
	}
	if ans == symbol.Yes {
		sym.From = y.s.modules[module].item.Name()
		// The binary cannot know more than this.
		if !sym.Public && sym.HasLine {
			return sym, ans
		}
	}
	other, answer, err := b.Lookup(rva)
	answer = y.failed(b, answer, err)
	other.Linked = true
	switch {
	case ans == symbol.NoFile, ans != symbol.Yes && answer == symbol.Yes,
		answer == symbol.Yes && (sym.Public && !other.Public || !sym.HasLine && other.HasLine || sym.Extent == symbol.Passed && other.Extent != symbol.Passed):
		if ans != symbol.NoFile {
			other.From = b.Name()
		}
		return other, answer
	case answer == symbol.Yes && other.Extent != symbol.Nearest && other.Start == sym.Start:
		sym.Extent = other.Extent // the program has unwind tables that the symbol file lacks
	}
	return sym, ans
}

// Row implements walker.Symbols. A binary's row counts first where exact says so, else the symbol
// file's.
func (y *lookups) Row(module int, rva uint64) (unwind.Row, symbol.Answer) {
	f, b := y.file(module), y.binary(module)
	if f == nil && b == nil {
		return unwind.Row{}, symbol.NoFile
	}
	if y.s.ignored[module] {
		return unwind.Row{Origin: unwind.Origin{Part: "unwind rules (CFI), which you chose to ignore"}}, symbol.No
	}
	var row unwind.Row
	ans := symbol.No
	if f != nil && b != nil && y.s.modules[module].exact() {
		if row, _, ans, err := b.Row(y.arch, rva); ans == symbol.Yes && err == nil {
			return row, ans
		}
	}
	if f != nil {
		if row, ans = y.symRow(f, module, rva); ans == symbol.Yes || b == nil {
			return row, ans
		}
	}
	other, _, answer, err := b.Row(y.arch, rva)
	if answer = y.failed(b, answer, err); answer == symbol.Yes || row.Origin.Part == "" {
		return other, answer
	}
	return row, ans
}

// symRow returns the STACK CFI of a symbol file.
func (y *lookups) symRow(f *symbols.File, module int, rva uint64) (unwind.Row, symbol.Answer) {
	row, notes, ans, err := f.Row(y.arch, rva)
	var bad *unwind.RuleError
	if errors.As(err, &bad) {
		row.Origin.Note, ans, err = bad.Error(), symbol.No, nil
	}
	y.s.modules[module].note(row.Origin, notes)
	return row, y.failed(f, ans, err)
}

// FrameData implements walker.Symbols.
func (y *lookups) FrameData(module int, rva uint64) (unwind.FrameData, symbol.Answer) {
	var fd unwind.FrameData
	ans := symbol.NoFile
	if f := y.file(module); f != nil {
		var err error
		fd, ans, err = f.FrameData(rva)
		if ans = y.failed(f, ans, err); ans == symbol.Yes {
			return fd, ans
		}
	}
	if b := y.binary(module); b != nil {
		other, answer, err := b.FrameData(rva)
		if answer = y.failed(b, answer, err); ans == symbol.NoFile || answer == symbol.Yes {
			return other, answer
		}
	}
	return fd, ans
}

// Function implements walker.Symbols. The program's own tables come first.
func (y *lookups) Function(module int, rva uint64) (symbol.Range, bool) {
	for _, f := range []*symbols.File{y.binary(module), y.file(module)} {
		if f == nil {
			continue
		}
		code, ok, err := f.Function(rva)
		if y.failed(f, symbol.Yes, err) == symbol.Yes && ok {
			return code, true
		}
	}
	return symbol.Range{}, false
}

// note keeps what was passed over in a record. Registers without a place here (xmm6) are left out:
// nothing is lost by them.
func (ms *moduleSymbols) note(at unwind.Origin, notes []string) {
	if len(notes) == 0 {
		return
	}
	// Offsets count from 0, so they are kept as −1, −2, … next to the numbers of lines.
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

// symbolsOf returns what the report says about a module's symbols.
func (s *Session) symbolsOf(module int) report.ModuleSymbols {
	ms := &s.modules[module]
	out := report.ModuleSymbols{Requested: ms.requested, Unplaced: ms.unplaced}
	if ms.unplaced != "" {
		if ms.bin != nil {
			out.Binary = ms.bin.Name()
		}
		return out
	}
	if f := ms.mismatch; f != nil {
		out.Mismatch = report.Mismatch{File: f.Name(), ID: f.ID(), Item: s.itemOf(f)}
		out.State = report.SymbolsMismatch
	}
	if f := ms.item; f != nil {
		out.File, out.ID, out.Name = f.Name(), f.ID(), f.Known.Name
		out.Warnings, _ = f.Warnings()
		out.UnwindNotes, out.UnwindNoted = ms.odd, len(ms.oddLines)
		switch err := f.Err(); {
		case err != nil:
			out.State = report.SymbolsCorrupt
			out.Warnings = []string{err.Error()}
		case ms.assigned:
			out.State = report.SymbolsAssigned
		case ms.requested:
			out.State = report.SymbolsLoaded
		}
		f.WithSym(false, func(sym *symfile.File) {
			out.NoUnwind, out.IndexedOnDemand, out.Has = !sym.HasUnwind(), !sym.FullyIndexed(), symContents(sym)
		})
	}
	if ms.bin != nil {
		ms.describe(&s.Modules[module], &out)
	} else if ms.image != nil && ms.requested {
		ms.image.WithBinary(func(b symbols.Binary) { out.Has = merge(out.Has, b.Has()) })
	}
	out.IgnoredCFI = s.ignored[module]
	return out
}
