package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// names is a symbol table of a file, opened when it is needed.
type names struct {
	// section is the table's name, file the name of its file. full: the table has more than the
	// exported symbols.
	section, file string
	full          bool
	open          func() (nameTable, error)
	table         nameTable
	err           error
}

// nameTable is a list of names by RVA, one for each address. At returns name i in the order of
// addresses, Lookup the name of the code at an RVA. The results have Public set.
type nameTable interface {
	Len() int
	At(i int) symbol.Symbol
	Lookup(rva uint64) (symbol.Symbol, bool)
}

// symbolTables returns the files' symbol tables, full ones first.
func (f *File) symbolTables() ([]*names, error) {
	if f.names == nil {
		tables, err := f.program.symbolTables()
		if err != nil {
			return nil, err
		}
		f.names = append([]*names{}, tables...)
	}
	return f.names, nil
}

// get opens the table. It keeps an error other than input.NeedError.
func (n *names) get() (nameTable, error) {
	if n.table == nil && n.err == nil {
		t, err := n.open()
		if input.Needs(err) {
			return nil, err
		}
		if n.err = err; err == nil {
			n.table = t
		}
	}
	return n.table, n.err
}

// full reports whether one of the tables has more than the exported symbols.
func full(tables []*names) bool {
	for _, n := range tables {
		if n.full {
			return true
		}
	}
	return false
}

// nameless is the name that debug information has for a function whose name is in a file that is
// missing, such as the supplementary file of dwz. A symbol table may have the name.
const nameless = "<name omitted>"

// nameAt returns the name that a symbol table has for the function that starts at an RVA, or
// nameless.
func (f *File) nameAt(start uint64) (string, error) {
	tables, err := f.symbolTables()
	if err != nil {
		return nameless, err
	}
	for _, n := range tables {
		p, err := n.get()
		if input.Needs(err) {
			return nameless, err
		}
		if err != nil {
			continue
		}
		if s, ok := p.Lookup(start); ok && s.Start == start {
			return s.Name, nil
		}
	}
	return nameless, nil
}

// publicNames is a symbolTable that also has names of addresses: a PDB.
type publicNames interface {
	Publics(fn func(rva uint64, name string) error) error
}

// Publics calls fn for every public name of a PDB and every name of the symbol tables, table by
// table, each by address.
func (f *File) Publics(fn func(rva uint64, name string) error) error {
	for _, s := range f.symbolSources() {
		t, err := s.get()
		if input.Needs(err) {
			return err
		}
		if p, ok := t.(publicNames); ok {
			if err := p.Publics(fn); err != nil {
				return err
			}
		}
	}
	tables, err := f.symbolTables()
	if err != nil {
		return err
	}
	for _, n := range tables {
		p, err := n.get()
		if input.Needs(err) {
			return err
		}
		if err != nil {
			continue // Warnings has the error
		}
		for i := range p.Len() {
			s := p.At(i)
			if err := fn(s.Start, s.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
