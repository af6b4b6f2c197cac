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

// descAltEntry marks a symbol inside of an atom (N_ALT_ENTRY). Such a symbol has the rest of the atom.
const descAltEntry = 0x200

// Atoms returns the code of an object by its symbols, sorted by address. Several symbols of one address
// have the same code.
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
		name := f.Name(s)
		if err := f.Src.Draw(input.Memory, int64(len(name))+96); err != nil {
			return err
		}
		all = append(all, start{Atom{name, s.Value, of.Address + of.Size - s.Value}, s.Desc&descAltEntry != 0})
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(all, func(a, b start) int { return cmp.Compare(a.Address, b.Address) })
	out := make([]Atom, len(all))
	next := ^uint64(0) // where the next atom begins
	for i := len(all) - 1; i >= 0; i-- {
		s := &all[i]
		if i+1 < len(all) && all[i+1].Address > s.Address && !all[i+1].inside {
			next = all[i+1].Address
		}
		out[i] = s.Atom
		if next > s.Address {
			out[i].Size = min(out[i].Size, next-s.Address)
		}
	}
	return out, nil
}
