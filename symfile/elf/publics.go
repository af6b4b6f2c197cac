package elf

import (
	"cmp"
	"slices"
	"sort"
)

// Public is a name for code that a symbol table gives: no file, no line.
type Public struct {
	// Name as the file has it; a stub that jumps to an imported function has "@plt" behind that function's name.
	Name string
	// Start is the RVA of the first byte, Size the length in bytes, or 0 if the table does not say.
	Start, Size uint64
}

// Publics are the names of a file's code, sorted by RVA, one an address. It keeps 16 bytes a name; the names themselves are
// read when they are asked for.
type Publics struct {
	list  []public
	names [2]*symTable // .symtab and the loader's
	f     *File
}

// public packs a name: the number of its symbol, and in flags the size, which table, and whether it is a PLT stub.
type public struct {
	rva    uint64
	symbol uint32
	flags  uint32
}

const (
	sizeBits   = 27 // no function has 128 MiB
	maxSize    = 1<<sizeBits - 1
	fromDynsym = 1 << 31
	isPLT      = 1 << 30
	rankShift  = sizeBits // 3 bits, only until the list is sorted
	rankMask   = 7 << rankShift
)

// Len is the number of names.
func (p *Publics) Len() int { return len(p.list) }

// At is the name with number i in the order of addresses.
func (p *Publics) At(i int) Public {
	e := p.list[i]
	which := 0
	if e.flags&fromDynsym != 0 {
		which = 1
	}
	out := Public{Start: e.rva, Size: uint64(e.flags & maxSize)}
	if t := p.names[which]; t != nil {
		s, err := p.f.symbol(t, e.symbol)
		p.f.warnErr(err)
		if err == nil {
			out.Name = p.f.nameOf(t, s.nameAt)
		}
	}
	if e.flags&isPLT != 0 {
		out.Name += "@plt"
	}
	return out
}

// Lookup is the name of the code at an RVA: of what covers it by its size or, if the size is unknown, of the last one
// that starts at or before it.
func (p *Publics) Lookup(rva uint64) (Public, bool) {
	i := p.last(rva)
	// Code inside of a function may have names of its own, which end before the function does; how far to look back for it
	// is bounded.
	for back := 0; i >= 0 && back < 64; i, back = i-1, back+1 {
		size := uint64(p.list[i].flags & maxSize)
		if size == 0 && back == 0 && p.sameSection(p.list[i].rva, rva) || rva-p.list[i].rva < size {
			return p.At(i), true
		}
	}
	return Public{}, false
}

// sameSection: a label's code ends with its section. Without section headers nothing is known of that.
func (p *Publics) sameSection(a, b uint64) bool {
	if a == b || len(p.f.Sections) == 0 {
		return true
	}
	s := p.f.SectionAt(p.f.Base + a)
	return s != nil && p.f.Base+b-s.Address < s.Size
}

// Nearest is the last name at or before an RVA, however far, as a lookup of PUBLIC records answers.
func (p *Publics) Nearest(rva uint64) (Public, bool) {
	if i := p.last(rva); i >= 0 {
		return p.At(i), true
	}
	return Public{}, false
}

func (p *Publics) last(rva uint64) int {
	return sort.Search(len(p.list), func(i int) bool { return p.list[i].rva > rva }) - 1
}

// Publics makes the table of names of the file's code: functions of .symtab and of the loader's table, labels in executable
// sections, and PLT stubs by what they jump to. Bit 0 of ARM's Thumb functions is cleared, descriptors of ppc64's first ABI
// (.opd) are followed, marks of the kind of code ($a, $d, $x …) are left out.
func (f *File) Publics() (*Publics, error) {
	p := &Publics{f: f}
	b := publicsBuilder{f: f, p: p, exec: make([]bool, len(f.Sections))}
	for i := range f.Sections {
		s := &f.Sections[i]
		b.exec[i] = s.Alloc() && s.Exec()
		if s == f.opd {
			b.opd = i
		}
	}
	for which, kind := range []uint32{secSymtab, secDynsym} {
		t := f.table(kind)
		p.names[which] = t
		if t == nil {
			continue
		}
		if err := b.addTable(t, which); err != nil {
			return nil, err
		}
	}
	if err := f.plt(&b); err != nil {
		return nil, err
	}
	b.finish()
	return p, nil
}

// CodeAddress follows a function's descriptor to its code: in ppc64's first ABI (big-endian, ELFv1), function symbols and
// debug information may have the address of a descriptor in .opd. Any other address is answered as it is.
func (f *File) CodeAddress(address uint64) uint64 {
	s := f.opd
	if s == nil || address < s.Address || address-s.Address >= s.Size {
		return address
	}
	d, err := f.Data(s)
	if err != nil {
		f.warnErr(err)
		return address
	}
	code, err := d.Bytes(int64(address-s.Address), 8)
	if err != nil {
		f.warnErr(err)
		return address
	}
	return f.Order.Uint64(code)
}

