package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// symbolSource is one file's DWARF or STABS, or a PDB.
type symbolSource struct {
	section string // ".debug_info", ".stab" or "module streams"
	file    string // the name of the file that has it
	open    func() (symbolTable, error)
	table   symbolTable
	err     error // why it could not be opened, if that will not change
	// What it has, if asked is set.
	asked, functions, lines, inlines bool
}

// symbolTable knows functions.
type symbolTable interface {
	symbol.Functions
	Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error)
}

func (s *symbolSource) get() (symbolTable, error) {
	if s.table == nil && s.err == nil {
		t, err := s.open()
		if input.Needs(err) {
			return nil, err
		}
		if s.err = err; err == nil {
			s.table = t // of an error it would be a nil pointer, which is not a nil interface
		}
	}
	return s.table, s.err
}

func (s *symbolSource) warnings() []string {
	if t, ok := s.table.(interface{ Warnings() []string }); ok {
		return t.Warnings()
	}
	return nil
}

// symbolSources are what knows functions, in the order in which it is asked.
func (f *File) symbolSources() []*symbolSource {
	if f.symbols == nil {
		f.symbols = f.program.symbolSources()
	}
	return f.symbols
}

// Lookup is the function, source line and inlined calls at an RVA; where no function is known, the name that a symbol table has for
// it, as a public symbol. Names are those that the file has. Where a stripped file has no name for an address, the answer is NoFile if
// there is code: nothing can be concluded from it, while No says that no function lies there. An error is that of the first part that should have answered and cannot be
// read; another may have answered in its place.
func (f *File) Lookup(rva uint64) (symbol.Symbol, symbol.Answer, error) {
	var failed error
	var public *symbol.Symbol // the first, which counts if no function is known: a PDB may have names alone of what DWARF describes
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
			if failed == nil {
				failed = err
			}
		case ans == symbol.Yes && sym.Public:
			if public == nil {
				public = &sym
			}
		case ans == symbol.Yes:
			if sym.Name == nameless {
				name, err := f.nameAt(sym.Start)
				if input.Needs(err) {
					return symbol.Symbol{}, symbol.Needs, err
				}
				sym.Name = name
			}
			return sym, ans, failed
		}
	}
	if public != nil {
		return *public, symbol.Yes, failed
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
			if failed == nil {
				failed = err
			}
			continue
		}
		if s, ok := p.Lookup(rva); ok {
			return s, symbol.Yes, failed
		}
	}
	// A stripped file says nothing of its own functions: it is as if there were none for them.
	if len(f.symbolSources()) == 0 && !full(tables) && f.program.isCode(rva) {
		return symbol.Symbol{}, symbol.NoFile, failed
	}
	return symbol.Symbol{}, symbol.No, failed
}

// Each calls fn for every function of PDB, DWARF and STABS, source by source, each by address.
func (f *File) Each(fn func(symbol.Function) error) error {
	for _, s := range f.symbolSources() {
		t, err := s.get()
		if input.Needs(err) {
			return err
		}
		if err != nil {
			continue // Warnings tells of it
		}
		err = t.Each(func(s symbol.Function) error {
			if s.Name == nameless {
				name, err := f.nameAt(s.Ranges[0].Start)
				if err != nil {
					return err
				}
				s.Name = name
			}
			return fn(s)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
