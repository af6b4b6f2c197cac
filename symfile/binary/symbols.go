package binary

import (
	"cmp"
	"sort"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
	"github.com/crashpane/crashpane/symfile/unwind"
)

// symbolSource is one file's DWARF or STABS, or a PDB.
type symbolSource struct {
	onDemand[symbolTable]
	// gaps: its functions count only where no source before it has one.
	gaps bool
	// What the source has, valid if asked is set. See Has.
	asked, functions, lines, inlines bool
}

// symbolTable has functions.
type symbolTable interface {
	symbol.Functions
	Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error)
}

func sourceOf(section string, src *input.Source, open func() (symbolTable, error)) *symbolSource {
	return &symbolSource{onDemand: onDemand[symbolTable]{section: section, src: src, open: open}}
}

// symbolSources returns the sources of functions, in the order in which Lookup asks them.
func (f *File) symbolSources() []*symbolSource {
	if f.symbols == nil {
		f.symbols = f.program.symbolSources(symbolNames{f})
	}
	return f.symbols
}

// Lookup returns the function, source line and inlined calls at an RVA. If no source has a function
// there, it returns the name that a symbol table has, with Public set. Names are as the file has
// them.
//
// The answer No means that there is no function. If a stripped file has code and no name at the
// RVA, the answer is NoFile, because nothing can be concluded from it. An error is that of the
// first source that could not be read; a later source may have answered.
//
// In order: the functions of PDB, DWARF and STABS; a public name of those; the symbol tables.
func (f *File) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	if known, ok := f.found[rva]; ok {
		return known.symbol, known.answer, known.err
	}
	return f.find(rva)
}

func (f *File) find(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	var failed error
	// public is the first name without a function's bounds and lines. It counts if no source knows
	// the function: a PDB may have only names of what DWARF describes.
	var public *symbol.Symbol
	for _, s := range f.symbolSources() {
		t, err := s.get()
		var sym symbol.Symbol
		ans := symbol.No
		if err == nil {
			sym, ans, err = t.Lookup(rva)
		}
		switch {
		case input.Needs(err):
			return symbol.Symbol{}, symbol.Needs, err
		case err != nil:
			failed = cmp.Or(failed, err)
		case ans == symbol.Yes && sym.Public:
			if public == nil {
				public = &sym
			}
		case ans == symbol.Yes:
			return sym, ans, failed
		}
	}
	if public != nil {
		err := f.setExtent(public, rva)
		return *public, answerOf(err), cmp.Or(failed, err)
	}
	tables, err := f.symbolTables()
	if err != nil {
		return symbol.Symbol{}, symbol.Needs, err
	}
	for _, n := range tables {
		p, err := n.get()
		if input.Needs(err) {
			return symbol.Symbol{}, symbol.Needs, err
		}
		if err != nil {
			failed = cmp.Or(failed, err)
			continue
		}
		if s, ok := p.Lookup(rva); ok {
			err := f.setExtent(&s, rva)
			return s, answerOf(err), cmp.Or(failed, err)
		}
	}
	// A stripped file has no information about its functions, as if there were no file.
	if len(f.symbolSources()) == 0 && !full(tables) && f.program.isCode(rva) {
		return symbol.Symbol{}, symbol.NoFile, failed
	}
	return symbol.Symbol{}, symbol.No, failed
}

// setExtent sets the extent of a name from the unwind tables, if the name has no size and
// is not that of the address itself.
func (f *File) setExtent(s *symbol.Symbol, rva uint64) error {
	if s.Size > 0 || s.Start == rva {
		return nil
	}
	s.Extent = symbol.Nearest
	for _, t := range f.unwindTables() {
		u, err := t.get()
		functions, ok := u.(unwind.Functions)
		if err != nil || !ok {
			if input.Needs(err) {
				return err
			}
			continue // Warnings has the error
		}
		start, end, ok, err := functions.Function(rva)
		if input.Needs(err) {
			return err
		}
		if err != nil || !ok {
			continue // Row has the error
		}
		if s.Extent = symbol.ExtentOf(s.Start, start, end, rva); s.Extent != symbol.Nearest {
			return nil
		}
	}
	return nil
}

