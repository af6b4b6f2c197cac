package macho

import (
	"cmp"
	"slices"

	"github.com/crashpane/crashpane/core/input"
)

// Atom is what a linker takes from an object as a whole, to put it anywhere: the code from a symbol to
// the next one.
type Atom struct {
	Name          string
	Address, Size uint64
}

// Atoms returns the code of an object by its symbols, sorted by address. Several symbols of one address
// have the same code. A symbol inside of an atom (altEntry) has the rest of it.
func (f *File) Atoms() ([]Atom, error) {
	type start struct {
		Atom
		inside bool
	}
	var all []start
	err := f.Symbols(func(_ uint32, s *Sym) error {
		if !s.defined() || s.Section == 0 || int(s.Section) > len(f.Sections) || !f.Sections[s.Section-1].Exec() {
			return nil
		}
		if f.Arch != nil && f.Arch.ThumbBit {
			s.Value &^= 1
		}
		of := &f.Sections[s.Section-1]
		if s.Value < of.Address || s.Value-of.Address > of.Size {
			return nil
		}
		name, err := f.Name(s)
		if f.undecided(err) {
			return err
		}
		if err := f.Src.Draw(input.Memory, int64(len(name))+96); err != nil {
			return err
		}
		all = append(all, start{Atom{name, s.Value, of.Address + of.Size - s.Value}, s.Desc&altEntry != 0})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b start) int { return cmp.Compare(a.Address, b.Address) })
	out := make([]Atom, len(all))
	// Where the next atom begins, and the first of those that were seen.
	next, first := ^uint64(0), ^uint64(0)
	for i := len(all) - 1; i >= 0; i-- {
		s := &all[i]
		if i+1 < len(all) && all[i+1].Address > s.Address {
			next = first
		}
		if !s.inside {
			first = s.Address
		}
		out[i] = s.Atom
		out[i].Size = min(out[i].Size, next-s.Address)
	}
	return out, nil
}