type publicsBuilder struct {
	f    *File
	p    *Publics
	exec []bool
	opd  int // the index of .opd, or 0
}

// Ranks: of several names for one address the lowest is kept, and of equals the first. The loader's table, which repeats what
// .symtab has, comes after it.
const (
	rankGlobal = iota
	rankWeak
	rankStub // linkers mark the place where their stubs start by local names
	rankLocal
	rankLabel // a symbol without type
)

func (b *publicsBuilder) addTable(t *symTable, which int) error {
	f := b.f
	b.p.list = slices.Grow(b.p.list, int(t.entries.Size/f.symSize()))
	return f.each(t, func(i uint32, s *Sym) error {
		undefined := s.Section == indexUndef
		if s.nameAt == 0 || !s.Defined() && !(undefined && s.Value != 0 && t.dynamic) {
			return nil
		}
		rank := rankLocal
		switch s.Type {
		case SymFunc, SymIFunc:
			switch s.Bind {
			case BindGlobal, BindUnique:
				rank = rankGlobal
			case BindWeak:
				rank = rankWeak
			}
		case SymNoType:
			if undefined || !b.executable(s) {
				return nil
			}
			// Linkers name the ends of sections, and MIPS' the start of all code.
			if in := &f.Sections[s.Section]; s.Value-in.Address >= in.Size {
				return nil
			}
			if f.cpu.MappingSymbols {
				if name := f.nameOf(t, s.nameAt); isMark(name) || name == "_ftext" {
					return nil
				}
			}
			rank = rankLabel
		default:
			return nil
		}
		value, size := s.Value, s.Size
		flags := uint32(0)
		if undefined {
			// The address that stands for an imported function in this program: that of its stub.
			flags, size, rank = isPLT, 0, rankStub
		}
		if f.cpu.ThumbSymbols && s.Type != SymNoType || f.cpu.OtherISA && s.Other&0xf0 == 0xf0 {
			value &^= 1
		}
		if b.opd != 0 && int(s.Section) == b.opd {
			value = f.CodeAddress(value)
			if value == s.Value {
				return nil
			}
		}
		if which == 1 {
			flags |= fromDynsym
		}
		b.add(value, size, i, flags, uint32(rank))
		return nil
	})
}

// executable reports whether a symbol's section holds code. Without section headers only functions are known to be code.
func (b *publicsBuilder) executable(s *Sym) bool {
	return int(s.Section) < len(b.exec) && b.exec[s.Section] || int(s.Section) == b.opd && b.opd != 0
}

func (b *publicsBuilder) add(address, size uint64, symbol, flags, rank uint32) {
	if address < b.f.Base {
		return
	}
	b.p.list = append(b.p.list, public{address - b.f.Base, symbol, flags | rank<<rankShift | uint32(min(size, maxSize))})
}

// isMark knows the symbols by which assemblers mark where code and data begin: $a, $t, $d, $x, perhaps with ".more" or, on
// RISC-V, the architecture behind it.
func isMark(name string) bool {
	if len(name) < 2 || name[0] != '$' {
		return false
	}
	switch name[1] {
	case 'a', 't', 'd', 'x':
		return len(name) == 2 || name[2] == '.' || name[1] == 'x' && (len(name) > 4 && name[2:4] == "rv")
	}
	return false
}

// finish sorts, keeps the best name of each address, and drops labels without a size inside of sized functions: they
// would cut the function in two.
func (b *publicsBuilder) finish() {
	l := b.p.list
	slices.SortFunc(l, func(a, c public) int {
		if a.rva != c.rva {
			if a.rva < c.rva {
				return -1
			}
			return 1
		}
		// Then by rank, .symtab before the loader's table, and the order of the file.
		if by := cmp.Compare(a.flags&rankMask, c.flags&rankMask); by != 0 {
			return by
		}
		if by := cmp.Compare(a.flags&fromDynsym, c.flags&fromDynsym); by != 0 {
			return by
		}
		return cmp.Compare(a.symbol, c.symbol)
	})
	out := l[:0]
	end := uint64(0)
	for i, e := range l {
		size := uint64(e.flags & maxSize)
		if i > 0 && len(out) > 0 && out[len(out)-1].rva == e.rva {
			if last := &out[len(out)-1]; last.flags&maxSize == 0 && size > 0 { // another name knows the size
				last.flags |= e.flags & maxSize
				end = max(end, e.rva+size)
			}
			continue
		}
		if size == 0 && e.rva < end && e.flags&rankMask == rankLabel<<rankShift {
			continue
		}
		out = append(out, e)
		end = max(end, e.rva+size)
	}
	for i := range out {
		out[i].flags &^= rankMask
	}
	if len(out) < cap(out)/4*3 {
		out = append(make([]public, 0, len(out)), out...)
	}
	b.p.list = out
}