// NameEnd returns the first address after start, where a name is, at which it is known not to count
// any more, or limit if none is before that. The names of PE files have no sizes, but are in the
// order of their functions.
func (f *File) NameEnd(start, limit uint64) (uint64, error) {
	if !f.format.unsized {
		return f.sizedEnd(start, limit)
	}
	var failed error
	n := sort.Search(int(limit-start), func(n int) bool {
		s := symbol.Symbol{Start: start}
		failed = cmp.Or(failed, f.setExtent(&s, start+uint64(n)))
		return s.Extent == symbol.Passed
	})
	return start + uint64(n), failed
}

// alignment is the largest that compilers give functions: less between two is not a function.
const alignment = 16

// sizedEnd is NameEnd for names with sizes. What is less than a function, has another name, or
// consists of functions with unwind rules, is left to its readers.
func (f *File) sizedEnd(start, limit uint64) (uint64, error) {
	s, ok, err := f.nameAt(start)
	end := start + s.Size
	if !ok || s.Start != start || s.Size == 0 || end+alignment > limit || end < start {
		return limit, err
	}
	_, named, err := f.nameAt(end)
	if named || err != nil || !f.program.isCode(end) {
		return limit, err
	}
	for at := end; at+alignment <= limit; {
		rva := min(at+alignment-1, limit-alignment)
		r, ok, err := f.Function(rva) // another error than Needs is a warning of the table's reader
		if input.Needs(err) {
			return limit, err
		}
		row, has, err := f.Row(rva)
		if input.Needs(err) {
			return limit, err
		}
		if !ok || r.Start < end || has != symbol.Yes || row.CannotUnwind {
			return end, nil
		}
		at = r.Start + r.Size
	}
	return limit, nil
}

// nameAt returns the name that the first symbol table with one has for an address.
func (f *File) nameAt(rva uint64) (symbol.Symbol, bool, error) {
	tables, err := f.symbolTables()
	for _, n := range tables {
		p, err := n.get()
		if input.Needs(err) {
			return symbol.Symbol{}, false, err
		}
		if err != nil {
			continue // Warnings has the error
		}
		if s, ok := p.Lookup(rva); ok {
			return s, true, nil
		}
	}
	return symbol.Symbol{}, false, err
}

// answerOf returns the answer of a lookup that found a name.
func answerOf(err error) symbol.Answer {
	if err != nil {
		return symbol.Needs
	}
	return symbol.Yes
}

// Each calls fn for every function of PDB, DWARF and STABS, source by source, each by address. For a
// source that fills gaps it leaves out functions that begin where another source has one.
func (f *File) Each(fn func(symbol.Function) error) error {
	sources := f.symbolSources()
	var known map[uint64]bool // where functions begin, if another source fills gaps
	if n := len(sources) - 1; n > 0 && sources[n].gaps {
		known = map[uint64]bool{}
	}
	for _, s := range sources {
		t, err := s.get()
		if input.Needs(err) {
			return err
		}
		if err != nil {
			continue // Warnings has the error
		}
		fills := s.gaps
		err = t.Each(func(s symbol.Function) error {
			for i := 0; known != nil && !fills && i < len(s.Ranges); i++ {
				known[s.Ranges[i].Start] = true
			}
			if fills && known[s.Ranges[0].Start] {
				return nil
			}
			return fn(s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// SourceSum returns the checksum of a source file of the code at an RVA, as the first source says that has
// one: PDB, or DWARF 5.
func (f *File) SourceSum(rva uint64, path string) (symbol.Sum, error) {
	for _, s := range f.symbolSources() {
		t, err := s.get()
		if sums, ok := t.(interface {
			SourceSum(rva uint64, path string) (symbol.Sum, error)
		}); ok && err == nil {
			var sum symbol.Sum
			if sum, err = sums.SourceSum(rva, path); sum.Kind != "" {
				return sum, nil
			}
		}
		if input.Needs(err) {
			return symbol.Sum{}, err
		}
	}
	return symbol.Sum{}, nil
}

// SourceLink returns the link to a source file, by its path in the debug information, as the first source
// says that has one: a PDB.
func (f *File) SourceLink(path string) (string, error) {
	for _, s := range f.symbolSources() {
		t, err := s.get()
		if links, ok := t.(interface {
			SourceLink(path string) (string, error)
		}); ok && err == nil {
			var link string
			if link, err = links.SourceLink(path); link != "" {
				return link, nil
			}
		}
		if input.Needs(err) {
			return "", err
		}
	}
	return "", nil
}
