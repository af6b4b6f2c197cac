package binary

import (
	"cmp"
	"slices"

	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/demangle"
	"github.com/crashpane/crashpane/symfile/symbol"
)

// names is a symbol table of a file.
type names struct {
	onDemand[nameTable]
	full bool // it has more than the exported symbols
	// some reports whether there is a name, if that takes less than opening the table; it may be nil.
	some func() bool
}

// any reports whether the table has a name.
func (n *names) any() bool {
	if !n.opened && n.some != nil && n.some() {
		return true
	}
	t, err := n.get()
	return err == nil && t.Len() > 0
}

// nameTable is a list of names by RVA, one for each address. At returns name i in the order of
// addresses, Lookup the name of the code at an RVA. The results have Public set. Position orders the
// names as they are in the file. Piece returns the number of the name at an RVA, and the code around
// it that has this name. Without a name the number is -1, and the code ends where the next name
// starts. Names returns all names of the function that starts at an RVA.
type nameTable interface {
	Len() int
	At(i int) symbol.Symbol
	Position(i int) uint64
	Lookup(rva uint64) (symbol.Symbol, bool)
	Piece(rva uint64) (int, symbol.Range)
	Names(rva uint64) []string
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
	if f.inPrefetch && slices.ContainsFunc(f.names, func(n *names) bool { return !n.opened }) {
		f.needsTables = true
		return nil, &input.NeedError{Name: f.src.Name}
	}
	return f.names, nil
}

// full reports whether one of the tables has more than the exported symbols.
func full(tables []*names) bool {
	return slices.ContainsFunc(tables, func(n *names) bool { return n.full })
}

// symbolNames is the symbol tables of a file as package dwarf asks for them.
type symbolNames struct{ f *File }

// table returns the first table, which has most names, or nil.
func (s symbolNames) table() (*names, nameTable, error) {
	tables, err := s.f.symbolTables()
	if err != nil || len(tables) == 0 {
		return nil, nil, err
	}
	t, err := tables[0].get()
	if err != nil && !input.Needs(err) {
		err = nil // Warnings has it
	}
	return tables[0], t, err
}

// Len implements dwarf.Symbols.
func (s symbolNames) Len() int {
	if _, t, _ := s.table(); t != nil {
		return t.Len()
	}
	return 0
}

// Piece implements dwarf.Symbols. In a table of exports, the end of a name without a size is not
// known: the next function may not be exported.
func (s symbolNames) Piece(rva uint64) (n int, code symbol.Range, err error) {
	of, t, err := s.table()
	if err != nil || t == nil {
		return -1, symbol.Range{Start: rva, Size: -rva}, err
	}
	n, code = t.Piece(rva)
	if n >= 0 && !of.full && t.At(n).Size == 0 {
		n = -1
	}
	return n, code, nil
}

// Name implements dwarf.Symbols.
func (s symbolNames) Name(n int) string {
	if _, t, _ := s.table(); t != nil {
		return t.At(n).Name
	}
	return ""
}

// Linkage implements dwarf.Symbols.
func (s symbolNames) Linkage(starts []uint64, plain string) (string, error) {
	tables, err := s.f.symbolTables()
	if err != nil {
		return "", err
	}
	for _, of := range tables {
		t, err := of.get()
		if input.Needs(err) {
			return "", err
		}
		if err != nil {
			continue
		}
		for _, start := range starts {
			names := t.Names(start)
			if plain == "" && len(names) > 0 {
				return names[0], nil
			}
			if linkage := demangle.Linkage(names, plain); linkage != "" {
				return linkage, nil
			}
		}
	}
	return "", nil
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
		if err := f.eachName(p, fn); err != nil {
			return err
		}
	}
	return nil
}

// eachName calls fn for every name of a table, by address. It reads the names in the order of the
// file first: in that of addresses each may be in another block, and to read all of them would take
// work for the number of names times the size of a block.
func (f *File) eachName(t nameTable, fn func(rva uint64, name string) error) error {
	type named struct {
		rva  uint64
		name string
	}
	names, order := make([]named, t.Len()), make([]int, t.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(t.Position(a), t.Position(b)) })
	drawn := int64(0)
	defer func() { f.src.Return(drawn) }()
	for _, i := range order {
		s := t.At(i)
		n := int64(len(s.Name)) + 32 // and a named and an int
		if err := f.src.Draw(input.Memory, n); err != nil {
			return err
		}
		drawn += n
		names[i] = named{s.Start, s.Name}
	}
	for _, n := range names {
		if err := fn(n.rva, n.name); err != nil {
			return err
		}
	}
	return nil
}
