package macho

import (
	"cmp"
	"slices"
	"sort"

	"github.com/crashpane/crashpane/core/input"
)

// DebugMap says which functions of a program are from which object. A linker that leaves the DWARF in
// the objects writes it, as entries of stabs:
//
//	N_OSO  path of the object, or "lib.a(member.o)"; value: when it was last changed, seconds since 1970, or 0
//	N_FUN  name of a function as in the object's symbol table; value: its address in the program
//	N_FUN  "", value: its size
//
// Those of data say nothing about code. Sources: stab.h; LLVM's tools/dsymutil/MachODebugMapParser.cpp.
type DebugMap struct {
	Objects []MappedObject
	f       *File
	// functions are in the order of the symbol table, so that those of an object follow each other.
	// byAddress has their numbers.
	functions []mappedFunction
	byAddress []uint32
}

// MappedObject is an object that a program was linked from. Path is as the linker was given it, Modified
// is 0 if the linker left the time out.
type MappedObject struct {
	Path     string
	Modified int64

	first, end int // numbers of its functions
}

// mappedFunction is a function in the program.
type mappedFunction struct {
	rva, size uint32
	name      uint32 // offset in the table of names
	object    uint32
}

// MappedFunction is a function of a DebugMap: RVA and size in the program, and its object's number.
type MappedFunction struct {
	RVA, Size uint64
	Name      string
	Object    int
}

// DebugMap reads the debug map. It has no objects if the file has none.
func (f *File) DebugMap() (*DebugMap, error) {
	m := &DebugMap{f: f}
	open := false // the last function's size is still to come
	err := f.locals(func(s *Sym) error {
		switch s.Type {
		case StabOSO:
			open = false
			name, err := f.Name(s)
			if f.undecided(err) {
				return err
			}
			if err := f.Src.Draw(input.Memory, int64(len(name))+64); err != nil {
				return err
			}
			n := len(m.functions)
			m.Objects = append(m.Objects, MappedObject{Path: name, Modified: int64(s.Value), first: n, end: n})
		case StabFUN:
			if len(m.Objects) == 0 {
				return nil
			}
			of := &m.Objects[len(m.Objects)-1]
			first, err := f.firstByte(s)
			if f.undecided(err) {
				return err
			}
			if first == 0 {
				if open {
					m.functions[len(m.functions)-1].size = uint32(min(s.Value, 1<<32-1))
				}
				open = false
				return nil
			}
			if f.Arch != nil && f.Arch.ThumbBit {
				s.Value &^= 1
			}
			if open = s.Value >= f.Base && s.Value-f.Base < 1<<32; !open {
				return nil
			}
			if len(m.functions) == cap(m.functions) {
				if err := f.Src.Draw(input.Memory, 20*int64(max(len(m.functions), 64))); err != nil {
					return err
				}
			}
			m.functions = append(m.functions, mappedFunction{uint32(s.Value - f.Base), 0, s.nameAt, uint32(len(m.Objects) - 1)})
			of.end++
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	m.byAddress = make([]uint32, len(m.functions))
	for i := range m.byAddress {
		m.byAddress[i] = uint32(i)
	}
	slices.SortFunc(m.byAddress, func(a, b uint32) int {
		return cmp.Or(cmp.Compare(m.functions[a].rva, m.functions[b].rva), cmp.Compare(a, b))
	})
	return m, nil
}

// locals calls fn for the local symbols, among which the debugging entries are: for all symbols if
// LC_DYSYMTAB does not say which are local.
func (f *File) locals(fn func(s *Sym) error) error {
	first, end := uint32(0), f.symtab.count
	if f.symtab.locals.size > 0 && f.symtab.locals.off < end {
		first, end = f.symtab.locals.off, f.symtab.locals.off+min(f.symtab.locals.size, end-f.symtab.locals.off)
	}
	return f.symbolsFrom(first, end, func(_ uint32, s *Sym) error { return fn(s) })
}

// Functions returns the functions that the program has of an object, by its number.
func (m *DebugMap) Functions(object int) []MappedFunction {
	of := &m.Objects[object]
	out := make([]MappedFunction, 0, of.end-of.first)
	for i := of.first; i < of.end; i++ {
		out = append(out, m.function(uint32(i)))
	}
	return out
}

func (m *DebugMap) function(i uint32) MappedFunction {
	e := &m.functions[i]
	name, _ := m.f.Name(&Sym{nameAt: e.name})
	return MappedFunction{uint64(e.rva), uint64(e.size), name, int(e.object)}
}

// Find returns the functions that cover an RVA. There are several where the linker folded functions
// with the same code into one.
func (m *DebugMap) Find(rva uint64) (out []MappedFunction) {
	next := sort.Search(len(m.byAddress), func(i int) bool { return uint64(m.functions[m.byAddress[i]].rva) > rva })
	for i := next - 1; i >= 0; i-- {
		e := &m.functions[m.byAddress[i]]
		if e.rva != m.functions[m.byAddress[next-1]].rva || len(out) == maxFolded {
			break
		}
		if rva-uint64(e.rva) < uint64(e.size) {
			out = append(out, m.function(m.byAddress[i]))
		}
	}
	slices.Reverse(out)
	return out
}

// maxFolded is how many functions of one address Find returns: the answer needs one.
const maxFolded = 8
