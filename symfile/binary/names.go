package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// names are the names of a file's code in its symbol tables.
type names struct {
	// section is the table's name, file that of the file which has it. full: the table has more than what other modules may use.
	section, file string
	full          bool
	open          func() (nameTable, error)
	table         nameTable
	err           error
}

// nameTable is names by RVA, one an address. At is the name with number i in the order of addresses, Lookup that of the code at an
// RVA. They are public symbols.
type nameTable interface {
	Len() int
	At(i int) symbol.Symbol
	Lookup(rva uint64) (symbol.Symbol, bool)
}

// symbolTables are the files' symbol tables, full ones before those of which only the loader's is left.
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

// full says whether one of the tables is more than what other modules may use.
func full(tables []*names) bool {
	for _, n := range tables {
		if n.full {
			return true
		}
	}
	return false
}

// nameless stands for the name of a function that its debug information does not have, because it is in a file that is not here.
const nameless = "<name omitted>"

// nameAt is what a symbol table calls the function that starts at an RVA; nameless if none has a name for it.
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

// publicNames is a symbolTable that has names of addresses beside its functions: a PDB.
type publicNames interface {
	Publics(fn func(rva uint64, name string) error) error
}

// Publics calls fn for every public name of a PDB and every name of the symbol tables, table by table, each by address.
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
			continue // Warnings tells of it
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
