package binary

import (
	"github.com/crashpane/crashpane/core/input"
	"github.com/crashpane/crashpane/symfile/elf"
)

// names are the names of a file's code in its symbol tables.
type names struct {
	file    *elf.File
	publics *elf.Publics
	err     error
}

// symbolTables are the files' symbol tables, full ones before those of which only the loader's is left.
func (f *File) symbolTables() ([]*names, error) {
	if f.names != nil {
		return f.names, nil
	}
	if err := f.openMini(); err != nil {
		return nil, err
	}
	var full, rest []*names
	for _, e := range []*elf.File{f.elf, f.debug, f.mini} {
		switch {
		case e == nil:
		case e.HasSymtab():
			full = append(full, &names{file: e})
		case e == f.elf:
			rest = append(rest, &names{file: e})
		}
	}
	f.names = append(append([]*names{}, full...), rest...)
	return f.names, nil
}

// openMini opens the file that is packed into this one, once.
func (f *File) openMini() error {
	if f.miniLooked {
		return nil
	}
	mini, err := f.elf.MiniDebugInfo()
	if input.Needs(err) {
		return err
	}
	if err != nil {
		f.note(err)
	}
	f.mini, f.miniLooked = mini, true
	return nil
}

func (n *names) get() (*elf.Publics, error) {
	if n.publics == nil && n.err == nil {
		p, err := n.file.Publics()
		if input.Needs(err) {
			return nil, err
		}
		n.publics, n.err = p, err
	}
	return n.publics, n.err
}

// full says whether one of the tables is more than what other modules may use.
func full(tables []*names) bool {
	for _, n := range tables {
		if n.file.HasSymtab() {
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
		if s, ok := p.Lookup(start - f.shift(n.file)); ok && s.Start+f.shift(n.file) == start {
			return s.Name, nil
		}
	}
	return nameless, nil
}

// shift is how far a file's own RVAs are from the program's: a debug file without headers of the program does not know where that
// begins.
func (f *File) shift(e *elf.File) uint64 { return e.Base - f.base(e) }

// Publics calls fn for every name of the symbol tables, table by table, each by address.
func (f *File) Publics(fn func(rva uint64, name string) error) error {
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
			if err := fn(s.Start+f.shift(n.file), s.Name); err != nil {
				return err
			}
		}
	}
	return nil
}
